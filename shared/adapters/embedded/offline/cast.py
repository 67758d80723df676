"""Cast of a transcript: who speaks, who of them is the owner, and who is spoken to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from shared.adapters.embedded.offline.calendar import DAY_WORDS
from shared.adapters.embedded.offline.speech import Sentence, has_content, split_words
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.value import value

_MAX_NAME_WORDS = 2


@value
class Cast:
    """The speakers of a transcript; `own` are the owner's labels.

    `listeners` gives for each sentence, by its place, who it is spoken to: whoever speaks next, else who spoke
    before. `called` gives who has a casefolded name.
    """

    labels: frozenset[str]
    own: frozenset[str]
    listeners: tuple[str | None, ...]
    called: Mapping[str, str]

    def describe_owner(self, label: str) -> str:
        """Return whose the task of a speaker is, as answers tell it."""
        if label in self.own:
            return "me"
        return label if self.own or is_name(label) else "unknown"

    def find_speaker(self, name: str) -> str:
        """Return the speaker of a name, whole or the first part of it; else the name as it is."""
        return self.called.get(name.casefold(), name)


def build_cast(sentences: Sequence[Sentence], owner_names: Iterable[str] = ()) -> Cast:
    """Read who speaks. Somebody who speaks alone and without a name is the owner: it is a note."""
    labels = tuple(dict.fromkeys(sentence.speaker for sentence in sentences))
    names = frozenset(name.casefold() for name in owner_names)
    is_note = len(labels) == 1 and not is_name(labels[0])
    own = frozenset(sentence.speaker for sentence in sentences if sentence.is_user)
    own = own or frozenset(label for label in labels if label.casefold() in names or is_note)
    called: dict[str, str] = {}
    for label in labels:
        for name in (label.casefold(), label.casefold().split(" ")[0]):
            called.setdefault(name, label)  # of several, who spoke first
    called |= dict.fromkeys(names, next(label for label in labels if label in own)) if own else {}
    listeners = tuple(_find_listeners(sentences))
    return Cast(labels=frozenset(labels), own=own, listeners=listeners, called=called)


def _find_listeners(sentences: Sequence[Sentence]) -> Iterator[str | None]:
    """Yield for each sentence who speaks next, else who spoke before."""
    turns = [(who, len([*said])) for who, said in groupby(sentences, lambda each: each.speaker)]
    speakers = [None, *(who for who, _ in turns), None]
    for n, (_, size) in enumerate(turns):
        yield from [speakers[n + 2] or speakers[n]] * size


def find_vocative(before: str, after: str) -> str | None:
    """Return the name by which somebody is called, right before a request or at the end of it."""
    parts = [
        before.rstrip(" ,").rpartition(",")[2],
        after.rpartition(",")[2] if "," in after else "",
    ]
    return next(filter(None, map(_parse_name, parts)), None)


def _parse_name(text: str) -> str | None:
    """Return one or two words with a capital letter that stand alone, but for words like "hey"."""
    words = list(filter(may_name, split_words(text)))
    is_called = 0 < len(words) <= _MAX_NAME_WORDS and all(word[0].isupper() for word in words)
    return " ".join(words) if is_called else None


def may_name(word: str) -> bool:
    """Tell whether a word may be of a name: it is not of every day, and calls no day."""
    return has_content(word) and word.lower() not in DAY_WORDS

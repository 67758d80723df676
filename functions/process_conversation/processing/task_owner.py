"""Owner of an extracted task: what a model says about it, within what the transcript supports; pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from functions.process_conversation.processing.model_outputs import ActionItemOutput
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.own_names import build_name_key
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.tasks.action_item import TaskOwner
from shared.domain.value import value
from shared.retrieval.terms import fold

MAX_NAME_CHARS = 64
_PRONOUNS = {
    name: frozenset(fold(words).split())
    for name, words in json.loads(
        Path(__file__).with_name("pronouns.json").read_text(encoding="utf-8")
    ).items()
}
"""What models call the owner, several who speak and nobody, in the languages they write in."""
_CALLED_OWNER = {"user", "the user", "owner", "the owner"}
_MARKS = " .:!?*@`'\""
_BETWEEN_NAMES = re.compile(r"[(),;/&+\[\]]")
_FAMILY_FIRST = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts in which the family's name stands first: Hangul, kana and Han."""


@value
class Voices:
    """Who speaks in a transcript: the keys of the owner's names and labels, and everybody else's spelling by key."""

    own_keys: frozenset[str]
    others: Mapping[str, str]
    has_owner: bool


@value
class Owner:
    """Whose a task is; `name` is that of somebody else."""

    owner: TaskOwner
    name: str | None = None


def find_voices(conversation: Conversation, own_names: Iterable[str] = ()) -> Voices:
    """Read who speaks; `own_names` are what the owner is called."""
    segments = conversation.named_segments
    own_places = find_own_places(conversation, own_names)
    labels = {segment.speaker for segment in segments}
    own_labels = {segments[n].speaker for n in own_places}
    own_keys = frozenset(map(_build_key, (*own_labels, *own_names)))
    return Voices(
        own_keys=own_keys | {*_join_nicknames(own_keys)},
        others={_build_key(label): label for label in sorted(labels - own_labels)},
        has_owner=bool(own_places),
    )


def _join_nicknames(own_keys: Iterable[str]) -> Iterator[str]:
    """Yield "alex weber" for whoever is called Alexandra Weber and Alex."""
    names = [key.split() for key in own_keys if not _FAMILY_FIRST.match(key)]
    families = {words[-1] for words in names if len(words) > 1}
    for words in names:
        if len(words) == 1:
            yield from (f"{words[0]} {family}" for family in families)


def find_own_places(conversation: Conversation, own_names: Iterable[str] = ()) -> frozenset[int]:
    """Return the places of the owner's segments: marked, or else under a whole name of theirs.

    Somebody who speaks alone and without a name is the owner: they keep a note. A message or a page that a program
    handed in may be anybody's, and what somebody else wrote must not become facts and tasks of the owner.
    """
    segments = conversation.named_segments
    marked = frozenset(n for n, segment in enumerate(segments) if segment.is_user)
    if marked:
        return marked
    labels = {segment.speaker for segment in segments}
    own_keys = set(map(build_name_key, own_names))
    own_labels = {label for label in labels if is_name(label) and build_name_key(label) in own_keys}
    if len(labels) == 1 and not any(map(is_name, labels)) and not conversation.is_by_anybody:
        own_labels = labels
    return frozenset(n for n, segment in enumerate(segments) if segment.speaker in own_labels)


def decide_owner(voices: Voices, answer: ActionItemOutput) -> Owner:
    """Return whose a task is. Nothing is the owner's before anybody in the transcript is the owner.

    What several have to do is the owner's if it is theirs, too.
    """
    name = " ".join(answer.owner.split())[:MAX_NAME_CHARS]
    parts = [name, *_BETWEEN_NAMES.split(name)]
    keys = [key for part in parts if (key := _build_key(part))]
    if not keys or (keys[0] in _PRONOUNS["nobody"] and not is_name(voices.others.get(keys[0], ""))):
        return Owner(owner="unknown")
    if any(_is_owner(voices, key) for key in keys):
        return Owner(owner="me")
    if _names_several(voices, name):
        return Owner(owner="me")
    if any(_calls_owner(key) for key in keys if key not in voices.others):
        return Owner(owner="me" if voices.has_owner else "unknown")
    spelled = next((found for key in keys if (found := _spell(voices, key))), name)
    return Owner(owner="other", name=spelled if keys[0] != "other" and is_name(spelled) else None)


def _build_key(name: str) -> str:
    """Return the form in which spellings of one name are equal: no case, accents or marks around."""
    return build_name_key(re.sub("[_-]", " ", fold(name)).strip(_MARKS))


def _calls_owner(key: str) -> bool:
    pronouns = _PRONOUNS["owner"] | _PRONOUNS["several"]
    return key in _CALLED_OWNER | pronouns or "me" in key.split()  # "me and Mara"


def _names_several(voices: Voices, name: str) -> bool:
    """Tell whether words name the owner and somebody else who speaks: "Alex and Mara", "moi et Mara"."""
    keys = [key for word in name.split() if (key := _build_key(word))]
    own = [key for key in keys if _is_owner(voices, key) or key in _PRONOUNS["owner"]]
    return bool(own) and any(_spell(voices, key) for key in keys if key not in own)


def _abbreviates(key: str, own: str) -> bool:
    """Tell whether a name is another with an initial: "Alex W.", "A. Weber"."""
    pairs = [*zip(key.replace(".", "").split(), own.split(), strict=False)]
    is_same_length = len(key.split()) == len(own.split()) == len(pairs)
    fits = [short == word or short == word[0] for short, word in pairs]
    return is_same_length and all(fits) and any(short == word for short, word in pairs)


def _is_owner(voices: Voices, key: str) -> bool:
    """Tell whether a name is the owner's, or the first ones of one who speaks, and nobody else is called so."""
    if any(_abbreviates(key, own) for own in voices.own_keys):
        return key not in voices.others
    given_names = (own for own in voices.own_keys if not _FAMILY_FIRST.match(own))
    return (
        voices.has_owner
        and any(_begins(key, own) for own in given_names)
        and not any(_begins(key, other) for other in voices.others)
    )


def _begins(key: str, name: str) -> bool:
    """Tell whether a name is another or its first words: "Mary", "Mary Jane"."""
    return f"{name} ".startswith(f"{key} ")


def _spell(voices: Voices, key: str) -> str | None:
    """Return a speaker's name, or their first one, as the transcript has it."""
    if key in voices.others:
        return voices.others[key]
    names = [name.split()[0] for name in voices.others.values() if name]
    return next((name for name in names if _build_key(name) == key), None)

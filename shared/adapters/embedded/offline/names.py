"""Names of people and things: words with a capital letter that grammar does not ask for.

Also called: named entity recognition, entity extraction.
"""

import re
from collections.abc import Iterable, Sequence

from shared.adapters.embedded.offline.cast import may_name
from shared.adapters.embedded.offline.speech import Sentence, split_words

_WORD_TEXT = r"(?:[^\W\d_a-z](?:[b-df-hj-np-tv-xz]{0,3}\.(?=\s))|[^\W\d_a-z][\w'’&-]*)"
"""A word with a capital letter; an initial or a title without a vowel keeps its full stop ("Mr.")."""
_NAME = re.compile(rf"{_WORD_TEXT}(?:\s+{_WORD_TEXT})*")
_BEFORE_PLACES = {"in", "at", "to", "from", "of", "the", "near", "via", "using", "by", "on"}


def extract_names(sentences: Sequence[Sentence]) -> tuple[list[str], list[str]]:
    """Return people and other named things, each in the order of their first mention."""
    lower = {
        word for sentence in sentences for word in split_words(sentence.text) if word.islower()
    }
    people: dict[str, None] = {}
    things: dict[str, None] = {}
    for previous_word, name in _find_mentions(sentences):
        if name.lower() in lower:
            continue
        is_thing = previous_word in _BEFORE_PLACES or name.isupper() or name in things
        (things if is_thing else people)[name] = None
    return [name for name in people if name not in things], list(things)


def _find_mentions(sentences: Iterable[Sentence]) -> list[tuple[str, str]]:
    return [
        (_find_previous_word(sentence.text, match.start()), name)
        for sentence in sentences
        for match in _NAME.finditer(sentence.text)
        if (name := _clean(match[0], starts_sentence=match.start() == 0))
    ]


def _find_previous_word(text: str, position: int) -> str:
    earlier = split_words(text[:position])
    return earlier[-1].lower() if earlier else ""


def _clean(candidate: str, *, starts_sentence: bool) -> str:
    """Drop "I" and calendar words, and a single word that begins a sentence."""
    name_words = [word.removesuffix("'s").removesuffix("’s") for word in candidate.split()]
    name_words = list(filter(may_name, name_words))
    if starts_sentence and len(name_words) == 1 and not name_words[0].isupper():
        return ""
    return " ".join(name_words) if any(len(word) > 1 for word in name_words) else ""

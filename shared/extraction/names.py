"""Names: words written with a capital where grammar does not ask for one."""

import re
from collections.abc import Iterable, Sequence

from shared.extraction.calendar import MONTHS, WEEKDAYS
from shared.extraction.speech import EMPTY, Sentence, words

_NAME = re.compile(r"(?:[^\W\d_a-z][\w'’&-]*)(?:\s+[^\W\d_a-z][\w'’&-]*)*")
_BEFORE_PLACES = {"in", "at", "to", "from", "of", "the", "near", "via", "using", "by", "on"}
_NO_NAMES = EMPTY.union(WEEKDAYS, MONTHS)


def names(said: Sequence[Sentence]) -> tuple[list[str], list[str]]:
    """Return people and other named things, each in the order of their first mention."""
    lower = {word for sentence in said for word in words(sentence.text) if word.islower()}
    people: dict[str, None] = {}
    things: dict[str, None] = {}
    for before, name in _mentions(said):
        if name.lower() in lower:
            continue
        is_thing = before in _BEFORE_PLACES or name.isupper() or name in things
        (things if is_thing else people)[name] = None
    return [name for name in people if name not in things], list(things)


def _mentions(said: Iterable[Sentence]) -> list[tuple[str, str]]:
    return [
        (_word_before(sentence.text, found.start()), name)
        for sentence in said
        for found in _NAME.finditer(sentence.text)
        if (name := _clean(found[0], starts=found.start() == 0))
    ]


def _word_before(text: str, position: int) -> str:
    earlier = words(text[:position])
    return earlier[-1].lower() if earlier else ""


def _clean(run: str, *, starts: bool) -> str:
    """Drop "I" and calendar words; a lone word that begins a sentence proves nothing."""
    kept = [word.removesuffix("'s").removesuffix("’s") for word in run.split()]
    kept = [word for word in kept if word.lower().replace("’", "'") not in _NO_NAMES]
    if starts and len(kept) == 1 and not kept[0].isupper():
        return ""
    return " ".join(kept) if any(len(word) > 1 for word in kept) else ""

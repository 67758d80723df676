"""Suggested questions: which of a model's suggestions a person is shown; pure.

No list of verbs decides: a model is asked to begin with a verb, and code holds the bounds that hold in
every language.

Also called: follow-up questions.
"""

import re
from collections.abc import Iterable, Iterator

from shared.domain.scripts import find_script
from shared.domain.words import normalise
from shared.retrieval.terms import find_words
from shared.security.private_data import has_secret
from shared.security.visible_text import strip_invisible

MAX_SUGGESTIONS = 6
MAX_CHARS = 160
MIN_WORDS = 4
MIN_UNSPACED_CHARS = 8
_FORBIDDEN = re.compile(r"[\[\](){}<>（）［］｛｝【】《》〈〉@]|://|[\n\r]")
"""Brackets are slots that nobody filled, @ calls a skill, and an address is not asked about by a click."""


def select_questions(
    suggestions: Iterable[str], *, script: str, asked: str = "", limit: int = MAX_SUGGESTIONS
) -> tuple[str, ...]:
    """Return the first suggestions that keep the rules, each once, written in `script` (any for none).

    None repeats the question that was `asked`.
    """
    fitting = (text for text in map(_clean, suggestions) if _is_fitting(text, script))
    unique = _deduplicate(fitting, seen={_compare(asked)})
    return tuple(text for text, _ in zip(unique, range(limit), strict=False))


def _clean(text: str) -> str:
    return strip_invisible(text[: 2 * MAX_CHARS]).strip(" \"'“”„«»*-•·")


def _is_fitting(text: str, script: str) -> bool:
    return (
        len(text) <= MAX_CHARS
        and not _FORBIDDEN.search(text)
        and _is_long_enough(text)
        and script in ("", find_script(text))
        and not has_secret(text)
    )


def _is_long_enough(text: str) -> bool:
    """Count words, or characters where a script is written without spaces."""
    words = list(find_words(text))
    unspaced = sum(end - start for start, end, is_spaced in words if not is_spaced)
    return unspaced >= MIN_UNSPACED_CHARS or sum(s for *_, s in words) >= MIN_WORDS


def _deduplicate(texts: Iterable[str], seen: set[str]) -> Iterator[str]:
    for text in texts:
        key = _compare(text)
        if key not in seen:
            seen.add(key)
            yield text


def _compare(text: str) -> str:
    return normalise(text) or text.casefold()

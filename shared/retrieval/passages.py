"""Passages: where a quotation stands in a text, compared by words as a reader compares them.

Case, width, accents, punctuation, quotation marks and spaces make no difference, nor do sounds of
hesitation ("uhm", "äh") that a quotation leaves out.

Also called: fuzzy matching, quote verification, string alignment.
"""

import re
from collections.abc import Iterator

from shared.domain.value import positional_value
from shared.retrieval.terms import find_words, fold

_HESITATIONS = frozenset(map(fold, ("uh", "uhm", "umm", "ehm", "äh", "ähm", "hm", "hmm", "mhm")))
"""Such sounds as are no word of a language that we know of: "um" and "er" are words."""
_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.{3,})[\])]?")


@positional_value
class _Word:
    start: int
    end: int
    folded: str
    is_spaced: bool


def find_passage(quote: str, text: str, start: int = 0) -> tuple[int, int] | None:
    """Return where the words of a quotation stand in a text, in their order and whole; None where they do not."""
    wanted = [word.folded for word in _list_words(quote)]
    words = [word for word in _list_words(text) if word.start >= start]
    last = len(words) - len(wanted)
    for n in range(last + 1 if wanted else 0):
        run = words[n : n + len(wanted)]
        if [word.folded for word in run] == wanted:
            return run[0].start, run[-1].end
    return None


def find_abridged(quote: str, text: str) -> tuple[int, int] | None:
    """Do as find_passage() for a quotation with ellipses: its pieces stand in the passage one after the other."""
    spans: list[tuple[int, int]] = []
    for piece in _ELLIPSIS.split(quote):
        if not any(_list_words(piece)):
            continue
        span = find_passage(piece, text, spans[-1][1] if spans else 0)
        if span is None:
            return None
        spans.append(span)
    return (spans[0][0], spans[-1][1]) if spans else None


def stands_in_words(quote: str, text: str) -> bool:
    """Tell whether a quotation stands in a text, and tears no word."""
    return find_passage(quote, text) is not None


def weigh_quotation(quote: str) -> int:
    """Return how much is compared: one for a character in scripts written without spaces, two for a word in others.

    "I'm" is two words, as it is said.
    """
    return sum(
        2 + 2 * fold(quote[word.start : word.end]).strip("'").count("'") if word.is_spaced else 1
        for word in _list_words(quote)
    )


def _list_words(text: str) -> Iterator[_Word]:
    for start, end, is_spaced in find_words(text):
        if is_spaced:
            folded = fold(text[start:end]).replace("'", "")
            if folded and folded not in _HESITATIONS:
                yield _Word(start, end, folded, is_spaced)
        else:
            yield from (_Word(n, n + 1, fold(text[n]), is_spaced) for n in range(start, end))

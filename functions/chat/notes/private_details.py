"""Private details: words that a text can only have from memories or settings are taken out of it; pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from shared.retrieval.term_weights import EVERYDAY_WEIGHT, get_term_weight
from shared.retrieval.terms import find_words, tokenize

HIDDEN = "…"


def find_private_terms(details: Iterable[str], *, said: str) -> frozenset[str]:
    """Return the terms of memories and settings that tell something, and that the owner did not say."""
    terms = {term for detail in details for term in tokenize(detail)}
    return frozenset(filter(_tells, terms - frozenset(tokenize(said))))


def hide_private(text: str, private: frozenset[str]) -> str:
    """Replace each word that has one of these terms, whatever its form, by an ellipsis."""
    end, pieces = 0, list[str]()
    for start, stop in _find_private_spans(text, private):
        pieces += [text[end:start], HIDDEN]
        end = stop
    return "".join([*pieces, text[end:]])


def has_private(text: str, private: frozenset[str]) -> bool:
    return any(True for _ in _find_private_spans(text, private))


def _tells(term: str) -> bool:
    """Tell whether a term says more than everyday words do; of unspaced scripts, a pair of neighbours."""
    is_single_sign = len(term) == 1 and not term.isascii()
    return not is_single_sign and get_term_weight(term) > EVERYDAY_WEIGHT


def _find_private_spans(text: str, private: frozenset[str]) -> Iterator[tuple[int, int]]:
    for start, end, is_spaced in find_words(text):
        if is_spaced:
            if not private.isdisjoint(tokenize(text[start:end])):
                yield start, end
        else:
            yield from _find_private_runs(text[start:end], start, private)


def _find_private_runs(
    word: str, offset: int, private: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """Yield the runs of characters whose neighbours, two by two, are private."""
    hits = [not private.isdisjoint(tokenize(a + b)) for a, b in pairwise(word)]
    hidden = [a or b for a, b in zip([*hits, False], [False, *hits], strict=True)]
    yield from _list_runs(hidden, offset)


def _list_runs(hidden: Sequence[bool], offset: int) -> Iterator[tuple[int, int]]:
    start = None
    for position, is_hidden in enumerate([*hidden, False]):
        if is_hidden and start is None:
            start = position
        elif not is_hidden and start is not None:
            yield offset + start, offset + position
            start = None

"""Snippets: the part of a text around what a search found in it, with the matching words apart.

Also called: highlighting, search highlights.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from shared.domain.value import value
from shared.retrieval.query import parse_query
from shared.retrieval.stemming import MAX_CACHED_WORDS, MAX_STEMMED_CHARS
from shared.retrieval.terms import find_words, tokenize

WIDTH = 120
"""Characters of a snippet, without the signs that mark what was left out."""
MAX_SCANNED_CHARS = 200_000
LEFT_OUT = "…"
_Span = tuple[int, int, str]
"""A word that matches: its first character, the one behind its last, and what it matched."""


@value
class Piece:
    """A part of a snippet; `is_match` where the words of the query are."""

    text: str
    is_match: bool = False


def collect_terms(query: str) -> frozenset[str]:
    """Return every term that the index would match for a query, synonyms and other forms too."""
    return frozenset(term for each in parse_query(query).query_terms for term in each.shares)


def cut_snippet(text: str, terms: frozenset[str]) -> tuple[Piece, ...]:
    """Cut a text around the place where most of the terms stand together; nothing where none does."""
    text = text[:MAX_SCANNED_CHARS]
    spans = list(_find_spans(text, terms))
    if not spans:
        return ()
    first, last = _find_densest(spans)
    start, end = _widen(text, spans[first][0], spans[last][1])
    inside = [span for span in spans if start <= span[0] and span[1] <= end]
    return tuple(_split(text, start, end, inside))


def _find_spans(text: str, terms: frozenset[str]) -> Iterator[_Span]:
    for start, end, is_spaced in find_words(text):
        word = text[start:end]
        if not is_spaced:
            yield from _find_in_unspaced(word, start, terms)
            continue
        is_short = len(word) <= MAX_STEMMED_CHARS
        word_terms = _tokenize_short(word) if is_short else tokenize(word)
        if not terms.isdisjoint(word_terms):
            yield start, end, next(term for term in word_terms if term in terms)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _tokenize_short(word: str) -> Sequence[str]:
    return tokenize(word)


def _find_in_unspaced(run: str, start: int, terms: frozenset[str]) -> Iterator[_Span]:
    """Find pairs of neighbours, joined where they meet; a single character counts where it is alone."""
    pairs = [at for at, pair in enumerate(map("".join, pairwise(run))) if pair in terms]
    has_pairs = any(len(term) > 1 for term in terms)
    marked = {at + n for at in pairs for n in (0, 1)}
    if not has_pairs:
        marked = {at for at, sign in enumerate(run) if sign in terms}
    begin: int | None = None
    for at in range(len(run) + 1):
        if at in marked:
            begin = at if begin is None else begin
        elif begin is not None:
            yield start + begin, start + at, run[begin:at]
            begin = None


def _find_densest(spans: Sequence[_Span]) -> tuple[int, int]:
    """Return the first and last of the spans that one snippet holds, with most different terms."""
    best, best_count = (0, 0), 0
    counts: Counter[str] = Counter()
    first = 0
    for last, (_, end, term) in enumerate(spans):
        counts[term] += 1
        while first < last and end - spans[first][0] > WIDTH:
            _take_one(counts, spans[first][2])
            first += 1
        if len(counts) > best_count:
            best, best_count = (first, last), len(counts)
    return best


def _take_one(counts: Counter[str], term: str) -> None:
    counts[term] -= 1
    if not counts[term]:
        del counts[term]


def _widen(text: str, start: int, end: int) -> tuple[int, int]:
    """Add as much on both sides as a snippet holds, whole words where there are spaces."""
    room = max(WIDTH - (end - start), 0)
    before = min(start, max(room // 2, room - (len(text) - end)))
    left = start - before
    right = min(end + room - before, len(text))
    if left:
        space = text.find(" ", left, start)
        left = left if space < 0 else space + 1
    if right < len(text):
        space = text.rfind(" ", end, right)
        right = right if space < 0 else space
    return left, right


def _split(text: str, start: int, end: int, spans: Sequence[_Span]) -> Iterator[Piece]:
    at, lead = start, LEFT_OUT if start else ""
    for begin, stop, _ in spans:
        if lead or at < begin:
            yield Piece(text=lead + text[at:begin])
        yield Piece(text=text[begin:stop], is_match=True)
        at, lead = stop, ""
    rest = text[at:end] + (LEFT_OUT if end < len(text) else "")
    if rest:
        yield Piece(text=rest)

"""Word match: how many words of a query a text has, and the excerpt around the first of them."""

import re
from collections.abc import Iterator, Sequence

from shared.domain.value import value
from shared.retrieval.terms import fold, tokenize

MAX_EXCERPT_CHARS = 160
CHARS_BEFORE = 50
_WORD = re.compile(r"[^\W_]+")


@value
class WantedWord:
    """A word of a query: folded, as the beginning of a word that is found, and as its terms."""

    folded: str
    terms: frozenset[str]

    def is_in(self, folded_text: str, terms: frozenset[str]) -> bool:
        return self.terms <= terms or self._find_beginning(folded_text) is not None

    def find_in(self, word: str) -> int | None:
        """Return where it is in one word of a text."""
        folded = fold(word)
        if folded.startswith(self.folded) or self.terms & frozenset(tokenize(word)):
            return max(folded.find(self.folded), 0)
        return None

    def _find_beginning(self, folded_text: str) -> re.Match[str] | None:
        return re.search(rf"(?<![^\W_]){re.escape(self.folded)}", folded_text)


def parse_words(query: str) -> Sequence[WantedWord]:
    """Return the words of a query; none for one without letters and digits."""
    words = [match.group() for match in _WORD.finditer(fold(query))]
    return [WantedWord(folded=word, terms=frozenset(tokenize(word))) for word in words]


def has_words(text: str, wanted: Sequence[WantedWord]) -> bool:
    """Tell whether a text has all of them, in any form or as the beginning of a word."""
    return count_words(text, wanted) == len(wanted)


def count_words(text: str, wanted: Sequence[WantedWord]) -> int:
    """Return how many of them a text has."""
    folded, terms = fold(text), frozenset(tokenize(text))
    return sum(word.is_in(folded, terms) for word in wanted)


def build_excerpt(text: str, wanted: Sequence[WantedWord]) -> str:
    """Return what stands around the first of the words, in one line."""
    line = " ".join(text.split())
    start = max(next(_find_positions(line, wanted), 0) - CHARS_BEFORE, 0)
    start = line.find(" ", start) + 1 if start else 0
    excerpt = line[start : start + MAX_EXCERPT_CHARS]
    end = start + len(excerpt)
    return f"{'… ' if start else ''}{excerpt}{' …' if end < len(line) else ''}"


def _find_positions(line: str, wanted: Sequence[WantedWord]) -> Iterator[int]:
    for match in _WORD.finditer(line):
        offsets = (word.find_in(match.group()) for word in wanted)
        yield from (match.start() + offset for offset in offsets if offset is not None)

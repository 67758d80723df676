"""Terms of a text: words folded and stemmed, so that spellings and forms compare as equal.

Also called: tokenization, tokenizer.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from shared.retrieval.stemming import MAX_CACHED_WORDS, MAX_STEMMED_CHARS, stem
from shared.retrieval.word_forms import has_forms, list_forms

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_INDIC_MARKS = "\u0900-\u0963\u0966-\u0dff"
_ACCENT_RANGES = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f"  # vowel points too
_ACCENTS = re.compile(f"[{_ACCENT_RANGES}]")
_ASCII_WORD = re.compile(r"(?:[0-9A-Za-z]+|['`](?=\w))+")
_APOSTROPHES = str.maketrans("’‘ʼ`", "''''")


def tokenize(text: str) -> list[str]:
    """Split into terms, in order: casefolded, accents folded, stemmed, numbers kept.

    Scripts written without spaces give each character and each pair of neighbours.
    """
    return [
        term
        for unspaced, word in _compile_token().findall(fold(text))
        for term in (_stem_word(word) if word else _split_unspaced(unspaced))
    ]


def tokenize_in(text: str, language: str) -> list[str]:
    """Do as tokenize(), but for words of another language than English, which come by their forms in it."""
    if text.isascii() and not has_forms(language):
        return tokenize(text)
    return [
        term
        for unspaced, word in _compile_token().findall(_fold_case(text))
        for term in (
            (list_forms(word, language) or _stem_word(fold(word)))
            if word
            else _split_unspaced(unspaced)
        )
    ]


def list_question_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield each term of tokenize() once, with the word as it is written, casefolded."""
    seen: set[str] = set()
    for unspaced, word in _compile_token().findall(_fold_case(text)):
        terms = _stem_word(fold(word)) if word else _split_unspaced(unspaced)
        for term in terms:
            if term not in seen:
                seen.add(term)
                yield term, word or term


@cache
def _compile_token() -> re.Pattern[str]:
    """Compile it with the first text: its sets of characters take 2 ms."""
    return re.compile(rf"([{_UNSPACED}]+)|((?:[^\W_{_UNSPACED}]+|[{_INDIC_MARKS}]|'(?=\w))+)")


def find_words(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield where each word of a text stands as it is written: start, end, and whether its script has spaces."""
    if text.isascii():  # as most is: this takes half the time
        for match in _ASCII_WORD.finditer(text):
            yield *match.span(), True
        return
    for match in _compile_written_word().finditer(text):
        yield *match.span(), match[1] is None


@cache
def _compile_written_word() -> re.Pattern[str]:
    """Compile what few processes look for: its sets of characters take 2 ms."""
    return re.compile(
        rf"([{_UNSPACED}]+)|((?:[^\W_{_UNSPACED}]+|[{_INDIC_MARKS}{_ACCENT_RANGES}]|['’‘ʼ`](?=\w))+)"
    )


def fold(text: str) -> str:
    """Make spellings equal that a reader takes as equal: case, width, accents, apostrophes."""
    if text.isascii():  # as most is: there is nothing to decompose
        return text.lower().replace("`", "'")
    decomposed = unicodedata.normalize("NFKD", text).casefold().translate(_APOSTROPHES)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def _fold_case(text: str) -> str:
    """Do as fold(), but keep the accents that stand on letters: endings are told by them."""
    if text.isascii():
        return fold(text)
    decomposed = unicodedata.normalize("NFKD", text).casefold().translate(_APOSTROPHES)
    return _ACCENTS.sub("", unicodedata.normalize("NFC", decomposed))


def _stem_word(word: str) -> tuple[str, ...]:
    return _stem_short(word) if len(word) <= MAX_STEMMED_CHARS else _stem_bare(word)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _stem_short(word: str) -> tuple[str, ...]:
    return _stem_bare(word)


def _stem_bare(word: str) -> tuple[str, ...]:
    bare = word.removesuffix("'s").replace("'", "")
    return (stem(bare),) if bare else ()


def _split_unspaced(run: str) -> tuple[str, ...]:
    return (*run, *map("".join, pairwise(run)))


def term_id(term: str) -> int:
    """Hash a term to the uint32 of the index, the same in every process and release."""
    return zlib.crc32(term.encode())

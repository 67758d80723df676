"""Word forms of other languages than English: a word by what all its forms have in common.

A transcript has the forms of its own language, or of its script where that tells the language. A question may
be in any, so it has the forms of all that are written in its script: the stems of a word are few.

Also called: stemmer, lemmatization, morphology.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from Stemmer import Stemmer

from shared.domain.scripts import find_script
from shared.retrieval.stemming import MAX_CACHED_WORDS, MAX_STEMMED_CHARS

MAX_CACHED_QUESTION_WORDS = 4_096
FORM_MARK = "~"
"""Before a form, so that it is no word of English: "matt" is what German leaves of "matter"."""
_LATIN = "LATIN"
_LANGUAGES: Mapping[str, tuple[str, ...]] = {
    _LATIN: (
        *("ca", "cs", "da", "de", "eo", "es", "et", "eu", "fi", "fr", "ga", "hu", "id", "it"),
        *("lt", "nl", "no", "pl", "pt", "ro", "sr", "sv", "tr"),
    ),
    "CYRILLIC": ("ru", "sr"),
    "ARABIC": ("ar", "fa"),
    "HEBREW": ("he", "yi"),
    "GREEK": ("el",),
    "ARMENIAN": ("hy",),
    "DEVANAGARI": ("hi", "ne"),
    "TAMIL": ("ta",),
}
"""By script. What is not Latin counts as the first, unless its conversation is in another."""
_OTHER_CODES = {"nb": "no", "nn": "no", "iw": "he", "hr": "sr", "bs": "sr"}
_WITHOUT_STEMMER = frozenset({"he"})
_ELIDING = frozenset({"ca", "fr", "ga", "it", "pt"})
"""What stands before an apostrophe is an article or a preposition: l'oreille, dell'acqua, d'ól."""
_PROCLITICS: Mapping[str, tuple[str, int, int]] = {"ar": ("وفبكل", 2, 3), "he": ("והבכלמש", 3, 2)}
"""By language: the letters that are words before a word, how many at most, and how many letters are left at least."""
_ACCENTS = (*range(0x300, 0x370), *range(0x64B, 0x660))
_PLAIN = str.maketrans("ıłøđ", "ilod", "'") | dict.fromkeys(_ACCENTS)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def list_forms(word: str, language: str) -> tuple[str, ...]:
    """Return the forms of a casefolded word in a text of a language (ISO 639-1); none of a word to be read as English."""
    languages = _list_languages(word)
    code = _find_code(language)
    if code in languages:
        return _mark(_stem(word, code))
    is_told_by_script = bool(languages) and languages is not _LANGUAGES[_LATIN]
    return _mark(_stem(word, languages[0])) if is_told_by_script else ()


@lru_cache(maxsize=MAX_CACHED_QUESTION_WORDS)
def list_all_forms(word: str) -> tuple[str, ...]:
    """Return the forms of a casefolded word in every language that it may be of."""
    languages = _list_languages(word)
    stems = (stem for language in languages for stem in _stem(word, language))
    return _mark([word, *stems]) if languages else ()


def has_forms(language: str) -> bool:
    """Tell whether words in Latin letters have forms in a language (ISO 639-1)."""
    return _find_code(language) in _LANGUAGES[_LATIN]


def _list_languages(word: str) -> tuple[str, ...]:
    if word.isdigit() or len(word) > MAX_STEMMED_CHARS:
        return ()
    return _LANGUAGES.get(_LATIN if word.isascii() else find_script(word), ())


def _find_code(language: str) -> str:
    code = language.partition("-")[0].lower()
    return _OTHER_CODES.get(code, code)


def _stem(word: str, language: str) -> list[str]:
    words = list(_strip_proclitics(_cut_at_apostrophe(word, language), language))
    if language in _WITHOUT_STEMMER:
        return words
    # An instance holds the word it stems, so threads must not share one.
    return [str(stem) for stem in Stemmer(language, 0).stemWords(words)]


def _cut_at_apostrophe(word: str, language: str) -> str:
    first, _, last = word.rpartition("'")
    if first and language == "tr":
        return first  # İstanbul'da: an ending follows
    return last if len(last) > 1 and language in _ELIDING else word


def _strip_proclitics(word: str, language: str) -> Iterator[str]:
    """Yield the word, and what is left of it without one letter before it, two, and so on."""
    letters, most, least = _PROCLITICS.get(language, ("", 0, 0))
    yield word
    for _ in range(most):
        if word[0] not in letters or len(word) <= least:
            return
        word = word[1:]
        yield word


def _mark(stems: list[str]) -> tuple[str, ...]:
    bare = (_fold(stem) for stem in stems)
    return tuple(dict.fromkeys(f"{FORM_MARK}{stem}" for stem in bare if stem))


def _fold(stem: str) -> str:
    """Leave out the accents, which many do not type, and what is left of an apostrophe."""
    decomposed = unicodedata.normalize("NFKD", stem).translate(_PLAIN)
    return unicodedata.normalize("NFC", decomposed)

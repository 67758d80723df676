"""Words of facts: whether two say the same by their words alone, in other forms; pure.

It is strict, because of two facts that count as one the newer is lost: whoever likes tea more than coffee
does not like coffee more than tea, and whoever has a nurse is none.
"""

from functools import cache

from shared.domain.words import normalise
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.terms import tokenize

_FILLERS = "a an the is are am of in at"


def say_the_same(first: str, second: str) -> bool:
    """Tell whether two facts have the same words in the same order, but for forms, fillers and synonyms."""
    if normalise(first) == normalise(second):
        return True
    words, others = _list_terms(first), _list_terms(second)
    return bool(words) and len(words) == len(others) and all(map(_is_alike, words, others))


def _is_alike(word: str, other: str) -> bool:
    are_synonyms = other in list_synonyms(word) and word in list_synonyms(other)
    return word == other or are_synonyms


def _list_terms(fact: str) -> list[str]:
    return [term for term in tokenize(fact) if term not in _tokenize_fillers()]


@cache
def _tokenize_fillers() -> frozenset[str]:
    return frozenset(tokenize(_FILLERS))

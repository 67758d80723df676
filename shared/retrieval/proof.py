"""Proof of a statement by words that its owner said: its numbers, names, negation and what it is about stand in them.

Words alone are compared. What says the same in quite other words is not proved, and waits for its owner's yes.

Also called: textual entailment, grounding.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import takewhile

from shared.retrieval.negations import has_negation, list_negation_words
from shared.retrieval.passages import stands_in_words
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import FUNCTION_WEIGHT, RARE_WEIGHT, get_term_weight
from shared.retrieval.terms import find_words, tokenize

MIN_SHARE = 0.6
"""Of the words that mean something; a rare one, a name or an amount never lacks."""
MIN_BEGINNING = 4
"""So many letters two forms of a word share, and MIN_SHARE of the longer one."""
MAX_RESTORED = 4
"""Words: what denies a quotation stands near to it, and further away it may deny something else."""
_FREQUENT_AMOUNTS = "one two three four five six ten few several first second"
_OWNER = "user owner"
"""Statements call the owner so, who says “I”."""
_NUMBER_EDGE = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_HALF_DAY = 12
_NUMBER = re.compile(r"\d+(?:[.,’'\u00a0\u202f]\d{3})*")
_CLAUSE_END = re.compile(r"[.!?,;:…\n。！？，；：、]+(?!\d)")
_IDEOGRAPH = re.compile("[\u30a0-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_HIRAGANA = re.compile("[\u3040-\u309f]")


def is_proved(statement: str, quote: str, said: str) -> bool:
    """Tell whether a quotation stands in what was said, in whole words, and proves a statement."""
    return stands_in_words(quote, said) and proves(quote, statement)


def proves(quote: str, statement: str) -> bool:
    """Tell whether words bear a statement: its numbers, names and negation, and most of its other words.

    A word may stand there in another form, or as an example of what it means: a dog is a pet.
    """
    clauses = list(_split_clauses(quote))
    names = set(_list_names(statement))
    found = wanted = 0
    for terms, is_negated in _split_clauses(statement):
        for term in terms:
            bears = _is_same if term in names else _is_like
            places = [negated for said, negated in clauses if any(bears(term, s) for s in said)]
            wanted += 1
            found += is_negated in places
            if is_negated not in places and (places or term in names or _is_decisive(term)):
                return False
    amounts = _list_signs_of_amounts(statement) - _list_signs_of_amounts(quote)
    return bool(wanted) and not amounts and found >= MIN_SHARE * wanted


def share_word(quote: str, statement: str) -> bool:
    """Tell whether one word that means something stands in both, in any form."""
    said = [term for clause, _ in _split_clauses(quote) for term in clause]
    stated = (term for clause, _ in _split_clauses(statement) for term in clause)
    return any(_is_like(term, each) for term in stated for each in said)


def names_other_numbers(quote: str, statement: str) -> bool:
    """Tell whether words that give numbers in digits give others than a statement; spelled out, nothing compares them."""
    said, stated = map(_list_numbers, (quote, statement))
    evening = {str(int(hour) + _HALF_DAY) for hour in said if len(hour) < 3}
    return bool(said) and not stated <= said | evening


def find_bearing_clause(quote: str, statement: str) -> str:
    """Return the clause of a quotation that has most words of a statement: what it says else is no matter."""
    terms = [term for clause, _ in _split_clauses(statement) for term in clause]
    clauses = filter(str.strip, _CLAUSE_END.split(unicodedata.normalize("NFKC", quote)))
    return max(clauses, key=partial(_count_borne, terms), default=quote)


def loses_negation(quote: str, said: str) -> bool:
    """Tell whether the word of its clause next to a quotation says no, and the quotation does not."""
    restored = restore_clause(quote, said, most=1), restore_clause(quote, said)
    return all(map(has_negation, restored)) and not has_negation(quote)


def restore_clause(quote: str, said: str, *, most: int = MAX_RESTORED) -> str:
    """Return a quotation with the words around it in its clause, a few on either side: a "not" may have been cut off."""
    before, found, after = said.partition(quote)
    if not found:
        return quote
    head, tail = _CLAUSE_END.split(before)[-1], _CLAUSE_END.split(after, maxsplit=1)[0]
    starts = [start for start, *_ in find_words(head)][-most:]
    ends = [end for _, end, _ in find_words(tail)][:most]
    return head[starts[0] if starts else len(head) :] + quote + tail[: ends[-1] if ends else 0]


def _count_borne(terms: Sequence[str], clause: str) -> int:
    said = tokenize(_NUMBER_EDGE.sub(" ", clause))
    return sum(any(_is_like(term, each) for each in said) for term in terms)


def _split_clauses(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the terms of each clause that mean something, and whether it says no."""
    for clause in _CLAUSE_END.split(unicodedata.normalize("NFKC", text)):
        terms = tokenize(_NUMBER_EDGE.sub(" ", clause))
        yield list(filter(_means_something, terms)), has_negation(clause)


def _means_something(term: str) -> bool:
    """Tell it of words; of scripts without spaces pairs of signs do, and single ideographs."""
    if term in _list_terms(_OWNER) or term in _tokenize_negations():
        return False
    if _is_unspaced(term):
        return not _HIRAGANA.search(term) and (len(term) > 1 or bool(_IDEOGRAPH.search(term)))
    return get_term_weight(term) > FUNCTION_WEIGHT


def _is_decisive(term: str) -> bool:
    """Tell whether a statement without this word would be another one."""
    if _is_unspaced(term):
        return len(term) == 1
    return term in _list_terms(_FREQUENT_AMOUNTS) or get_term_weight(term) >= RARE_WEIGHT


def _is_unspaced(term: str) -> bool:
    return not term.isascii() and not all(is_spaced for *_, is_spaced in find_words(term))


def _list_names(text: str) -> Iterator[str]:
    """Yield the terms of words with a capital letter; at the beginning any word has one."""
    for start, end, _ in find_words(text):
        terms = tokenize(text[start:end])
        if text[start].isupper() and (start or any(map(_is_decisive, terms))):
            yield from terms


def _is_same(term: str, other: str) -> bool:
    return term == other


def _is_like(term: str, other: str) -> bool:
    meant = (term, "live") if term == "life" else (term,)  # the stem of “lives”, noun or verb
    is_meant = any(other == each or other in list_synonyms(each) for each in meant)
    return is_meant or (term.isalpha() and _are_forms(term, other))


def _are_forms(term: str, other: str) -> bool:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(term, other, strict=False))
    return sum(1 for _ in pairs) >= max(MIN_BEGINNING, MIN_SHARE * max(len(term), len(other)))


def _list_numbers(text: str) -> set[str]:
    """Return the numbers of a text, without what parts their digits and what stands behind their point."""
    found = (
        "".join(str(unicodedata.decimal(s)) for s in n if s.isdecimal())
        for n in _NUMBER.findall(text)
    )
    return {digits.lstrip("0") for digits in found} - {""}


def _list_signs_of_amounts(text: str) -> set[str]:
    return {sign for sign in text if unicodedata.category(sign) == "Sc" or sign in "%‰°"}


@cache
def _list_terms(words: str) -> frozenset[str]:
    return frozenset(tokenize(words))


@cache
def _tokenize_negations() -> frozenset[str]:
    return frozenset(tokenize(" ".join(list_negation_words())))

"""Query of the index: a question as weighted terms, and the scores of hits against it.

Also called: query parsing, relevance scoring.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from types import MappingProxyType

from shared.domain.store.vectors import Hit, SparseVector
from shared.domain.value import value
from shared.retrieval.chunking import OWNER_LABEL
from shared.retrieval.sparse import TIME_MARKER, build_vector, called_term, speaker_term
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import (
    EVERYDAY_WEIGHT,
    FREQUENT_WEIGHT,
    get_term_weight,
)
from shared.retrieval.terms import list_question_words, term_id, tokenize
from shared.retrieval.word_forms import list_all_forms

SYNONYM_WEIGHT = 0.5
"""Weight of a synonym beside the word of the question."""
SHORT_FORM_WEIGHT = 0.5
STRONG_SHARE = 0.8
"""A hit by words whose score is at least this part of the best one's is about as likely what was meant."""
MAX_WORDS_WITH_FORMS = 50
"""A longer question has enough words to be found by those that are written alike."""
MAX_ELIDED_CHARS = 2
"""c'est, qu'on."""

_WHEN_WORDS = "when wann quand cuando quando"
_OWNER_WORDS = "i me my mine myself"


@value
class QueryTerm:
    """A term of a question: its weight by rarity, and the index terms that match it."""

    weight: float
    shares: Mapping[str, float]


@value
class ParsedQuery:
    """All terms of a question."""

    query_terms: tuple[QueryTerm, ...]

    @property
    def vector(self) -> SparseVector:
        """All terms as one vector: the index adds up those that a row has."""
        weights = defaultdict[str, float](float)
        for query_term in self.query_terms:
            for term, share in query_term.shares.items():
                weights[term] += query_term.weight * share
        return build_vector(weights)


def list_name_words(text: str) -> list[str]:
    """Return the words of a question that may be names, the rarest first."""
    weights = _weigh_words(dict(list_question_words(text)))
    return sorted(weights, key=lambda term: -weights[term])


def parse_query(
    text: str, people: Mapping[str, Collection[str]] = MappingProxyType({})
) -> ParsedQuery:
    """Ask for each word once: as a word, also in its forms of other languages, and as the name of a speaker.

    Words of no weight count only where a question has no others. `people` holds the keys of those who have
    a word in their name: said to them, it only calls for attention. A name that nobody has now is found there too.
    """
    words = dict(list_question_words(text))
    weights = _weigh_words(words)
    asked_terms = weights or dict.fromkeys(words, 1.0)
    forms = {t: _share_forms(words[t]) for t in islice(asked_terms, MAX_WORDS_WITH_FORMS)}
    word_terms = [
        QueryTerm(
            weight=weight,
            shares={
                **_build_term_shares(term, asked_terms),
                **forms.get(term, {}),
                **({} if term in people else {called_term(term): 1.0}),
            },
        )
        for term, weight in asked_terms.items()
    ]
    speakers = [
        QueryTerm(
            weight=weight,
            shares={speaker_term(key): 1.0 for key in (term, *people.get(term, ()))},
        )
        for term, weight in weights.items()
    ]
    return ParsedQuery(query_terms=(*word_terms, *speakers, *_list_implied_terms(words)))


def _weigh_words(words: Mapping[str, str]) -> dict[str, float]:
    """Return the weights of the terms that have one, by the words of the question they stand for."""
    weights = {term: _weigh(term, word) for term, word in words.items()}
    return {term: weight for term, weight in weights.items() if weight > 0}


def _weigh(term: str, word: str) -> float:
    """Weigh a word; behind an article or a pronoun, which is left out before a vowel, as what follows it."""
    head, _, rest = word.rpartition("'")
    is_elided = 0 < len(head) <= MAX_ELIDED_CHARS
    return (
        min(map(get_term_weight, [term, *tokenize(rest)])) if is_elided else get_term_weight(term)
    )


def asks_when(question: str) -> bool:
    return _has_when(tokenize(question))


def rescore(query: ParsedQuery, hits: Sequence[Hit]) -> list[Hit]:
    """Score hits of `query.vector` anew; best first, equal ones keep their order.

    A query term counts once in a row, by its best match, and weighs more the fewer of the hits
    have it: rarity in this library is added to rarity in general.
    """
    columns = dict(
        zip(
            query.vector.indices,
            zip(*(hit.term_weights for hit in hits), strict=True),
            strict=False,
        )
    )
    totals = [0.0] * len(hits)
    for query_term in query.query_terms:
        best_weights = _list_best_weights(query_term, columns)
        if best_weights:
            matching = len(best_weights) - best_weights.count(0)
            term_weight = query_term.weight + _compute_idf(matching, len(hits))
            totals = [
                total + term_weight * weight
                for total, weight in zip(totals, best_weights, strict=True)
            ]
    rescored = [hit.with_score(total) for hit, total in zip(hits, totals, strict=True)]
    return sorted(rescored, key=lambda hit: -hit.score)


def select_strong(by_words: Sequence[Hit]) -> list[Hit]:
    """Return the hits whose words fit about as well as the best one's; they come best first."""
    return [hit for hit in by_words if hit.score >= STRONG_SHARE * by_words[0].score]


def _list_best_weights(
    query_term: QueryTerm, columns: Mapping[int, Sequence[float]]
) -> list[float]:
    """Return the weight of the best match in each hit; none where no hit matches."""
    matching_columns = [
        [weight * share for weight in column]
        for term, share in query_term.shares.items()
        if any(column := columns.get(term_id(term), ()))
    ]
    if len(matching_columns) > 1:
        return list(map(max, *matching_columns))
    return matching_columns[0] if matching_columns else []


def _compute_idf(matching: int, count: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1 + (count - matching + 0.5) / (matching + 0.5))


def _build_term_shares(term: str, question_terms: Collection[str]) -> Mapping[str, float]:
    """Share a term with its synonyms, except those that the question asks for itself."""
    others = (other for other in list_synonyms(term) if other not in question_terms)
    return {term: 1.0, **dict.fromkeys(others, SYNONYM_WEIGHT)}


def _share_forms(word: str) -> dict[str, float]:
    """Return the forms of a word; one that keeps less than half of it is likely of another word."""
    return {
        form: 1.0 if 2 * len(form) > len(word) + 2 else SHORT_FORM_WEIGHT
        for form in list_all_forms(word)
    }


def _list_implied_terms(question_terms: Collection[str]) -> Iterator[QueryTerm]:
    if not _tokenize_once(_OWNER_WORDS).isdisjoint(question_terms):
        yield QueryTerm(
            weight=FREQUENT_WEIGHT,
            shares={speaker_term(name): 1.0 for name in tokenize(OWNER_LABEL)},
        )
    if _has_when(question_terms):
        yield QueryTerm(weight=EVERYDAY_WEIGHT, shares={TIME_MARKER: 1.0})


def _has_when(terms: Iterable[str]) -> bool:
    return not _tokenize_once(_WHEN_WORDS).isdisjoint(terms)


@cache
def _tokenize_once(words: str) -> frozenset[str]:
    return frozenset(tokenize(words))

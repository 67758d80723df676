"""What a question asks for, as the index is asked, and how well what came back fits."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from shared.domain.value import value
from shared.domain.vectors import Hit, SparseVector
from shared.retrieval.chunking import OWNER
from shared.retrieval.frequencies import EVERYDAY, FREQUENT, TELLING, weight
from shared.retrieval.related import related
from shared.retrieval.sparse import TIMED, by, vector
from shared.retrieval.terms import term_id, terms

STAND_IN = 0.5
"""What a related word counts for beside the one that was asked for."""

_WHEN = frozenset(terms("when wann quand cuando quando"))
_OWN = frozenset(terms("i me my mine myself"))


@value
class Wanted:
    """Something asked for: what it weighs by how rare it is, and the terms that show it."""

    weight: float
    shares: Mapping[str, float]


@value
class Query:
    """Everything that a question asks for."""

    wanted: tuple[Wanted, ...]

    @property
    def vector(self) -> SparseVector:
        """Everything in one: the index adds up what stands in a row."""
        weights = defaultdict[str, float](float)
        for one in self.wanted:
            for term, share in one.shares.items():
                weights[term] += one.weight * share
        return vector(weights)


def parse(text: str) -> Query:
    """Ask for each word once, said by somebody of that name or about it.

    Words of no weight count only where a question has no others.
    """
    asked = dict.fromkeys(terms(text))
    telling = [term for term in asked if weight(term) > 0]
    words = [Wanted(weight=weight(t), shares=_shares(t, telling)) for t in telling]
    plain = [Wanted(weight=1.0, shares={term: 1.0}) for term in asked]
    speakers = [Wanted(weight=weight(t), shares={by(t): 1.0}) for t in telling]
    return Query(wanted=(*(words or plain), *speakers, *_implied(asked)))


def ranked(query: Query, hits: Sequence[Hit]) -> list[Hit]:
    """Score hits of `query.vector` anew; best first, equal ones in the order they came.

    What is wanted counts once in a row, by its best term, and weighs more the fewer of the hits
    hold it: how rare a word is in this library, beside how rare it is in general.
    """
    columns = dict(
        zip(query.vector.indices, zip(*(hit.matched for hit in hits), strict=True), strict=False)
    )
    totals = [0.0] * len(hits)
    for one in query.wanted:
        held = [(columns.get(term_id(term), ()), share) for term, share in one.shares.items()]
        shown = [[weight * share for weight in column] for column, share in held if any(column)]
        found = [max(each) for each in zip(*shown, strict=True)]
        worth = one.weight + _rarity(sum(map(bool, found)), len(hits))
        if found:
            totals = [total + worth * each for total, each in zip(totals, found, strict=True)]
    rescored = [hit.scored(total) for hit, total in zip(hits, totals, strict=True)]
    return sorted(rescored, key=lambda hit: -hit.score)


def favoured(hits: Sequence[Hit], fitting: set[str]) -> list[Hit]:
    """Let hits that fit in another way gain what a telling word in them would; best first."""
    worth = TELLING + _rarity(len(fitting), len(hits))
    scored = [hit.scored(hit.score + worth) if hit.id in fitting else hit for hit in hits]
    return sorted(scored, key=lambda hit: -hit.score)


def _rarity(holding: int, count: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


def _shares(term: str, asked: Sequence[str]) -> Mapping[str, float]:
    """What is asked for by itself stands in for nothing else."""
    others = (other for other in related(term) if other not in asked)
    return {term: 1.0, **dict.fromkeys(others, STAND_IN)}


def _implied(asked: Mapping[str, None]) -> Iterator[Wanted]:
    if not _OWN.isdisjoint(asked):
        yield Wanted(weight=FREQUENT, shares={by(name): 1.0 for name in terms(OWNER)})
    if not _WHEN.isdisjoint(asked):
        yield Wanted(weight=EVERYDAY, shares={TIMED: 1.0})

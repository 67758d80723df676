"""Texts and questions as sparse vectors, whose plain dot product ranks as BM25 does."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from shared.domain.vectors import SparseVector
from shared.retrieval.chunking import OWNER, Chunk
from shared.retrieval.frequencies import EVERYDAY, FREQUENT, weight
from shared.retrieval.terms import term_id, terms

MAX_TERMS = 1_000
SATURATION = 0.9
LENGTH_SHARE = 0.4
USUAL_TERMS = 70
"""BM25's k1 and b; the usual length is fixed, so that a row never depends on other rows."""

NEAR = ((-3, 0.2), (-2, 0.4), (-1, 0.6), (1, 0.6), (2, 0.4), (3, 0.2))
"""A turn is found by its neighbours' words too, the less the farther they stand."""

MARK = 1.0
"""Who speaks, and that a time is named, weigh like a word that is said once: somebody who asks may
be wrong about who said it."""

GRAIN = 256
"""Weights are multiples of 1/256: float32 holds them exactly, so every index adds up the same."""

_TIME = frozenset(terms(
    "yesterday today tonight tomorrow ago last next week month year weekend since recently"
    " monday tuesday wednesday thursday friday saturday sunday january february march april june"
    " july august september october november december morning night summer winter spring fall day"
))  # fmt: skip
_WHEN = frozenset(terms("when wann quand cuando quando"))
_OWN = frozenset(terms("i me my mine myself"))
_NAMELESS = re.compile(r"speaker[ _]?\d*", re.IGNORECASE).fullmatch


def of_text(text: str, speakers: Iterable[str] = ()) -> SparseVector:
    """Weigh what a text says: a repeated word counts less each time, in long texts less still.

    Its speakers are known, and so no news.
    """
    names = {name for speaker in speakers for name in _names(speaker)}
    said = Counter(term for term in terms(text) if term not in names)
    return _vector(_saturated(said) | {_by(name): MARK for name in names})


def of_chunks(chunks: Sequence[Chunk], heading: str) -> list[SparseVector]:
    """Weigh each chunk of a conversation among its neighbours, under the same heading.

    A speaker's name says who speaks; spoken in that conversation, it only calls for attention.
    """
    names = {name for chunk in chunks for name in _names(chunk.speaker)}
    head = Counter(terms(heading))
    said = [_said(chunk, names) for chunk in chunks]
    return [
        _vector({**_saturated({**_near(said, n), **head}), **dict(_marks(chunk, said[n]))})
        for n, chunk in enumerate(chunks)
    ]


def _said(chunk: Chunk, names: set[str]) -> Counter[str]:
    return Counter(term for term in terms(chunk.text) if term not in names)


def of_query(text: str) -> SparseVector:
    """Weigh what a question asks for: by how rare its words are, once each, said by or about.

    Words of no weight count only where a question has no others.
    """
    asked = dict.fromkeys(terms(text))
    weights = {term: weight(term) for term in asked if weight(term) > 0}
    by = {_by(term): weight for term, weight in weights.items()}
    return _vector({**(weights or dict.fromkeys(asked, 1.0)), **by, **dict(_implied(asked))})


def _implied(asked: Mapping[str, None]) -> Iterator[tuple[str, float]]:
    if not _OWN.isdisjoint(asked):
        yield from ((_by(name), FREQUENT) for name in terms(OWNER))
    if not _WHEN.isdisjoint(asked):
        yield "when:", EVERYDAY


def _marks(chunk: Chunk, said: Counter[str]) -> Iterator[tuple[str, float]]:
    yield from ((_by(name), MARK) for name in _names(chunk.speaker))
    if not _TIME.isdisjoint(said):
        yield "when:", MARK


def _names(speaker: str) -> list[str]:
    return [] if _NAMELESS(speaker) else terms(speaker)


def _by(name: str) -> str:
    """No word holds a colon, so what is said about somebody stays apart from what they say."""
    return f"by:{name}"


def _near(said: Sequence[Counter[str]], n: int) -> Mapping[str, float]:
    near = defaultdict[str, float](float, said[n])
    for offset, share in NEAR:
        if 0 <= n + offset < len(said):
            for term, count in said[n + offset].items():
                near[term] += share * count
    return near


def _saturated(counts: Mapping[str, float]) -> dict[str, float]:
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * sum(counts.values()) / USUAL_TERMS
    return {term: n * (SATURATION + 1) / (n + SATURATION * length) for term, n in counts.items()}


def _vector(weights: Mapping[str, float]) -> SparseVector:
    """Keep what tells most, where there is too much; the last of two equal hashes wins."""
    told = weights
    if len(weights) > MAX_TERMS:
        told = dict(sorted(weights.items(), key=lambda w: -w[1] * weight(w[0]))[:MAX_TERMS])
    by_id = {term_id(term): max(round(told[term] * GRAIN), 1) / GRAIN for term in told}
    indices = tuple(sorted(by_id))
    return SparseVector(indices, tuple(by_id[index] for index in indices))

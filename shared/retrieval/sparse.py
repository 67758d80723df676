"""Texts and questions as sparse vectors, whose plain dot product ranks as BM25 does."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from shared.domain.vectors import SparseVector
from shared.retrieval.chunking import Chunk
from shared.retrieval.frequencies import weight
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

TIMED = "when:"
"""The term of a turn that names a time; no word holds a colon."""

GRAIN = 256
"""Weights are multiples of 1/256: float32 holds them exactly, so every index adds up the same."""

_TIME = frozenset(terms(
    "yesterday today tonight tomorrow ago last next week month year weekend since recently"
    " monday tuesday wednesday thursday friday saturday sunday january february march april june"
    " july august september october november december morning night summer winter spring fall day"
))  # fmt: skip
_NAMELESS = re.compile(r"speaker[ _]?\d*", re.IGNORECASE).fullmatch


def of_text(text: str, speakers: Iterable[str] = ()) -> SparseVector:
    """Weigh what a text says: a repeated word counts less each time, in long texts less still.

    Its speakers are known, and so no news.
    """
    names = {name for speaker in speakers for name in _names(speaker)}
    said = Counter(term for term in terms(text) if term not in names)
    return vector(_saturated(said) | {by(name): MARK for name in names})


def of_chunks(chunks: Sequence[Chunk], heading: str) -> list[SparseVector]:
    """Weigh each chunk of a conversation among its neighbours, under the same heading.

    A speaker's name says who speaks; spoken in that conversation, it only calls for attention.
    """
    names = {name for chunk in chunks for name in _names(chunk.speaker)}
    head = Counter(terms(heading))
    said = [_said(chunk, names) for chunk in chunks]
    return [
        vector(_saturated(_near(said, n, head)) | dict(_marks(chunk, said[n])))
        for n, chunk in enumerate(chunks)
    ]


def by(name: str) -> str:
    """No word holds a colon, so what is said about somebody stays apart from what they say."""
    return f"by:{name}"


def vector(weights: Mapping[str, float]) -> SparseVector:
    """Keep what tells most, where there is too much; the last of two equal hashes wins."""
    told = weights
    if len(weights) > MAX_TERMS:
        told = dict(sorted(weights.items(), key=lambda w: -w[1] * weight(w[0]))[:MAX_TERMS])
    by_id = {term_id(term): max(round(told[term] * GRAIN), 1) / GRAIN for term in told}
    indices = tuple(sorted(by_id))
    return SparseVector(indices, tuple(by_id[index] for index in indices))


def _said(chunk: Chunk, names: set[str]) -> Counter[str]:
    return Counter(term for term in terms(chunk.text) if term not in names)


def _marks(chunk: Chunk, said: Counter[str]) -> Iterator[tuple[str, float]]:
    yield from ((by(name), MARK) for name in _names(chunk.speaker))
    if not _TIME.isdisjoint(said):
        yield TIMED, MARK


def _names(speaker: str) -> list[str]:
    return [] if _NAMELESS(speaker) else terms(speaker)


def _near(said: Sequence[Counter[str]], n: int, head: Counter[str]) -> Mapping[str, float]:
    near = defaultdict[str, float](float, said[n] + head)
    for offset, share in NEAR:
        if 0 <= n + offset < len(said):
            for term, count in said[n + offset].items():
                near[term] += share * count
    return near


def _saturated(counts: Mapping[str, float]) -> dict[str, float]:
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * sum(counts.values()) / USUAL_TERMS
    return {term: n * (SATURATION + 1) / (n + SATURATION * length) for term, n in counts.items()}

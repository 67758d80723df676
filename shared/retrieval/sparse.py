"""Sparse vectors of texts and questions, whose plain dot product ranks as BM25 does.

Also called: full-text search, keyword search, lexical search.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from shared.domain.ids import PersonId
from shared.domain.store.vectors import SparseVector
from shared.retrieval.chunking import Chunk
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import term_id, tokenize, tokenize_in

MAX_TERMS = 1_000
BM25_K1 = 0.9
BM25_B = 0.4
USUAL_TERMS = 70
"""BM25's k1 and b; the usual length is fixed, so that a row never depends on other rows."""

NEIGHBOUR_WEIGHTS = ((-3, 0.2), (-2, 0.4), (-1, 0.6), (1, 0.6), (2, 0.4), (3, 0.2))
"""A turn is also found by its neighbours' words, which count less the farther they stand."""

MARKER_WEIGHT = 1.0
"""Markers of a speaker, of their name and of a time weigh like a word that is said once: a question may be
wrong about who said something."""

NOBODY: Mapping[PersonId, str] = MappingProxyType({})
TIME_MARKER = "when:"
"""The term of a turn that names a time; no word holds a colon."""

QUANTIZATION_STEPS = 256
"""Weights are multiples of 1/256: float32 holds them exactly, so every index adds up the same."""

_TIME_WORDS = (
    "yesterday today tonight tomorrow ago last next week month year weekend since recently"
    " monday tuesday wednesday thursday friday saturday sunday january february march april june"
    " july august september october november december morning night summer winter spring fall day"
)  # fmt: skip
_IS_UNNAMED_SPEAKER = re.compile(r"speaker[ _]?\d*", re.IGNORECASE).fullmatch


def encode_text(
    text: str,
    heading: str = "",
    *,
    speakers: Collection[str] = (),
    people: Mapping[PersonId, str] = NOBODY,
    language: str = "",
) -> SparseVector:
    """Weigh the words of a text: a repeated one counts less each time, in long texts less still.

    The names of its speakers count as markers alone; `people` speak too, by id, with their present names. The
    heading is in English, the text in `language` (ISO 639-1), where that is known.
    """
    keys = [key for speaker in speakers for key in _tokenize_name(speaker)]
    names = _list_names(speakers, language)
    counts, called = _count_terms(text, names, _list_calls(people, language), language)
    markers = [*map(speaker_term, [*keys, *map(person_key, people)]), *map(called_term, called)]
    term_counts = Counter(tokenize(heading)) + counts
    return build_vector(_saturate_bm25(term_counts) | dict.fromkeys(markers, MARKER_WEIGHT))


def encode_chunks(
    chunks: Sequence[Chunk],
    heading: str,
    *,
    people: Mapping[PersonId, str] = NOBODY,
    language: str = "",
) -> list[SparseVector]:
    """Weigh each chunk of a conversation in `language` (ISO 639-1) among its neighbours, under the same heading.

    A speaker's name counts as a marker alone: said to them, it only calls for attention. Those of `people`, by
    id, have a marker of their own for that: they may be called otherwise one day.
    """
    names = _list_names({chunk.speaker for chunk in chunks}, language)
    calls = _list_calls(people, language)
    heading_counts = Counter(tokenize(heading))
    counted = [_count_terms(chunk.text, names, calls, language) for chunk in chunks]
    term_counts = [counts for counts, _ in counted]
    return [
        build_vector(
            _saturate_bm25(_add_neighbours(term_counts, n, heading_counts))
            | dict.fromkeys(_list_markers(chunk, counts, called, language), MARKER_WEIGHT)
        )
        for n, (chunk, (counts, called)) in enumerate(zip(chunks, counted, strict=True))
    ]


def speaker_term(key: str) -> str:
    """Return the marker of a speaker: no word holds a colon, so it differs from a spoken name."""
    return f"by:{key}"


def called_term(key: str) -> str:
    """Return the marker of a name that is said to a speaker who has it."""
    return f"called:{key}"


def person_key(person_id: str) -> str:
    """Return what stands for a person in a row; names, which are folded, have no capitals."""
    return f"ID:{person_id}"


def build_speaker_vector(name: str, people: Iterable[str] = ()) -> SparseVector:
    """Ask for rows of conversations in which somebody of this name, or one of the people, speaks."""
    keys = [*_tokenize_name(name), *map(person_key, people)]
    return build_vector({speaker_term(key): MARKER_WEIGHT for key in keys})


def build_vector(weights: Mapping[str, float]) -> SparseVector:
    """Build a vector of the MAX_TERMS heaviest terms; of equal hashes the last one wins."""
    selected_weights = weights
    if len(weights) > MAX_TERMS:
        selected_weights = dict(
            sorted(weights.items(), key=lambda w: -w[1] * get_term_weight(w[0]))[:MAX_TERMS]
        )
    by_id = {
        term_id(term): (round(weight * QUANTIZATION_STEPS) or 1) / QUANTIZATION_STEPS
        for term, weight in selected_weights.items()
    }
    indices = tuple(sorted(by_id))
    return SparseVector(indices, tuple(by_id[index] for index in indices))


def _count_terms(
    text: str, names: Collection[str], calls: Mapping[str, Sequence[str]], language: str
) -> tuple[Counter[str], list[str]]:
    """Count the words of a text without its speakers' names, and return which of `calls` were said."""
    counts = Counter(term for term in tokenize_in(text, language) if term not in names)
    said = calls.keys() & counts.keys()
    words = Counter({term: n for term, n in counts.items() if term not in said}) if said else counts
    return words, [key for term in said for key in calls[term]]


def _list_names(speakers: Iterable[str], language: str) -> set[str]:
    """Return the terms of speakers' names as a language has them."""
    named = [speaker for speaker in speakers if not _IS_UNNAMED_SPEAKER(speaker)]
    return {term for speaker in named for term in tokenize_in(speaker, language)}


def _list_calls(people: Mapping[PersonId, str], language: str) -> dict[str, list[str]]:
    """Return the terms of people's names as a language has them, with those by which a question asks for them."""
    words = [word for name in people.values() for word in name.split()]
    return {term: tokenize(word) for word in words for term in tokenize_in(word, language)}


def _list_markers(
    chunk: Chunk, counts: Mapping[str, int], called: Iterable[str], language: str
) -> Iterator[str]:
    keys = [person_key(chunk.person_id)] if chunk.person_id else _tokenize_name(chunk.speaker)
    yield from map(speaker_term, keys)
    yield from map(called_term, called)
    if not _list_time_terms(language).isdisjoint(counts):
        yield TIME_MARKER


@lru_cache
def _list_time_terms(language: str) -> frozenset[str]:
    return frozenset(tokenize_in(_TIME_WORDS, language))


def _tokenize_name(speaker: str) -> list[str]:
    return [] if _IS_UNNAMED_SPEAKER(speaker) else tokenize(speaker)


def _add_neighbours(
    term_counts: Sequence[Counter[str]], n: int, heading_counts: Counter[str]
) -> Mapping[str, float]:
    totals = defaultdict[str, float](float, term_counts[n] + heading_counts)
    for offset, share in NEIGHBOUR_WEIGHTS:
        if 0 <= n + offset < len(term_counts):
            for term, count in term_counts[n + offset].items():
                totals[term] += share * count
    return totals


def _saturate_bm25(counts: Mapping[str, float]) -> dict[str, float]:
    length = 1 - BM25_B + BM25_B * sum(counts.values()) / USUAL_TERMS
    return {term: n * (BM25_K1 + 1) / (n + BM25_K1 * length) for term, n in counts.items()}

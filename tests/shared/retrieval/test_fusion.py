"""Fusion of two rankings (C66)."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.store.vectors import Hit
from shared.retrieval.fusion import DENSE_WEIGHT, fuse_ranks, fuse_scores


def hits(**scores: float) -> list[Hit]:
    return [Hit(id=name, score=score, metadata={}) for name, score in scores.items()]


def scores(fused_hits: list[Hit]) -> dict[str, float]:
    return {hit.id: hit.score for hit in fused_hits}


def test_reciprocal_ranks_add_up_c66():
    fused_hits = fuse_ranks(hits(a=9, b=5, c=1), hits(c=0.9, a=0.8, d=0.1))

    assert [hit.id for hit in fused_hits] == ["a", "c", "b", "d"]
    assert scores(fused_hits) == pytest.approx(
        {"a": 1 / 61 + 1 / 62, "c": 1 / 63 + 1 / 61, "b": 1 / 62, "d": 1 / 63}
    )


def test_equal_hits_keep_their_order_c66():
    assert [hit.id for hit in fuse_ranks(hits(a=1, b=1), hits(b=1, a=1))] == ["a", "b"]
    assert [hit.id for hit in fuse_ranks(hits(a=1), hits(z=1))] == ["a", "z"]


def test_a_single_ranking_is_unchanged():
    assert [hit.id for hit in fuse_ranks(hits(b=3, a=2), [])] == ["b", "a"]
    assert fuse_scores(hits(b=3, a=2), [], limit=2) == hits(b=3, a=2)


def test_fused_scores_are_added_as_standard_deviations():
    fused_hits = fuse_scores(hits(a=10, b=8), hits(c=0.9, b=0.5), limit=2)

    words, vectors = [2**0.5, -(0.5**0.5), -(0.5**0.5)], [-(0.5**0.5), -(0.5**0.5), 2**0.5]
    expected = [
        (1 - DENSE_WEIGHT) * word + DENSE_WEIGHT * vector
        for word, vector in zip(words, vectors, strict=True)
    ]
    assert scores(fused_hits) == pytest.approx(dict(zip("abc", expected, strict=True)))


def test_a_hit_without_words_is_behind_one_that_has_them_where_all_are_known():
    assert fuse_scores(hits(a=10), hits(b=0.9, c=0.2), limit=9)[0].id == "a"


def test_a_hit_without_matching_words_is_found_by_its_dense_vector():
    assert [hit.id for hit in fuse_scores([], hits(a=0.9, b=0.2), limit=9)] == ["a", "b"]
    assert scores(fuse_scores([], hits(a=0.5), limit=9)) == {"a": 0.0}


rankings = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)).map(
    lambda scores: sorted(hits(**scores), key=lambda hit: -hit.score)
)


@given(rankings, rankings, st.integers(1, 9), st.integers(-8, 8), st.integers(0, 3))
def test_the_scale_of_a_score_changes_no_order(
    by_words: list[Hit], by_vector: list[Hit], limit: int, shift: int, power: int
):
    scaled = [hit.with_score(hit.score * 2**power + shift) for hit in by_vector]

    fused, fused_scaled = (
        scores(fuse_scores(by_words, vectors, limit=limit)) for vectors in (by_vector, scaled)
    )

    assert fused_scaled == pytest.approx(fused)


@given(rankings, rankings, st.integers(1, 9))
def test_every_hit_is_there_once_and_what_is_better_in_both_comes_first(
    by_words: list[Hit], by_vector: list[Hit], limit: int
):
    fused_hits = fuse_scores(by_words, by_vector, limit=limit)

    words, vectors = scores(by_words), scores(by_vector)
    places = {hit.id: place for place, hit in enumerate(fused_hits)}
    assert len(places) == len(fused_hits)
    assert places.keys() == words.keys() | vectors.keys()
    both = words.keys() & vectors.keys()
    for one, other in permutations(both, 2):
        if words[one] > words[other] and vectors[one] > vectors[other]:
            assert places[one] < places[other]


@given(rankings, st.integers(1, 9))
def test_equal_hits_keep_the_order_of_the_words(by_words: list[Hit], limit: int):
    equal = [hit.with_score(1.0) for hit in by_words]

    fused_hits = fuse_scores(equal, equal[::-1], limit=limit)

    assert [hit.id for hit in fused_hits] == [hit.id for hit in equal]

"""Fusion of two rankings (C66)."""

import pytest

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
    assert fuse_scores(hits(b=3, a=2), []) == hits(b=3, a=2)


def test_fused_scores_add_dense_scores_to_word_scores():
    fused_hits = fuse_scores(hits(a=10, b=8), hits(b=0.9, c=0.5, a=0.4))

    assert scores(fused_hits) == pytest.approx(
        {"b": 0.8 + DENSE_WEIGHT, "a": 1.0, "c": 0.2 * DENSE_WEIGHT}
    )
    assert [hit.id for hit in fused_hits] == ["b", "a", "c"]


def test_a_hit_without_matching_words_is_found_by_its_dense_vector():
    assert [hit.id for hit in fuse_scores([], hits(a=0.9, b=0.2))] == ["a", "b"]
    assert scores(fuse_scores([], hits(a=0.5))) == {"a": 0.0}

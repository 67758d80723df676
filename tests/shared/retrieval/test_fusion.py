"""How two rankings become one (C66)."""

import pytest

from shared.domain.vectors import Hit
from shared.retrieval.fusion import MEANING_SHARE, blended, reciprocal


def hits(**scores: float) -> list[Hit]:
    return [Hit(id=name, score=score, metadata={}) for name, score in scores.items()]


def scores(found: list[Hit]) -> dict[str, float]:
    return {hit.id: hit.score for hit in found}


def test_c66_reciprocal_ranks_add_up():
    found = reciprocal(hits(a=9, b=5, c=1), hits(c=0.9, a=0.8, d=0.1))

    assert [hit.id for hit in found] == ["a", "c", "b", "d"]
    assert scores(found) == pytest.approx(
        {"a": 1 / 61 + 1 / 62, "c": 1 / 63 + 1 / 61, "b": 1 / 62, "d": 1 / 63}
    )


def test_c66_equal_ones_stay_in_the_order_they_came():
    assert [hit.id for hit in reciprocal(hits(a=1, b=1), hits(b=1, a=1))] == ["a", "b"]
    assert [hit.id for hit in reciprocal(hits(a=1), hits(z=1))] == ["a", "z"]


def test_one_ranking_alone_stays_as_it_is():
    assert [hit.id for hit in reciprocal(hits(b=3, a=2), [])] == ["b", "a"]
    assert blended(hits(b=3, a=2), []) == hits(b=3, a=2)


def test_a_blend_adds_what_meaning_says_to_what_words_say():
    found = blended(hits(a=10, b=8), hits(b=0.9, c=0.5, a=0.4))

    assert scores(found) == pytest.approx(
        {"b": 0.8 + MEANING_SHARE, "a": 1.0, "c": 0.2 * MEANING_SHARE}
    )
    assert [hit.id for hit in found] == ["b", "a", "c"]


def test_what_no_word_shows_is_found_by_meaning():
    assert [hit.id for hit in blended([], hits(a=0.9, b=0.2))] == ["a", "b"]
    assert scores(blended([], hits(a=0.5))) == {"a": 0.0}

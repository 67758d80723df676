"""Dense recipes: a row's text among its neighbours."""

import pytest

from shared.retrieval.dense_recipe import (
    blend_vectors,
    build_line_recipes,
    build_recipe_name,
    build_text_recipe,
)


def test_a_line_recipe_weights_neighbours_less_with_distance():
    [first, *_] = build_line_recipes(["a", "b", "c", "d", "e"])

    assert first == (("a", 1.0), ("b", 0.6), ("c", 0.4), ("d", 0.2))


def test_vectors_are_blended_to_unit_length():
    assert blend_vectors(build_text_recipe("a"), {"a": (3.0, 4.0)}) == pytest.approx((0.6, 0.8))
    assert blend_vectors(
        (("a", 1.0), ("b", 0.5)), {"a": (1.0, 0.0), "b": (0.0, 2.0)}
    ) == pytest.approx((0.5**0.5, 0.5**0.5))
    assert blend_vectors(build_text_recipe("a"), {"a": (0.0, 0.0)}) == (0.0, 0.0)


def test_recipe_names_differ_by_text_share_and_embedder():
    names = {
        build_recipe_name(build_text_recipe("a"), "x"),
        build_recipe_name(build_text_recipe("b"), "x"),
        build_recipe_name(build_text_recipe("a"), "y"),
        build_recipe_name((("a", 0.5),), "x"),
    }

    assert len(names) == 4
    assert build_recipe_name(build_text_recipe("a"), "x") == build_recipe_name(
        build_text_recipe("a"), "x"
    )

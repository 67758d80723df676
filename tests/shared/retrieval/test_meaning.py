"""What a row means among its neighbours."""

import pytest

from shared.retrieval.meaning import blended, named, of_lines, of_text


def test_a_line_means_itself_first_and_its_neighbours_the_less_the_farther():
    [first, *_] = of_lines(["a", "b", "c", "d", "e"])

    assert first == (("a", 1.0), ("b", 0.6), ("c", 0.4), ("d", 0.2))


def test_vectors_are_blended_to_unit_length():
    assert blended(of_text("a"), {"a": (3.0, 4.0)}) == pytest.approx((0.6, 0.8))
    assert blended((("a", 1.0), ("b", 0.5)), {"a": (1.0, 0.0), "b": (0.0, 2.0)}) == pytest.approx(
        (0.5**0.5, 0.5**0.5)
    )
    assert blended(of_text("a"), {"a": (0.0, 0.0)}) == (0.0, 0.0)


def test_a_name_tells_texts_shares_and_embedders_apart():
    names = {
        named(of_text("a"), "x"),
        named(of_text("b"), "x"),
        named(of_text("a"), "y"),
        named((("a", 0.5),), "x"),
    }

    assert len(names) == 4
    assert named(of_text("a"), "x") == named(of_text("a"), "x")

"""Dense vectors in 8 bits: a quarter of the size, and the same neighbours (E1)."""

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.dense_blobs import MIN_ROUNDED, decode_dense, encode_dense
from shared.adapters.embedded.exact_search import BLOCK_ROWS, Matrix, read_vectors

numbers = st.floats(-1e3, 1e3, width=32)


@given(st.lists(numbers, min_size=1, max_size=MIN_ROUNDED - 1))
def test_a_short_vector_is_stored_as_it_is(vector: list[float]):
    assert list(decode_dense(encode_dense(vector))) == vector


@given(st.integers(MIN_ROUNDED // 2, 300), st.integers(0, 2**32 - 1))
def test_a_vector_of_an_embedder_takes_a_byte_a_number_and_keeps_its_direction(
    half: int, seed: int
):
    vector = np.random.default_rng(seed).standard_normal(2 * half)

    blob = encode_dense(vector.tolist())
    decoded = np.array(decode_dense(blob))

    assert len(blob) == len(vector) + 1
    assert decoded @ vector / np.linalg.norm(decoded) / np.linalg.norm(vector) > 0.999
    assert encode_dense(decoded.tolist()) == blob


@pytest.mark.parametrize("length", [2, 384, 385])
def test_vectors_stored_in_32_bits_before_are_searched_like_those_in_8(length: int):
    vectors = np.random.default_rng(1).standard_normal((9, length)).astype(np.float32)
    before = b"".join(array("f", vector).tobytes() for vector in vectors.tolist())
    now = b"".join(map(encode_dense, vectors.tolist()))

    assert np.array_equal(read_vectors(before, 9), read_vectors(now, 9))


def test_scores_are_cosines_in_every_block_of_rows():
    vectors = np.random.default_rng(2).standard_normal((2 * BLOCK_ROWS + 1, 384))
    question = np.random.default_rng(3).standard_normal(384)
    blobs = b"".join(map(encode_dense, vectors.tolist()))
    scores = np.full(len(vectors), np.nan)

    Matrix.build(
        np.arange(len(vectors), dtype=np.int32), read_vectors(blobs, len(vectors))
    ).set_scores(question.tolist(), scores)

    exact = vectors @ question / np.linalg.norm(vectors, axis=1) / np.linalg.norm(question)
    assert np.abs(scores - exact).max() < 0.005
    assert scores.argmax() == exact.argmax()


@pytest.mark.parametrize("number", [0.0, float("nan"), float("inf"), 1e-320])
def test_a_vector_without_a_direction_is_near_to_nothing_and_stops_no_search(number: float):
    blob = encode_dense([number] * MIN_ROUNDED)

    assert set(decode_dense(blob)) == {0.0}
    assert not np.asarray(read_vectors(blob, 1)).any()

"""Lists split and texts truncated so that they fit a limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.store.sizes import split_by_size, truncate


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], []),
        ([0], [[0]]),
        ([4, 6], [[4, 6]]),
        ([4, 7], [[4], [7]]),
        ([1, 50, 1], [[1], [50], [1]]),
        ([50], [[50]]),
    ],
)
def test_items_are_split_where_their_sizes_exceed_the_limit(
    sizes: list[int], batches: list[list[int]]
) -> None:
    assert list(split_by_size(sizes, lambda size: size, 10)) == batches


@given(st.lists(st.integers(0, 20)), st.integers(1, 30))
def test_every_item_stands_in_one_batch_in_its_order(sizes: list[int], limit: int) -> None:
    batches = list(split_by_size(sizes, lambda size: size, limit))

    assert [size for batch in batches for size in batch] == sizes
    assert all(len(batch) == 1 or sum(batch) <= limit for batch in batches)


def test_a_short_text_is_not_truncated() -> None:
    assert truncate("abcdef", 6) == "abcdef"


def test_a_truncated_text_says_how_much_is_left_out() -> None:
    assert truncate("abcdefgh", 6) == "abcdef\n… 2 characters left out …"
    assert truncate("abcdefgh", 6, advice="; ask again") == (
        "abcdef\n… 2 characters left out; ask again …"
    )


def test_the_end_of_a_truncated_text_is_kept_on_request() -> None:
    assert truncate("abcdefgh", 6, end_chars=3) == "abc\n… 2 characters left out …\nfgh"

"""Dense windows: turns in a row that are embedded as one (D4)."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.retrieval.chunking import Chunk
from shared.retrieval.dense_windows import (
    GROUP_CHUNKS,
    WINDOW_CHARS,
    format_window,
    split_into_windows,
)

lengths = st.lists(st.integers(1, 1_000), min_size=1, max_size=3 * GROUP_CHUNKS)


def build_chunks(lengths: list[int]) -> list[Chunk]:
    return [Chunk(segment=n, speaker="Bea", text="x" * length) for n, length in enumerate(lengths)]


@given(lengths, st.sampled_from([50, WINDOW_CHARS]))
def test_every_chunk_is_in_one_window_within_both_limits_d4(lengths: list[int], chars: int):
    chunks = build_chunks(lengths)

    windows = split_into_windows(chunks, chars)

    assert list(chain.from_iterable(windows)) == chunks
    for window in windows:
        assert 1 <= len(window) <= GROUP_CHUNKS
        assert len(window) == 1 or sum(len(chunk.text) for chunk in window) <= chars


@given(lengths, st.data())
def test_an_edited_turn_changes_the_windows_of_its_group_alone_d4(
    lengths: list[int], data: st.DataObject
):
    edited = data.draw(st.integers(0, len(lengths) - 1))
    new_lengths = [*lengths[:edited], data.draw(st.integers(1, 1_000)), *lengths[edited + 1 :]]
    group = edited - edited % GROUP_CHUNKS

    before, after = (
        {window[0].segment: window for window in split_into_windows(build_chunks(each))}
        for each in (lengths, new_lengths)
    )

    changed = [n for n in before | after if before.get(n) != after.get(n)]
    assert all(group <= n < group + GROUP_CHUNKS for n in changed)


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [([100] * 9, [6, 3]), ([1_000] * 3, [1, 1, 1]), ([280, 280, 400, 20, 200], [2, 2, 1])],
)
def test_long_turns_share_a_window_with_fewer_others_d4(lengths: list[int], sizes: list[int]):
    assert [len(window) for window in split_into_windows(build_chunks(lengths))] == sizes


def test_a_window_is_embedded_with_a_line_for_each_chunk():
    window = [Chunk(segment=0, speaker="Bea", text="Hi"), Chunk(segment=1, speaker="Al", text="Yo")]

    assert format_window(window) == "Bea: Hi\nAl: Yo"

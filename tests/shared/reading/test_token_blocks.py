"""Blocks of texts: nothing is lost, and none is larger than a model takes (M92)."""

from hypothesis import given
from hypothesis import strategies as st

from shared.models.windows import count_data_tokens
from shared.reading.token_blocks import (
    MAX_BLOCK_TOKENS,
    MAX_OVERLAP_CHARS,
    split_blocks,
    split_text,
)


@given(st.lists(st.text(max_size=300)), st.integers(min_value=10, max_value=200))
def test_blocks_hold_every_character_in_order_and_fit_m92(texts: list[str], size: int) -> None:
    blocks = split_blocks(texts, size)

    assert "".join(piece for block in blocks for piece in block) == "".join(texts)
    assert all(sum(map(count_data_tokens, block)) <= size for block in blocks)


def test_a_hundred_and_fifty_thousand_tokens_are_three_blocks_m92() -> None:
    messages = ["word " * 4_000] * 30

    assert sum(map(count_data_tokens, messages)) > 2 * MAX_BLOCK_TOKENS
    assert len(split_blocks(messages)) == 3


def test_nothing_is_one_empty_block_m92() -> None:
    assert split_blocks([]) == [[]]


@given(st.text(max_size=3_000), st.integers(min_value=20, max_value=400))
def test_a_text_is_in_its_pieces_in_order_n2(text: str, size: int) -> None:
    pieces = split_text(text, size)

    end = 0
    for piece in pieces:
        start = text.find(piece, max(0, end - MAX_OVERLAP_CHARS))
        assert 0 <= start <= end
        assert count_data_tokens(piece) <= size
        end = start + len(piece)
    assert end == len(text)


def test_a_sentence_stands_whole_in_a_piece_n2() -> None:
    words = [f"w{n}" for n in range(4_000)]

    pieces = split_text(" ".join(words), 1_000)

    assert len(pieces) > 5
    for n in range(3_990):
        assert any(" ".join(words[n : n + 10]) in piece for piece in pieces)

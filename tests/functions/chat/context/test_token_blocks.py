"""Blocks of texts: nothing is lost, and none is larger than a model takes (M92)."""

from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.token_blocks import MAX_BLOCK_TOKENS, split_blocks
from shared.domain.tokens import estimate_tokens


@given(st.lists(st.text(max_size=300)), st.integers(min_value=10, max_value=200))
def test_blocks_hold_every_character_in_order_and_fit_m92(texts: list[str], size: int) -> None:
    blocks = split_blocks(texts, size)

    assert "".join(piece for block in blocks for piece in block) == "".join(texts)
    assert all(sum(map(estimate_tokens, block)) <= size for block in blocks)


def test_a_hundred_and_fifty_thousand_tokens_are_three_blocks_m92() -> None:
    messages = ["word " * 4_000] * 30

    assert sum(map(estimate_tokens, messages)) > 2 * MAX_BLOCK_TOKENS
    assert len(split_blocks(messages)) == 3


def test_nothing_is_one_empty_block_m92() -> None:
    assert split_blocks([]) == [[]]

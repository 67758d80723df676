"""Prompt cache of the provider: most of each request begins as an earlier one of the chat did."""

from infra.bench.contexts import count_cached_input, play_chat
from tests.fixtures.chat import ChatFixture

MIN_READ_SHARE = 0.8
"""What is known stands in the latest message, and is never there again."""
MAX_PRICE_SHARE = 0.32


async def test_most_of_ten_turns_with_tools_is_read_from_the_cache(world: ChatFixture) -> None:
    cached = count_cached_input(await play_chat(world))

    assert cached.read_share >= MIN_READ_SHARE
    assert cached.price_share <= MAX_PRICE_SHARE

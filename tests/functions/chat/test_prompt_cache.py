"""Prompt cache of the provider: most of each request begins as an earlier one of the chat did."""

from infra.bench.contexts import compute_cached_share, play_chat
from tests.fixtures.chat import ChatFixture

MIN_SHARE = 0.85


async def test_most_of_ten_turns_with_tools_was_sent_before_in_the_same_words(
    world: ChatFixture,
) -> None:
    assert compute_cached_share(await play_chat(world)) >= MIN_SHARE

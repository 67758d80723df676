"""Prompt cache of the provider: most of each request begins as an earlier one of the chat did."""

import re
from dataclasses import replace

from infra.bench.contexts import count_cached_input, play_chat
from shared import prompts
from shared.domain.models.model import UserText
from tests.fakes import ModelCall
from tests.fixtures.chat import ChatFixture

MIN_READ_SHARE = 0.82
"""What is known stands in the latest message, and is never there again: the next question is another one, and of
documents given earlier the history keeps no text that could stand for it."""
MAX_PRICE_SHARE = 0.30
MIN_READ_SHARE_BESIDE = 0.9
"""Of all but what is known."""
KNOWN = re.compile(
    re.escape(prompts.render("chat/known").strip()) + r"\s*<data.*?</data>", re.DOTALL
)


async def test_most_of_ten_turns_with_tools_is_read_from_the_cache(world: ChatFixture) -> None:
    calls_by_turn = await play_chat(world)

    cached = count_cached_input(calls_by_turn)
    beside = count_cached_input([list(map(leave_out_known, calls)) for calls in calls_by_turn])

    assert cached.read_share >= MIN_READ_SHARE
    assert cached.price_share <= MAX_PRICE_SHARE
    assert beside.read_share >= MIN_READ_SHARE_BESIDE
    assert beside.total < cached.total


def leave_out_known(call: ModelCall) -> ModelCall:
    messages = tuple(
        replace(message, text=KNOWN.sub("", message.text))
        if isinstance(message, UserText)
        else message
        for message in call.messages
    )
    return replace(call, messages=messages)

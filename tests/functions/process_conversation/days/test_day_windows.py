"""Days in small windows: a model reads what fits, and of too many conversations the longest."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.days.day_material import DayMaterial
from functions.process_conversation.days.summarise_day import complete_day
from shared.domain.conversations.conversation import Conversation, Structured
from shared.domain.ids import ActionItemId, ConversationId, MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.days import PROMPT, RECAP
from tests.fixtures.processing import START, build_test_conversation
from tests.fixtures.windowed_model import WindowedModel, count_request_tokens


def build_conversation(n: int, overview: str) -> Conversation:
    minutes = n * 7 % 101
    return build_test_conversation(
        id=ConversationId(f"talk{n}"),
        started_at=START + timedelta(minutes=n),
        finished_at=START + timedelta(minutes=n + minutes),
        structured=Structured(title=f"Talk number {n} about the roof", overview=overview),
    )


def build_material(conversations: int, records: int, overview: str) -> DayMaterial:
    times: Any = {"created_at": START, "updated_at": START}
    return DayMaterial(
        day=date(2026, 3, 2),
        zone=ZoneInfo("UTC"),
        language="en",
        conversations=tuple(build_conversation(n, overview) for n in range(conversations)),
        tasks=tuple(
            ActionItem(id=ActionItemId(f"t{n}"), description=f"Call number {n}", **times)
            for n in range(records)
        ),
        memories=tuple(
            Memory(id=MemoryId(f"m{n}"), content=f"User knows {n}", category="system", **times)
            for n in range(records)
        ),
    )


@given(
    st.integers(2_500, 40_000),
    st.integers(1, 100),
    st.integers(0, 100),
    st.integers(0, 300).map(lambda words: "spoken " * words) | st.just("語" * 1_500),
)
async def test_a_day_is_summarised_in_any_window_n2(window, conversations, records, overview):
    material = build_material(conversations, records, overview)
    model = WindowedModel({PROMPT: lambda _: RECAP}, window=window)

    output = await complete_day(model, material)

    [prompt] = model.prompts
    assert output.headline == RECAP["headline"]
    assert count_request_tokens(prompt, window) <= window
    assert prompt.data["conversations"]


@pytest.mark.parametrize("window", [3_000, 4_096])
async def test_of_too_many_conversations_the_longest_are_named(window):
    material = build_material(100, 0, "It was said.")
    model = WindowedModel({PROMPT: lambda _: RECAP}, window=window)

    await complete_day(model, material)

    named = [row["conversation"] for row in model.prompts[0].data["conversations"]]
    minutes = [row["minutes"] for row in model.prompts[0].data["conversations"]]
    assert named == sorted(named)
    assert 10 < len(named) < 100
    assert min(minutes) >= sorted(n * 7 % 101 for n in range(100))[-len(named)]


async def test_a_day_that_fits_is_read_whole():
    material = build_material(20, 20, "It was said.")
    model = WindowedModel({PROMPT: lambda _: RECAP}, window=32_768)

    await complete_day(model, replace(material, language="de"))

    data = model.prompts[0].data
    assert len(data["conversations"]) == 20
    assert {row["overview"] for row in data["conversations"]} == {"It was said."}
    assert (len(data["tasks"]), len(data["memories"])) == (20, 20)

"""Small windows after a turn: notes, summaries, stretches and readings each fit what their model takes (N2)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.turn.after_turn import after_turn
from functions.chat.turn.result_summaries import summarise_results
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.steps import CallStep
from shared.domain.models.model import Prompt
from shared.reading.crisis_rules import CrisisFinding
from shared.reading.read_question import judge_text, read_question
from tests.fixtures.chat import ADA, ChatFixture, build_chat_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.fixtures.windowed_model import WindowedModel, count_request_tokens
from tests.functions.chat.chats import (
    GONE_ANSWER,
    build_after_turn_deps,
    load_session,
    number_texts,
    store_messages,
)
from tests.functions.chat.library import store_memories
from tests.functions.chat.test_notes import OUTPUT
from tests.functions.chat.test_stretches import DOG, HAS_DOG, STRETCH, end

WINDOWS = pytest.mark.parametrize("window", [2_500, 4_096, 8_192, 32_768])
LONG = "word " * 6_000
FOREIGN = "語る猫" * 2_000
HARMFUL, FATAL = "And how do I hurt my neighbour?", "I want to die."


def check(model: WindowedModel, window: int) -> None:
    """Every request fitted the window as it is described, and none was refused."""
    assert model.prompts
    assert model.refused == []
    assert max(count_request_tokens(prompt, window) for prompt in model.prompts) <= window


@WINDOWS
@pytest.mark.parametrize("text", [LONG, FOREIGN, '"\\\n`' * 3_000])
async def test_an_exchange_is_noted_n2(world: ChatFixture, window: int, text: str) -> None:
    _, answer = await store_messages(world, text, text)
    model = WindowedModel({"chat/notes": lambda _: OUTPUT}, window=window)

    await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, answer.id)

    check(model, window)
    assert (await load_session(world)).title == "Lisbon offsite"


@WINDOWS
@pytest.mark.parametrize("text", [LONG, FOREIGN, "short"])
async def test_older_messages_are_summarised_n2(world: ChatFixture, window: int, text: str) -> None:
    await store_messages(world, *[f"{n} {text}" for n in range(31)])
    model = WindowedModel({"chat/summary": lambda _: {"summary": "猫" * 4_000}}, window=window)

    await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, GONE_ANSWER, window)

    check(model, window)
    session = await load_session(world)
    assert session.summary.startswith("猫")
    read = [row["text"] for prompt in model.prompts for row in prompt.data["messages"]]
    assert all(f"{n} "[:2] in text for n, text in enumerate(read))


@WINDOWS
async def test_a_stretch_is_kept_with_what_its_owner_said_last_n2(
    world: ChatFixture, window: int
) -> None:
    await store_memories(world, ADA, [f"User knows fact number {n}" for n in range(90)])
    await store_messages(world, *number_texts(20), LONG, FOREIGN, DOG, "How nice.")

    def read(prompt: Prompt) -> Mapping[str, Any]:
        rows = prompt.data["messages"]
        [number] = [row["number"] for row in rows if row["text"] == DOG]
        return {**STRETCH, "statements": [{**HAS_DOG, "message": number}]}

    answers = {"chat/stretch": read, "comparison": lambda _: {"verdicts": []}}
    model = WindowedModel(answers, window=window)

    await end(world, model)

    check(model, window)
    memories = await world.deps().stores.memories.list_newest(ADA, limit=200)
    assert "User has a dog called Bello" in [memory.content for memory in memories]


@WINDOWS
async def test_results_are_summarised_n2(world: ChatFixture, window: int) -> None:
    question, answer = await store_messages(world, LONG, FOREIGN)
    calls = tuple(
        CallStep(
            call_id=f"c{n}", tool="search", arguments=LONG, cycle=1, output=FOREIGN, state="done"
        )
        for n in range(10)
    )
    found = {"results": [{"number": n, "summary": "Lisbon."} for n in range(1, 11)]}
    model = WindowedModel({"chat/result_summaries": lambda _: found}, window=window)

    await summarise_results(
        build_after_turn_deps(world, model),
        ADA,
        Profile(summarises_results=True),
        [replace(answer, steps=calls), question],
    )

    check(model, window)


def rate(prompt: Prompt) -> Mapping[str, Any]:
    return {"danger": 0, "harm": 9 if HARMFUL in prompt.data["message"] else 0}


@WINDOWS
@pytest.mark.parametrize("padding", [0, 700, 1_500])
async def test_a_long_question_is_read_to_its_last_word_n2_m92(
    world: ChatFixture, window: int, padding: int
) -> None:
    model = WindowedModel({"chat/reading": rate}, window=window)
    question = f"{LONG} {'x' * padding} {HARMFUL} {LONG}"

    reading = await read_question(
        world.deps(model), ADA, question, [LONG, FOREIGN] * 3, urgency="now"
    )

    check(model, window)
    assert reading is not None
    assert reading.harm == 9


def judge(prompt: Prompt) -> Mapping[str, Any]:
    is_fatal = FATAL in prompt.data["message"]
    return {"danger": 2 if is_fatal else 0, "quote": FATAL if is_fatal else ""}


@WINDOWS
@pytest.mark.parametrize("before", [100, 1_700, 3_000])
async def test_a_long_text_is_judged_to_its_last_word_n2(
    world: ChatFixture, window: int, before: int
) -> None:
    model = WindowedModel({"chat/reading": judge}, window=window)
    text = f"{'word ' * before}{FATAL} {LONG}"
    finding = CrisisFinding(certainty="unsure")

    verdict = await judge_text(
        world.deps(model), ADA, text, finding, earlier=[LONG] * 3, wait_s=30.0
    )

    check(model, window)
    assert (verdict.decided_by, verdict.level) == ("classifier", 2)


@given(
    st.integers(2_500, 20_000),
    st.lists(
        st.text(max_size=300) | st.sampled_from([LONG, FOREIGN, "ok"]), min_size=31, max_size=33
    ),
)
def test_no_summary_or_stretch_is_larger_than_the_window_n2(window: int, texts: list[str]) -> None:
    anyio.run(check_chat, build_chat_fixture(MemoryDatabase()), window, texts)


async def check_chat(world: ChatFixture, window: int, texts: list[str]) -> None:
    """Summarise a chat and end its stretch; each request fits."""
    answers = {
        "chat/summary": lambda _: {"summary": "Numbers."},
        "chat/stretch": lambda _: {**STRETCH, "statements": []},
    }
    await store_messages(world, *(text or "x" for text in texts), DOG)
    model = WindowedModel(answers, window=window)
    await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, GONE_ANSWER)
    await end(world, model)

    check(model, window)

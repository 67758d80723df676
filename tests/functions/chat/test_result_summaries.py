"""Summaries of tool results for later turns, where the owner wants them (X24)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.turn.after_turn import after_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from functions.chat.turn.result_summaries import MAX_SUMMARY_TOKENS, trim_summary
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.steps import CallStep
from shared.domain.errors import ModelFailed
from shared.domain.models.model import ToolResult
from shared.domain.models.tokens import estimate_tokens
from shared.domain.provenance import LIBRARY
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import GONE_ANSWER, build_after_turn_deps
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_steps import GONE
from tests.functions.chat.test_versions import open_chat

SUMMARIES = "chat/result_summaries"
TALK = "Ann likes the trams of Lisbon."
FOUND = {"results": [{"number": 1, "summary": "One talk of May[1] says that Ann likes Lisbon."}]}


async def answer_and_follow_up(
    world: ChatFixture, *outputs: object, wanted: bool = True
) -> tuple[ScriptedModel, list[ToolResult]]:
    """Ask once with a search and do the after-turn work twice; return the model and later results."""
    await store_conversations(world, ADA, build_conversation(1, TALK))
    search = script_calls(("search_conversations", {"query": "Lisbon"}))
    answers: dict[str, Sequence[Any]] = {SUMMARIES: outputs}
    with ScriptedModel(search, script_answer("She likes Lisbon[1]."), answers=answers) as model:
        async with open_chat(world, model) as chat:
            await chat.http.patch("/v1/users/profile", json={"summarises_results": wanted})
            await chat.ask("What does Ann like?")
        for _ in range(2):
            await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, GONE_ANSWER)
    turn = await prepare_turn(world.deps(), ADA, Question("And now?"))
    messages = [each for earlier in turn.context.history for each in earlier.messages]
    return model, [each for each in messages if isinstance(each, ToolResult)]


async def list_kept_results(world: ChatFixture) -> list[str]:
    messages = await world.deps().stores.messages.list_newest(ADA, MAIN_SESSION, limit=10)
    steps = [step for message in messages for step in message.steps]
    return [step.found for step in steps if isinstance(step, CallStep)]


async def test_later_turns_read_a_summary_that_is_made_once_x24(world: ChatFixture) -> None:
    model, results = await answer_and_follow_up(world, FOUND)

    [result] = results
    assert result.text == "One talk of May(1) says that Ann likes Lisbon."
    assert result.source == LIBRARY, "it holds words of others"
    [row] = model.prompts[-1][1].data["results"]
    assert (row["tool"], json.loads(row["arguments"])) == (
        "search_conversations",
        {"query": "Lisbon"},
    )
    assert TALK in row["found"]
    assert await list_kept_results(world) == [""]


async def test_nothing_is_summarised_unless_the_owner_wants_it_x24(world: ChatFixture) -> None:
    _, results = await answer_and_follow_up(world, wanted=False)

    assert [result.text for result in results] == [GONE]
    assert await list_kept_results(world) == [""]


@pytest.mark.parametrize(
    "output",
    [
        ModelFailed("no"),
        {"results": []},
        {"results": [{"number": number, "summary": "Lisbon."} for number in (-1, 0, 2)]},
        {"results": [{"number": 1, "summary": " \u200b"}]},
    ],
    ids=["failed", "none", "foreign numbers", "nothing visible"],
)
async def test_without_a_summary_the_sentence_stays_x24(world: ChatFixture, output: object) -> None:
    _, results = await answer_and_follow_up(world, output, output)

    assert [result.text for result in results] == [GONE]


@given(st.text(max_size=2_000))
def test_no_summary_is_longer_than_its_limit_x24(text: str) -> None:
    assert estimate_tokens(trim_summary(text)) <= MAX_SUMMARY_TOKENS

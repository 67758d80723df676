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
from shared.domain.errors import ModelFailed
from shared.domain.models.model import ToolResult
from shared.domain.models.tokens import estimate_tokens
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import GONE_ANSWER, build_after_turn_deps
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_steps import GONE
from tests.functions.chat.test_versions import open_chat

SUMMARIES = "chat/result_summaries"
FOUND = {"results": [{"number": 1, "summary": "One talk of May says that Ann likes Lisbon."}]}


async def answer_and_follow_up(
    world: ChatFixture, *outputs: object, wanted: bool = True
) -> tuple[ScriptedModel, list[str]]:
    """Ask once with a search and do the after-turn work twice; return the model and later results."""
    await store_conversations(world, ADA, build_conversation(1, "Ann likes Lisbon."))
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
    return model, [each.text for each in messages if isinstance(each, ToolResult)]


async def test_later_turns_read_a_summary_that_is_made_once_x24(world: ChatFixture) -> None:
    model, results = await answer_and_follow_up(world, FOUND)

    assert results == ["One talk of May says that Ann likes Lisbon."]
    [row] = model.prompts[-1][1].data["results"]
    assert (row["tool"], json.loads(row["arguments"])) == (
        "search_conversations",
        {"query": "Lisbon"},
    )


async def test_nothing_is_summarised_unless_the_owner_wants_it_x24(world: ChatFixture) -> None:
    _, results = await answer_and_follow_up(world, wanted=False)

    assert results == [GONE]


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

    assert results == [GONE]


@given(st.text(max_size=2_000))
def test_no_summary_is_longer_than_its_limit_x24(text: str) -> None:
    assert estimate_tokens(trim_summary(text)) <= MAX_SUMMARY_TOKENS

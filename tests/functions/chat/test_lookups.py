"""Lookups in a turn: what was searched on the web alone has sources, or an honest no (C53)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from functions.chat.deps import ChatDeps
from functions.chat.user_texts import NO_WEB_SEARCH
from shared.domain.apps.tool_data import ToolData
from shared.domain.errors import ToolFailed
from shared.domain.ids import UserId
from tests.fakes import RecordingToolbox, ScriptedModel, ScriptedTurn, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_crisis_gate import CERTAIN, PLAIN, read, script_judged
from tests.functions.chat.test_disclosure_plays import build_deps
from tests.functions.chat.test_message_routes import open_chat
from tests.old_app import RenderedAnswer, parse_as_fixed_app

NO_SOURCE = "I searched the web and found no source"
PAGE = "https://prices.example/bread"
FOUND = f"Bread costs 3 euros.\n\nSources:\n- Prices {PAGE}\n- Bakers https://bakers.example"
EMPTY = "The web search found nothing.\n\nSources:"
QUESTION = "What does bread cost?"
LOOK_UP = script_calls(("perplexity_web_search", {"query": "bread cost"}))
GUESS = script_answer("About 9 euros, I guess.")


class BrokenToolbox(RecordingToolbox):
    """A toolbox whose services are down."""

    async def call_service(
        self, uid: UserId, service: str, tool: str, arguments: Mapping[str, Any], *, call_id: str
    ) -> ToolData:
        raise ToolFailed("The search does not answer.")


async def ask(
    world: ChatFixture, model: ScriptedModel, text: str = QUESTION
) -> tuple[RenderedAnswer, dict[str, Any]]:
    return await ask_with(build_deps(world, model), text)


async def ask_with(deps: ChatDeps, text: str) -> tuple[RenderedAnswer, dict[str, Any]]:
    """Ask; return what the app shows, and the diagnostics."""
    async with open_chat(deps) as http:
        answer = await http.post("/v2/messages", json={"text": text})
        path = f"/v2/messages/{answer.headers['x-run-id']}/diagnostics"
        diagnostics = (await http.get(path)).json()
    return parse_as_fixed_app([answer.content]), diagnostics


async def play(
    world: ChatFixture, *turns: ScriptedTurn, found: str = FOUND
) -> tuple[str, dict[str, Any]]:
    world.toolbox.answer = found
    with ScriptedModel(*turns) as model:
        screen, diagnostics = await ask(world, model)
    return screen.text, diagnostics


async def test_an_answer_that_names_its_source_goes_out_as_it_is_c53(world: ChatFixture) -> None:
    text, diagnostics = await play(world, LOOK_UP, script_answer(f"3 euros ({PAGE})."))

    assert text == f"3 euros ({PAGE})."
    assert (diagnostics["route"], diagnostics["lookup"]) == ("lookup", "answered")
    assert diagnostics["outcome"] == "completed"


async def test_sources_that_the_model_leaves_out_are_named_c53(world: ChatFixture) -> None:
    text, _ = await play(world, LOOK_UP, script_answer("3 euros."))

    assert text == f"3 euros.\n\nSources:\n- {PAGE}\n- https://bakers.example"


@pytest.mark.parametrize("found", [EMPTY, "Bread costs 9 euros, everybody knows.", "See http://x"])
async def test_a_search_without_a_source_is_answered_honestly_and_by_no_guess_c53(
    world: ChatFixture, found: str
) -> None:
    text, diagnostics = await play(world, LOOK_UP, GUESS, found=found)

    assert text.startswith(NO_SOURCE)
    assert "9 euros" not in text
    assert (diagnostics["route"], diagnostics["lookup"]) == ("lookup", "no_verified_answer")
    assert diagnostics["outcome"] == "completed"


async def test_a_search_that_fails_is_answered_honestly_c53(world: ChatFixture) -> None:
    world.toolbox = BrokenToolbox()
    with ScriptedModel(LOOK_UP, GUESS) as model:
        screen, diagnostics = await ask(world, model)

    assert screen.text.startswith(NO_SOURCE)
    assert diagnostics["lookup"] == "no_verified_answer"


async def test_a_model_that_says_nothing_after_an_empty_search_gets_the_same_end_c53(
    world: ChatFixture,
) -> None:
    text, _ = await play(world, LOOK_UP, script_answer(""), found=EMPTY)

    assert text.startswith(NO_SOURCE)


async def test_an_answer_from_the_web_reads_nothing_of_what_is_remembered_c53(
    world: ChatFixture,
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Bread costs a fortune."))
    world.toolbox.answer = FOUND
    with ScriptedModel(LOOK_UP, script_answer("3 euros.")) as model:
        await ask(world, model)

    assert "fortune" not in str(model.calls[-1].messages)


async def test_what_rests_on_the_library_too_is_no_lookup_c53(world: ChatFixture) -> None:
    search = script_calls(("search_conversations", {"query": "bread"}))

    text, diagnostics = await play(world, LOOK_UP, search, script_answer("Bo said 9."), found=FOUND)

    assert text == "Bo said 9."
    assert (diagnostics["route"], diagnostics["lookup"]) == ("answer", None)


async def test_an_answer_without_a_search_is_no_lookup_c53(world: ChatFixture) -> None:
    text, diagnostics = await play(world, script_answer("Hello."))

    assert (text, diagnostics["route"]) == ("Hello.", "answer")


async def test_a_page_that_was_read_is_a_source_c53(world: ChatFixture) -> None:
    world.toolbox.answer = "Bread, 3 euros."
    page = script_calls(("read_web_page", {"url": PAGE}))
    with ScriptedModel(LOOK_UP, page, script_answer("3 euros.")) as model:
        screen, diagnostics = await ask(world, model, f"What does bread cost? See {PAGE}")

    assert screen.text == "3 euros."
    assert diagnostics["lookup"] == "answered"


async def test_a_crisis_comes_before_a_lookup_c53(world: ChatFixture) -> None:
    with ScriptedModel() as model:
        _, certain = await ask(world, model, CERTAIN)
    with script_judged(LOOK_UP, readings=[read(3)]) as judged:
        _, unsure = await ask(world, judged, PLAIN)

    assert (certain["route"], unsure["route"]) == ("crisis", "crisis")
    assert world.toolbox.calls == []


async def test_a_doubt_keeps_its_level_and_its_question_beside_a_lookup_c53(
    world: ChatFixture,
) -> None:
    world.toolbox.answer = EMPTY
    with script_judged(LOOK_UP, GUESS, readings=[read(1)]) as model:
        screen, diagnostics = await ask(world, model, "How long is a bottle of pills good?")

    assert screen.text.startswith(NO_SOURCE)
    assert screen.text.endswith("hurting yourself?")
    assert (diagnostics["route"], diagnostics["crisis_level"]) == ("lookup", 1)


LOOK_UP_NOWHERE = script_calls(("search_web", {"query": "bread cost"}))


async def play_without_search(
    world: ChatFixture, *turns: ScriptedTurn
) -> tuple[str, dict[str, Any]]:
    with ScriptedModel(*turns) as model:
        deps = replace(build_deps(world, model), web_search=False)
        screen, diagnostics = await ask_with(deps, QUESTION)
    return screen.text, diagnostics


async def test_what_cannot_be_looked_up_is_answered_by_no_guess_c53(world: ChatFixture) -> None:
    text, diagnostics = await play_without_search(world, LOOK_UP_NOWHERE, GUESS)

    assert text == NO_WEB_SEARCH
    assert (diagnostics["route"], diagnostics["lookup"]) == ("lookup", "no_verified_answer")
    assert diagnostics["outcome"] == "completed"
    assert world.toolbox.calls == []


async def test_what_the_library_knows_needs_no_web_c53(world: ChatFixture) -> None:
    search = script_calls(("search_conversations", {"query": "bread"}))

    text, diagnostics = await play_without_search(
        world, LOOK_UP_NOWHERE, search, script_answer("Bo said 9.")
    )

    assert (text, diagnostics["route"]) == ("Bo said 9.", "answer")


@pytest.mark.parametrize("can_search", [True, False])
async def test_one_tool_searches_the_web_c53(world: ChatFixture, *, can_search: bool) -> None:
    with ScriptedModel(script_answer("Hello.")) as model:
        await ask_with(replace(build_deps(world, model), web_search=can_search), QUESTION)

    (call,) = model.calls
    names = {tool.name for tool in call.tools} & {"search_web", "perplexity_web_search"}
    assert names == {"perplexity_web_search" if can_search else "search_web"}

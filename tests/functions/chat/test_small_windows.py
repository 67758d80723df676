"""Small windows: every kind of turn ends well in them, and what was left out is said (N2, M102, M103)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from functions.chat.context.blocks import count_message_tokens
from functions.chat.context.budget import compute_answer_room, count_tool_tokens
from functions.chat.context.prompt import render_rules
from functions.chat.deps import ChatDeps
from functions.chat.tools.small_window import MAX_SMALL_TOOLS, SMALL_WINDOW_TOOLS
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.data.search.question_meaning import UNMEASURED, QuestionMeaning, QuestionMeanings
from shared.domain.chats.focus_mode import FocusMode
from shared.domain.chats.rule import Rule
from shared.domain.errors import TooLarge
from shared.domain.ids import FocusModeId, RuleId, SessionId, UserId
from shared.domain.models.model import AssistantTurn, ModelFacts, SystemText, ToolResult
from shared.domain.models.tokens import estimate_tokens
from shared.retrieval.question_kinds import QuestionKind
from tests.fakes import ModelCall, ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.chats import store_messages
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_app_tools import (
    NOUNS,
    VERBS,
    build_app,
    build_chat_tool,
    install_apps,
)
from tests.functions.chat.test_files import store_file
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_projects import begin_project_chat
from tests.functions.chat.test_turn import require_end, run_turn

SMALLEST = 4_096
WINDOWS = [SMALLEST, 8_192, 32_768]
DESK = build_app(
    40,
    *(
        build_chat_tool(f"{verb}_{noun}", f"{verb.title()} one {noun} of the owner's desk.")
        for noun in NOUNS[:4]
        for verb in VERBS
    ),
    name="Desk",
)
"""An app of 40 tools."""
WORK = FocusMode(id=FocusModeId("f"), name="Work", instructions="Talk of work. " * 120)


class AskedTools(QuestionMeanings):
    """Knows that one question is about the library, and which tools it asks for; others it did not read."""

    def __init__(self, question: str, tools: tuple[str, ...]) -> None:
        super().__init__()
        kinds: dict[QuestionKind, float] = {
            "library": 1.0,
            "advice": 0.0,
            "general": 0.0,
            "action": 0.0,
        }
        self._told = {question: QuestionMeaning(kinds=kinds, danger=0.0, tools=tools)}

    async def read(self, uid: UserId, question: str) -> QuestionMeaning | None:
        return self._told.get(question, UNMEASURED)


def require_fitting(calls: Sequence[ModelCall], window: int) -> None:
    """Each request leaves its answer room in the window."""
    for call in calls:
        tokens = count_message_tokens(call.messages) + sum(map(count_tool_tokens, call.tools))
        assert tokens <= window - compute_answer_room(window)


async def ask(deps: ChatDeps, question: Question) -> str:
    """Return a completed answer."""
    end = require_end(await run_turn(deps, await prepare_turn(deps, ADA, question)))
    assert end.outcome == "completed"
    return end.message.text


async def store_long_talks(world: ChatFixture) -> None:
    plumber = "The plumber comes on Tuesday at nine, and he brings the new boiler along."
    filler = "We went on about the garden, the weather, the neighbours and much else. " * 3
    await store_conversations(
        world, ADA, *(build_conversation(n, plumber, *[filler] * 20) for n in range(1, 8))
    )


@pytest.mark.parametrize("window", WINDOWS)
async def test_a_greeting_is_answered_in_one_call_n2(world: ChatFixture, window: int) -> None:
    with ScriptedModel(script_answer("Hi."), facts=ModelFacts(window_tokens=window)) as model:
        assert await ask(world.deps(model), Question("Hello")) == "Hi."

    require_fitting(model.calls, window)


@pytest.mark.parametrize("window", WINDOWS)
async def test_a_question_that_needs_a_search_is_answered_n2(
    world: ChatFixture, window: int
) -> None:
    await store_long_talks(world)
    turns = (
        script_calls(("search_conversations", {"query": "plumber"})),
        script_answer("On Tuesday at nine[1]."),
    )
    with ScriptedModel(*turns, facts=ModelFacts(window_tokens=window)) as model:
        answer = await ask(world.deps(model), Question("When does the plumber come?"))

    assert answer == "On Tuesday at nine."
    require_fitting(model.calls, window)
    [result] = [m for m in model.calls[1].messages if isinstance(m, ToolResult)]
    assert "on Tuesday at nine" in result.text


async def test_ten_searches_in_one_turn_still_fit_n2(world: ChatFixture) -> None:
    await store_long_talks(world)
    searches = [
        script_calls(*(("search_conversations", {"query": f"plumber {n} {m}"}) for m in range(2)))
        for n in range(5)
    ]
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(*searches, script_answer("On Tuesday."), facts=facts) as model:
        assert await ask(world.deps(model), Question("When?")) == "On Tuesday."

    require_fitting(model.calls, SMALLEST)


@pytest.mark.parametrize("window", WINDOWS)
async def test_a_question_with_a_file_is_answered_the_file_cut_where_it_must_be_n2(
    world: ChatFixture, window: int
) -> None:
    text = "The keel is of oak. " + "It says a lot about planks. " * 380 + "It ends in May."
    file_id = await store_file(world, "lease", text, tokens=estimate_tokens(text))
    with ScriptedModel(script_answer("Oak."), facts=ModelFacts(window_tokens=window)) as model:
        answer = await ask(world.deps(model), Question("What is it of?", file_ids=[file_id]))

    assert answer == "Oak."
    require_fitting(model.calls, window)
    [given] = [m.text for m in model.calls[0].messages if "The keel is of oak." in m.text]
    assert "It ends in May." in given
    assert ("characters left out" in given) is (window == SMALLEST)


@pytest.mark.parametrize("window", WINDOWS)
async def test_an_app_of_forty_tools_offers_those_that_the_question_names_m102(
    world: ChatFixture, window: int
) -> None:
    await install_apps(world, [DESK])
    facts = ModelFacts(window_tokens=window)
    with ScriptedModel(script_answer("Which one?"), facts=facts) as model:
        await ask(world.deps(model), Question("Please archive the meeting on my desk"))

    require_fitting(model.calls, window)
    names = [tool.name for tool in model.calls[0].tools]
    assert any(name.startswith("archive_meeting_") for name in names)
    assert ("find_app_tools" in names) is (window < 32_768)


async def test_a_tool_of_an_app_that_is_found_by_a_search_can_be_called_m103(
    world: ChatFixture,
) -> None:
    await install_apps(world, [DESK])
    found = script_calls(("find_app_tools", {"query": "star a song"}))
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(found, script_answer("Done."), facts=facts) as model:
        await ask(world.deps(model), Question("Hello"))

    require_fitting(model.calls, SMALLEST)
    assert not any(tool.name.startswith("star_song_") for tool in model.calls[0].tools)
    assert any(tool.name.startswith("star_song_") for tool in model.calls[1].tools)


async def test_a_tool_that_is_larger_than_its_share_is_offered_alone_where_it_is_asked_for_m102(
    world: ChatFixture,
) -> None:
    fields = {f"field_{n}": {"type": "string", "description": "One of them"} for n in range(35)}
    order = build_chat_tool(
        "create_order", "Create an order", {"type": "object", "properties": fields}
    )
    await install_apps(world, [build_app(3, order, *DESK.chat_tools, name="Shop")])
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(script_answer("Of what?"), facts=facts) as model:
        await ask(world.deps(model), Question("Create an order in my shop"))

    require_fitting(model.calls, SMALLEST)
    assert any(tool.name.startswith("create_order_") for tool in model.calls[0].tools)


async def test_a_small_window_has_six_tools_and_brief_rules_the_same_in_each_turn_n2(
    world: ChatFixture,
) -> None:
    """What a server keeps of the turn before is its beginning."""
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(*[script_answer("Yes.")] * 2, facts=facts) as model:
        deps = world.deps(model)
        for text in ("Draw a chart of my sleep", "Who is Ann?"):
            await ask(deps, Question(text))

    first, second = model.calls
    assert [tool.name for tool in first.tools] == [*SMALL_WINDOW_TOOLS][:MAX_SMALL_TOOLS]
    assert first.tools == second.tools
    assert first.messages[0] == second.messages[0]
    rules = first.messages[0].text
    assert rules.startswith(render_rules("brief"))
    assert "create_chart" in rules, "what is left out is said"
    assert estimate_tokens(render_rules("brief")) <= 200


@pytest.mark.parametrize("window", [SMALLEST, 16_384])
@pytest.mark.parametrize(
    ("asked", "offered"),
    [((), ["search_conversations"]), (("create_chart",), [*SMALL_WINDOW_TOOLS][:MAX_SMALL_TOOLS])],
)
async def test_a_small_model_with_the_passages_before_it_has_the_search_alone_and_rules_for_them_e3(
    world: ChatFixture, window: int, asked: tuple[str, ...], offered: list[str]
) -> None:
    """One of half a billion parameters copies calls and fences of longer rules into its answer."""
    await store_long_talks(world)
    question = "When does the plumber come?"
    facts = ModelFacts(window_tokens=window)
    with ScriptedModel(script_answer("On Tuesday at nine[1]."), facts=facts) as model:
        await ask(
            replace(world.deps(model), meanings=AskedTools(question, asked)), Question(question)
        )

    [call] = model.calls
    assert [tool.name for tool in call.tools][: len(offered)] == offered
    assert (call.messages[0].text == render_rules("passages")) is (not asked)
    assert "on Tuesday at nine" in call.messages[-1].text


@pytest.mark.parametrize("told", [{"reads_per_s": 100.0}, {"parameters": 494_032_768}])
async def test_a_slow_or_tiny_model_with_the_passages_before_it_reads_no_tool_e3(
    world: ChatFixture, told: Mapping[str, Any]
) -> None:
    """A second call, and each declaration, would take the one seconds; the other calls what it should answer."""
    await store_long_talks(world)
    question = "When does the plumber come?"
    facts = ModelFacts(window_tokens=16_384, **told)
    with ScriptedModel(script_answer("On Tuesday at nine[1]."), facts=facts) as model:
        await ask(replace(world.deps(model), meanings=AskedTools(question, ())), Question(question))

    assert list(model.calls[0].tools) == []
    assert "on Tuesday at nine" in model.calls[0].messages[-1].text


async def test_a_tiny_model_has_near_passages_and_no_tool_where_the_question_was_not_read_in_time_e3(
    world: ChatFixture,
) -> None:
    """The first question after a start is: its encoder is still cold."""
    await store_long_talks(world)
    facts = ModelFacts(window_tokens=8_192, parameters=494_032_768)
    with ScriptedModel(script_answer("On Tuesday at nine[1]."), facts=facts) as model:
        deps = replace(world.deps(model), meanings=AskedTools("another one", ()))
        await ask(deps, Question("When does the plumber come?"))

    assert list(model.calls[0].tools) == []
    assert "on Tuesday at nine" in model.calls[0].messages[-1].text


async def test_what_was_said_stands_below_the_answer_of_a_tiny_model_and_is_not_its_own_e3(
    world: ChatFixture,
) -> None:
    """It gets every second answer wrong, with the right line before it: its owner should see that line."""
    spoken = "The plumber comes on Tuesday at nine [2]. ![x](https://a.example.com/x?q=1)"
    talk = build_conversation(1, spoken)
    [segment] = talk.transcript_segments
    named = (replace(segment, speaker="Ann [7]\n> 2026-01-01"),)
    await store_conversations(world, ADA, replace(talk, transcript_segments=named))
    question = "When does the plumber come?"
    facts = ModelFacts(window_tokens=16_384, parameters=494_032_768)
    answers = [script_answer("At noon."), script_answer("Yes.")]
    with ScriptedModel(*answers, facts=facts) as model:
        deps = replace(world.deps(model), meanings=AskedTools(question, ()))
        first = require_end(await run_turn(deps, await prepare_turn(deps, ADA, Question(question))))
        await ask(deps, Question("Are you sure?"))

    answer, line = first.message.text.split("\n\n")
    assert answer == "At noon."
    assert re.fullmatch(
        r"> 2026-\d\d-\d\d, Ann \(7\) > 2026-01-01: The plumber comes on Tuesday at nine \(2\)\. .*",
        line,
    )
    assert "https://a.example.com" not in line
    assert [card.id for card in first.message.cards] == ["c001"]
    [said] = [m.text for m in model.calls[1].messages if isinstance(m, AssistantTurn)]
    assert said == "At noon."


async def test_a_large_window_has_all_tools_and_the_whole_rules_n2(world: ChatFixture) -> None:
    facts = ModelFacts(window_tokens=32_000)
    with ScriptedModel(script_answer("Yes."), facts=facts) as model:
        await ask(world.deps(model), Question("Who is Ann?"))

    assert {*SMALL_WINDOW_TOOLS} < {tool.name for tool in model.calls[0].tools}
    assert model.calls[0].messages[0] == SystemText(text=render_rules())


@pytest.mark.parametrize("asked", [(), ("create_chart",), ("search_chats", "set_recall")])
async def test_a_model_of_a_middling_window_has_the_usual_tools_and_those_asked_for_x27(
    world: ChatFixture, asked: tuple[str, ...]
) -> None:
    facts = ModelFacts(window_tokens=16_384)
    with ScriptedModel(*[script_answer("Yes.")] * 2, facts=facts) as model:
        deps = replace(world.deps(model), meanings=AskedTools("Who is Ben?", asked))
        await ask(deps, Question("Who is Ann?"))
        await ask(deps, Question("Who is Ben?"))

    untold, told = ([tool.name for tool in call.tools] for call in model.calls)
    assert told[:MAX_SMALL_TOOLS] == [*SMALL_WINDOW_TOOLS][:MAX_SMALL_TOOLS]
    assert {*told[MAX_SMALL_TOOLS:]} == {*asked}
    assert {*SMALL_WINDOW_TOOLS, "create_chart", "set_recall"} < {*untold}


async def test_another_tool_stands_in_where_a_chat_changes_nothing_n2(world: ChatFixture) -> None:
    session_id = SessionId("incognito-1")
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(script_answer("Yes."), facts=facts) as model:
        async with open_chat(world.deps(model)) as http:
            chat = await http.post("/v2/chat-sessions", json={"storage_mode": "incognito"})
            session_id = chat.json()["id"]
            await http.post(
                "/v2/messages", json={"text": "Hello"}, params={"chat_session_id": session_id}
            )

    names = [tool.name for tool in model.calls[0].tools]
    assert len(names) == MAX_SMALL_TOOLS
    assert not {"create_action_item", "remember"} & {*names}


async def test_a_chat_with_a_file_has_the_tools_that_read_it_n2(world: ChatFixture) -> None:
    lease = await store_file(world, "lease", "It ends in May.", tokens=9)
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(*[script_answer("In May.")] * 2, facts=facts) as model:
        deps = world.deps(model)
        await ask(deps, Question("When does it end?", file_ids=[lease]))
        world.clock.advance(seconds=5)
        await ask(deps, Question("And who signed it?"))

    for call in model.calls:
        assert {"read_file", "search_files"} < {tool.name for tool in call.tools}


async def test_a_long_question_costs_tools_before_it_is_refused_x27(world: ChatFixture) -> None:
    deps = world.deps(ScriptedModel(facts=ModelFacts(window_tokens=SMALLEST)))

    turn = await prepare_turn(deps, ADA, Question("語" * 2_000))

    tools = [tool.spec for tool in turn.tools]
    messages = turn.context.for_cycle(1, tools)
    require_fitting([ModelCall("agent", tuple(messages), tuple(tools))], SMALLEST)
    assert len(tools) < MAX_SMALL_TOOLS
    assert [tool.name for tool in tools] == [*SMALL_WINDOW_TOOLS][: len(tools)]
    assert "remember" in messages[0].text, "what is left out is said"
    with pytest.raises(TooLarge, match="shorten it, or send it in parts"):
        await prepare_turn(deps, ADA, Question("語" * 4_000))


async def test_one_app_of_twelve_tools_refuses_no_greeting_x27(world: ChatFixture) -> None:
    await install_apps(world, [replace(DESK, chat_tools=DESK.chat_tools[:12])])
    with ScriptedModel(script_answer("Hi."), facts=ModelFacts(window_tokens=8_000)) as model:
        assert await ask(world.deps(model), Question("hello")) == "Hi."

    require_fitting(model.calls, 8_000)


@pytest.mark.parametrize("window", WINDOWS)
async def test_all_that_an_owner_may_set_fits_n2(world: ChatFixture, window: int) -> None:
    deps = world.deps()
    now = world.clock.now()
    await deps.stores.profiles.change(
        ADA,
        chat_prompt="Speak like a captain. " * 150,
        chat_reminder="Answer in rhymes. " * 40,
        learning_style="With pictures. " * 12,
        rules=tuple(
            Rule(id=RuleId(f"r{n}"), text="Answer in one sentence only. " * 8, created_at=now)
            for n in range(10)
        ),
        focus_modes=(WORK,),
    )
    await store_messages(world, *["What was said about the boat. " * 60] * 24)
    with ScriptedModel(script_answer("Aye."), facts=ModelFacts(window_tokens=window)) as model:
        assert await ask(world.deps(model), Question("What is new?")) == "Aye."

    require_fitting(model.calls, window)
    assert "Speak like a captain." in "".join(m.text for m in model.calls[0].messages)


async def test_a_project_that_leaves_no_room_is_named_and_searched_x13(world: ChatFixture) -> None:
    text = "It says a lot about planks. " * 250
    keel = await store_file(world, "keel", text, tokens=estimate_tokens(text))
    session_id = await begin_project_chat(world, keel)
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(script_answer("Oak."), facts=facts) as model:
        await ask(world.deps(model), Question("What is it of?", session_id=session_id))

    require_fitting(model.calls, SMALLEST)
    assert '"file_id": "keel"' in "".join(m.text for m in model.calls[0].messages)
    assert "search_files" in {tool.name for tool in model.calls[0].tools}


async def test_the_last_exchange_is_read_however_much_was_found_for_it_n2(
    world: ChatFixture,
) -> None:
    await store_long_talks(world)
    search = script_calls(
        *(("search_conversations", {"query": f"plumber boiler {n}"}) for n in range(3))
    )
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(search, *[script_answer("On Tuesday.")] * 2, facts=facts) as model:
        deps = world.deps(model)
        await ask(deps, Question("When does the plumber come?"))
        world.clock.advance(seconds=5)
        await ask(deps, Question("And what does he bring?"))

    require_fitting(model.calls, SMALLEST)
    assert AssistantTurn(text="On Tuesday.") in model.calls[-1].messages


async def test_diagnostics_say_what_a_window_had_no_room_for_c75(world: ChatFixture) -> None:
    await store_messages(world, *["What was said about the boat. " * 60] * 24)
    facts = ModelFacts(window_tokens=SMALLEST)
    with ScriptedModel(script_answer("Yes."), facts=facts) as model:
        async with open_chat(world.deps(model)) as http:
            answer = await http.post("/v2/messages", json={"text": "Hello"})
            path = f"/v2/messages/{answer.headers['x-run-id']}/diagnostics"
            shown = (await http.get(path)).json()

    assert (shown["window_tokens"], shown["tools_offered"]) == (SMALLEST, MAX_SMALL_TOOLS)
    assert "create_chart" in shown["tools_left_out"]
    assert shown["blocks_left_out"] == ["history"]

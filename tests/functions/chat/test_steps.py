"""Steps of answers: stored as they were streamed, and replayed to the model in pairs (X22, X23, X29, X33)."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.context.context import drop_orphans
from functions.chat.context.history import to_model_messages
from functions.chat.runs.build_message import build_message
from functions.chat.runs.collect_steps import collect_steps
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.data.store.codec import dump, load
from shared.domain.chats.chat import MAIN_SESSION, Message
from shared.domain.chats.run import (
    AnswerText,
    ReasoningText,
    Run,
    RunEvent,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
)
from shared.domain.chats.steps import (
    CUT_NOTE,
    MAX_ARGUMENTS_CHARS,
    MAX_STEPS_CHARS,
    CallStep,
    ReasoningStep,
    Step,
)
from shared.domain.ids import MessageId, RunId
from shared.domain.models.model import AssistantTurn, ModelMessage, ReasoningDelta, ToolResult
from shared.domain.provenance import LIBRARY
from shared.domain.store.documents import Document
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations
from tests.functions.chat.test_versions import UI, open_chat

AT = datetime(2026, 3, 2, tzinfo=UTC)
RUN = Run(
    id=RunId("r1"),
    session_id=MAIN_SESSION,
    question_id=MessageId("r1-q"),
    writer="w",
    created_at=AT,
    lease_until=AT,
    model="m",
)
GONE = "This tool call completed but the results are no longer accessible."
WORDS = st.text(st.characters(codec="utf-8"), max_size=40)
PIECES: st.SearchStrategy[Sequence[RunEvent]] = st.one_of(
    st.builds(lambda text: [AnswerText(text)], WORDS),
    st.builds(lambda text: [ReasoningText(text)], WORDS),
    st.builds(lambda text: [Status(text)], WORDS),
    st.builds(lambda name: [Stage(name)], st.sampled_from(["thinking", "using_tools"])),
)


@st.composite
def list_events(draw: st.DrawFn) -> list[RunEvent]:
    """Draw a run: text, and calls of which some overlap and some never end."""
    events: list[RunEvent] = []
    for number in range(draw(st.integers(0, 4))):
        events += [event for piece in draw(st.lists(PIECES, max_size=5)) for event in piece]
        call_id = f"c{number}"
        events.append(ToolStarted(call_id=call_id, tool="search", arguments=draw(WORDS)))
        if draw(st.booleans()):
            end = ToolEnded(
                call_id=call_id,
                output=draw(WORDS),
                failed=draw(st.booleans()),
                skipped=draw(st.booleans()),
                source=draw(st.sampled_from([None, LIBRARY])),
            )
            events.insert(draw(st.integers(events.index(events[-1]) + 1, len(events))), end)
    return events


def reload(message: Message) -> Message:
    path = f"users/ada/messages/{message.id}"
    return load(Message, Document(path=path, fields=dump(message), version="1"))


@given(list_events())
def test_a_stored_answer_is_the_concatenation_of_what_was_streamed_x33(
    events: list[RunEvent],
) -> None:
    stored = reload(build_message(RUN, events, "completed", AT))

    reasoning = [step.text for step in stored.steps if isinstance(step, ReasoningStep)]
    calls = [step for step in stored.steps if isinstance(step, CallStep)]
    assert stored.text == "".join(e.text for e in events if isinstance(e, AnswerText))
    assert "".join(reasoning) == "".join(e.text for e in events if isinstance(e, ReasoningText))
    assert [(c.call_id, c.tool, c.arguments) for c in calls] == [
        (e.call_id, e.tool, e.arguments) for e in events if isinstance(e, ToolStarted)
    ]
    assert {(c.call_id, c.output, c.source) for c in calls if c.state != "abandoned"} == {
        (e.call_id, e.output, e.source) for e in events if isinstance(e, ToolEnded)
    }


@given(
    st.lists(
        st.one_of(
            st.builds(ReasoningText, st.text(max_size=9).map(lambda text: text * 4_000)),
            st.builds(
                ToolStarted,
                call_id=st.uuids().map(str),
                tool=st.just("search"),
                arguments=st.text(max_size=9).map(lambda text: text * 2_000),
            ),
        ),
        max_size=20,
    )
)
def test_stored_steps_fit_their_bounds_with_a_note_where_they_are_cut(
    events: list[RunEvent],
) -> None:
    steps = collect_steps(events)

    calls = [step for step in steps if isinstance(step, CallStep)]
    texts = [step.text if isinstance(step, ReasoningStep) else step.arguments for step in steps]
    assert sum(len(json.dumps(text)) - 2 for text in texts) <= MAX_STEPS_CHARS
    assert len(calls) == sum(isinstance(event, ToolStarted) for event in events)
    assert all(len(c.arguments) <= MAX_ARGUMENTS_CHARS + len(CUT_NOTE) for c in calls)


def test_steps_that_just_fit_are_stored_whole_x33() -> None:
    text = "x" * MAX_STEPS_CHARS

    assert list(collect_steps([ReasoningText(text)])) == [ReasoningStep(text=text)]


def build_answer(*steps: Step, **changes: Any) -> Message:
    fields: dict[str, Any] = {"text": "On Friday.", "sender": "ai", **changes}
    return Message(
        id=MessageId("r1"), session_id=MAIN_SESSION, created_at=AT, steps=steps, **fields
    )


def build_call(number: int, **changes: Any) -> CallStep:
    fields: dict[str, Any] = {"arguments": "{}", "cycle": 1, "state": "done", **changes}
    return CallStep(call_id=f"c{number}", tool="tool_of_old", **fields)


def test_calls_of_one_model_call_are_replayed_together_and_before_the_answer_x22() -> None:
    messages = to_model_messages(
        [
            build_answer(
                ReasoningStep(text="Hm."),
                build_call(1, arguments='{"query":"offsite"}'),
                build_call(2),
                build_call(3, cycle=2, state="skipped"),
            )
        ]
    )

    first, one, two, second, three, answer = messages
    assert isinstance(first, AssistantTurn)
    assert isinstance(second, AssistantTurn)
    assert [(call.id, call.arguments) for call in first.tool_calls] == [
        ("c1", '{"query":"offsite"}'),
        ("c2", "{}"),
    ]
    assert [one, two] == [ToolResult(call_id=f"c{n}", text=GONE) for n in (1, 2)]
    assert [call.id for call in second.tool_calls] == ["c3"]
    assert three == ToolResult(
        call_id="c3", text="This tool call was not made: the owner did not allow it."
    )
    assert answer == AssistantTurn(text="On Friday.")


BROKEN = ["{broken", "[1]", "7", "", "[" * 100_000, '{"limit": NaN}', '{"query": "\\ud800"}']


@pytest.mark.parametrize("arguments", BROKEN, ids=lambda arguments: arguments[:20])
def test_broken_arguments_are_replayed_as_an_object(arguments: str) -> None:
    first, *_ = to_model_messages([build_answer(build_call(1, arguments=arguments))])

    assert isinstance(first, AssistantTurn)
    assert json.loads(first.tool_calls[0].arguments) == {"text": arguments}


@pytest.mark.parametrize("change", ["is_imported", "from_integration"])
def test_calls_that_a_file_or_an_app_names_are_never_replayed(change: str) -> None:
    messages = to_model_messages([build_answer(build_call(1), **{change: True})])

    assert len(messages) == 1
    assert not isinstance(messages[0], AssistantTurn)


@given(st.lists(list_events(), max_size=3), st.data())
def test_every_cut_of_a_history_keeps_calls_and_results_in_pairs_x29(
    runs: list[list[RunEvent]], data: st.DataObject
) -> None:
    answers = [build_message(RUN, events, "completed", AT) for events in runs]
    messages = to_model_messages(answers)
    start = data.draw(st.integers(0, len(messages)))
    end = data.draw(st.integers(start, len(messages)))

    assert is_paired(messages)
    assert is_paired(drop_orphans(messages[start:end]))


def is_paired(messages: Sequence[ModelMessage]) -> bool:
    """Tell whether each result follows the turn that made its call, and each call has one."""
    open_ids: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            if not open_ids or open_ids.pop(0) != message.call_id:
                return False
        elif open_ids:
            return False
        elif isinstance(message, AssistantTurn):
            open_ids = [call.id for call in message.tool_calls]
    return not open_ids


async def test_the_next_turn_reads_the_query_that_was_searched_but_not_what_was_found_x23(
    world: ChatFixture,
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Ann likes Lisbon."))
    search = script_calls(("search_conversations", {"query": "Lisbon"}))
    with ScriptedModel(search, script_answer("She likes Lisbon[1].")) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("What does Ann like?")

    turn = await prepare_turn(world.deps(), ADA, Question("And now?"))
    messages = [each for earlier in turn.context.history for each in earlier.messages]
    _, call, result, answer = messages
    assert isinstance(call, AssistantTurn)
    assert [json.loads(c.arguments) for c in call.tool_calls] == [{"query": "Lisbon"}]
    assert result == ToolResult(call_id=call.tool_calls[0].id, text=GONE)
    assert answer == AssistantTurn(text="She likes Lisbon[1].")


async def test_a_reload_shows_the_steps_that_were_streamed_to_who_asks_for_them_x33(
    world: ChatFixture,
) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Ann likes Lisbon."))
    search = script_calls(("search_conversations", {"query": "Lisbon"}))
    turns = [(ReasoningDelta("Let me "), ReasoningDelta("look."), *search)]
    with ScriptedModel(*turns, script_answer("She likes Lisbon[1].")) as model:
        async with open_chat(world, model) as chat:
            streamed = (await chat.ask("What does Ann like?")).text
            question, answer = await chat.list_shown(**UI)
            plain = await chat.list_shown()

    reasoning, call, text = answer["metadata"].pop("parts")
    assert reasoning == {"type": "reasoning", "text": "Let me look.", "state": "done"}
    assert (call["type"], call["toolName"]) == ("dynamic-tool", "search_conversations")
    assert (call["input"], call["state"]) == ({"query": "Lisbon"}, "output-available")
    assert call["output"] == streamed_output(streamed, call["toolCallId"])
    assert text == {"type": "text", "text": "She likes Lisbon[1].", "state": "done"}
    assert [question, answer] == plain


def streamed_output(stream: str, call_id: str) -> Any:
    """Return what a stream gave out as the result of a call."""
    chunks = (line.removeprefix("data: ") for line in stream.splitlines())
    ends = (json.loads(chunk) for chunk in chunks if '"tool-output-available"' in chunk)
    return next(end["output"] for end in ends if end["toolCallId"] == call_id)


async def test_clients_are_told_which_messages_a_summary_covers_and_still_get_them_m124(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("One"), script_answer("Two")) as model:
        async with open_chat(world, model) as chat:
            await chat.ask("First?")
            await chat.ask("Second?")
            stores = world.deps().stores
            session = await stores.sessions.get(ADA, MAIN_SESSION)
            assert session is not None
            [covered] = [
                message
                for message in await stores.messages.list_newest(ADA, MAIN_SESSION, limit=9)
                if message.text == "One"
            ]
            await stores.sessions.update_derived(
                ADA,
                session,
                source=covered,
                summary="They counted.",
                summarised_until=covered.position,
                summarised_branch=covered.branch,
            )
            shown = await chat.list_shown(**UI)

    assert [(m["text"], m["metadata"].get("summarised", False)) for m in shown] == [
        ("First?", True),
        ("One", True),
        ("Second?", False),
        ("Two", False),
    ]

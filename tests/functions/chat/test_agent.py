"""Agent loop and output gate (P1, P3, P10, X37, X42)."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat import user_texts
from functions.chat.context.context import Context
from functions.chat.deps import Limits
from functions.chat.loop.agent import Agent
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.toolkit import (
    CALLED_WRONGLY,
    NOT_WORKING,
    ResultRenderer,
    Tool,
    Toolkit,
    ToolSearchResult,
    render_fixed,
)
from shared.domain.chats.chat import NumberedDocument
from shared.domain.chats.run import (
    AnswerText,
    CitationShown,
    DocumentsGiven,
    OwnText,
    ReasoningText,
    RunEvent,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
)
from shared.domain.errors import ToolFailed, ToolRefused, Unavailable
from shared.domain.ids import RunId
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelFacts,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
)
from shared.domain.provenance import LIBRARY, Source
from tests.fakes import (
    ScriptedModel,
    ScriptedTurn,
    build_silent_review,
    keep_nothing,
    script_answer,
    script_calls,
)
from tests.functions.chat.context.test_citations import CARDS

UNKNOWN = CALLED_WRONGLY
QUESTION = Context(question="What did Ann say?")


def build_tool(name: str, answer: Callable[[Mapping[str, Any]], Awaitable[ResultRenderer]]) -> Tool:
    async def run(arguments: Mapping[str, Any], _: str) -> ResultRenderer:
        return await answer(arguments)

    return Tool(
        spec=ToolSpec(name=name, description=name, parameters={"type": "object"}),
        status=f"Using {name}",
        run=run,
        source=LIBRARY,
        tool_class="read",
    )


async def echo(arguments: Mapping[str, Any]) -> ResultRenderer:
    return render_fixed(f"echo {json.dumps(arguments)}")


def build_agent(
    model: ScriptedModel,
    *tools: Tool,
    limits: Limits | None = None,
    output_gate: OutputGate | None = None,
) -> Agent:
    limits = limits or Limits()
    return Agent(
        run_id=RunId("r1"),
        model=model,
        role="agent",
        toolkit=Toolkit(tools, timeout_s=limits.call_timeout_s),
        call_review=build_silent_review("What did Ann say?"),
        output_gate=output_gate or OutputGate(),
        limits=limits,
        keep_results=keep_nothing,
    )


async def collect_events(running: Agent) -> list[RunEvent]:
    return [event async for event in running.run(QUESTION)]


async def collect_text(running: Agent) -> str:
    return join_text(await collect_events(running))


def join_text(events: Sequence[RunEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, AnswerText))


THINKING, USING_TOOLS = Stage("thinking"), Stage("using_tools")
ANSWERING, READY = Stage("answering"), Stage("response_ready")


async def test_a_question_that_needs_no_tool_takes_one_model_call_p1() -> None:
    with ScriptedModel(script_answer("Hi ", "there")) as model:
        events = await collect_events(build_agent(model, build_tool("a", echo)))

    assert events == [THINKING, ANSWERING, AnswerText("Hi "), AnswerText("there"), READY]
    assert len(model.calls) == 1


async def test_tools_run_concurrently_and_their_results_keep_call_order_p3() -> None:
    first, second, third = anyio.Event(), anyio.Event(), anyio.Event()

    async def wait_for_second(_: Mapping[str, Any]) -> ResultRenderer:
        first.set()
        await second.wait()
        return render_fixed("one")

    async def wait_for_third(_: Mapping[str, Any]) -> ResultRenderer:
        await third.wait()
        second.set()
        return render_fixed("two")

    async def wait_for_first(_: Mapping[str, Any]) -> ResultRenderer:
        await first.wait()
        third.set()
        return render_fixed("three")

    tool_calls = script_calls(("a", {}), ("b", {}), ("c", {}))
    with ScriptedModel(tool_calls, script_answer("done")) as model, anyio.fail_after(5):
        await collect_events(
            build_agent(
                model,
                build_tool("a", wait_for_second),
                build_tool("b", wait_for_third),
                build_tool("c", wait_for_first),
            )
        )

    assert [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)] == [
        "one",
        "two",
        "three",
    ]


async def test_each_status_is_emitted_once_and_before_its_tools_run() -> None:
    with ScriptedModel(
        script_calls(("a", {"n": 1}), ("a", {"n": 2})), script_answer("ok")
    ) as model:
        events = await collect_events(build_agent(model, build_tool("a", echo)))

    assert [event for event in events if isinstance(event, Status)] == [Status("Using a")]
    assert events.index(Status("Using a")) < events.index(build_tool_started("a", 0, n=1))


async def test_text_before_a_tool_call_is_a_paragraph_of_its_own() -> None:
    with ScriptedModel(
        script_calls(("a", {}), text="Let me look."), script_answer("Found.")
    ) as model:
        text = await collect_text(build_agent(model, build_tool("a", echo)))

    assert text == "Let me look.\n\nFound."
    assert model.calls[1].messages[1] == AssistantTurn(
        text="Let me look.",
        tool_calls=model.calls[1].messages[1].tool_calls,  # type: ignore[union-attr]
    )


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        (
            "unknown",
            "{}",
            "Error: there is no tool 'unknown'. Available: a, refuses, fails, down, breaks.",
        ),
        ("a", "{broken", "Error: the arguments of a are not valid JSON"),
        ("a", "[1]", "Error: the arguments of a must be a JSON object."),
        ("refuses", "{}", "Error: send a date"),
        ("fails", "{}", "Error: the shop is closed"),
        ("down", "{}", "Error: down does not work at the moment."),
        ("breaks", "{}", "Error: breaks does not work at the moment."),
    ],
)
async def test_an_invalid_or_failing_call_becomes_an_error_text_for_the_model_x42(
    name: str, arguments: str, expected: str
) -> None:
    async def raise_refusal(_: Mapping[str, Any]) -> ResultRenderer:
        raise ToolRefused("send a date")

    async def raise_failure(_: Mapping[str, Any]) -> ResultRenderer:
        raise ToolFailed("the shop is closed")

    async def raise_unavailable(_: Mapping[str, Any]) -> ResultRenderer:
        raise Unavailable("10.0.0.7 refused")

    tool_call = ToolCallRequested(ToolCall(id="call_0", name=name, arguments=arguments))
    raw: ScriptedTurn = [tool_call, ModelCallFinished(reason="tool_calls", model="scripted")]
    with ScriptedModel(raw, script_answer("ok")) as model:
        text = await collect_text(
            build_agent(
                model,
                build_tool("a", echo),
                build_tool("refuses", raise_refusal),
                build_tool("fails", raise_failure),
                build_tool("down", raise_unavailable),
                build_tool("breaks", raise_bug),
            )
        )

    assert text == "ok"
    result = model.calls[1].messages[-1]
    assert isinstance(result, ToolResult)
    assert result.text.startswith(expected)


async def test_a_tool_call_that_does_not_answer_times_out_p10() -> None:
    async def wait_forever(_: Mapping[str, Any]) -> ResultRenderer:
        await anyio.sleep_forever()
        raise AssertionError

    with ScriptedModel(script_calls(("a", {})), script_answer("ok")) as model:
        limits = Limits(call_timeout_s=0.01)
        await collect_events(build_agent(model, build_tool("a", wait_forever), limits=limits))

    assert model.calls[1].messages[-1].text == "Error: a did not answer within 0.01 seconds."


async def test_of_a_burst_beyond_the_call_limit_the_first_run_and_the_model_answers_p10() -> None:
    started_numbers: list[int] = []

    async def record_start(arguments: Mapping[str, Any]) -> ResultRenderer:
        started_numbers.append(arguments["n"])
        return render_fixed("ok")

    first_calls = script_calls(*(("a", {"n": n}) for n in range(8)))
    second_calls = script_calls(*(("a", {"n": n}) for n in range(8, 13)))
    with ScriptedModel(first_calls, second_calls, script_answer("That is all.")) as model:
        running = build_agent(model, build_tool("a", record_start))
        events = await collect_events(running)

    assert started_numbers == list(range(10))
    ended = [event for event in events if isinstance(event, ToolEnded)]
    assert [event.skipped for event in ended] == [False] * 10 + [True] * 3
    results = [each.text for each in model.calls[2].messages if isinstance(each, ToolResult)]
    assert results[:10] == ["ok"] * 10
    assert ["This call was not made" in text for text in results[10:]] == [True] * 3
    assert model.calls[1].tools
    assert not model.calls[2].tools
    assert Status(user_texts.BUSY) in events
    assert join_text(events) == "That is all."


async def test_repeating_the_same_call_ends_the_turn_p10() -> None:
    calls = script_calls(("a", {"query": "ann", "limit": 5}))
    with ScriptedModel(calls, calls, calls) as model:
        text = await collect_text(build_agent(model, build_tool("a", echo)))

    assert text == user_texts.CALL_REPEATED


async def test_too_much_context_ends_the_turn_p10() -> None:
    async def return_long_text(_: Mapping[str, Any]) -> ResultRenderer:
        return render_fixed("x" * 4_000)

    with ScriptedModel(script_calls(("a", {}))) as model:
        text = await collect_text(
            build_agent(model, build_tool("a", return_long_text), limits=Limits(context_tokens=900))
        )

    assert text == user_texts.TOO_MUCH_CONTEXT


async def test_an_answer_over_the_character_limit_is_cut_off() -> None:
    with ScriptedModel(script_answer(*["again "] * 100)) as model:
        text = await collect_text(build_agent(model, limits=Limits(answer_chars=60)))

    assert text == "again " * 10 + "\n\n" + user_texts.ANSWER_TOO_LONG
    assert model.open_streams == 0


async def test_the_last_cycle_offers_the_model_no_tools_x37() -> None:
    turns = [script_calls(("a", {"n": n})) for n in range(3)]
    with ScriptedModel(*turns, script_answer("At last.")) as model:
        text = await collect_text(
            build_agent(model, build_tool("a", echo), limits=Limits(cycles=4))
        )

    assert text == "At last."
    assert [len(call.tools) for call in model.calls] == [1, 1, 1, 0]


async def test_a_search_is_followed_by_how_to_cite_until_the_turn_ends_x4() -> None:
    search = replace(build_tool("find", return_card_numbers), is_search=True)
    turns = [script_calls(("find", {})), script_calls(("a", {})), script_answer("Ann[1].")]
    with ScriptedModel(*turns) as model:
        await collect_events(build_agent(model, search, build_tool("a", echo)))

    hints = [[m for m in call.messages if "Cite your sources" in m.text] for call in model.calls]
    assert [len(texts) for texts in hints] == [0, 1, 1]
    assert all(
        call.messages[-1] in texts for call, texts in zip(model.calls, hints, strict=True) if texts
    )


async def test_a_search_that_failed_leaves_nothing_to_cite_x18() -> None:
    search = replace(build_tool("find", raise_tool_failure), is_search=True)
    with ScriptedModel(script_calls(("find", {})), script_answer("Sorry.")) as model:
        await collect_events(build_agent(model, search))

    assert isinstance(model.calls[1].messages[-1], ToolResult)


async def test_the_last_cycle_says_that_no_call_is_left() -> None:
    with ScriptedModel(script_calls(("a", {})), script_answer("ok")) as model:
        await collect_text(build_agent(model, build_tool("a", echo), limits=Limits(cycles=2)))

    assert "You can call no more tools" in model.calls[1].messages[-1].text


async def test_results_beyond_the_window_are_cut_and_the_turn_goes_on_x27() -> None:
    async def return_long_text(_: Mapping[str, Any]) -> ResultRenderer:
        return render_fixed("語" * 60_000)

    facts = ModelFacts(window_tokens=8_000)
    with ScriptedModel(script_calls(("a", {})), script_answer("ok"), facts=facts) as model:
        agent = build_agent(model, build_tool("a", return_long_text))
        context = replace(QUESTION, facts=facts)
        text = join_text([event async for event in agent.run(context)])

    assert text == "ok"
    assert "characters left out" in model.calls[1].messages[-1].text


async def test_calls_in_the_last_cycle_are_not_run() -> None:
    with ScriptedModel(script_calls(("a", {}), text="I would call.")) as model:
        text = await collect_text(
            build_agent(model, build_tool("a", echo), limits=Limits(cycles=1))
        )

    assert text == "I would call."


async def test_an_overlong_result_keeps_its_head_and_tail() -> None:
    async def return_long_text(_: Mapping[str, Any]) -> ResultRenderer:
        return render_fixed("a" * 100_000 + "b" * 100_000)

    with ScriptedModel(script_calls(("a", {})), script_answer("ok")) as model:
        await collect_events(build_agent(model, build_tool("a", return_long_text)))

    result = model.calls[1].messages[-1]
    assert isinstance(result, ToolResult)
    assert len(result.text) < 81_000
    assert (result.text[0], result.text[-1]) == ("a", "b")
    assert "120000 characters left out" in result.text


@pytest.mark.parametrize(
    "turn",
    [script_answer("Hi"), script_calls(("a", {})), [ReasoningDelta("Hm"), *script_answer()]],
)
async def test_text_and_tools_wait_until_the_question_is_stored(turn: ScriptedTurn) -> None:
    started_tools: list[str] = []
    output_gate = OutputGate(is_stored=False)
    events: list[RunEvent] = []

    async def record_start(_: Mapping[str, Any]) -> ResultRenderer:
        started_tools.append("a")
        return render_fixed("ok")

    async def collect(agent: Agent) -> None:
        async for event in agent.run(QUESTION):
            events.append(event)  # noqa: PERF401 - it is looked at while it grows

    has_call = any(isinstance(event, ToolCallRequested) for event in turn)
    with ScriptedModel(turn, *([script_answer("done")] if has_call else [])) as model:
        agent = build_agent(model, build_tool("a", record_start), output_gate=output_gate)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(collect, agent)
            await anyio.wait_all_tasks_blocked()
            assert len(model.calls) == 1, "the model is asked before the question is stored"
            assert (events, started_tools) == ([THINKING], [])
            output_gate.mark_stored()

    assert events[-1] == READY
    assert started_tools == ["a"] * has_call


async def return_card_numbers(_: Mapping[str, Any]) -> ResultRenderer:
    return lambda citations: str([citations.assign_number(card) for card in CARDS])


@given(st.lists(st.integers(0, 60), max_size=8))
def test_citations_do_not_depend_on_how_the_stream_is_split_p17_x39(places: list[int]) -> None:
    text = "Bob [2] and Ann[1] said `a[1]`, [2024] and more [9]. Done[1][1]."
    edges = sorted({0, len(text), *(place % len(text) for place in places)})
    pieces = [text[start:end] for start, end in pairwise(edges)]

    async def collect_answer() -> list[RunEvent]:
        with ScriptedModel(script_calls(("find", {})), script_answer(*pieces)) as model:
            return await collect_events(build_agent(model, build_tool("find", return_card_numbers)))

    events = anyio.run(collect_answer)
    assert join_text(events) == "Bob[1] and Ann[2] said `a[1]`, [2024] and more [9]. Done[2][2]."
    assert select_citations(events) == [
        CitationShown(number=1, card=CARDS[1]),
        CitationShown(number=2, card=CARDS[0]),
    ]
    for citation in select_citations(events):
        preceding_text = join_text(events[: events.index(citation)])
        assert f"[{citation.number}]" not in preceding_text.replace("`a[1]`", "")


def select_citations(events: Sequence[RunEvent]) -> list[CitationShown]:
    return [event for event in events if isinstance(event, CitationShown)]


def build_tool_started(name: str, call: int, **arguments: Any) -> ToolStarted:
    return ToolStarted(call_id=f"call_{call}", tool=name, arguments=json.dumps(arguments))


def build_tool_ended(call: int, output: str, *, failed: bool = False) -> ToolEnded:
    source = None if failed else LIBRARY
    return ToolEnded(call_id=f"call_{call}", output=output, failed=failed, source=source)


async def raise_bug(_: Mapping[str, Any]) -> ResultRenderer:
    raise RuntimeError("a bug")


INTRO_DELTA, FINISHED = (
    TextDelta("Let me look."),
    ModelCallFinished(reason="stop", model="scripted"),
)
TWO_CALLS = script_calls(("a", {"n": 1}), ("breaks", {}))


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param(
            [
                [
                    ReasoningDelta("Hm"),
                    TextDelta("Hi "),
                    ReasoningDelta("so"),
                    TextDelta("Ann"),
                    FINISHED,
                ]
            ],
            [
                THINKING,
                ReasoningText("Hm"),
                ANSWERING,
                AnswerText("Hi "),
                ReasoningText("so"),
                AnswerText("Ann"),
                READY,
            ],
            id="reasoning and an answer",
        ),
        pytest.param(
            [TWO_CALLS, script_answer("ok")],
            [
                THINKING,
                USING_TOOLS,
                Status("Using a"),
                Status("Using breaks"),
                build_tool_started("a", 0, n=1),
                build_tool_started("breaks", 1),
                build_tool_ended(0, 'echo {"n": 1}'),
                build_tool_ended(1, NOT_WORKING, failed=True),
                THINKING,
                ANSWERING,
                AnswerText("ok"),
                READY,
            ],
            id="X42: one of two tools is broken",
        ),
        pytest.param(
            [[INTRO_DELTA, *TWO_CALLS], script_calls(("find", {})), script_answer("Ann[1].")],
            [
                THINKING,
                ANSWERING,
                AnswerText("Let me look."),
                USING_TOOLS,
                Status("Using a"),
                Status("Using breaks"),
                build_tool_started("a", 0, n=1),
                build_tool_started("breaks", 1),
                build_tool_ended(0, 'echo {"n": 1}'),
                build_tool_ended(1, NOT_WORKING, failed=True),
                THINKING,
                USING_TOOLS,
                Status("Using find"),
                build_tool_started("find", 0),
                build_tool_ended(0, "(1, 2, 3)"),
                DocumentsGiven(
                    documents=tuple(
                        NumberedDocument(number=number, kind="conversation", id=card.id)
                        for number, card in enumerate(CARDS, 1)
                    ),
                    last_number=3,
                ),
                THINKING,
                ANSWERING,
                CitationShown(number=1, card=CARDS[0]),
                AnswerText("\n\nAnn[1]."),
                READY,
            ],
            id="two cycles of tools, and an answer that cites",
        ),
        pytest.param(
            [script_calls(("nobody", {}))] * 3,
            [
                THINKING,
                USING_TOOLS,
                build_tool_started("nobody", 0),
                build_tool_ended(0, UNKNOWN, failed=True),
                THINKING,
                USING_TOOLS,
                build_tool_started("nobody", 0),
                build_tool_ended(0, UNKNOWN, failed=True),
                THINKING,
                ANSWERING,
                OwnText(user_texts.CALL_REPEATED),
                READY,
            ],
            id="a guard's text is an answer too",
        ),
    ],
)
async def test_model_output_becomes_run_events_in_order_x38_c80(
    turns: list[ScriptedTurn], expected: list[RunEvent]
) -> None:
    tools = [
        build_tool("a", echo),
        build_tool("breaks", raise_bug),
        build_tool("find", return_card_numbers),
    ]
    with ScriptedModel(*turns) as model:
        events = await collect_events(build_agent(model, *tools))

    assert events == expected


async def test_pending_text_is_flushed_before_the_text_of_a_limit() -> None:
    answer = [TextDelta("Ann"), TextDelta("[1]"), TextDelta("x" * 100)]
    with ScriptedModel(script_calls(("find", {})), answer) as model:
        text = await collect_text(
            build_agent(
                model, build_tool("find", return_card_numbers), limits=Limits(answer_chars=50)
            )
        )

    assert text == f"Ann[1]\n\n{user_texts.ANSWER_TOO_LONG}"


async def test_the_displayed_result_is_truncated_and_the_model_reads_all_of_it() -> None:
    async def return_long_text(_: Mapping[str, Any]) -> ResultRenderer:
        return render_fixed("x" * 20_000)

    with ScriptedModel(script_calls(("a", {})), script_answer("ok")) as model:
        events = await collect_events(build_agent(model, build_tool("a", return_long_text)))

    (result,) = [event for event in events if isinstance(event, ToolEnded)]
    assert len(result.output) < 2_100
    assert model.calls[1].messages[-1].text == "x" * 20_000


async def raise_tool_failure(_: Mapping[str, Any]) -> ResultRenderer:
    raise ToolFailed("The app says: do as I say")


async def test_every_tool_result_is_labelled_with_its_source_t11() -> None:
    """Our own failures have none; the failure of an app may quote it."""
    app = Source(kind="app", id="w1", name="Weather")
    tools = [
        build_tool("a", echo),
        replace(build_tool("b", echo), source=app),
        replace(build_tool("c", raise_tool_failure), source=app),
        build_tool("d", raise_tool_failure),
    ]
    tool_calls = script_calls(("a", {}), ("b", {}), ("c", {}), ("d", {}), ("nobody", {}))
    with ScriptedModel(tool_calls, script_answer("done")) as model:
        events = await collect_events(build_agent(model, *tools))

    sources = [LIBRARY, app, app, None, None]
    assert [m.source for m in model.calls[1].messages if isinstance(m, ToolResult)] == sources
    assert [e.source for e in events if isinstance(e, ToolEnded)] == sources


async def test_invisible_characters_of_a_result_do_not_reach_the_model_t11() -> None:
    async def return_hidden_text(_: Mapping[str, Any]) -> ResultRenderer:
        return render_fixed("sun\u202e\U000e0041ny")

    with ScriptedModel(script_calls(("a", {})), script_answer("done")) as model:
        await collect_events(build_agent(model, build_tool("a", return_hidden_text)))

    result = model.calls[1].messages[-1]
    assert isinstance(result, ToolResult)
    assert result.text == "sunny"


async def test_a_tool_without_its_account_returns_the_connect_url_t7() -> None:
    async def raise_connect_first(_: Mapping[str, Any]) -> ResultRenderer:
        raise ToolFailed("Connect first.", connect_url="https://notes.example.com/connect")

    with ScriptedModel(script_calls(("notes", {})), script_answer("Please connect.")) as model:
        events = await collect_events(build_agent(model, build_tool("notes", raise_connect_first)))

    [tool_ended] = [event for event in events if isinstance(event, ToolEnded)]
    assert tool_ended.failed
    assert tool_ended.connect_url == "https://notes.example.com/connect"


async def test_images_and_invented_links_are_removed_from_an_answer_t11() -> None:
    """In every model call, however the stream is split; a link from a tool's result stays."""

    async def return_link(_: Mapping[str, Any]) -> ResultRenderer:
        return render_fixed('{"url": "https://ann.example/lease"}')

    first = script_calls(("a", {}), text="![q](https://evil.example/4711)")
    last = script_answer(
        "See [it](https:", "//ann.example/lease) and https://evil", ".example/", "4711"
    )
    with ScriptedModel(first, last) as model:
        text = await collect_text(build_agent(model, build_tool("a", return_link)))

    assert text == (
        "[q] (hxxps://evil(.)example/4711)\n\n"
        "See [it](https://ann.example/lease) and hxxps://evil(.)example/4711"
    )


async def test_the_result_of_a_tool_search_makes_no_later_call_need_confirmation_t11() -> None:
    """The model may read them in its list of tools anyway."""
    app = Source(kind="app", id="w1", name="Weather")
    app_tool = replace(build_tool("b", echo), source=app, tool_class="read")

    async def return_tool(_: Mapping[str, Any]) -> ResultRenderer:
        return ToolSearchResult(text="b", tools=[app_tool])

    with ScriptedModel(
        script_calls(("a", {})), script_calls(("b", {})), script_answer("done")
    ) as model:
        events = await collect_events(build_agent(model, build_tool("a", return_tool)))

    assert [e.output for e in events if isinstance(e, ToolEnded)] == ["b", "echo {}"]


async def test_a_failure_that_calls_itself_an_error_is_called_so_once_t6() -> None:
    async def raise_failure(_: Mapping[str, Any]) -> ResultRenderer:
        raise ToolFailed("Error calling find: HTTP 500 - boom")

    with ScriptedModel(script_calls(("a", {})), script_answer("ok")) as model:
        await collect_events(build_agent(model, build_tool("a", raise_failure)))

    assert model.calls[1].messages[-1].text == "Error calling find: HTTP 500 - boom"

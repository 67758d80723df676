"""The agent loop (P1, P3, P10, X37, X42) and its hold."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat import guards
from functions.chat.agent import Agent, AgentEvent
from functions.chat.confirming import Nobody
from functions.chat.gate import Gate
from functions.chat.guards import Limits
from functions.chat.hold import Hold
from functions.chat.tools.toolkit import Found, Present, Tool, Toolkit, say
from shared.domain.errors import ToolFailed, ToolRefused, Unavailable
from shared.domain.model import (
    AssistantTurn,
    Finished,
    ModelMessage,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.domain.provenance import LIBRARY, Source
from shared.domain.run import (
    CitationShown,
    Reasoned,
    Said,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
)
from tests.doubles import ScriptedModel, Turn, calls, says
from tests.functions.chat.context.test_citations import CARDS

UNKNOWN = "Error: there is no tool 'nobody'. Available: a, breaks, find."
QUESTION: Sequence[ModelMessage] = [UserText(text="What did Ann say?")]


def tool(name: str, run: Any) -> Tool:
    return Tool(
        spec=ToolSpec(name=name, description=name, parameters={"type": "object"}),
        status=f"Using {name}",
        run=run,
        source=LIBRARY,
        side_effect=False,
    )


async def echo(arguments: Mapping[str, Any]) -> Present:
    return say(f"echo {json.dumps(arguments)}")


def agent(
    model: ScriptedModel,
    *tools: Tool,
    limits: Limits | None = None,
    hold: Hold | None = None,
) -> Agent:
    return Agent(
        model=model,
        role="agent",
        toolkit=Toolkit(tools, timeout_s=30),
        gate=Gate("What did Ann say?"),
        asker=Nobody(),
        hold=hold or Hold(),
        limits=limits or Limits(),
    )


async def told(running: Agent) -> list[AgentEvent]:
    return [event async for event in running.run(QUESTION)]


async def text_of(running: Agent) -> str:
    return said(await told(running))


def said(events: Sequence[AgentEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Said))


THINKING, USING_TOOLS = Stage("thinking"), Stage("using_tools")
ANSWERING, READY = Stage("answering"), Stage("response_ready")


async def test_p1_the_simple_path_is_the_loop_that_calls_no_tool() -> None:
    with ScriptedModel(says("Hi ", "there")) as model:
        events = await told(agent(model, tool("a", echo)))

    assert events == [THINKING, ANSWERING, Said("Hi "), Said("there"), READY]
    assert len(model.calls) == 1


async def test_p3_three_tools_overlap_and_their_results_return_in_call_order() -> None:
    first, second, third = anyio.Event(), anyio.Event(), anyio.Event()

    async def waits_for_second(_: Mapping[str, Any]) -> Present:
        first.set()
        await second.wait()
        return say("one")

    async def waits_for_third(_: Mapping[str, Any]) -> Present:
        await third.wait()
        second.set()
        return say("two")

    async def waits_for_first(_: Mapping[str, Any]) -> Present:
        await first.wait()
        third.set()
        return say("three")

    asked = calls(("a", {}), ("b", {}), ("c", {}))
    with ScriptedModel(asked, says("done")) as model, anyio.fail_after(5):
        await told(
            agent(
                model,
                tool("a", waits_for_second),
                tool("b", waits_for_third),
                tool("c", waits_for_first),
            )
        )

    assert [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)] == [
        "one",
        "two",
        "three",
    ]


async def test_statuses_are_told_once_before_tools_run() -> None:
    with ScriptedModel(calls(("a", {"n": 1}), ("a", {"n": 2})), says("ok")) as model:
        events = await told(agent(model, tool("a", echo)))

    assert [event for event in events if isinstance(event, Status)] == [Status("Using a")]
    assert events.index(Status("Using a")) < events.index(started("a", 0, n=1))


async def test_text_before_a_tool_call_is_kept_apart_from_what_follows() -> None:
    with ScriptedModel(calls(("a", {}), text="Let me look."), says("Found.")) as model:
        text = await text_of(agent(model, tool("a", echo)))

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
async def test_x42_a_bad_or_failing_call_becomes_text_and_the_loop_goes_on(
    name: str, arguments: str, expected: str
) -> None:
    async def refuses(_: Mapping[str, Any]) -> Present:
        raise ToolRefused("send a date")

    async def fails(_: Mapping[str, Any]) -> Present:
        raise ToolFailed("the shop is closed")

    async def down(_: Mapping[str, Any]) -> Present:
        raise Unavailable("10.0.0.7 refused")

    asked = ToolCallRequested(ToolCall(id="call_0", name=name, arguments=arguments))
    raw: Turn = [asked, Finished(reason="tool_calls", model="scripted")]
    with ScriptedModel(raw, says("ok")) as model:
        text = await text_of(
            agent(
                model,
                tool("a", echo),
                tool("refuses", refuses),
                tool("fails", fails),
                tool("down", down),
                tool("breaks", breaks),
            )
        )

    assert text == "ok"
    result = model.calls[1].messages[-1]
    assert isinstance(result, ToolResult)
    assert result.text.startswith(expected)


async def test_p10_a_call_that_does_not_answer_is_given_up() -> None:
    async def stalls(_: Mapping[str, Any]) -> Present:
        await anyio.sleep_forever()
        raise AssertionError

    with ScriptedModel(calls(("a", {})), says("ok")) as model:
        running = agent(model, tool("a", stalls))
        running.toolkit = Toolkit([tool("a", stalls)], timeout_s=0.01)
        await told(running)

    assert model.calls[1].messages[-1].text == "Error: a did not answer within 0.01 seconds."


async def test_p10_the_eleventh_call_and_its_siblings_never_start() -> None:
    began: list[int] = []

    async def counts(arguments: Mapping[str, Any]) -> Present:
        began.append(arguments["n"])
        return say("ok")

    one = calls(*(("a", {"n": n}) for n in range(8)))
    two = calls(*(("a", {"n": n}) for n in range(8, 11)))
    with ScriptedModel(one, two) as model:
        running = agent(model, tool("a", counts))
        events = await told(running)

    assert began == list(range(8))
    assert events[-2:] == [Said(guards.TOO_MANY_CALLS), READY]
    assert Status(guards.BUSY) in events
    assert running.stopped


async def test_p10_the_same_call_again_and_again_ends_the_turn() -> None:
    again = calls(("a", {"query": "ann", "limit": 5}))
    with ScriptedModel(again, again, again) as model:
        text = await text_of(agent(model, tool("a", echo)))

    assert text == guards.LOOPING


async def test_p10_too_much_context_ends_the_turn() -> None:
    async def floods(_: Mapping[str, Any]) -> Present:
        return say("x" * 4_000)

    with ScriptedModel(calls(("a", {}))) as model:
        text = await text_of(agent(model, tool("a", floods), limits=Limits(context_tokens=900)))

    assert text == guards.TOO_MUCH_CONTEXT


async def test_an_answer_that_never_stops_is_stopped() -> None:
    with ScriptedModel(says(*["again "] * 100)) as model:
        text = await text_of(agent(model, limits=Limits(answer_chars=60)))

    assert text == "again " * 10 + "\n\n" + guards.TOO_LONG
    assert model.open_streams == 0


async def test_x37_a_model_that_always_calls_gets_no_tools_in_its_last_cycle() -> None:
    turns = [calls(("a", {"n": n})) for n in range(3)]
    with ScriptedModel(*turns, says("At last.")) as model:
        text = await text_of(agent(model, tool("a", echo), limits=Limits(cycles=4)))

    assert text == "At last."
    assert [len(call.tools) for call in model.calls] == [1, 1, 1, 0]


async def test_calls_in_the_last_cycle_are_not_run() -> None:
    with ScriptedModel(calls(("a", {}), text="I would call.")) as model:
        text = await text_of(agent(model, tool("a", echo), limits=Limits(cycles=1)))

    assert text == "I would call."


async def test_an_overlong_result_keeps_its_head_and_tail() -> None:
    async def floods(_: Mapping[str, Any]) -> Present:
        return say("a" * 100_000 + "b" * 100_000)

    with ScriptedModel(calls(("a", {})), says("ok")) as model:
        await told(agent(model, tool("a", floods)))

    result = model.calls[1].messages[-1]
    assert isinstance(result, ToolResult)
    assert len(result.text) < 81_000
    assert (result.text[0], result.text[-1]) == ("a", "b")
    assert "120000 characters left out" in result.text


async def test_a_hold_keeps_words_back_until_its_verdict() -> None:
    verdict = anyio.Event()

    async def classify() -> bool:
        await verdict.wait()
        return True

    hold = Hold(classify)
    heard: list[AgentEvent] = []
    with ScriptedModel([ReasoningDelta("Hm"), *says("Hi")]) as model:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold.decide)

            async def listen() -> None:
                async for event in agent(model, hold=hold).run(QUESTION):
                    heard.append(event)  # noqa: PERF401 - it is looked at while it grows

            tasks.start_soon(listen)
            await anyio.wait_all_tasks_blocked()
            assert model.calls, "the model is asked while the verdict is open"
            assert heard == [THINKING]
            verdict.set()

    assert heard == [THINKING, Reasoned("Hm"), ANSWERING, Said("Hi"), READY]


@pytest.mark.parametrize(
    "turn", [says("secret"), calls(("a", {})), [ReasoningDelta("secret"), *says()]]
)
async def test_a_hold_that_says_no_lets_neither_words_nor_tools_out(turn: Any) -> None:
    began: list[str] = []

    async def counts(_: Mapping[str, Any]) -> Present:
        began.append("a")
        return say("")

    async def classify() -> bool:
        return False

    hold = Hold(classify)
    await hold.decide()
    with ScriptedModel(turn) as model:
        events = await told(agent(model, tool("a", counts), hold=hold))

    assert (events, began) == ([THINKING, ANSWERING, Said(guards.WITHHELD), READY], [])


async def test_a_hold_without_a_verdict_in_time_says_no() -> None:
    hold = Hold(anyio.sleep_forever, timeout_s=0.01)  # type: ignore[arg-type]

    await hold.decide()

    assert await hold.passed() is False


async def finds(_: Mapping[str, Any]) -> Present:
    return lambda citations: str([citations.number(card) for card in CARDS])


@given(st.lists(st.integers(0, 60), max_size=8))
def test_p17_x39_every_split_of_the_stream_is_told_the_same(places: list[int]) -> None:
    text = "Bob [2] and Ann[1] said `a[1]`, [2024] and more [9]. Done[1][1]."
    edges = sorted({0, len(text), *(place % len(text) for place in places)})
    pieces = [text[start:end] for start, end in pairwise(edges)]

    async def answered() -> list[AgentEvent]:
        with ScriptedModel(calls(("find", {})), says(*pieces)) as model:
            return await told(agent(model, tool("find", finds)))

    events = anyio.run(answered)
    assert said(events) == "Bob[1] and Ann[2] said `a[1]`, [2024] and more. Done[2][2]."
    assert shown(events) == [
        CitationShown(number=1, card=CARDS[1]),
        CitationShown(number=2, card=CARDS[0]),
    ]
    for citation in shown(events):
        before = said(events[: events.index(citation)])
        assert f"[{citation.number}]" not in before.replace("`a[1]`", "")


def shown(events: Sequence[AgentEvent]) -> list[CitationShown]:
    return [event for event in events if isinstance(event, CitationShown)]


def started(name: str, call: int, **arguments: Any) -> ToolStarted:
    return ToolStarted(call_id=f"call_{call}", tool=name, arguments=json.dumps(arguments))


def ended(call: int, output: str, *, failed: bool = False) -> ToolEnded:
    source = None if failed else LIBRARY
    return ToolEnded(call_id=f"call_{call}", output=output, failed=failed, source=source)


async def breaks(_: Mapping[str, Any]) -> Present:
    raise RuntimeError("a bug")


LOOK, DONE = TextDelta("Let me look."), Finished(reason="stop", model="scripted")
ASKED = calls(("a", {"n": 1}), ("breaks", {}))


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
                    DONE,
                ]
            ],
            [
                THINKING,
                Reasoned("Hm"),
                ANSWERING,
                Said("Hi "),
                Reasoned("so"),
                Said("Ann"),
                READY,
            ],
            id="reasoning and an answer",
        ),
        pytest.param(
            [ASKED, says("ok")],
            [
                THINKING,
                USING_TOOLS,
                Status("Using a"),
                Status("Using breaks"),
                started("a", 0, n=1),
                started("breaks", 1),
                ended(0, 'echo {"n": 1}'),
                ended(1, "Error: breaks does not work at the moment.", failed=True),
                THINKING,
                ANSWERING,
                Said("ok"),
                READY,
            ],
            id="X42: one of two tools is broken",
        ),
        pytest.param(
            [[LOOK, *ASKED], calls(("find", {})), says("Ann[1].")],
            [
                THINKING,
                ANSWERING,
                Said("Let me look."),
                USING_TOOLS,
                Status("Using a"),
                Status("Using breaks"),
                started("a", 0, n=1),
                started("breaks", 1),
                ended(0, 'echo {"n": 1}'),
                ended(1, "Error: breaks does not work at the moment.", failed=True),
                THINKING,
                USING_TOOLS,
                Status("Using find"),
                started("find", 0),
                ended(0, "[1, 2, 3]"),
                THINKING,
                ANSWERING,
                CitationShown(number=1, card=CARDS[0]),
                Said("\n\nAnn[1]."),
                READY,
            ],
            id="two cycles of tools, and an answer that cites",
        ),
        pytest.param(
            [calls(("nobody", {}))] * 3,
            [
                THINKING,
                USING_TOOLS,
                started("nobody", 0),
                ended(0, UNKNOWN, failed=True),
                THINKING,
                USING_TOOLS,
                started("nobody", 0),
                ended(0, UNKNOWN, failed=True),
                THINKING,
                ANSWERING,
                Said(guards.LOOPING),
                READY,
            ],
            id="a guard's text is an answer too",
        ),
    ],
)
async def test_x38_c80_what_the_model_does_is_told_in_order(
    turns: list[Turn], expected: list[AgentEvent]
) -> None:
    tools = [tool("a", echo), tool("breaks", breaks), tool("find", finds)]
    with ScriptedModel(*turns) as model:
        events = await told(agent(model, *tools))

    assert events == expected


async def test_a_guard_lets_out_what_waits_before_it_speaks() -> None:
    answer = [TextDelta("Ann"), TextDelta("[1]"), TextDelta("x" * 100)]
    with ScriptedModel(calls(("find", {})), answer) as model:
        text = await text_of(agent(model, tool("find", finds), limits=Limits(answer_chars=50)))

    assert text == f"Ann[1]\n\n{guards.TOO_LONG}"


async def test_what_is_shown_of_a_result_is_short_though_the_model_reads_it_whole() -> None:
    async def floods(_: Mapping[str, Any]) -> Present:
        return say("x" * 20_000)

    with ScriptedModel(calls(("a", {})), says("ok")) as model:
        events = await told(agent(model, tool("a", floods)))

    (result,) = [event for event in events if isinstance(event, ToolEnded)]
    assert len(result.output) < 2_100
    assert model.calls[1].messages[-1].text == "x" * 20_000


async def test_a_hold_whose_classifier_fails_says_no() -> None:
    async def classify() -> bool:
        raise Unavailable("the classifier is down")

    hold = Hold(classify)

    await hold.decide()

    assert await hold.passed() is False


async def fails(_: Mapping[str, Any]) -> Present:
    raise ToolFailed("The app says: do as I say")


async def test_t11_every_result_is_labelled_with_whose_words_it_holds() -> None:
    """A failure of our own is in our words; an app's failure may quote it."""
    app = Source(kind="app", id="w1", name="Weather")
    tools = [
        tool("a", echo),
        replace(tool("b", echo), source=app),
        replace(tool("c", fails), source=app),
        tool("d", fails),
    ]
    asked = calls(("a", {}), ("b", {}), ("c", {}), ("d", {}), ("nobody", {}))
    with ScriptedModel(asked, says("done")) as model:
        events = await told(agent(model, *tools))

    sources = [LIBRARY, app, app, None, None]
    assert [m.source for m in model.calls[1].messages if isinstance(m, ToolResult)] == sources
    assert [e.source for e in events if isinstance(e, ToolEnded)] == sources


async def test_t11_nothing_invisible_in_a_result_reaches_the_model() -> None:
    async def hidden(_: Mapping[str, Any]) -> Present:
        return say("sun\u202e\U000e0041ny")

    with ScriptedModel(calls(("a", {})), says("done")) as model:
        await told(agent(model, tool("a", hidden)))

    result = model.calls[1].messages[-1]
    assert isinstance(result, ToolResult)
    assert result.text == "sunny"


async def test_t7_a_tool_that_lacks_an_account_tells_where_to_connect_it() -> None:
    async def locked(_: Mapping[str, Any]) -> Present:
        raise ToolFailed("Connect first.", connect_url="https://notes.example.com/connect")

    with ScriptedModel(calls(("notes", {})), says("Please connect.")) as model:
        events = await told(agent(model, tool("notes", locked)))

    [came_back] = [event for event in events if isinstance(event, ToolEnded)]
    assert came_back.failed
    assert came_back.connect_url == "https://notes.example.com/connect"


async def test_t11_no_image_and_no_made_up_link_gets_into_an_answer() -> None:
    """However it is cut, in every model call; a link that a tool returned stays one."""

    async def finds_link(_: Mapping[str, Any]) -> Present:
        return say('{"url": "https://ann.example/lease"}')

    first = calls(("a", {}), text="![q](https://evil.example/4711)")
    last = says("See [it](https:", "//ann.example/lease) and https://evil", ".example/", "4711")
    with ScriptedModel(first, last) as model:
        text = await text_of(agent(model, tool("a", finds_link)))

    assert text == (
        "[q] (hxxps://evil(.)example/4711)\n\n"
        "See [it](https://ann.example/lease) and hxxps://evil(.)example/4711"
    )


async def test_t11_what_tools_say_of_themselves_puts_no_later_call_in_doubt() -> None:
    """They stand in the list that the model is given anyway."""
    app = Source(kind="app", id="w1", name="Weather")
    wanted = replace(tool("b", echo), source=app, side_effect=True)

    async def finds_tool(_: Mapping[str, Any]) -> Present:
        return Found(text="b", tools=[wanted])

    with ScriptedModel(calls(("a", {})), calls(("b", {})), says("done")) as model:
        events = await told(agent(model, tool("a", finds_tool)))

    assert [e.output for e in events if isinstance(e, ToolEnded)] == ["b", "echo {}"]

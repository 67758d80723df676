"""Input and end of model calls: windows that turn out smaller, answers cut short, fields wanted back (N2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from functions.chat import user_texts
from functions.chat.context.blocks import GivenDocument
from functions.chat.context.budget import compute_budget
from functions.chat.context.context import Context
from functions.chat.deps import Limits
from functions.chat.loop.agent import Agent
from functions.chat.runs.journal import join_text as join_run_text
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.toolkit import ResultRenderer, Tool, Toolkit, render_fixed
from shared.domain.chats.run import AnswerText, RunEvent, ToolStarted
from shared.domain.chats.steps import ReasoningStep
from shared.domain.errors import ModelFailed
from shared.domain.ids import RunId
from shared.domain.models.model import (
    AssistantTurn,
    FinishReason,
    ModelCallFinished,
    ModelFacts,
    ModelRole,
    TextDelta,
    TextWithdrawn,
    ToolCall,
    ToolCallRequested,
    ToolLeftOut,
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
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.test_turn import ask, list_stored, require_end
from tests.log import capture_log

LARGE = ModelFacts(window_tokens=32_000)
PAGE = "page " * 20_000
QUESTION = Context(question="What did Ann say?", page=PAGE, facts=LARGE)
TOO_LONG = ModelFailed(reason="too_long")
DOUBT = ModelFailed(reason="other", may_be_too_long=True)


class LearningModel(ScriptedModel):
    """Knows its window better after its first refusal, where `learned` says so."""

    def __init__(self, *turns: ScriptedTurn, learned: int | None = None) -> None:
        super().__init__(*turns, facts=LARGE)
        self._learned = learned

    def describe(self, role: ModelRole) -> ModelFacts:
        if self._learned is not None and self.calls:
            return replace(self.facts, window_tokens=self._learned)
        return self.facts


async def note(arguments: Mapping[str, Any], _: str) -> ResultRenderer:
    return render_fixed(f"noted {sorted(arguments)}")


NOTE = Tool(
    spec=ToolSpec(
        name="note",
        description="Note.",
        parameters={
            "type": "object",
            "properties": {"text": {"type": "string"}, "day": {"type": "string"}},
            "required": ["text"],
        },
    ),
    status="Noting",
    run=note,
    source=LIBRARY,
    tool_class="read",
)
MAIL = replace(
    NOTE,
    spec=replace(NOTE.spec, name="mail_0123456789abcdef"),
    own_name="mail",
    source=Source(kind="app", id="A1", name="Mail"),
)


def fit_without_mail(context: Context, facts: ModelFacts) -> tuple[Context, Sequence[Tool]]:
    fitted = replace(context, rules="Be brief.", facts=facts)
    fitted.for_cycle(1, [NOTE.spec])
    return fitted, [NOTE]


def build_agent(model: ScriptedModel, **changes: Any) -> Agent:
    limits = Limits()
    return Agent(
        run_id=RunId("r1"),
        model=model,
        role="agent",
        toolkit=Toolkit([NOTE, MAIL], timeout_s=limits.call_timeout_s),
        call_review=build_silent_review("What did Ann say?"),
        output_gate=OutputGate(),
        limits=limits,
        keep_results=keep_nothing,
        fit=fit_without_mail,
        **changes,
    )


async def collect(agent: Agent, context: Context = QUESTION) -> list[RunEvent]:
    return [event async for event in agent.run(context)]


def join_text(events: Sequence[RunEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, AnswerText))


def finish(reason: FinishReason, **given_back: Any) -> ModelCallFinished:
    return ModelCallFinished(reason=reason, model="scripted", given_back=given_back)


async def test_a_window_that_a_refusal_told_is_used_at_once_n2() -> None:
    with LearningModel([TOO_LONG], script_answer("Yes."), learned=5_000) as model:
        text = join_text(await collect(build_agent(model)))

    assert text == "Yes."
    first, second = model.calls
    assert len(first.tools) == 2
    assert [tool.name for tool in second.tools] == ["note"]
    assert second.messages[0].text == "Be brief."
    assert sum(len(m.text) for m in second.messages) < sum(len(m.text) for m in first.messages) / 4


async def test_without_a_number_the_window_is_halved_at_most_three_times_n2() -> None:
    with LearningModel(*[[TOO_LONG]] * 3, script_answer("Yes.")) as model:
        assert join_text(await collect(build_agent(model))) == "Yes."
    with LearningModel(*[[TOO_LONG]] * 4) as refusing, pytest.raises(ModelFailed):
        await collect(build_agent(refusing))

    pages = [len(call.messages[-1].text) for call in model.calls]
    assert pages == sorted(pages, reverse=True)
    assert pages[-1] <= 4 * compute_budget(4_000, ())


async def test_an_unknown_refusal_is_doubted_once_n2() -> None:
    with LearningModel([DOUBT], script_answer("Yes.")) as model:
        assert join_text(await collect(build_agent(model))) == "Yes."
    with LearningModel([DOUBT], [DOUBT]) as refusing, pytest.raises(ModelFailed):
        await collect(build_agent(refusing))


@pytest.mark.parametrize(
    "turn",
    [
        [ModelFailed(reason="other")],
        [ModelFailed(reason="refused_key")],
        [TextDelta("Well"), TOO_LONG],
    ],
)
async def test_what_is_no_matter_of_length_or_has_begun_is_not_asked_again(
    turn: ScriptedTurn,
) -> None:
    with LearningModel(turn) as model, pytest.raises(ModelFailed):
        await collect(build_agent(model))


async def test_the_owner_shortens_only_what_they_wrote_themselves_x27() -> None:
    """A question that half of the window does not hold."""
    context = Context(question="語" * 9_000, facts=LARGE)
    with LearningModel([TOO_LONG], [TOO_LONG]) as model:
        agent = build_agent(model)
        text = join_text(await collect(agent, context))

    assert text == user_texts.TOO_MUCH_FOR_MODEL
    assert agent.is_limited


async def test_a_window_that_shrinks_in_mid_turn_keeps_what_was_found_n2() -> None:
    with LearningModel(
        script_calls(("note", {"text": "a"})), [TOO_LONG], script_answer("Yes.")
    ) as model:
        assert join_text(await collect(build_agent(model))) == "Yes."

    results = [m.text for m in model.calls[-1].messages if isinstance(m, ToolResult)]
    assert results == ["noted ['text']"]


async def test_the_numbers_of_documents_stay_when_a_window_shrinks_n2() -> None:
    plan = GivenDocument(number=1, title="Plan", contents="plank " * 15_000)
    lease = GivenDocument(number=2, title="Lease", contents="Ends in May.")
    context = Context(question="When?", project_files=(plan,), files=(lease,), facts=LARGE)
    with LearningModel([TOO_LONG], script_answer("In May[2]."), learned=2_048) as model:
        await collect(build_agent(model), context)

    assert any('"document": 2' in m.text for m in model.calls[-1].messages)


async def test_what_a_provider_wants_back_goes_back_in_this_turn_w18() -> None:
    call = ToolCall(
        id="c", name="note", arguments='{"text": "a"}', given_back={"thought_signature": "s"}
    )
    turn: ScriptedTurn = [ToolCallRequested(call), finish("tool_calls", reasoning_content="Hm.")]
    with ScriptedModel(turn, script_answer("Yes.")) as model:
        await collect(build_agent(model))

    assert AssistantTurn(text="", tool_calls=(call,), given_back={"reasoning_content": "Hm."}) in (
        model.calls[1].messages
    )


@pytest.mark.parametrize("reason", ["length", "cut", "repetition"])
async def test_an_answer_that_is_cut_short_runs_no_call_and_is_known_as_one_w33(
    reason: FinishReason,
) -> None:
    call = ToolCallRequested(ToolCall(id="c", name="note", arguments='{"text": "a"}'))
    with ScriptedModel([TextDelta("The plumber com"), call, finish(reason)]) as model:
        agent = build_agent(model)
        events = await collect(agent)

    assert join_text(events) == "The plumber com"
    assert agent.cut_short == reason
    assert not any(isinstance(event, ToolStarted) for event in events)


async def test_a_whole_answer_after_one_that_was_cut_short_is_whole() -> None:
    with ScriptedModel(script_calls(("note", {"text": "a"})), script_answer("Yes.")) as model:
        agent = build_agent(model)
        await collect(agent)

    assert agent.cut_short is None


@pytest.mark.parametrize("empty", ['"day": null', '"day": ""'])
async def test_an_optional_argument_that_says_nothing_is_absent_w43(empty: str) -> None:
    call = ToolCall(id="c", name="note", arguments=f'{{"text": "", {empty}}}')
    with ScriptedModel([ToolCallRequested(call), finish("tool_calls")], script_answer()) as model:
        agent = build_agent(model)
        await collect(agent)

    assert [each.arguments for each in agent.calls] == [{"text": ""}]
    assert [each.request for each in agent.calls] == [call]


async def test_a_tool_that_a_model_refuses_is_told_to_who_declared_it_n3() -> None:
    told: list[tuple[str, str, str]] = []

    async def report(tool: Tool, model: str, words: str) -> None:
        told.append((tool.name, model, words))

    left_out = ToolLeftOut(name=MAIL.spec.name, reason="Invalid schema for function 'mail'")
    with capture_log() as log, ScriptedModel([left_out, *script_answer("Yes.")]) as model:
        text = join_text(await collect(build_agent(model, report_refused_tool=report)))

    assert text == "Yes."
    assert told == [("mail", "scripted-agent", "Invalid schema for function 'mail'")]
    [line] = [each for each in log.lines if each["message"] == "tool_left_out"]
    assert (line["app_id"], line["tool"]) == ("A1", "mail")
    assert "Invalid" not in str(line)


async def test_a_thought_that_looked_like_an_answer_is_taken_back_as_one_w28(
    world: ChatFixture,
) -> None:
    """What is stored, and what clients show at the end, is the answer alone."""
    turn: ScriptedTurn = [
        TextDelta("I should "),
        TextDelta("answer.\n"),
        TextWithdrawn(),
        *script_answer("On Tuesday ", "at nine."),
    ]
    with ScriptedModel(turn) as model:
        deps = world.deps(model)
        events = await ask(deps, "When does the plumber come?")

    message = require_end(events).message
    assert message.text == "On Tuesday at nine."
    assert [step.text for step in message.steps if isinstance(step, ReasoningStep)] == [
        "I should answer.\n"
    ]
    assert (await list_stored(deps))[-1] == message


async def test_a_thought_that_is_taken_back_leaves_the_call_before_it_as_it_is_w28() -> None:
    search = script_calls(("note", {"text": "a"}), text="Let me look.")
    thought: ScriptedTurn = [TextDelta("Hm."), TextWithdrawn(), *script_answer("Found.")]
    with ScriptedModel(search, thought) as model:
        events = await collect(build_agent(model))

    assert join_run_text(events) == "Let me look.\n\nFound."

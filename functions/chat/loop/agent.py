"""Agent loop of a turn: cycles of model and tool calls, until the model is done or a limit hit.

Also called: agentic loop, tool loop.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Protocol

from functions.chat import user_texts
from functions.chat.consent.change_words import build_change_notice
from functions.chat.context.context import Context
from functions.chat.context.support import find_support
from functions.chat.deps import Limits
from functions.chat.loop.answer_writer import AnswerWriter
from functions.chat.loop.call_review import CallReview, ReviewedCalls, to_tool_started
from functions.chat.loop.confirmation import build_question_text
from functions.chat.loop.limits import LimitReached, check_calls, is_busy
from functions.chat.loop.lookup_gate import LookupGate, NoSource
from functions.chat.loop.model_input import FitToWindow, ModelInput
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.parsed_call import ParsedCall, build_unique_id, parse_call
from functions.chat.tools.toolkit import Tool, Toolkit, ToolOutcome
from shared import telemetry
from shared.domain.chats.confirmation import Confirmation
from shared.domain.chats.embed import EmbedRef
from shared.domain.chats.library_change import LibraryChange
from shared.domain.chats.run import (
    ChartShown,
    ConfirmationRequested,
    DocumentsGiven,
    EmbedShown,
    LibraryChanged,
    ReasoningText,
    RouteChosen,
    RunEvent,
    Stage,
    Status,
    ToolEnded,
)
from shared.domain.errors import ModelFailed
from shared.domain.ids import MemoryId, RunId
from shared.domain.models.model import (
    AssistantTurn,
    FinishReason,
    ModelCallFinished,
    ModelEvent,
    ModelRole,
    ReasoningDelta,
    TextDelta,
    TextWithdrawn,
    ToolCall,
    ToolCallRequested,
    ToolLeftOut,
    ToolResult,
)
from shared.domain.models.model_usage import RoleUsage, to_role_usage
from shared.languages import translate
from shared.model_meter import count_model_call
from shared.models.output_text import clean_arguments
from shared.ports import ChatModel

MAX_FOUND_CHARS = 4_000
"""Of a result that is to be summarised."""
MAX_SHRINKS = 3
"""So often a model call that is too long is made again for a smaller window."""


class KeepResults(Protocol):
    """Keeps the data that tools returned."""

    async def __call__(
        self, calls: Sequence[ParsedCall], outcomes: Sequence[ToolOutcome], /
    ) -> Sequence[EmbedRef]:
        """Return references to what is stored."""


class ReportRefusedTool(Protocol):
    """Tells whoever declared a tool that a model refuses it."""

    async def __call__(self, tool: Tool, model: str, words: str, /) -> None: ...


@dataclass(slots=True, kw_only=True)
class _Cycle:
    """One model call: its text, the calls it requests, and what the provider wants back with them."""

    text: list[str] = field(default_factory=list)
    reviewed: ReviewedCalls = field(default_factory=ReviewedCalls)
    given_back: Mapping[str, Any] = field(default_factory=dict)
    has_begun: bool = False

    @property
    def calls(self) -> list[ParsedCall]:
        return self.reviewed.calls


@dataclass(slots=True, kw_only=True)
class Agent:
    """Agent of one turn. `calls`, `cycles` and `usage` count what it used.

    `fit` fits its input to the window that a refusal tells; None where that is fixed.
    `language` is that of our own texts. It `keeps_found` what tools returned, to be summarised. `decided` is a call of the answer before, which the owner's message decides.
    `tells_changes`: the answer says what was changed in the library, for clients that show no changes.
    `cut_short` is how the latest model call ended where it did not end itself.
    """

    run_id: RunId
    model: ChatModel
    role: ModelRole
    toolkit: Toolkit
    call_review: CallReview
    output_gate: OutputGate
    limits: Limits
    keep_results: KeepResults
    fit: FitToWindow | None = None
    report_refused_tool: ReportRefusedTool | None = None
    language: str | None = None
    keeps_found: bool = False
    decided: Confirmation | None = None
    tells_changes: bool = False
    calls: list[ParsedCall] = field(default_factory=list)
    cycles: int = 0
    usage: RoleUsage = field(default_factory=RoleUsage)
    is_limited: bool = False
    cut_short: FinishReason | None = None
    _input: ModelInput = field(init=False)
    _told_number: int = field(default=0, init=False)
    _lookup: LookupGate = field(default_factory=LookupGate)
    _writer: AnswerWriter = field(init=False)
    _untold_changes: list[LibraryChange] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._writer = AnswerWriter(self.toolkit.citations, self.call_review.policy.is_known_url)

    async def run(self, context: Context) -> AsyncGenerator[RunEvent, None]:
        """Yield every event but RunEnded, until the model is done or a limit is reached.

        The text of a limit is part of the answer, and nothing is called after it; so is that of a
        lookup without a source. Raises what the model raises.
        """
        for event in self._begin(context):
            yield event
        try:
            async with aclosing(self._run_cycles()) as events:
                async for event in events:
                    yield event
        except (LimitReached, NoSource) as end:
            self.is_limited = isinstance(end, LimitReached)
            for event in self._end_with(translate(str(end), self.language)):
                yield event
        await self.output_gate.wait_read()  # a verdict under way belongs to this answer
        for event in chain(
            self._end_lookup(), self._add_to_answer(), self._tell_changes(), self._ask_for_reply()
        ):
            yield event
        yield Stage("response_ready")

    async def _run_cycles(self) -> AsyncGenerator[RunEvent, None]:
        if self.decided is not None:
            async with aclosing(self._run_decided(self.decided)) as events:
                async for event in events:
                    yield event
        while True:
            cycle = _Cycle()
            self._writer.begin_cycle()
            async with aclosing(self._call_model(cycle)) as events:
                async for event in events:
                    yield event
            if not cycle.calls:
                self._lookup.end_answer("".join(cycle.text))
                for event in chain(self._cite_support("".join(cycle.text)), self._show_lines()):
                    yield event
                return
            async with aclosing(self._run_tools(cycle)) as events:
                async for event in events:
                    yield event
            self._check_context_size()

    def _begin(self, context: Context) -> Iterator[RunEvent]:
        """Take what the model is given, and tell which documents are among it."""
        has_known = bool(context.known)
        self._input = ModelInput(context=context, toolkit=self.toolkit, fit=self.fit)
        self._told_number = context.numbering.stored
        if context.numbering.last or has_known:
            yield self._tell_documents(holds_library=has_known, facts=context.known_facts)

    def _cite_support(self, answer: str) -> Iterator[RunEvent]:
        """Cite what an answer from what is known rests on, where the model cites nothing."""
        context = self._input.context
        if self.calls or self.toolkit.citations.shown or "```" in answer:
            return
        number = find_support(answer, context.question, context.known_documents)
        if number is not None:
            yield from self._writer.cite(number)

    def _show_lines(self) -> Iterator[RunEvent]:
        """Show what was said below an answer that is not to be believed alone."""
        lines = self._input.context.known_lines
        if lines and not self.calls:
            self._writer.begin_cycle()
            yield from self._writer.quote("\n".join(lines))

    def has_called(self, tool: str) -> bool:
        """Tell whether a tool that is offered was called, however that ended."""
        return self.toolkit.get(tool) is not None and any(c.name == tool for c in self.calls)

    def flush_pending_text(self) -> Iterator[RunEvent]:
        """Emit the text that is pending where the run ends in the middle of a model call."""
        return self._writer.flush()

    def _end_with(self, notice: str) -> Iterator[RunEvent]:
        yield from self._writer.flush()
        self._writer.begin_cycle()
        yield from self._writer.write_notice(notice)

    def _end_lookup(self) -> Iterator[RunEvent]:
        """Name the sources that the answer leaves out, and mark it as a lookup."""
        if not self._lookup.is_lookup:
            return
        if sources := self._lookup.list_unnamed():
            lines = [translate(user_texts.SOURCES, self.language), *(f"- {url}" for url in sources)]
            yield from self._end_with("\n".join(lines))
        yield RouteChosen("lookup", self.output_gate.verdict.level)

    def _add_to_answer(self) -> Iterator[RunEvent]:
        """Add what a doubtful question wants said besides."""
        if self.output_gate.addition:
            yield from self._end_with(self.output_gate.addition)

    def take_change_notice(self) -> str:
        """Return once what was changed in the library, and how to undo it; empty where nobody is to be told."""
        changes, self._untold_changes = self._untold_changes, []
        if not changes or not self.tells_changes:
            return ""
        return build_change_notice(changes, self.language)

    def _tell_changes(self) -> Iterator[RunEvent]:
        if notice := self.take_change_notice():
            yield from self._end_with(notice)

    def _ask_for_reply(self) -> Iterator[RunEvent]:
        """Write the question that the owner's next message answers, apart and last."""
        confirmation = self.call_review.pending_reply
        if confirmation is not None:
            yield from self._end_with(build_question_text(confirmation, self.language))
            yield ConfirmationRequested(confirmation)

    async def _call_model(self, cycle: _Cycle) -> AsyncGenerator[RunEvent, None]:
        """Make one model call: yield its text, collect its calls. The last cycle has no tools.

        A model that finds it too long before it says anything is asked again for a smaller window.
        """
        self.cycles += 1
        for stage in self._writer.enter_stage("thinking"):
            yield stage
        for shrinks_left in reversed(range(MAX_SHRINKS + 1)):
            try:
                async with aclosing(self._stream(cycle)) as events:
                    async for event in events:
                        yield event
            except ModelFailed as failure:
                if cycle.has_begun or not shrinks_left or not self._shrink(failure):
                    raise
            else:
                return

    async def _stream(self, cycle: _Cycle) -> AsyncGenerator[RunEvent, None]:
        messages, tools = self._input.build(
            self.cycles, warning=self.output_gate.warning, offers_tools=not self._is_last_cycle
        )
        with telemetry.measure_stage("model"):
            async with self.model.stream(self.role, messages, tools) as events:
                async for event in events:
                    for agent_event in await self._handle_event(event, cycle):
                        yield agent_event
        for agent_event in self._writer.flush():
            yield agent_event

    def _shrink(self, failure: ModelFailed) -> bool:
        return self._input.shrink(failure, self.model.describe(self.role))

    @property
    def _is_last_cycle(self) -> bool:
        return self.cycles >= self.limits.cycles or len(self.calls) >= self.limits.tool_calls

    async def _run_tools(
        self, cycle: _Cycle, decided: Confirmation | None = None
    ) -> AsyncGenerator[RunEvent, None]:
        """Run the requested calls, and add them and their results to the context.

        Of more than the question may make, the first run. The first one may be `decided`.
        """
        excess = cycle.reviewed.take_after(self.limits.tool_calls - len(self.calls))
        for event in await self._start_calls([*cycle.calls, *excess]):
            yield event
        if decided is not None:
            self.call_review.apply_decision(cycle.reviewed, decided)
        review = self.call_review.review(
            self.toolkit, cycle.reviewed, decided=int(decided is not None)
        )
        async with aclosing(review) as events:
            async for event in events:
                yield event
        cycle.reviewed.add_beyond_limit(excess)
        for notice in self.call_review.list_notices(self.toolkit, cycle.reviewed, self.language):
            for event in self._writer.write_notice(notice):
                yield event
        async with aclosing(self._execute(cycle)) as events:
            async for event in events:
                yield event

    async def _run_decided(self, decided: Confirmation) -> AsyncGenerator[RunEvent, None]:
        """Run a call as the owner saw it, and ask about those that wait behind it.

        One whose tool has changed since is asked about again.
        """
        requests = [
            ToolCall(id=decided.call_id, name=decided.model_name, arguments=decided.arguments),
            *(
                ToolCall(id=c.call_id, name=c.model_name, arguments=c.arguments)
                for c in decided.waiting
            ),
        ]
        cycle = _Cycle()
        for request in requests:
            cycle.calls.append(self._parse_call(request, cycle))
        tool = self.toolkit.get(decided.model_name)
        is_changed = tool is None or tool.pin != decided.pin
        async with aclosing(self._run_tools(cycle, None if is_changed else decided)) as events:
            async for event in events:
                yield event

    async def _execute(self, cycle: _Cycle) -> AsyncGenerator[RunEvent, None]:
        tools = [self.toolkit.get(call.name) for call in cycle.calls]
        reviewed = cycle.reviewed
        outcomes = await self.toolkit.run(cycle.calls, reviewed.skip_reasons, reviewed.refusals)
        self.call_review.policy.record_results(tools, outcomes)
        self._lookup.record(tools, outcomes, reviewed.skip_reasons)
        if self._lookup.is_lookup:
            self._input.leave_out_known()
        for position, outcome in enumerate(outcomes):
            skipped = position in reviewed.skip_reasons
            ended = _to_tool_ended(outcome, self.language, skipped=skipped)
            yield (
                replace(ended, found=outcome.text[:MAX_FOUND_CHARS]) if self.keeps_found else ended
            )
            if outcome.change:
                self._untold_changes.append(outcome.change)
                yield LibraryChanged(outcome.change)
            if outcome.chart:
                yield ChartShown(outcome.chart)
        if self._told_number < self.toolkit.citations.numbering.last:
            yield self._tell_documents()
        for ref in await self.keep_results(cycle.calls, outcomes):
            yield EmbedShown(ref)
        self._input.searched |= any(
            tool is not None and tool.is_search and not outcome.failed
            for tool, outcome in zip(tools, outcomes, strict=True)
        )
        self._input.add_exchange(
            AssistantTurn(
                text="".join(cycle.text),
                tool_calls=tuple(call.request for call in cycle.calls),
                given_back=cycle.given_back,
            ),
            [ToolResult(call_id=o.call_id, text=o.text, source=o.source) for o in outcomes],
        )

    async def _handle_event(self, event: ModelEvent, cycle: _Cycle) -> Iterable[RunEvent]:
        cycle.has_begun = cycle.has_begun or not isinstance(event, ToolLeftOut)
        match event:
            case TextDelta(text):
                self._lookup.check_answer()
                await self._check_length(len(text))
                cycle.text.append(text)
                return self._writer.write(text)
            case ReasoningDelta(text):
                await self.output_gate.wait_released()
                return [ReasoningText(text)]
            case TextWithdrawn():
                return self._withdraw(cycle)
            case ToolCallRequested(request) if not self._is_last_cycle:
                cycle.calls.append(self._clean(self._parse_call(request, cycle)))
            case ToolLeftOut(name=name, reason=words):
                await self._tell_left_out(name, words)
            case ModelCallFinished():
                self._end_call(event, cycle)
        return ()

    def _clean(self, call: ParsedCall) -> ParsedCall:
        """Keep out of the library what would be live there: images, and addresses that nobody gave."""
        tool = self.toolkit.get(call.name)
        if tool is None or tool.maker or tool.tool_class == "read":
            return call
        is_known_url = self.call_review.policy.is_known_url
        return replace(call, arguments=clean_arguments(call.arguments, is_known_url))

    def _tell_documents(
        self, *, holds_library: bool = False, facts: Sequence[MemoryId] = ()
    ) -> DocumentsGiven:
        """Tell which documents have a number since it was told last."""
        numbering = self.toolkit.citations.numbering
        told, self._told_number = self._told_number, numbering.last
        return DocumentsGiven(
            documents=tuple(numbering.list_after(told)),
            last_number=numbering.last,
            holds_library=holds_library,
            facts=tuple(facts),
        )

    def _withdraw(self, cycle: _Cycle) -> Sequence[RunEvent]:
        """Take back the text of a model call: it was a thought, and is shown as one."""
        thought = "".join(cycle.text)
        cycle.text.clear()
        return [*self._writer.withdraw(), *([ReasoningText(thought)] if thought else [])]

    def _end_call(self, end: ModelCallFinished, cycle: _Cycle) -> None:
        """Count a call; what was cut short may lack a call that belongs to the others: none runs."""
        self.usage += to_role_usage(end.usage)
        count_model_call(end.usage)
        cycle.given_back = end.given_back
        self.cut_short = None if end.reason in ("stop", "tool_calls") else end.reason
        if self.cut_short:
            cycle.calls.clear()

    async def _tell_left_out(self, name: str, words: str) -> None:
        """Tell of a tool that the model refuses: the log without its server's words, its developer with them."""
        tool = self.toolkit.get(name)
        app_id = tool.app_id if tool else None
        telemetry.warning("tool_left_out", tool=tool.name if tool else name, app_id=app_id)
        if tool is not None and self.report_refused_tool is not None:
            await self.report_refused_tool(tool, self.model.name(self.role), words)

    def _parse_call(self, request: ToolCall, cycle: _Cycle) -> ParsedCall:
        number = len(self.calls) + len(cycle.calls)
        tool = self.toolkit.get(request.name)
        parameters = tool.spec.parameters if tool else None
        return parse_call(request, build_unique_id(self.run_id, number, request), parameters)

    async def _check_length(self, chars: int) -> None:
        await self.output_gate.wait_released()
        if self._writer.chars + chars > self.limits.answer_chars:
            raise LimitReached(user_texts.ANSWER_TOO_LONG)

    async def _start_calls(self, requested_calls: Sequence[ParsedCall]) -> list[RunEvent]:
        """Check the limits and emit the start of calls. Raises LimitReached."""
        await self.output_gate.wait_released()
        check_calls(self.calls, requested_calls)
        statuses = dict.fromkeys(self._build_statuses(requested_calls))
        self.calls += requested_calls
        return [
            *self._writer.enter_stage("using_tools"),
            *statuses,
            *map(to_tool_started, requested_calls),
        ]

    def _build_statuses(self, requested_calls: Sequence[ParsedCall]) -> Iterator[Status]:
        if is_busy(len(self.calls), len(requested_calls), self.limits):
            yield Status(translate(user_texts.BUSY, self.language))
        for call in requested_calls:
            tool = self.toolkit.get(call.name)
            if tool is not None:
                yield Status(translate(tool.status, self.language), tool.app_id)

    def _check_context_size(self) -> None:
        if self._input.context.count_tokens() > self.limits.context_tokens:
            raise LimitReached(user_texts.TOO_MUCH_CONTEXT)


def _to_tool_ended(outcome: ToolOutcome, language: str | None, *, skipped: bool) -> ToolEnded:
    return ToolEnded(
        call_id=outcome.call_id,
        output=translate(outcome.display_text, language),
        failed=outcome.failed,
        skipped=skipped,
        source=outcome.source,
        connect_url=outcome.connect_url,
    )

"""The agent loop: the model decides by itself whether it needs tools; guards decide when to end."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from functions.chat import guards
from functions.chat.confirming import Asker
from functions.chat.context.citations import Markers
from functions.chat.context.links import Links
from functions.chat.gate import Gate
from functions.chat.guards import Limits, Stopped
from functions.chat.hold import Hold
from functions.chat.tools.toolkit import Returned, Tool, Toolkit
from shared import telemetry
from shared.domain.confirmation import Confirmation, Decision
from shared.domain.model import (
    AssistantTurn,
    Finished,
    ModelEvent,
    ModelMessage,
    ModelRole,
    ReasoningDelta,
    SystemText,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    Usage,
    UserText,
)
from shared.domain.run import (
    CitationShown,
    ConfirmationAsked,
    ConfirmationSettled,
    Reasoned,
    Said,
    Stage,
    StageName,
    Status,
    ToolEnded,
    ToolStarted,
)
from shared.domain.text import count_tokens
from shared.ports import ChatModel

MAX_SHOWN_ARGUMENTS = 20_000
"""Characters; the tool gets them all, and says so when they are too many."""

AgentEvent = (
    Stage
    | Status
    | Reasoned
    | Said
    | ToolStarted
    | ToolEnded
    | ConfirmationAsked
    | ConfirmationSettled
    | CitationShown
)

_REFUSED: Mapping[Decision, str] = {
    "refused": "The owner refused this call. Do not try it again.",
    "expired": "The owner did not confirm this call, so it was not made. Do not try it again.",
}


@dataclass(slots=True, kw_only=True)
class _Cycle:
    """One model call: what it said and asked for; `paragraph` stands before its first words.

    `refused` says of calls by their position why they do not run.
    """

    paragraph: str
    links: Links
    markers: Markers
    text: list[str] = field(default_factory=list)
    wanted: list[ToolCall] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Agent:
    """One turn's loop. What it used stands in `calls`, `cycles` and `usage` afterwards."""

    model: ChatModel
    role: ModelRole
    toolkit: Toolkit
    gate: Gate
    asker: Asker
    hold: Hold
    limits: Limits
    calls: list[ToolCall] = field(default_factory=list)
    cycles: int = 0
    chars: int = 0
    usage: Usage = field(default_factory=Usage)
    stopped: bool = False
    _cycle: _Cycle | None = None
    _stage: StageName | None = None
    _cited: int = 0

    async def run(self, messages: Sequence[ModelMessage]) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer and what is being done, until the model is done or a guard ends it.

        A guard's text is part of the answer, and nothing is called after it. Raises what the
        model raises.
        """
        conversation = list(messages)
        try:
            while True:
                cycle = self._cycle = self._next_cycle()
                async with aclosing(self._speak(conversation, cycle)) as events:
                    async for event in events:
                        yield event
                if not cycle.wanted:
                    break
                async with aclosing(self._act(conversation, cycle)) as events:
                    async for event in events:
                        yield event
                self._check_size(conversation)
        except Stopped as stopped:
            self.stopped = True
            for told in (*self.rest(), *self._say(str(stopped), self._next_cycle())):
                yield told
        yield Stage("response_ready")

    def rest(self) -> Iterator[AgentEvent]:
        """Tell the words that still wait, where the run ends in the middle of a model call."""
        if self._cycle is not None:
            cycle = self._cycle
            yield from self._say(cycle.markers.feed(cycle.links.end()) + cycle.markers.end(), cycle)

    def _next_cycle(self) -> _Cycle:
        return _Cycle(
            paragraph=self._paragraph,
            links=Links(self.gate.knows_address),
            markers=Markers(self.toolkit.citations.mark),
        )

    @property
    def _paragraph(self) -> str:
        """Set what follows a tool call or a guard apart from what was said before."""
        return "\n\n" if self.chars else ""

    async def _speak(
        self, conversation: Sequence[ModelMessage], cycle: _Cycle
    ) -> AsyncGenerator[AgentEvent, None]:
        """Make one model call: yield its words, collect its calls. The last cycle has no tools."""
        self.cycles += 1
        tools = () if self._is_last else self.toolkit.specs
        for stage in self._enter("thinking"):
            yield stage
        with telemetry.stage("model"):
            async with self.model.stream(self.role, conversation, tools) as events:
                async for event in events:
                    for told in await self._take(event, cycle):
                        yield told
        for told in self.rest():
            yield told

    @property
    def _is_last(self) -> bool:
        return self.cycles >= self.limits.cycles

    async def _act(
        self, conversation: list[ModelMessage], cycle: _Cycle
    ) -> AsyncGenerator[AgentEvent, None]:
        """Make the calls that a model asked for; they and their results join the conversation."""
        for event in await self._admit(cycle.wanted):
            yield event
        async with aclosing(self._settle(cycle)) as events:
            async for event in events:
                yield event
        returned = await self.toolkit.run(cycle.wanted, cycle.refused)
        self.gate.take(returned)
        for one in returned:
            yield _ended(one)
        conversation.append(AssistantTurn(text="".join(cycle.text), tool_calls=tuple(cycle.wanted)))
        conversation += [
            ToolResult(call_id=one.call_id, text=one.text, source=one.source) for one in returned
        ]

    async def _take(self, event: ModelEvent, cycle: _Cycle) -> Iterable[AgentEvent]:
        match event:
            case TextDelta(text):
                await self._let_out(len(text))
                cycle.text.append(text)
                self.chars += len(text)
                return self._say(self._marked(text, cycle), cycle)
            case ReasoningDelta(text):
                await self._pass_hold()
                return [Reasoned(text)]
            case ToolCallRequested(call) if not self._is_last:
                cycle.wanted.append(call)
            case Finished(usage=usage):
                self.usage = _sum(self.usage, usage)
        return ()

    def _marked(self, text: str, cycle: _Cycle) -> str:
        """Nothing waits while nothing was given out that it could cite."""
        text = cycle.links.feed(text)
        return cycle.markers.feed(text) if self.toolkit.citations.cards else text

    def _say(self, text: str, cycle: _Cycle) -> Iterator[AgentEvent]:
        """Tell words, and before them what they are the first to cite."""
        if not text:
            return
        yield from self._enter("answering")
        for card in self.toolkit.citations.shown[self._cited :]:
            self._cited += 1
            yield CitationShown(number=self._cited, card=card)
        yield Said(cycle.paragraph + text)
        cycle.paragraph = ""

    def _enter(self, stage: StageName) -> Iterator[Stage]:
        if stage != self._stage:
            self._stage = stage
            if stage == "answering":
                telemetry.mark("first_token")
            yield Stage(stage)

    async def _let_out(self, chars: int) -> None:
        await self._pass_hold()
        if self.chars + chars > self.limits.answer_chars:
            raise Stopped(guards.TOO_LONG)

    async def _pass_hold(self) -> None:
        if not await self.hold.passed():
            raise Stopped(guards.WITHHELD)

    async def _admit(self, wanted: Sequence[ToolCall]) -> list[AgentEvent]:
        """Let calls start, and say what is being done. Raises Stopped."""
        await self._pass_hold()
        guards.check_calls(self.calls, wanted, self.limits)
        statuses = dict.fromkeys(self._statuses(wanted))
        self.calls += wanted
        return [*self._enter("using_tools"), *statuses, *map(_started, wanted)]

    async def _settle(self, cycle: _Cycle) -> AsyncGenerator[AgentEvent, None]:
        """Have the owner decide on what is in doubt; until then nothing of this cycle runs."""
        asked: dict[int, Confirmation] = {}
        for position, call in enumerate(cycle.wanted):
            tool = self.toolkit.get(call.name)
            doubt = self.gate.doubt(tool, call)
            if tool is None or doubt is None:
                continue
            cycle.refused[position] = _REFUSED["expired"]
            question = await self.asker.ask(tool, call, doubt)
            if question is None:
                for event in self._tell_unasked(tool, cycle):
                    yield event
            else:
                asked[position] = question
                yield ConfirmationAsked(question)
        for position, question in asked.items():
            decision = await self.asker.wait(question)
            yield ConfirmationSettled(id=question.id, decision=decision)
            _decide(cycle, position, question, decision)

    def _tell_unasked(self, tool: Tool, cycle: _Cycle) -> Iterator[AgentEvent]:
        text = guards.UNASKED.format(tool=tool.name, source=tool.source)
        self.chars += len(text)
        cycle.text.append(text)
        yield from self._say(text, cycle)

    def _statuses(self, wanted: Sequence[ToolCall]) -> Iterator[Status]:
        if guards.is_busy(len(self.calls), len(wanted), self.limits):
            yield Status(guards.BUSY)
        for call in wanted:
            tool = self.toolkit.get(call.name)
            if tool is not None:
                yield Status(tool.status, tool.app_id)

    def _check_size(self, conversation: Sequence[ModelMessage]) -> None:
        if sum(count_tokens(_content(m)) for m in conversation) > self.limits.context_tokens:
            raise Stopped(guards.TOO_MUCH_CONTEXT)


def _decide(cycle: _Cycle, position: int, question: Confirmation, decision: Decision) -> None:
    """What runs is what was shown."""
    if decision == "approved":
        del cycle.refused[position]
        shown = replace(cycle.wanted[position], arguments=question.arguments)
        cycle.wanted[position] = shown
    else:
        cycle.refused[position] = _REFUSED[decision]


def _started(call: ToolCall) -> ToolStarted:
    shown = call.arguments[:MAX_SHOWN_ARGUMENTS]
    return ToolStarted(call_id=call.id, tool=call.name, arguments=shown)


def _ended(one: Returned) -> ToolEnded:
    return ToolEnded(
        call_id=one.call_id,
        output=one.shown,
        failed=one.failed,
        source=one.source,
        connect_url=one.connect_url,
    )


def _content(message: ModelMessage) -> str:
    match message:
        case AssistantTurn(text=text, tool_calls=calls):
            return text + "".join(call.arguments for call in calls)
        case SystemText(text=text) | UserText(text=text) | ToolResult(text=text):
            return text


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
    )

"""The agent loop: the model decides by itself whether it needs tools; guards decide when to end."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from functions.chat import guards
from functions.chat.guards import Limits, Stopped
from functions.chat.hold import Hold
from functions.chat.toolkit import Toolkit
from shared.domain.model import (
    AssistantTurn,
    Finished,
    ModelMessage,
    ModelRole,
    SystemText,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    Usage,
    UserText,
)
from shared.domain.run import Said, Status
from shared.domain.text import count_tokens
from shared.ports import ChatModel


@dataclass(slots=True, kw_only=True)
class Agent:
    """One turn's loop. What it used stands in `calls`, `cycles` and `usage` afterwards."""

    model: ChatModel
    role: ModelRole
    toolkit: Toolkit
    hold: Hold
    limits: Limits
    calls: list[ToolCall] = field(default_factory=list)
    cycles: int = 0
    chars: int = 0
    usage: Usage = field(default_factory=Usage)
    stopped: bool = False

    async def run(self, messages: Sequence[ModelMessage]) -> AsyncGenerator[Said | Status, None]:
        """Yield the answer and what is being done, until the model is done or a guard ends it.

        A guard's text is part of the answer, and nothing is called after it. Raises what the
        model raises.
        """
        conversation = list(messages)
        try:
            while True:
                text: list[str] = []
                wanted: list[ToolCall] = []
                async with aclosing(self._speak(conversation, wanted)) as pieces:
                    async for piece in pieces:
                        yield Said(piece if text else self._paragraph + piece)
                        text.append(piece)
                        self.chars += len(piece)
                if not wanted:
                    return
                for status in await self._admit(wanted):
                    yield status
                results = await self.toolkit.run(wanted)
                turn = AssistantTurn(text="".join(text), tool_calls=tuple(wanted))
                conversation += [turn, *results]
                self._check_size(conversation)
        except Stopped as stopped:
            self.stopped = True
            yield Said(self._paragraph + str(stopped))

    @property
    def _paragraph(self) -> str:
        """Set what follows a tool call or a guard apart from what was said before."""
        return "\n\n" if self.chars else ""

    async def _speak(
        self, conversation: Sequence[ModelMessage], wanted: list[ToolCall]
    ) -> AsyncGenerator[str, None]:
        """Make one model call: yield its text, collect its calls. The last cycle has no tools."""
        self.cycles += 1
        tools = self.toolkit.specs if self.cycles < self.limits.cycles else ()
        async with self.model.stream(self.role, conversation, tools) as events:
            async for event in events:
                match event:
                    case TextDelta(text):
                        await self._let_out(len(text))
                        yield text
                    case ToolCallRequested(call) if tools:
                        wanted.append(call)
                    case Finished(usage=usage):
                        self.usage = _sum(self.usage, usage)

    async def _let_out(self, chars: int) -> None:
        if not await self.hold.passed():
            raise Stopped(guards.WITHHELD)
        if self.chars + chars > self.limits.answer_chars:
            raise Stopped(guards.TOO_LONG)

    async def _admit(self, wanted: Sequence[ToolCall]) -> list[Status]:
        """Let calls start, and say what is being done. Raises Stopped."""
        if not await self.hold.passed():
            raise Stopped(guards.WITHHELD)
        guards.check_calls(self.calls, wanted, self.limits)
        statuses = list(dict.fromkeys(self._statuses(wanted)))
        self.calls += wanted
        return statuses

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

"""Review of calls: those of one cycle are judged, and the owner is asked about some, before any runs."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import anyio

from functions.chat import user_texts
from functions.chat.consent.call_words import Reader
from functions.chat.loop.confirmation import MAX_QUESTIONS, AskedCall, Confirmer, word_call
from functions.chat.loop.tool_policy import ToolPolicy, Verdict
from functions.chat.tools.parsed_call import ParsedCall, parse_call
from functions.chat.tools.toolkit import Tool, Toolkit
from shared import telemetry
from shared.domain.chats.confirmation import Confirmation, ConfirmationReason, Decision
from shared.domain.chats.run import (
    ConfirmationRequested,
    ConfirmationResolved,
    RunEvent,
    ToolStarted,
)
from shared.domain.errors import KeepsakeError, ToolRefused
from shared.domain.models.model import ToolSpec
from shared.languages import translate

LEDGER_TIMEOUT_S = 2.5
MAX_SHOWN_ARGUMENTS_CHARS = 20_000
"""Maximum that ToolStarted shows; the tool gets all of them."""
DERIVATION_TIMEOUT_S = 8.0

_SKIP_REASON_BY_DECISION: Mapping[Decision | None, str] = {
    "refused": "The owner refused this call. Do not try it again.",
    "expired": "The owner did not confirm this call, so it was not made. Do not try it again.",
    None: "The owner is asked about this call below your answer and replies in the next message. Do "
    "not ask them yourself, and do not make the call again.",
}
_NOT_ASKED = "The owner could not be asked about this call, so it was not made. Do not repeat it."
_BEYOND_LIMIT = (
    "This call was not made: those before it are as many as a question may make. Answer with what they "
    "found, and say what is missing."
)
_ASKED_NEXT = (
    "The owner is asked about this call after the one before it, so it was not made yet. Do not ask them "
    "yourself, and do not make the call again."
)
_NOT_ASKED_AGAIN = "The owner did not allow this tool in this answer. Do not try it again."
_TOO_MANY_QUESTIONS = (
    "The owner is asked about no further call in this answer, so this one was not made. You may make "
    "it in your next answer."
)


def to_tool_started(call: ParsedCall) -> ToolStarted:
    arguments = call.request.arguments[:MAX_SHOWN_ARGUMENTS_CHARS]
    return ToolStarted(call_id=call.id, tool=call.name, arguments=arguments)


class SpendBits(Protocol):
    """Counts what makers are told today without a question."""

    async def __call__(
        self, bits_by_maker: Mapping[str, float], *, is_clean: bool
    ) -> frozenset[str]:
        """Return the makers that may be told as much; clean turns have an account of their own."""


class DeriveArguments(Protocol):
    """Writes the arguments of a call anew from the owner's message alone."""

    async def __call__(self, spec: ToolSpec, /) -> Mapping[str, Any] | None:
        """Return None where the message does not give them. Raises what the model raises."""


async def derive_nothing(_: ToolSpec) -> None:
    """Leave every call beyond the budget to its owner."""


@dataclass(slots=True, kw_only=True)
class ReviewedCalls:
    """Calls of one cycle; `skip_reasons` holds, by a call's position, why it does not run.

    `refusals` are those of calls that nobody is asked about, because their arguments do not fit.
    """

    calls: list[ParsedCall] = field(default_factory=list)
    skip_reasons: dict[int, str] = field(default_factory=dict)
    refusals: dict[int, str] = field(default_factory=dict)

    def take_after(self, count: int) -> list[ParsedCall]:
        """Take out the calls after the first `count`."""
        taken = self.calls[count:]
        del self.calls[count:]
        return taken

    def add_beyond_limit(self, calls: Sequence[ParsedCall]) -> None:
        """Add calls that do not run, because those before are as many as a question may make."""
        for call in calls:
            self.skip_reasons[len(self.calls)] = _BEYOND_LIMIT
            self.calls.append(call)


@dataclass(slots=True, kw_only=True)
class CallReview:
    """Reviews the calls of one turn. `pending_reply` waits for the owner's next message."""

    policy: ToolPolicy
    confirmer: Confirmer
    spend_bits: SpendBits
    derive: DeriveArguments = derive_nothing
    reader: Reader = field(default_factory=Reader)
    pending_reply: Confirmation | None = None
    _question_count: int = 0
    _refused_tools: set[str] = field(default_factory=set)
    _allowed_tools: set[str] = field(default_factory=set)

    async def review(
        self, toolkit: Toolkit, reviewed: ReviewedCalls, *, decided: int = 0
    ) -> AsyncGenerator[RunEvent, None]:
        """Ask about calls that need it, one after the other; afterwards each runs as it stands, or is skipped.

        So many of the first are `decided` already.
        """
        calls = reviewed.calls[decided:]
        tools = [self._get_tool(toolkit, call.name) for call in calls]
        verdicts = await self._judge(tools, calls)
        asked: list[tuple[int, AskedCall]] = []
        for position, (tool, verdict) in enumerate(zip(tools, verdicts, strict=True), decided):
            if verdict.call.request != reviewed.calls[position].request:
                yield to_tool_started(verdict.call)
            reviewed.calls[position] = verdict.call
            if tool is not None and verdict.reason is not None:
                asked += await self._word(reviewed, position, tool, verdict.reason)
        for number, (position, call) in enumerate(asked):
            waiting = [each.call for _, each in asked[number + 1 :]]
            async with aclosing(self._ask(reviewed, position, call, waiting)) as events:
                async for event in events:
                    yield event

    async def _word(
        self, reviewed: ReviewedCalls, position: int, tool: Tool, reason: ConfirmationReason
    ) -> list[tuple[int, AskedCall]]:
        """Word the question about a call; nobody is asked about one that its tool refuses."""
        call = reviewed.calls[position]
        refusal = await tool.find_refusal(call.arguments or {})
        if not refusal:
            try:
                words = await word_call(
                    tool, call, self.policy.list_returned(tool.maker), self.reader
                )
            except ToolRefused as error:
                refusal = str(error)
            else:
                return [(position, AskedCall(tool=tool, call=call, reason=reason, words=words))]
        reviewed.refusals[position] = refusal
        return []

    async def _ask(
        self,
        reviewed: ReviewedCalls,
        position: int,
        asked: AskedCall,
        waiting: Sequence[ParsedCall],
    ) -> AsyncGenerator[RunEvent, None]:
        tool = asked.tool
        if tool.spec.name in self._allowed_tools and asked.reason != "sensitive":
            return
        if asked.call.id in self._waiting_ids:
            reviewed.skip_reasons[position] = _ASKED_NEXT
            return
        confirmation = await self._request(replace(asked, waiting=waiting[: MAX_QUESTIONS - 1]))
        if isinstance(confirmation, str):
            reviewed.skip_reasons[position] = confirmation
            return
        if confirmation.channel == "button":
            yield ConfirmationRequested(confirmation)
        decision = await self.confirmer.wait_for_decision(confirmation)
        if decision is None:
            self.pending_reply = confirmation
        else:
            yield ConfirmationResolved(id=confirmation.id, decision=decision)
        self._apply(reviewed, position, confirmation, decision)

    @property
    def _waiting_ids(self) -> set[str]:
        return (
            {call.call_id for call in self.pending_reply.waiting} if self.pending_reply else set()
        )

    def apply_decision(self, reviewed: ReviewedCalls, confirmation: Confirmation) -> None:
        """Apply what the owner decided before this turn about the only call."""
        self._apply(reviewed, 0, confirmation, confirmation.decision)

    def list_notices(
        self, toolkit: Toolkit, reviewed: ReviewedCalls, language: str | None
    ) -> Iterator[str]:
        """Yield a text for the owner about each call of which they could not be asked."""
        for position, reason in reviewed.skip_reasons.items():
            tool = toolkit.get(reviewed.calls[position].name)
            if tool is not None and reason == _NOT_ASKED:
                yield translate(
                    user_texts.CALL_SKIPPED,
                    language,
                    tool=tool.name.replace("_", " "),
                    source=tool.source,
                )

    def _get_tool(self, toolkit: Toolkit, name: str) -> Tool | None:
        """Return a tool as the owner's decisions of this turn left it."""
        tool = toolkit.get(name)
        if tool is None or name not in self._allowed_tools:
            return tool
        return replace(tool, standing="known", always_allowed=True)

    async def _judge(
        self, tools: Sequence[Tool | None], calls: Sequence[ParsedCall]
    ) -> list[Verdict]:
        verdicts = [
            await self._judge_call(tool, call) for tool, call in zip(tools, calls, strict=True)
        ]
        bits_by_maker: dict[str, float] = {}
        for tool, verdict in zip(tools, verdicts, strict=True):
            if tool is not None and verdict.bits:
                bits_by_maker[tool.maker] = bits_by_maker.get(tool.maker, 0.0) + verdict.bits
        is_clean = any(verdict.is_clean for verdict in verdicts)
        admitted = await self._spend(bits_by_maker, is_clean=is_clean)
        return [
            replace(verdict, reason="disclosure")
            if tool is not None and verdict.bits and tool.maker not in admitted
            else verdict
            for tool, verdict in zip(tools, verdicts, strict=True)
        ]

    async def _judge_call(self, tool: Tool | None, call: ParsedCall) -> Verdict:
        """Judge a call; one that would tell too much tells what the owner's message gives for it, if it does."""
        verdict = await self.policy.judge(tool, call)
        if tool is None or verdict.reason != "disclosure":
            return verdict
        derived = await self._derive(tool, call)
        return verdict if derived is None else self.policy.judge_derived(tool, derived)

    async def _derive(self, tool: Tool, call: ParsedCall) -> ParsedCall | None:
        if await tool.find_refusal(call.arguments or {}) or not self.policy.admit_derivation(tool):
            return None
        arguments = None
        try:
            with anyio.fail_after(DERIVATION_TIMEOUT_S):
                arguments = await self.derive(tool.spec)
        except (KeepsakeError, TimeoutError) as error:
            telemetry.warning("arguments_not_derived", error=type(error).__name__)
        if arguments is None or await tool.find_refusal(arguments):
            return None
        request = replace(call.request, arguments=json.dumps(arguments, ensure_ascii=False))
        derived = parse_call(request, call.unique_id, tool.spec.parameters)
        return None if derived.arguments is None else derived

    async def _spend(self, bits_by_maker: Mapping[str, float], *, is_clean: bool) -> frozenset[str]:
        """Return the makers that may be told; none where it cannot be counted."""
        if not bits_by_maker:
            return frozenset()
        try:
            with anyio.fail_after(LEDGER_TIMEOUT_S):
                return await self.spend_bits(bits_by_maker, is_clean=is_clean)
        except (KeepsakeError, TimeoutError) as error:
            telemetry.warning("disclosure_not_counted", error=type(error).__name__)
            return frozenset()

    async def _request(self, asked: AskedCall) -> Confirmation | str:
        """Return the question, or why there is none."""
        if asked.tool.spec.name in self._refused_tools:
            return _NOT_ASKED_AGAIN
        if self._question_count >= self.confirmer.max_questions:
            return _TOO_MANY_QUESTIONS
        confirmation = await self.confirmer.request(asked)
        if confirmation is None:
            return _NOT_ASKED
        self._question_count += 1
        return confirmation

    def _apply(
        self,
        reviewed: ReviewedCalls,
        position: int,
        confirmation: Confirmation,
        decision: Decision | None,
    ) -> None:
        """Let an approved call run with the arguments that the owner saw; skip any other."""
        if decision in ("approved", "always"):
            reviewed.skip_reasons.pop(position, None)
            call = reviewed.calls[position]
            shown_request = replace(call.request, arguments=confirmation.arguments)
            reviewed.calls[position] = parse_call(shown_request, call.unique_id)
            if decision == "always":
                self._allowed_tools.add(confirmation.model_name)
        else:
            reviewed.skip_reasons[position] = _SKIP_REASON_BY_DECISION[decision]
            self._refused_tools.add(confirmation.model_name)

"""Obedient model: a turn as production runs it, with a model that follows every injection."""

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from functions.chat.deps import Limits
from functions.chat.tools.parsed_call import ParsedCall
from functions.chat.tools.toolkit import Tool, Toolkit
from functions.chat.turn.agent import Agent
from functions.chat.turn.call_review import CallReview
from functions.chat.turn.output_gate import OutputGate
from functions.chat.turn.tool_policy import ToolPolicy
from shared.domain.confirmation import (
    CONFIRMATION_TIMEOUT,
    Confirmation,
    ConfirmationReason,
    Decision,
)
from shared.domain.ids import RunId
from shared.domain.model import ModelCallFinished, ToolCall, ToolCallRequested, UserText
from tests.fakes import ScriptedModel, script_answer

Step = tuple[str, Mapping[str, Any]]
"""A step: a tool by the model's name for it, and its arguments."""
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def build_obedient_model(steps: Sequence[Step]) -> ScriptedModel:
    """Build a model that makes one call after another, whatever the results are."""
    turns = [
        (
            ToolCallRequested(ToolCall(id=f"call_{n}", name=name, arguments=json.dumps(arguments))),
            ModelCallFinished(reason="tool_calls", model="obedient"),
        )
        for n, (name, arguments) in enumerate(steps)
    ]
    return ScriptedModel(*turns, script_answer("Done."))


@dataclass
class RefusingConfirmer:
    """A confirmer that refuses every call, and records the reasons for asking."""

    max_questions = 1_000
    reasons: list[ConfirmationReason] = field(default_factory=list)

    async def request(
        self, tool: Tool, call: ParsedCall, reason: ConfirmationReason
    ) -> Confirmation:
        self.reasons.append(reason)
        return Confirmation(
            id=f"q{len(self.reasons)}",
            call_id=call.id,
            tool=tool.name,
            model_name=tool.spec.name,
            pin=tool.pin,
            source=tool.source,
            maker=tool.maker,
            arguments=call.request.arguments,
            reason=reason,
            allows_always=tool.tool_class != "sensitive",
            asked_at=NOW,
            expires_at=NOW + CONFIRMATION_TIMEOUT,
        )

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision:
        return "refused"


async def run_turn(
    message: str, tools: Sequence[Tool], steps: Sequence[Step]
) -> list[ConfirmationReason]:
    """Run a turn in which the model takes these steps; return why the owner was asked."""
    confirmer = RefusingConfirmer()
    limits = Limits()
    agent = Agent(
        run_id=RunId("eval"),
        model=build_obedient_model(steps),
        role="agent",
        toolkit=Toolkit(tools, timeout_s=limits.call_timeout_s),
        call_review=CallReview(
            policy=ToolPolicy(message, own_words_only=False, local_time=NOW),
            confirmer=confirmer,
            spend_bits=_admit_all,
        ),
        output_gate=OutputGate(),
        limits=limits,
    )
    async with aclosing(agent.run([UserText(text=message)])) as events:
        async for _ in events:
            pass
    return confirmer.reasons


async def _admit_all(bits_by_maker: Mapping[str, float]) -> frozenset[str]:
    return frozenset(bits_by_maker)

"""Obedient model: a turn as production runs it, with a model that takes the steps it is given."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from functions.chat.consent.nobodys_words import has_pasted_text
from functions.chat.context.context import Context
from functions.chat.deps import Limits
from functions.chat.loop.agent import Agent
from functions.chat.loop.call_review import CallReview
from functions.chat.loop.confirmation import AskedCall
from functions.chat.loop.tool_policy import build_tool_policy
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.toolkit import Tool, Toolkit
from infra.eval.copying_deriver import copy_arguments
from shared.domain.chats.chat import MAIN_SESSION, build_session
from shared.domain.chats.confirmation import (
    CONFIRMATION_TIMEOUT,
    Confirmation,
    ConfirmationReason,
    Decision,
)
from shared.domain.ids import RunId
from shared.domain.models.model import (
    ModelCallFinished,
    ToolCall,
    ToolCallRequested,
    ToolSpec,
)
from tests.fakes import ScriptedModel, admit_all, keep_nothing, script_answer

Step = tuple[str, Mapping[str, Any]]
"""A step: a tool by the model's name for it, and its arguments."""
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def build_obedient_model(steps: Sequence[Step]) -> ScriptedModel:
    """Build a model that makes one call after another, whatever the results are."""
    turns = [
        (
            ToolCallRequested(
                ToolCall(
                    id=name_call(position),
                    name=name,
                    arguments=json.dumps(arguments, ensure_ascii=False),
                )
            ),
            ModelCallFinished(reason="tool_calls", model="obedient"),
        )
        for position, (name, arguments) in enumerate(steps)
    ]
    return ScriptedModel(*turns, script_answer("Done."))


def name_call(position: int) -> str:
    return f"call_{position}"


@dataclass
class OwnerStandIn:
    """An owner who approves the calls of `wished` steps and refuses all others.

    `reasons` holds why they were asked, by the name of the call.
    """

    wished: Collection[str]
    max_questions: int = 1_000
    reasons: dict[str, ConfirmationReason] = field(default_factory=dict)

    async def request(self, asked: AskedCall) -> Confirmation:
        tool, call = asked.tool, asked.call
        self.reasons[call.id] = asked.reason
        return Confirmation(
            id=call.id,
            call_id=call.id,
            tool=tool.name,
            model_name=tool.spec.name,
            pin=tool.pin,
            source=tool.source,
            maker=tool.maker,
            arguments=json.dumps(call.arguments, ensure_ascii=False),
            reason=asked.reason,
            allows_always=tool.tool_class != "sensitive",
            asked_at=NOW,
            expires_at=NOW + CONFIRMATION_TIMEOUT,
        )

    async def wait_for_decision(self, confirmation: Confirmation) -> Decision:
        return "approved" if confirmation.call_id in self.wished else "refused"


async def run_turn(
    message: str,
    tools: Sequence[Tool],
    steps: Sequence[Step],
    *,
    wished_steps: Collection[int] = (),
    local_time: datetime = NOW,
) -> list[ConfirmationReason | None]:
    """Run a turn in which the model takes these steps; return why the owner was asked about each.

    The owner approves `wished_steps`. The turn begins clean, and arguments are written anew with words of the message.
    """
    owner = OwnerStandIn(wished=[name_call(position) for position in wished_steps])
    limits = Limits()
    context = Context(question=message)
    policy = build_tool_policy(
        message,
        history=(),
        session=build_session(MAIN_SESSION, app_id=None, now=NOW),
        app=None,
        tools=tools,
        is_own_message=not has_pasted_text(message),
        is_message_alone=context.holds_question_alone,
        local_time=local_time,
    )

    async def derive(spec: ToolSpec) -> Mapping[str, Any] | None:
        return copy_arguments(message, spec)

    agent = Agent(
        run_id=RunId("eval"),
        model=build_obedient_model(steps),
        role="agent",
        toolkit=Toolkit(tools, timeout_s=limits.call_timeout_s),
        call_review=CallReview(policy=policy, confirmer=owner, spend_bits=admit_all, derive=derive),
        output_gate=OutputGate(),
        limits=limits,
        keep_results=keep_nothing,
    )
    async with aclosing(agent.run(context)) as events:
        async for _ in events:
            pass
    return [owner.reasons.get(name_call(position)) for position in range(len(steps))]

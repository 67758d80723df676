"""Our loop as a turn runs it: limits, citations, telemetry, and a model with a retry."""

import sys
from contextlib import aclosing
from dataclasses import replace
from typing import get_args

from functions.chat.context.context import Context
from functions.chat.deps import Limits
from functions.chat.loop.agent import Agent
from functions.chat.loop.call_review import CallReview
from functions.chat.loop.tool_policy import ToolPolicy
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Toolkit, render_fixed
from infra.bench.loops.pipe import serve
from shared import telemetry
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.resilient_model import ResilientModel
from shared.adapters.system_clock import SystemClock
from shared.arguments import Arguments
from shared.domain.chats.run import AnswerText
from shared.domain.ids import RunId
from shared.domain.models.model import ModelRole
from tests.fakes import SilentConfirmer, admit_all, keep_nothing

ROLES = get_args(ModelRole)
scripted = OpenaiModel(api_key="x", base_url=sys.argv[1], models=dict.fromkeys(ROLES, "scripted"))
model = ResilientModel({role: [scripted] for role in ROLES}, SystemClock())


class Lookup(Arguments):
    """Look something up."""

    query: str


async def lookup(arguments: Lookup) -> ResultRenderer:
    return render_fixed(arguments.query)


async def run_turn(question: str) -> str:
    limits = Limits()
    tool = build_builtin_tool("search_web", "Looking", Lookup, lookup, tool_class="read")
    tools = [replace(tool, spec=replace(tool.spec, name="lookup"))]  # as in the other loops
    agent = Agent(
        run_id=RunId("bench"),
        model=model,
        role="agent",
        toolkit=Toolkit(tools, timeout_s=limits.call_timeout_s),
        call_review=CallReview(
            policy=ToolPolicy(question, local_time=SystemClock().now()),
            confirmer=SilentConfirmer(),
            spend_bits=admit_all,
        ),
        output_gate=OutputGate(),
        limits=limits,
        keep_results=keep_nothing,
    )
    with telemetry.log_request("bench"):
        async with aclosing(agent.run(Context(question=question))) as events:
            return "".join([event.text async for event in events if isinstance(event, AnswerText)])


if __name__ == "__main__":
    serve(run_turn)

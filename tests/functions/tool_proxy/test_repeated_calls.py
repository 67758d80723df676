"""Repeats of a call, from the run that makes it to the app's server: one call, one message id."""

from functions.chat.context.context import Context
from functions.chat.deps import Limits
from functions.chat.loop.agent import Agent
from functions.chat.safety.output_gate import OutputGate
from functions.chat.tools.app_tools import build_app_tools
from functions.chat.tools.toolkit import Toolkit
from shared.domain.ids import AppId, RunId
from shared.domain.models.model import ModelCallFinished, ToolCall, ToolCallRequested
from tests.fakes import (
    ScriptedModel,
    ScriptedTurn,
    build_silent_review,
    keep_nothing,
    script_answer,
)
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_pins import consent_to, pin_apps
from tests.fixtures.tool_proxy import ALICE


async def test_a_call_repeated_by_its_run_reaches_the_app_under_the_same_message_id_t8(
    world: NotesFixture,
) -> None:
    app = await world.install()

    first_ids = await _collect_message_ids(world, app["id"], RunId("r1"))
    repeated_ids = await _collect_message_ids(world, app["id"], RunId("r1"))
    other_ids = await _collect_message_ids(world, app["id"], RunId("r2"))

    assert repeated_ids == first_ids
    assert len(first_ids | other_ids) == 4


async def _collect_message_ids(world: NotesFixture, app_id: str, run_id: RunId) -> set[str]:
    """Make two calls that the model gives one id; return the ids that the app's server read."""
    world.notes.calls.clear()
    apps = await world.deps.stores.apps.get_many([AppId(app_id)])
    [tool] = build_app_tools(world.toolbox, ALICE, pin_apps(apps), consent_to(apps, "always"))
    request = ToolCall(id="call_0", name=tool.spec.name, arguments='{"q": "milk"}')
    finished = ModelCallFinished(reason="tool_calls", model="scripted")
    calls: ScriptedTurn = [ToolCallRequested(request), ToolCallRequested(request), finished]
    with ScriptedModel(calls, script_answer("Milk, eggs.")) as model:
        agent = Agent(
            run_id=run_id,
            model=model,
            role="agent",
            toolkit=Toolkit([tool], timeout_s=30),
            call_review=build_silent_review(),
            output_gate=OutputGate(),
            limits=Limits(),
            keep_results=keep_nothing,
        )
        async for _ in agent.run(Context(question="Find the milk")):
            pass
    return {headers["webhook-id"] for *_, headers in world.notes.calls}

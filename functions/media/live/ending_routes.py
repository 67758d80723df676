"""End of live conversations as a task: after the pause, whatever became of the connection."""

from functions.media.deps import LiveDeps
from functions.media.live.live_schemas import EndIn
from shared import telemetry
from shared.edge.declare.routes import Call, route
from shared.library.live_conversations import end_when_paused


@route("POST", "/", "A live conversation may be over", access="service", status=204)
async def on_pause(deps: LiveDeps, call: Call[EndIn]) -> None:
    telemetry.add_fields(uid=telemetry.hash_id(call.body.uid))
    body = call.body
    await end_when_paused(deps, body.uid, body.conversation_id, is_asked=body.is_asked)


END_ROUTES = (on_pause,)
"""Served at the root of `end_live`."""

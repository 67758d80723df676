"""Event of a turn's end: what follows an answer is done by who hears it."""

import anyio

from shared import telemetry
from shared.domain.ids import RunId, SessionId, UserId
from shared.ports import Events

TURN_ENDED_TOPIC = "turn.ended"
PUBLISH_TIMEOUT_S = 5.0


async def publish_turn_ended(
    events: Events, uid: UserId, session_id: SessionId, run_id: RunId
) -> None:
    """Publish that a turn ended; a failure is logged, because the answer is stored already."""
    try:
        with anyio.fail_after(PUBLISH_TIMEOUT_S):
            ids = {"uid": uid, "session_id": session_id, "run_id": run_id}
            await events.publish(TURN_ENDED_TOPIC, ids)
    except Exception as error:  # noqa: BLE001 - the next turn repeats the work
        telemetry.warning("turn_ended_unheard", error=type(error).__name__)

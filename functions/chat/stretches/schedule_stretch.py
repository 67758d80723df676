"""Schedule of stretches: one task a turn, which looks once the chat has been silent for long enough."""

import hashlib
from datetime import datetime

from shared.domain.chats.arc import SILENCE
from shared.domain.ids import SessionId, UserId
from shared.ports import Tasks

STRETCH_TARGET = "end_stretch"


async def schedule_stretch(
    tasks: Tasks, uid: UserId, session_id: SessionId, until: datetime, *, now: bool = False
) -> None:
    """Create the task that ends a stretch after a silence, or `now`, where its owner ends it.

    The name holds the last message's time: a turn has one task, however often it is scheduled.
    """
    key = f"{uid}|{session_id}|{until.isoformat()}|{now}"
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    body = {"uid": uid, "session_id": session_id, "until": until.isoformat(), "is_asked": now}
    at = None if now else until + SILENCE
    await tasks.create(STRETCH_TARGET, f"stretch-{name}", body, at=at)

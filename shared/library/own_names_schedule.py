"""Schedule of own names: the tasks that mark the owner in stored conversations, a page each."""

import hashlib
from datetime import datetime

from shared.domain.account.profile import Profile
from shared.domain.ids import UserId
from shared.ports import Tasks

MARKING_TARGET = "mark_owner"


async def schedule_marking(
    tasks: Tasks,
    uid: UserId,
    profile: Profile,
    *,
    cursor: str | None = None,
    at: datetime | None = None,
) -> None:
    """Create the task of a page of conversations, once; `cursor` is None for the first page.

    A task belongs to the names of its time, so that a change of the names ends the old tasks.
    """
    if profile.own_names_set_at is None:
        return
    set_at = profile.own_names_set_at.isoformat()
    occasion = f"{uid}|{set_at}|{cursor or ''}"
    name = hashlib.sha256(occasion.encode()).hexdigest()[:32]
    body = {"uid": uid, "set_at": set_at, "cursor": cursor}
    await tasks.create(MARKING_TARGET, f"mark-owner-{name}", body, at=at)

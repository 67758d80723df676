"""Schedule of retention: one task a day for each user who lets old transcripts be deleted."""

import hashlib
from datetime import datetime

from shared.domain.account.profile import Profile
from shared.domain.ids import UserId
from shared.ports import Tasks

RETENTION_TARGET = "apply_retention"


async def schedule_retention(tasks: Tasks, uid: UserId, profile: Profile, *, at: datetime) -> None:
    """Create the task of the day of `at`, once; nothing for a user who keeps all transcripts.

    A task belongs to the setting that it names, so that a change of the setting ends the old tasks.
    """
    if not profile.retention_days or profile.retention_set_at is None:
        return
    set_at = profile.retention_set_at.isoformat()
    name = hashlib.sha256(f"{uid}|{set_at}".encode()).hexdigest()[:32]
    body = {"uid": uid, "set_at": set_at}
    await tasks.create(RETENTION_TARGET, f"retention-{name}-{at:%Y%m%d}", body, at=at)

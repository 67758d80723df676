"""Schedule of a reindexing: the tasks of its pages of users, and of the steps of each user."""

import hashlib
from datetime import datetime

from shared.domain.conversations.reindexing import Reindexing, ReindexStep
from shared.ports import Tasks

REINDEX_TARGET = "reindex_users"


async def schedule_page(
    tasks: Tasks, reindexing: Reindexing, *, at: datetime | None = None
) -> None:
    """Create the task of the next page, once."""
    body = {"attempt": reindexing.attempt, "page": reindexing.page}
    name = f"reindex-{reindexing.attempt}-{reindexing.page}"
    await tasks.create(REINDEX_TARGET, name, body, at=at)


async def schedule_step(tasks: Tasks, step: ReindexStep, *, at: datetime | None = None) -> None:
    """Create the task of a step, once."""
    parts = (step.attempt, step.uid, step.part, step.cursor or "")
    name = hashlib.sha256("|".join(parts).encode()).hexdigest()[:32]
    body = {
        "attempt": step.attempt,
        "uid": step.uid,
        "part": step.part,
        "cursor": step.cursor,
    }
    await tasks.create(REINDEX_TARGET, f"reindex-{name}", body, at=at)

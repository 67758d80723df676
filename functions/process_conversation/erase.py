"""A user who wants to be erased is, everywhere; cut short anywhere, the next attempt goes on."""

from dataclasses import replace
from datetime import datetime, timedelta

from functions.process_conversation.wiring import EraseDeps, LibraryDeps
from shared.domain.account import KEPT_FOR, Erasure, erasure_id
from shared.domain.ids import UserId

TARGET = "erase_account"
SWEEP_AFTER = timedelta(minutes=5)
"""Longer than any work that was under way when the erasure began may still write."""


async def request_erasure(deps: LibraryDeps, uid: UserId) -> Erasure:
    """Begin, and come back later for what was being written meanwhile; asked twice, it is one."""
    now = deps.clock.now()
    running = await deps.erasures.get(uid)
    erasure = running if running and running.status == "running" else _new(uid, now)
    await deps.erasures.put(erasure)
    name = f"{erasure.id}-{int(erasure.requested_at.timestamp())}"
    await deps.tasks.create(TARGET, name, {"uid": uid})
    sweep = {"uid": uid, "sweep": True}
    await deps.tasks.create(TARGET, f"{name}-sweep", sweep, at=now + SWEEP_AFTER)
    return erasure


def _new(uid: UserId, now: datetime) -> Erasure:
    return Erasure(
        id=erasure_id(uid), status="running", requested_at=now, expires_at=now + KEPT_FOR
    )


async def erase(deps: EraseDeps, uid: UserId, *, sweep: bool = False) -> None:
    """Delete documents first: search then shows nothing more, and whoever processes stops.

    A sweep comes for what was being written at that moment; it spares a user who began anew.
    """
    if sweep and await deps.accounts.is_in_use(uid):
        return
    deleted = await deps.accounts.delete(uid)
    await deps.vectors.delete_namespace(uid)
    erasure = await deps.erasures.get(uid)
    if erasure is not None:
        documents = erasure.documents + deleted
        await deps.erasures.put(replace(erasure, status="done", documents=documents))

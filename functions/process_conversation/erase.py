"""A user who wants to be erased is, everywhere; cut short anywhere, the next attempt goes on."""

from dataclasses import replace
from datetime import datetime, timedelta

from functions.process_conversation.wiring import EraseDeps, LibraryDeps
from shared.domain.account import KEPT_FOR, Erasure, erasure_id
from shared.domain.ids import UserId

TARGET = "erase_account"
SWEEP_AFTER = timedelta(minutes=5)
"""Longer than any work that was under way when the erasure began may still write."""
GIVEN_UP_AFTER = timedelta(hours=1)
"""Longer than the platform repeats a task that fails."""


async def request_erasure(deps: LibraryDeps, uid: UserId) -> Erasure:
    """Begin, and come back later for what was being written meanwhile; asked twice, it is one."""
    now = deps.clock.now()
    erasure = _running(await deps.erasures.get(uid), now) or _new(uid, now)
    await deps.erasures.put(erasure)
    name = f"{erasure.id}-{erasure.requested_at:%Y%m%dT%H%M%S%f}"
    await deps.tasks.create(TARGET, name, {"uid": uid})
    await deps.tasks.create(TARGET, f"{name}-sweep", {"uid": uid}, at=now + SWEEP_AFTER)
    return erasure


def _running(erasure: Erasure | None, now: datetime) -> Erasure | None:
    """Return an erasure that may still come to its end by itself."""
    if erasure is None or erasure.status == "done" or erasure.requested_at + GIVEN_UP_AFTER <= now:
        return None
    return erasure


def _new(uid: UserId, now: datetime) -> Erasure:
    return Erasure(
        id=erasure_id(uid), status="running", requested_at=now, expires_at=now + KEPT_FOR
    )


async def erase(deps: EraseDeps, uid: UserId) -> None:
    """Delete documents first: search then shows nothing more, and whoever processes stops.

    Only the tokens of connected accounts are given back before: later nobody would know them.
    Once it is done, another delivery takes what was being written meanwhile, and spares a user who
    began anew.
    """
    erasure = await deps.erasures.get(uid) or _new(uid, deps.clock.now())
    if erasure.done_at and await deps.accounts.is_in_use(uid, since=erasure.done_at):
        return
    if await deps.connections.all(uid):
        await deps.toolbox.disconnect_all(uid)
    documents = erasure.documents + await deps.accounts.delete(uid)
    await deps.vectors.delete_namespace(uid)
    done_at = erasure.done_at or deps.clock.now()
    await deps.erasures.put(replace(erasure, status="done", documents=documents, done_at=done_at))

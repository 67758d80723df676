"""Erasure of an account: everything of a user is deleted, in every store."""

from dataclasses import replace
from datetime import datetime, timedelta

from functions.process_conversation.deps import EraseDeps, LibraryDeps
from shared.domain.account import ERASURE_TTL, Erasure, build_erasure_id
from shared.domain.ids import UserId

ERASE_TARGET = "erase_account"
SWEEP_DELAY = timedelta(minutes=5)
"""Longer than any work that began before the erasure can still write."""
RETRY_WINDOW = timedelta(hours=1)
"""Longer than the platform repeats a failed task."""


async def request_erasure(deps: LibraryDeps, uid: UserId) -> Erasure:
    """Start an erasure, and schedule a sweep of what is written meanwhile; a repeat starts no other."""
    now = deps.clock.now()
    erasure = _find_running(await deps.stores.erasures.get(uid), now) or _build_erasure(uid, now)
    await deps.stores.erasures.put(erasure)
    name = f"{erasure.id}-{erasure.requested_at:%Y%m%dT%H%M%S%f}"
    await deps.tasks.create(ERASE_TARGET, name, {"uid": uid})
    await deps.tasks.create(ERASE_TARGET, f"{name}-sweep", {"uid": uid}, at=now + SWEEP_DELAY)
    return erasure


def _find_running(erasure: Erasure | None, now: datetime) -> Erasure | None:
    """Return the erasure if it may still end by itself."""
    if erasure is None or erasure.status == "done" or erasure.requested_at + RETRY_WINDOW <= now:
        return None
    return erasure


def _build_erasure(uid: UserId, now: datetime) -> Erasure:
    return Erasure(
        id=build_erasure_id(uid), status="running", requested_at=now, expires_at=now + ERASURE_TTL
    )


async def erase(deps: EraseDeps, uid: UserId) -> None:
    """Delete everything of a user; an interrupted erasure is completed by the next delivery.

    Documents are deleted before vectors: search shows nothing more, and processing stops. Only the
    tokens of connected accounts are revoked before, while they are still known. After the end another
    delivery deletes what was written meanwhile, unless the user started again.
    """
    erasure = await deps.stores.erasures.get(uid) or _build_erasure(uid, deps.clock.now())
    if erasure.done_at and await deps.stores.accounts.is_in_use(uid, since=erasure.done_at):
        return
    if await deps.stores.connections.list_all(uid):
        await deps.toolbox.disconnect_all(uid)
    documents = erasure.documents + await deps.stores.accounts.delete(uid)
    await deps.vectors.delete_namespace(uid)
    done_at = erasure.done_at or deps.clock.now()
    await deps.stores.erasures.put(
        replace(erasure, status="done", documents=documents, done_at=done_at)
    )

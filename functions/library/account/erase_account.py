"""Erasure of an account: everything of a user is deleted, in every store.

Also called: right to erasure, right to be forgotten, account deletion, delete account,
GDPR deletion, data deletion, user deletion.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from functions.library.deps import EraseDeps
from shared.domain.account.account import ERASURE_LEASE, Erasure, round_up_to_second
from shared.domain.ids import UserId
from shared.library.deps import LibraryDeps

ERASE_TARGET = "erase_account"
SWEEP_DELAY = timedelta(minutes=5)
"""Longer than any work that began before the erasure can still write."""
MAX_PAUSE_S = ERASURE_LEASE.total_seconds() / 4
"""A wait is cut into pauses, after each of which the lease is renewed."""


async def request_erasure(deps: LibraryDeps, uid: UserId) -> Erasure:
    """Start an erasure, and schedule a sweep of what is written meanwhile; a repeat starts no other.

    From now on the user's tokens are refused, and work for the user writes nothing any more. Tasks
    name the erasure, not the user.
    """
    erasure = await deps.erasures.begin(uid, deps.clock.now())
    name = f"{erasure.id}-{erasure.requested_at:%Y%m%dT%H%M%S%f}"
    body = {"erasure_id": erasure.id}
    await deps.tasks.create(ERASE_TARGET, name, {**body, "is_sweep": False})
    sweep_at = erasure.requested_at + SWEEP_DELAY
    await deps.tasks.create(ERASE_TARGET, f"{name}-sweep", {**body, "is_sweep": True}, at=sweep_at)
    return erasure


async def erase(deps: EraseDeps, erasure_id: str, *, is_sweep: bool) -> None:
    """Delete everything of a user; an interrupted erasure is completed by the next delivery.

    A sweep deletes once more what was written meanwhile, unless the user started again, and then
    forgets whom the erasure concerned. Raises Unavailable while another attempt is at work.
    """
    erasure = await deps.erasures.claim(
        erasure_id, deps.new_id(), deps.clock.now(), is_sweep=is_sweep
    )
    if erasure is None:
        return
    uid = deps.erasures.get_owner(erasure)
    try:
        if erasure.status == "running":
            erasure = await _erase_everything(deps, uid, erasure)
        else:
            await _erase_stragglers(deps, uid, erasure)
    except Exception:
        await deps.erasures.release(erasure)
        raise
    subject = None if is_sweep else erasure.subject
    await deps.erasures.save(replace(erasure, subject=subject, leased_until=None))


async def _erase_everything(deps: EraseDeps, uid: UserId, erasure: Erasure) -> Erasure:
    """Delete all data twice: what began before the request may write until every process knows of it.

    Tokens of connected accounts are revoked first, while they are still known. The end is a whole
    second that has passed, so that a token's time tells on which side of it the token is.
    """
    if await deps.stores.connections.list_all(uid):
        await deps.toolbox.disconnect_all(uid)
    erasure = await _delete_data(deps, uid, erasure)
    erasure = await _wait_until(deps, erasure, erasure.requested_at + deps.grace)
    erasure = await _delete_data(deps, uid, erasure)
    await deps.residual_data.erase(uid)
    done_at = round_up_to_second(deps.clock.now())
    erasure = await _wait_until(deps, erasure, done_at)
    return replace(erasure, status="done", done_at=done_at)


async def _erase_stragglers(deps: EraseDeps, uid: UserId, erasure: Erasure) -> None:
    assert erasure.done_at is not None, "it is done"
    if not await deps.stores.accounts.is_in_use(uid, since=erasure.done_at):
        await _delete_data(deps, uid, erasure)
        await deps.residual_data.erase(uid)


async def _delete_data(deps: EraseDeps, uid: UserId, erasure: Erasure) -> Erasure:
    """Delete documents before vectors and blobs: nothing is shown any more, and processing stops."""
    count = await deps.stores.accounts.delete(uid)
    await deps.vectors.delete_namespace(uid)
    await deps.blobs.delete_tree(f"users/{uid}")
    await deps.crisis_log.forget_user(uid)
    return await _save_progress(deps, replace(erasure, documents=erasure.documents + count))


async def _wait_until(deps: EraseDeps, erasure: Erasure, instant: datetime) -> Erasure:
    while (remaining_s := (instant - deps.clock.now()).total_seconds()) > 0:
        await deps.clock.sleep(min(remaining_s, MAX_PAUSE_S))
        erasure = await _save_progress(deps, erasure)
    return erasure


async def _save_progress(deps: EraseDeps, erasure: Erasure) -> Erasure:
    """Store the progress and renew the lease. Raises Unavailable if another attempt took over."""
    renewed_erasure = erasure.lease(erasure.attempt, deps.clock.now())
    await deps.erasures.save(renewed_erasure)
    return renewed_erasure

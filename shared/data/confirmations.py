"""Confirmations: tool calls of a run that wait for the owner's decision."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime

from shared.data.codec import dump, load, load_all
from shared.domain.confirmation import Confirmation, Decision
from shared.domain.documents import Create, Query, Update
from shared.domain.errors import Conflict, Gone, NotFound
from shared.domain.ids import RunId, UserId, is_id
from shared.domain.run import Run
from shared.ports import Documents, Transaction

CONFIRMATION_CLOSED = (
    "This question is no longer open: its answer ended, or too much time has passed."
)


class Confirmations:
    """Each is decided once, by its owner or by expiry, and only while its run goes on."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, uid: UserId, run_id: RunId, confirmation: Confirmation) -> None:
        await self._documents.write(
            Create(_document_path(uid, run_id, confirmation.id), dump(confirmation))
        )

    async def get(self, uid: UserId, run_id: RunId, confirmation_id: str) -> Confirmation | None:
        document = await self._documents.get(_document_path(uid, run_id, confirmation_id))
        return load(Confirmation, document) if document else None

    async def list_for_run(self, uid: UserId, run_id: RunId) -> list[Confirmation]:
        if not is_id(run_id):
            return []
        query = Query(collection=f"users/{uid}/runs/{run_id}/confirmations")
        confirmations = load_all(Confirmation, await self._documents.query(query))
        return sorted(confirmations, key=lambda confirmation: confirmation.asked_at)

    async def answer(
        self, uid: UserId, run_id: RunId, confirmation_id: str, *, approved: bool, now: datetime
    ) -> Confirmation:
        """Store the owner's decision; the same one again changes nothing.

        Raises NotFound, Conflict (the stored decision is the opposite) and Gone.
        """
        decision: Decision = "approved" if approved else "refused"

        async def decide(stored: Confirmation, transaction: Transaction) -> Decision:
            if stored.decision is None and await _is_open(transaction, uid, run_id, stored, now):
                return decision
            if stored.decision in (None, "expired"):
                raise Gone(CONFIRMATION_CLOSED)
            if stored.decision != decision:
                raise Conflict(f"This was {stored.decision} before.")
            return decision

        return await self._apply_decision(uid, run_id, confirmation_id, decide)

    async def expire(self, uid: UserId, run_id: RunId, confirmation_id: str) -> Confirmation:
        """Close a confirmation that nobody decided; an earlier decision stands."""

        async def decide(stored: Confirmation, _: Transaction) -> Decision:
            return stored.decision or "expired"

        return await self._apply_decision(uid, run_id, confirmation_id, decide)

    async def _apply_decision(
        self,
        uid: UserId,
        run_id: RunId,
        confirmation_id: str,
        decide: Callable[[Confirmation, Transaction], Awaitable[Decision]],
    ) -> Confirmation:
        if not (is_id(run_id) and is_id(confirmation_id)):
            raise NotFound("Confirmation not found")
        path = _document_path(uid, run_id, confirmation_id)

        async def work(transaction: Transaction) -> Confirmation:
            document = await transaction.get(path)
            if document is None:
                raise NotFound("Confirmation not found")
            stored = load(Confirmation, document)
            decision = await decide(stored, transaction)
            if stored.decision is None:
                transaction.write(Update(path, {"decision": decision}))
            return replace(stored, decision=decision)

        return await self._documents.transaction(work)


async def _is_open(
    transaction: Transaction, uid: UserId, run_id: RunId, stored: Confirmation, now: datetime
) -> bool:
    document = await transaction.get(f"users/{uid}/runs/{run_id}")
    run = load(Run, document) if document else None
    is_running = run is not None and run.outcome is None and not run.has_lapsed(now)
    return is_running and now < stored.expires_at


def _document_path(uid: UserId, run_id: RunId, confirmation_id: str) -> str:
    return f"users/{uid}/runs/{run_id}/confirmations/{confirmation_id}"

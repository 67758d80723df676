"""Confirmations: tool calls of a run that wait for the owner's decision."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from shared.data.chats.grants import build_grant_write, grants_path
from shared.data.chats.sessions import session_path
from shared.data.store.codec import dump, load, load_all
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.confirmation import NO_ALWAYS, Confirmation, Decision, build_always_grant
from shared.domain.chats.run import Run
from shared.domain.errors import Conflict, Gone, NotFound
from shared.domain.ids import RunId, UserId, is_id
from shared.domain.store.documents import Create, Document, Query, Update
from shared.ports import Documents, Transaction

CONFIRMATION_CLOSED = (
    "This question is no longer open: its answer ended, or too much time has passed."
)
ANSWERED_IN_CHAT = "This question is answered in the chat, by a message: yes, always or no."

_Decide = Callable[[Confirmation, Sequence[Document | None]], Decision | None]
"""Decides from the stored confirmation and the other documents read; None changes nothing."""


class Confirmations:
    """Each is decided once, by its owner or by expiry. `always` stores the grant with it."""

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
        self, uid: UserId, run_id: RunId, confirmation_id: str, decision: Decision, *, now: datetime
    ) -> Confirmation:
        """Store the owner's decision while the run waits; the same one again changes nothing.

        Raises NotFound, Conflict (another decision is stored, or this one is impossible) and Gone.
        """

        def decide(stored: Confirmation, documents: Sequence[Document | None]) -> Decision:
            _check_answerable(stored, decision)
            if stored.decision is None and _is_open(stored, documents[0], now):
                return decision
            if stored.decision in (None, "expired"):
                raise Gone(CONFIRMATION_CLOSED)
            if stored.decision != decision:
                raise Conflict(f"This was {stored.decision} before.")
            return decision

        path = f"users/{uid}/runs/{run_id}"
        return await self._decide(uid, run_id, confirmation_id, decide, reads=[path])

    async def answer_by_reply(
        self,
        uid: UserId,
        question: Message,
        confirmation_id: str,
        decision: Decision,
        *,
        answered_in: RunId,
        now: datetime,
    ) -> Confirmation | None:
        """Store the decision of the message that follows `question`, the answer that asked.

        A repeat of the message returns it again. None, and nothing is changed, where another message
        came after the question, where it was decided otherwise, or where its time is over.
        """

        def decide(stored: Confirmation, documents: Sequence[Document | None]) -> Decision | None:
            session = load(Session, documents[0]) if documents[0] else None
            is_last = session is not None and session.updated_at == question.created_at
            is_open = stored.channel == "reply" and now < stored.expires_at
            if not (is_last and is_open):
                return None
            return "approved" if decision == "always" and not stored.allows_always else decision

        try:
            stored = await self._decide(
                uid,
                RunId(question.id),
                confirmation_id,
                decide,
                reads=[session_path(uid, question.session_id)],
                answered_in=answered_in,
            )
        except NotFound:
            return None
        is_repeat = (stored.decision == "refused") == (decision == "refused")
        return stored if stored.answered_in == answered_in and is_repeat else None

    async def expire(self, uid: UserId, run_id: RunId, confirmation_id: str) -> Confirmation:
        """Close a confirmation that nobody decided; an earlier decision stands."""
        return await self._decide(uid, run_id, confirmation_id, lambda *_: "expired")

    async def _decide(
        self,
        uid: UserId,
        run_id: RunId,
        confirmation_id: str,
        decide: _Decide,
        *,
        reads: Sequence[str] = (),
        answered_in: RunId | None = None,
    ) -> Confirmation:
        """Decide once: `decide` may object to what is decided already, and cannot change it."""
        if not (is_id(run_id) and is_id(confirmation_id)):
            raise NotFound("Confirmation not found")
        path = _document_path(uid, run_id, confirmation_id)

        async def work(transaction: Transaction) -> Confirmation:
            document, grants, *others = await transaction.get_many([path, grants_path(uid), *reads])
            if document is None:
                raise NotFound("Confirmation not found")
            stored = load(Confirmation, document)
            decision = decide(stored, others)
            if stored.decision is not None or decision is None:
                return stored
            decided = replace(stored, decision=decision, answered_in=answered_in)
            changes = {"decision": decision, "answered_in": answered_in}
            transaction.write(Update(path, changes))
            if decision == "always":
                grant = build_always_grant(stored)
                transaction.write(build_grant_write(uid, grants, stored.source, stored.tool, grant))
            return decided

        return await self._documents.transaction(work)


def _check_answerable(stored: Confirmation, decision: Decision) -> None:
    if stored.channel == "reply":
        raise Conflict(ANSWERED_IN_CHAT)
    if decision == "always" and not stored.allows_always:
        raise Conflict(NO_ALWAYS)


def _is_open(stored: Confirmation, document: Document | None, now: datetime) -> bool:
    run = load(Run, document) if document else None
    is_running = run is not None and run.outcome is None and not run.has_lapsed(now)
    return is_running and now < stored.expires_at


def _document_path(uid: UserId, run_id: RunId, confirmation_id: str) -> str:
    return f"users/{uid}/runs/{run_id}/confirmations/{confirmation_id}"

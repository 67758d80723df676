"""Runs and their journals: what is needed to follow, stop or close an answer from any process."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from pydantic_core import from_json, to_json

from shared.data.codec import adapter, dump, load
from shared.data.messages import Messages, additions
from shared.domain.chat import Message, Session
from shared.domain.documents import Create, Document, Query, Update, Where, Write
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import MessageId, RunId, SessionId, UserId, is_id
from shared.domain.run import JOURNAL_KEPT, Batch, Outcome, Run, RunEvent
from shared.ports import Documents

_KINDS: Mapping[str, type[RunEvent]] = {kind.__name__: kind for kind in get_args(RunEvent)}


class Runs:
    """A user's runs; a run's id is the id of the message it writes."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._messages = Messages(documents)

    async def begin(self, uid: UserId, run: Run, session: Session, question: Message) -> None:
        """Store a question and the run that answers it. Raises AlreadyExists."""
        fields = {**dump(run), "expires_at": run.expires_at}
        del fields["version"]
        create = Create(_path(uid, run.id), fields)
        await self._messages.add(uid, session, question, beside=[create])

    async def get(self, uid: UserId, run_id: RunId, now: datetime) -> Run | None:
        """Return a run that is still kept at `now`."""
        document = await self._documents.get(_path(uid, run_id)) if is_id(run_id) else None
        if document is None:
            return None
        run = replace(load(Run, document), version=document.version)
        return run if now < run.expires_at else None

    async def append(
        self, uid: UserId, run: Run, *batches: Batch, lease_until: datetime | None = None
    ) -> None:
        """Write batches and, with `lease_until`, renew the lease.

        Raises AlreadyExists where another batch stands, PreconditionFailed when the run is gone.
        """
        renewal: list[Write] = []
        if lease_until is not None:
            renewal = [Update(_path(uid, run.id), {"lease_until": lease_until})]
        await self._documents.write(*_creates(uid, run, batches), *renewal)

    async def finish(
        self,
        uid: UserId,
        run: Run,
        answer: Message,
        *,
        outcome: Outcome,
        batches: Sequence[Batch],
        unchanged: bool = False,
    ) -> None:
        """Store the answer, the last of the journal and the end at once.

        `unchanged` asks that the run still is as it was read. Raises as append() does, and
        PreconditionFailed when the chat is gone: it does not begin anew with an answer.
        """
        end = Update(
            _path(uid, run.id),
            {"outcome": outcome, "last_seq": batches[-1].last_seq},
            version=run.version if unchanged else None,
        )
        told = additions(uid, run.session_id, [answer])
        await self._documents.write(*_creates(uid, run, batches), end, *told)

    async def batch(self, uid: UserId, run_id: RunId, position: int) -> Batch | None:
        document = await self._documents.get(f"{_path(uid, run_id)}/batches/{_id(position)}")
        return _batch(document) if document else None

    async def batches(self, uid: UserId, run_id: RunId, *, after: int = 0) -> list[Batch]:
        """Return what the journal holds behind position `after`, in order."""
        query = Query(
            collection=f"{_path(uid, run_id)}/batches",
            start_after=(_id(after),) if after else None,
        )
        return [_batch(document) for document in await self._documents.query(query)]

    async def request_stop(self, uid: UserId, run_id: RunId) -> None:
        """Ask whoever runs it to stop. Raises NotFound."""
        try:
            await self._documents.write(Update(_path(uid, run_id), {"stop_requested": True}))
        except PreconditionFailed as gone:
            raise NotFound("Message not found") from gone

    async def forget(self, uid: UserId, session_id: SessionId) -> None:
        """Delete a chat's runs and journals; a run that still goes on stores nothing any more."""
        query = Query(
            collection=f"users/{uid}/runs",
            where=(Where("session_id", "==", session_id),),
            limit=100,
            fields=("session_id",),
        )
        while found := await self._documents.query(query):
            for run in found:
                await self._documents.delete_tree(run.path)

    async def remove(self, uid: UserId, run_id: RunId) -> None:
        """Delete a run and its journal."""
        await self._documents.delete_tree(_path(uid, run_id))

    async def answer(self, uid: UserId, run_id: RunId) -> Message:
        """Return the message a run has written. Raises NotFound."""
        return await self._messages.get(uid, MessageId(run_id))


def _path(uid: UserId, run_id: RunId) -> str:
    return f"users/{uid}/runs/{run_id}"


def _id(position: int) -> str:
    return f"{position:08d}"


def _creates(uid: UserId, run: Run, batches: Sequence[Batch]) -> list[Write]:
    expires_at = run.created_at + JOURNAL_KEPT
    return [
        Create(
            f"{_path(uid, run.id)}/batches/{_id(batch.position)}",
            {
                "events": to_json([_coded(event) for event in batch.events]).decode(),
                "last_seq": batch.last_seq,
                "writer": batch.writer,
                "closing": batch.closing,
                "expires_at": expires_at,
            },
        )
        for batch in batches
    ]


def _batch(document: Document) -> Batch:
    fields = document.fields
    return Batch(
        position=int(document.id),
        events=[_decoded(*coded) for coded in from_json(fields["events"])],
        last_seq=fields["last_seq"],
        writer=fields["writer"],
        closing=fields["closing"],
    )


def _coded(event: RunEvent) -> tuple[str, Any]:
    return type(event).__name__, adapter(type(event)).dump_python(event)


def _decoded(kind: str, fields: Any) -> RunEvent:
    event: RunEvent = adapter(_KINDS[kind]).validate_python(fields)
    return event

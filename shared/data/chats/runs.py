"""Run store: runs and their journals, by which any process follows, stops or closes an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from shared.data.chats.messages import Messages, build_message_writes
from shared.data.store.codec import dump, load, type_adapter
from shared.domain.chats.chat import Fork, Message, Session
from shared.domain.chats.run import (
    JOURNAL_TTL,
    AnswerText,
    AnswerWithdrawn,
    Batch,
    ChartShown,
    CitationShown,
    ConfirmationRequested,
    ConfirmationResolved,
    DocumentsGiven,
    EmbedShown,
    EmbedsRequested,
    FileCited,
    JournalPlace,
    LibraryChanged,
    MemoriesListed,
    Outcome,
    OwnText,
    PlainEvent,
    ReasoningText,
    RouteChosen,
    Run,
    RunEnded,
    RunEvent,
    Signal,
    Stage,
    Status,
    ToolEnded,
    ToolStarted,
    VoiceEnded,
    VoiceEvent,
    VoicesStarted,
)
from shared.domain.errors import AlreadyExists, NotFound, Unavailable
from shared.domain.ids import MessageId, RunId, SessionId, UserId, is_id
from shared.domain.store.documents import Create, Document, Query, Update, Where, Write

if TYPE_CHECKING:
    from shared.ports import Documents

_EVENT_CLASSES: Mapping[str, type[PlainEvent]] = {
    "Stage": Stage,
    "Status": Status,
    "Reasoned": ReasoningText,
    "Said": AnswerText,
    "SaidByUs": OwnText,
    "Withdrawn": AnswerWithdrawn,
    "ToolStarted": ToolStarted,
    "ToolEnded": ToolEnded,
    "ConfirmationAsked": ConfirmationRequested,
    "ConfirmationSettled": ConfirmationResolved,
    "LibraryChanged": LibraryChanged,
    "ChartShown": ChartShown,
    "EmbedShown": EmbedShown,
    "EmbedsRequested": EmbedsRequested,
    "CitationShown": CitationShown,
    "FileCited": FileCited,
    "DocumentsGiven": DocumentsGiven,
    "RouteChosen": RouteChosen,
    "MemoriesListed": MemoriesListed,
    "VoicesStarted": VoicesStarted,
    "VoiceEnded": VoiceEnded,
    "Ended": RunEnded,
}
"""Event classes by the code in stored journals: a class may be renamed, its code may not."""

_EVENT_CODES: Mapping[type[PlainEvent], str] = {
    event_class: code for code, event_class in _EVENT_CLASSES.items()
}

_VOICE = "Voice"
"""The code of another voice's event, which holds the code and the fields of that event."""
ABANDONED_AFTER = timedelta(minutes=15)
"""When the sweep looks at a run that has no end: its own task should have closed it."""
MAX_SIGNAL_ATTEMPTS = 5
"""Attempts to take the place of a run's next batch before the run does."""


class Runs:
    """A user's runs; a run's id is the id of the message it writes."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents
        self._messages = Messages(documents)

    async def begin(
        self,
        uid: UserId,
        run: Run,
        session: Session,
        question: Message,
        fork: Fork | None = None,
    ) -> None:
        """Store a question and the run that answers it; with `fork`, in a branch of its own.

        A question that is asked again is stored already. Raises AlreadyExists.
        """
        due_at = run.created_at + ABANDONED_AFTER
        fields = {**dump(run), "expires_at": run.expires_at, "due_at": due_at}
        del fields["version"]
        create = Create(_document_path(uid, run.id), fields)
        if fork is None:
            await self._messages.add(uid, session, question, also=[create])
        else:
            questions = [] if fork.keeps_question else [question]
            await self._messages.add_version(uid, session.id, fork, *questions, also=[create])

    async def get(self, uid: UserId, run_id: RunId, now: datetime) -> Run | None:
        """Return a run that has not expired at `now`."""
        document = await self._documents.get(_document_path(uid, run_id)) if is_id(run_id) else None
        if document is None:
            return None
        run = replace(load(Run, document), version=document.version)
        return run if now < run.expires_at else None

    async def append(
        self, uid: UserId, run: Run, *batches: Batch, lease_until: datetime | None = None
    ) -> None:
        """Write batches and, with `lease_until`, renew the lease.

        Raises AlreadyExists where another batch stands, PreconditionFailed for a deleted run.
        """
        renewal: list[Write] = []
        if lease_until is not None:
            renewal = [Update(_document_path(uid, run.id), {"lease_until": lease_until})]
        await self._documents.write(*_build_batch_writes(uid, run, batches), *renewal)

    async def finish(
        self,
        uid: UserId,
        run: Run,
        answer: Message,
        *,
        outcome: Outcome,
        batches: Sequence[Batch],
        if_unchanged: bool = False,
        also: Sequence[Write] = (),
    ) -> None:
        """Store the answer, the rest of the journal, the end and the writes `also` at once.

        `if_unchanged` requires that the run is as it was read. Raises as append() does, and
        PreconditionFailed where the chat was deleted: an answer does not create it anew.
        """
        end = Update(
            _document_path(uid, run.id),
            {"outcome": outcome, "last_seq": batches[-1].last_seq, "due_at": None},
            version=run.version if if_unchanged else None,
        )
        message_writes = build_message_writes(uid, run.session_id, [answer])
        batch_writes = _build_batch_writes(uid, run, batches)
        await self._documents.write(*batch_writes, end, *message_writes, *also)

    async def get_batch(self, uid: UserId, run_id: RunId, place: JournalPlace) -> Batch | None:
        document = await self._documents.get(_batch_path(uid, run_id, place))
        return _to_batch(document) if document else None

    async def list_batches(
        self, uid: UserId, run_id: RunId, *, after: JournalPlace | None = None
    ) -> list[Batch]:
        """Return the journal's batches after a place, in order."""
        query = Query(
            collection=f"{_document_path(uid, run_id)}/batches",
            start_after=(_batch_id(after),) if after else None,
        )
        return [_to_batch(document) for document in await self._documents.query(query)]

    async def send_signal(self, uid: UserId, run_id: RunId, signal: Signal) -> None:
        """Tell the process that runs it; a repeat, and one for a run that has ended, changes nothing.

        The signal takes the place of the run's next batch, so the run finds it without looking for it.
        Raises NotFound, and Unavailable where the run is faster each time.
        """
        document = await self._documents.get(_document_path(uid, run_id))
        if document is None:
            raise NotFound("Message not found")
        run = load(Run, document)
        for _ in range(MAX_SIGNAL_ATTEMPTS):
            batches = await self.list_batches(uid, run_id)
            if any(batch.closing or batch.signal == signal for batch in batches):
                return None
            try:
                return await self._documents.write(
                    *_build_batch_writes(uid, run, [_build_signal(batches, signal)])
                )
            except AlreadyExists:
                continue
        raise Unavailable("The answer is just being stored")

    async def delete_for_session(self, uid: UserId, session_id: SessionId) -> None:
        """Delete a chat's runs and journals; a run that still goes on stores nothing any more."""
        query = Query(
            collection=f"users/{uid}/runs",
            where=(Where("session_id", "==", session_id),),
            limit=100,
            fields=("session_id",),
        )
        while documents := await self._documents.query(query):
            for document in documents:
                await self._documents.delete_tree(document.path)

    async def remove(self, uid: UserId, run_id: RunId) -> None:
        """Delete a run and its journal."""
        await self._documents.delete_tree(_document_path(uid, run_id))

    async def get_answer(self, uid: UserId, run_id: RunId) -> Message:
        """Return the message a run has written. Raises NotFound."""
        return await self._messages.get(uid, MessageId(run_id))


def _document_path(uid: UserId, run_id: RunId) -> str:
    return f"users/{uid}/runs/{run_id}"


def _batch_path(uid: UserId, run_id: RunId, place: JournalPlace) -> str:
    return f"{_document_path(uid, run_id)}/batches/{_batch_id(place)}"


def _batch_id(place: JournalPlace) -> str:
    """Name the batch of a place; names sort as places do."""
    return f"{place.position:08d}" + (f"-{place.rank:04d}" if place.rank else "")


def _parse_batch_id(text: str) -> JournalPlace:
    position, _, rank = text.partition("-")
    return JournalPlace(position=int(position), rank=int(rank or 0))


def _build_signal(batches: Sequence[Batch], signal: Signal) -> Batch:
    place = batches[-1].next_place if batches else JournalPlace()
    return Batch(
        position=place.position,
        rank=place.rank,
        events=[],
        last_seq=place.position - 1,
        writer="",
        signal=signal,
    )


def _build_batch_writes(uid: UserId, run: Run, batches: Sequence[Batch]) -> list[Write]:
    expires_at = run.created_at + JOURNAL_TTL
    return [
        Create(
            _batch_path(uid, run.id, batch.place),
            {
                "events": to_json([_encode_event(event) for event in batch.events]).decode(),
                "last_seq": batch.last_seq,
                "writer": batch.writer,
                "closing": batch.closing,
                "signal": batch.signal,
                "expires_at": expires_at,
            },
        )
        for batch in batches
    ]


def _to_batch(document: Document) -> Batch:
    fields, place = document.fields, _parse_batch_id(document.id)
    return Batch(
        position=place.position,
        rank=place.rank,
        events=[_decode_event(*encoded_event) for encoded_event in from_json(fields["events"])],
        last_seq=fields["last_seq"],
        writer=fields["writer"],
        closing=fields["closing"],
        signal=fields.get("signal"),
    )


def _encode_event(event: RunEvent) -> tuple[str, Any]:
    if isinstance(event, VoiceEvent):
        return _VOICE, [event.voice, _encode_event(event.event)]
    return _EVENT_CODES[type(event)], type_adapter(type(event)).dump_python(event)


def _decode_event(kind: str, fields: Any) -> RunEvent:
    if kind != _VOICE:
        return _decode_plain(kind, fields)
    voice, encoded_event = fields
    return VoiceEvent(voice, _decode_plain(*encoded_event))


def _decode_plain(kind: str, fields: Any) -> PlainEvent:
    event: PlainEvent = type_adapter(_EVENT_CLASSES[kind]).validate_python(fields)
    return event

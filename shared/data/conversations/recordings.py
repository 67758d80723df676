"""Recordings of a user: what is being transcribed, what of it is text already, and the kept sound."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.live_conversations import live_path
from shared.data.files.uploads import load_upload, upload_path
from shared.data.store.codec import dump, load, load_all
from shared.data.store.paging import iter_documents
from shared.domain.conversations.recording import Recording, find_lease_end
from shared.domain.conversations.speech import Transcription
from shared.domain.errors import AlreadyExists, Conflict, NotFound, PreconditionFailed
from shared.domain.files.upload import BlobPart, Upload
from shared.domain.ids import ConversationId, UserId, is_id
from shared.domain.store.documents import (
    Create,
    Delete,
    Document,
    Increment,
    Order,
    Query,
    Set,
    Update,
    Where,
    Write,
)
from shared.ports import Documents, Transaction

NOT_FOUND = "Recording not found"
MAX_LISTED = 50
_PAGE_SIZE = 100


class AttemptReplaced(Exception):
    """The recording was deleted, or another attempt took over: stop quietly."""


class AlreadyReceived(Exception):
    """A file of the recording came with another one: look for it there."""


class Recordings:
    """Documents `users/{uid}/recordings/{id}`, with the text of each piece of sound below them.

    Beside them, `users/{uid}/received_files/{id}` names the recording of each file of a phone.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, uid: UserId, recording_id: str) -> Recording | None:
        if not is_id(recording_id):
            return None
        document = await self._documents.get(recording_path(uid, recording_id))
        return load(Recording, document) if document else None

    async def get(self, uid: UserId, recording_id: str) -> Recording:
        """Raises NotFound."""
        recording = await self.find(uid, recording_id)
        if recording is None:
            raise NotFound(NOT_FOUND)
        return recording

    async def list_newest(self, uid: UserId) -> list[Recording]:
        order = (Order("created_at", "desc"),)
        query = Query(collection=f"users/{uid}/recordings", order_by=order, limit=MAX_LISTED)
        return load_all(Recording, await self._documents.query(query))

    async def iter_kept(self, uid: UserId) -> AsyncIterator[Recording]:
        """Yield those whose sound is kept, and that are not being transcribed."""
        query = Query(collection=f"users/{uid}/recordings", limit=MAX_LISTED)
        async for document in iter_documents(self._documents, query):
            for recording in load_all(Recording, [document]):
                if recording.parts and recording.status != "transcribing":
                    yield recording

    async def list_of_conversation(
        self, uid: UserId, conversation_id: str | ConversationId
    ) -> list[Recording]:
        """Return all recordings whose sound is a conversation's; several where it was merged."""
        where = (Where("conversation_id", "==", conversation_id),)
        query = Query(collection=f"users/{uid}/recordings", where=where, limit=_PAGE_SIZE)
        documents = [each async for each in iter_documents(self._documents, query)]
        given = load_all(Recording, documents)
        own = await self.find(uid, conversation_id)
        recordings = [own, *given] if own and own.conversation_id is None else given
        return sorted(recordings, key=lambda recording: (recording.created_at, recording.id))

    async def list_unheard_of(
        self, uid: UserId, conversation_id: ConversationId
    ) -> list[Recording]:
        """Return the recordings whose words are to join a conversation, and are not known yet."""
        where = (Where("target_id", "==", conversation_id),)
        query = Query(collection=f"users/{uid}/recordings", where=where, limit=_PAGE_SIZE)
        documents = [each async for each in iter_documents(self._documents, query)]
        return [each for each in load_all(Recording, documents) if each.status != "done"]

    async def add_upload(
        self, uid: UserId, upload_id: str, build: Callable[[Upload], Recording], *, now: datetime
    ) -> Recording:
        """Make a complete upload a recording, once; it takes over the blobs and what they count.

        Raises NotFound, Gone, Conflict for an upload that has not arrived whole, and AlreadyReceived.
        """
        if not is_id(upload_id):
            raise NotFound("Upload not found")
        paths = [recording_path(uid, upload_id), upload_path(uid, upload_id)]

        async def work(tx: Transaction) -> Recording:
            stored, upload_document = await tx.get_many(paths)
            if stored is not None:
                return load(Recording, stored)
            upload = load_upload(upload_document, now)
            if not upload.is_complete:
                raise Conflict(
                    f"The upload is not complete: {upload.offset} of {upload.length} bytes arrived."
                )
            recording = build(upload)
            receipts = [_receipt_path(uid, file_id) for file_id in recording.file_ids]
            if receipts and any(await tx.get_many(receipts)):
                raise AlreadyReceived
            tx.write(Set(paths[0], dump(recording)), Delete(paths[1]))
            tx.write(*(Set(path, {"recording_id": recording.id}) for path in receipts))
            return recording

        return await self._documents.transaction(work)

    async def append(
        self,
        uid: UserId,
        recording: Recording,
        part: BlobPart,
        seconds: float,
        *,
        replaced: BlobPart | None = None,
    ) -> None:
        """Add so many seconds to a recording that goes on: a part, or what its last one, `replaced`, has grown by.

        `recording` is how it begins. Raises NotFound where its conversation was deleted, during or after it, or
        the sound that grew.
        """
        path = recording_path(uid, recording.id)

        async def work(tx: Transaction) -> None:
            document = await tx.get(path)
            stored = load(Recording, document) if document else recording
            holder = stored.target_id or stored.holder_id
            if not any(await tx.get_many([live_path(uid, holder), conversation_path(uid, holder)])):
                raise NotFound(NOT_FOUND)
            if part in stored.parts:  # by an attempt of this transaction whose end was lost
                return
            before = stored.parts[: -1 if replaced else None]
            if replaced and stored.parts[-1:] != (replaced,):
                raise NotFound(NOT_FOUND)
            duration_s = (stored.duration_s or 0.0) + seconds
            grown = replace(
                stored,
                parts=(*before, part),
                size=stored.size + part.size - (replaced.size if replaced else 0),
                duration_s=duration_s,
                transcribed_s=duration_s if stored.status == "done" else 0.0,
            )
            tx.write(Set(path, dump(grown)))

        await self._documents.transaction(work)

    async def find_received(
        self, uid: UserId, file_ids: Sequence[str]
    ) -> Mapping[str, ConversationId]:
        """Return the recordings of those files of a phone that came before, by the file."""
        receipts = await self._documents.get_many([_receipt_path(uid, name) for name in file_ids])
        return {
            receipt.id: ConversationId(receipt.fields["recording_id"])
            for receipt in receipts
            if receipt is not None
        }

    async def find_many(self, uid: UserId, ids: Sequence[ConversationId]) -> list[Recording]:
        """Return those that are stored, in the order asked for."""
        documents = await self._documents.get_many([recording_path(uid, name) for name in ids])
        return load_all(Recording, documents)

    async def take_turn(self, uid: UserId) -> Write:
        """Return a write that goes with the one that places a recording.

        Of two that were taken at once, the second one raises PreconditionFailed.
        """
        path = f"users/{uid}/placements/last"
        document = await self._documents.get(path)
        if document is None:
            with suppress(AlreadyExists):
                await self._documents.write(Create(path, {"count": 0}))
            document = await self._documents.get(path)
        return Update(path, {"count": Increment(1)}, version=document.version if document else None)

    async def claim(
        self, uid: UserId, recording_id: str, attempt: str, *, now: datetime
    ) -> Recording | None:
        """Begin an attempt; None where nothing is left to do. Raises Unavailable while one lives."""

        def begin(recording: Recording) -> Recording:
            recording.check_free(now)
            return replace(
                recording,
                attempt=attempt,
                lease_until=find_lease_end(now),
                attempt_count=recording.attempt_count + 1,
            )

        def is_open(recording: Recording) -> bool:
            return recording.status == "transcribing"

        return await self._change(uid, recording_id, begin, only_if=is_open)

    async def give_way(self, uid: UserId, recording_id: str, attempt: str) -> Write:
        """Return a write that goes with the one of its words, which another way of hearing brought.

        Both raise PreconditionFailed where this attempt holds it no more.
        """
        path = recording_path(uid, recording_id)
        document = await self._documents.get(path)
        if document is None or load(Recording, document).attempt != attempt:
            raise PreconditionFailed("Another attempt transcribes this recording")
        return Update(path, {"status": "silent"}, version=document.version)

    async def extend(self, uid: UserId, recording_id: str, attempt: str, *, now: datetime) -> None:
        """Extend the lease of a living attempt; one that was replaced holds none."""

        def extend_lease(recording: Recording) -> Recording:
            return replace(recording, lease_until=find_lease_end(now))

        await self._change(uid, recording_id, extend_lease, only_if=_is_held_by(attempt))

    async def save_piece(
        self, uid: UserId, claimed: Recording, number: int, transcription: Transcription
    ) -> None:
        """Store the text of a piece, with the progress of `claimed`. Raises AttemptReplaced."""
        path = recording_path(uid, claimed.id)

        async def work(tx: Transaction) -> None:
            document = await tx.get(path)
            stored = load(Recording, document) if document else None
            if stored is None or stored.attempt != claimed.attempt:
                raise AttemptReplaced
            progress = replace(
                stored, transcribed_s=claimed.transcribed_s, duration_s=claimed.duration_s
            )
            tx.write(
                Set(path, dump(replace(progress, attempt_count=0))),
                Set(_piece_path(uid, claimed.id, number), dump(transcription)),
            )

        await self._documents.transaction(work)

    async def load_piece(self, uid: UserId, recording_id: str, number: int) -> Transcription | None:
        document = await self._documents.get(_piece_path(uid, recording_id, number))
        return _load_piece(document) if document else None

    async def end_attempt(self, uid: UserId, claimed: Recording, **changes: object) -> Recording:
        """Release the lease, with what came of the attempt. Raises AttemptReplaced."""

        def end(recording: Recording) -> Recording:
            return replace(recording, attempt=None, lease_until=None, **changes)  # type: ignore[arg-type]  # fields of a recording

        ended = await self._change(uid, claimed.id, end, only_if=_is_held_by(claimed.attempt or ""))
        if ended is None:
            raise AttemptReplaced
        return ended

    async def reopen(self, uid: UserId, recording_id: str) -> Recording:
        """Have a failed recording transcribed again. Raises NotFound, and Conflict for any other."""

        def open_again(recording: Recording) -> Recording:
            if recording.status == "done" or not recording.parts:
                raise Conflict("This recording is transcribed already.")
            return replace(recording, status="transcribing", failure=None, attempt_count=0)

        recording = await self._change(uid, recording_id, open_again, only_if=lambda _: True)
        if recording is None:
            raise NotFound(NOT_FOUND)
        return recording

    async def give_key(
        self, uid: UserId, recording_id: str, new_key: str, *, now: datetime, until: datetime
    ) -> Recording:
        """Return it with a key that lets whoever has it hear it; one that lives goes on. Raises NotFound."""

        def prolong(recording: Recording) -> Recording:
            is_living = recording.play_key_until is not None and recording.play_key_until > now
            key = recording.play_key if is_living else new_key
            return replace(recording, play_key=key, play_key_until=until)

        recording = await self._change(uid, recording_id, prolong, only_if=lambda _: True)
        if recording is None:
            raise NotFound(NOT_FOUND)
        return recording

    async def drop_content(self, uid: UserId, recording_id: str) -> int:
        """Forget the blobs of a recording; returns the bytes that this frees, once."""
        path = recording_path(uid, recording_id)

        async def work(tx: Transaction) -> int:
            document = await tx.get(path)
            if document is None:
                return 0
            recording = load(Recording, document)
            tx.write(Set(path, dump(replace(recording, parts=(), size=0))))
            return recording.size

        return await self._documents.transaction(work)

    async def remove(self, uid: UserId, recording_id: str) -> int:
        """Delete a recording and its pieces; returns the bytes that this frees, once.

        The files of a phone that it was made of may come again.
        """
        freed = await self.drop_content(uid, recording_id)
        stored = await self.find(uid, recording_id)
        file_ids = stored.file_ids if stored else ()
        await self._documents.write(*(Delete(_receipt_path(uid, name)) for name in file_ids))
        await self._documents.delete_tree(recording_path(uid, recording_id))
        return freed

    async def count_bytes(self, uid: UserId) -> int:
        """Add up what they count as stored."""
        query = Query(collection=f"users/{uid}/recordings", fields=("size",))
        documents = await self._documents.query(query)
        return sum(int(document.fields["size"]) for document in documents)

    async def _change(
        self,
        uid: UserId,
        recording_id: str,
        change: Callable[[Recording], Recording],
        *,
        only_if: Callable[[Recording], bool],
    ) -> Recording | None:
        """Return the changed recording; None for one that is gone or does not fit."""
        if not is_id(recording_id):
            return None
        path = recording_path(uid, recording_id)

        async def work(tx: Transaction) -> Recording | None:
            document = await tx.get(path)
            stored = load(Recording, document) if document else None
            if stored is None or not only_if(stored):
                return None
            changed = change(stored)
            tx.write(Set(path, dump(changed)))
            return changed

        return await self._documents.transaction(work)


def recording_path(uid: UserId, recording_id: str | ConversationId) -> str:
    return f"users/{uid}/recordings/{recording_id}"


def _receipt_path(uid: UserId, file_id: str) -> str:
    return f"users/{uid}/received_files/{file_id}"


def _piece_path(uid: UserId, recording_id: str, number: int) -> str:
    return f"{recording_path(uid, recording_id)}/pieces/{number}"


def _load_piece(document: Document) -> Transcription:
    return load(Transcription, document)


def _is_held_by(attempt: str) -> Callable[[Recording], bool]:
    return lambda recording: recording.attempt == attempt

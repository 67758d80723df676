"""Transcript edits: what the owner changes in the words of a conversation, and in who spoke them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest

from shared.data.conversations.announcements import build_change_announcement
from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.data.conversations.transcripts import Part, part_fields, part_path, split_transcript
from shared.data.store.codec import dump, load
from shared.domain.conversations.conversation import Conversation, content_hash
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Document, Set, Update, Write
from shared.ports import Documents, Transaction

CHANGED_MEANWHILE = "The transcript changed meanwhile. Please try again."


_GROWING_FIELDS = (
    "transcript_segments",
    "parts",
    "created_at",
    "started_at",
    "finished_at",
    "speakers",
    "assignments",
    "person_ids",
    "listed_at",
)


class TranscriptEdits:
    """Changes of conversations that are loaded whole; each is a transaction that checks the words.

    A change of words or speakers changes the content hash, so the conversation is processed again.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def assign(
        self,
        uid: UserId,
        whole: Conversation,
        assign: Callable[[Conversation], Conversation],
        *,
        now: datetime,
        is_read_later: bool = False,
    ) -> Conversation:
        """Store what `assign` changes about the speakers, and return it. Raises NotFound, Conflict.

        With `is_read_later`, one that is processed is marked instead of announced: a renewal has it read again.
        """
        path = conversation_path(uid, whole.id)

        async def work(tx: Transaction) -> Conversation:
            stored = _load_unchanged(await tx.get(path), whole)
            assigned = assign(replace(stored, transcript_segments=whole.transcript_segments))
            is_current = stored.is_marked_since or stored.processed_hash == content_hash(stored)
            is_marked = is_read_later and stored.status == "completed" and is_current
            announced = (
                [] if is_marked else [await build_change_announcement(tx, uid, assigned, now)]
            )
            fields = dump(replace(assigned, transcript_segments=(), marked_at=now))
            names = ("speakers", "assignments", "person_ids", *(["marked_at"] if is_marked else []))
            tx.write(Update(path, {name: fields[name] for name in names}), *announced)
            return assigned

        return await self._documents.transaction(work)

    async def replace_text(
        self, uid: UserId, before: Conversation, after: Conversation, *, now: datetime
    ) -> None:
        """Store other words of the same segments. Raises NotFound, and Conflict.

        The parts before the first changed one stay as they are.
        """
        await self._replace(uid, before, after, ("transcript_segments", "parts"), now=now)

    async def extend(
        self,
        uid: UserId,
        before: Conversation,
        after: Conversation,
        *,
        also: Sequence[Write],
        now: datetime,
    ) -> None:
        """Store more segments, with their speakers and times, and the writes `also` with them.

        Raises NotFound, Conflict, and PreconditionFailed by `also`.
        """
        await self._replace(uid, before, after, _GROWING_FIELDS, also, now=now)

    async def _replace(
        self,
        uid: UserId,
        before: Conversation,
        after: Conversation,
        names: Sequence[str],
        also: Sequence[Write] = (),
        *,
        now: datetime,
    ) -> None:
        path = conversation_path(uid, before.id)
        joined = replace(after, parts=())
        new, parts = await run_beside_the_loop([after], lambda: split_transcript(joined))
        writes = _build_part_writes(path, before, new, parts)
        fields = dump(new)
        changes = {name: fields[name] for name in names}
        changes["text_bytes"] = after.count_text_bytes()

        async def work(tx: Transaction) -> None:
            _load_unchanged(await tx.get(path), before)
            announcement = await build_change_announcement(tx, uid, new, now)
            tx.write(Update(path, changes), *writes, *also, announcement)

        await self._documents.transaction(work)


def _load_unchanged(document: Document | None, whole: Conversation) -> Conversation:
    """Return what is stored. Raises NotFound, and Conflict where the words are others by now."""
    if document is None:
        raise NotFound("Conversation not found")
    stored = load(Conversation, document)
    if stored.merged_into is not None:
        raise NotFound("Conversation not found")
    is_inline = not stored.parts
    if stored.parts != whole.parts:
        raise Conflict(CHANGED_MEANWHILE)
    if is_inline and stored.transcript_segments != whole.transcript_segments:
        raise Conflict(CHANGED_MEANWHILE)
    return stored


def _build_part_writes(
    path: str, before: Conversation, new: Conversation, parts: list[Part]
) -> list[Write]:
    """Return the writes of parts from the first changed one on, and the deletions of those that are over.

    Behind it segments may have moved to another part, and those with the same words have the same hash.
    """
    pairs = enumerate(zip_longest(new.parts, before.parts))
    first = next((n for n, (new_hash, old_hash) in pairs if new_hash != old_hash), len(parts))
    surplus = range(len(new.parts), len(before.parts))
    return [
        *(Set(part_path(path, n), part_fields(parts[n])) for n in range(first, len(parts))),
        *(Delete(part_path(path, n)) for n in surplus),
    ]

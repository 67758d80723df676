"""Conversation store: a user's conversations and their transcripts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

from anyio import to_thread

from shared.data.conversations.announcements import (
    build_announcement,
    build_change_announcement,
    build_deletion_announcement,
)
from shared.data.conversations.conversation_keys import ConversationKeys
from shared.data.conversations.long_transcripts import run_beside_the_loop
from shared.data.conversations.photos import list_photo_paths, merge_photos, split_photos
from shared.data.conversations.transcripts import (
    Part,
    dump_conversation,
    part_fields,
    part_path,
    read_part,
    split_transcript,
)
from shared.data.people.present_names import person_path, read_names
from shared.data.store.codec import dump, load_all
from shared.data.store.offsets import query_from
from shared.data.store.paging import Page, build_page, parse_cursor
from shared.domain.conversations.conversation import Conversation, apply_edits, transcript_hash
from shared.domain.errors import AlreadyExists, Conflict, NotFound, Unavailable
from shared.domain.ids import AppId, ConversationId, PersonId, UserId, is_id
from shared.domain.store.documents import (
    Create,
    Delete,
    Document,
    Fields,
    Operator,
    Order,
    Query,
    Set,
    Update,
    Where,
    Write,
    lookup,
)
from shared.ports import Documents, Transaction

_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_MAX_READ = 50
"""Documents of up to 1 MiB that are read in one round."""
_MAX_DELETED = 100
"""Documents that are deleted by one commit."""
CONTENT_COLLECTIONS = ("answers", "feedback", "parts", "photos")
"""What stands below a conversation, beside the marks of what its owner deleted of it."""
_NEWEST_FIRST = (Order("created_at", "desc"),)
_WITHOUT_TRANSCRIPT = tuple(
    each.name
    for each in fields(Conversation)
    if each.name not in {"id", "transcript_segments", "photos", "held_by", "person_names"}
)


_NOTED = (
    "created_at",
    "started_at",
    "finished_at",
    "merged_into",
    "structured",
    "topics",
    "speakers",
    "assignments",
)


class IncompleteTranscript(Unavailable):
    """A part of a transcript is missing or outdated: clients write the parts one by one."""


class Conversations:
    """A user's conversations; get() returns one with its whole transcript."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, conversation_id: ConversationId) -> Conversation:
        """Return it whole. Raises NotFound, and IncompleteTranscript while a part is missing."""
        conversation = await self.get_stored(uid, conversation_id)
        [with_photos] = await self.load_photos(uid, [conversation])
        return await self.load_transcript(uid, with_photos)

    async def check_exists(self, uid: UserId, conversation_id: ConversationId) -> None:
        """Raises NotFound."""
        await self.get_stored(uid, conversation_id)

    async def list_known(self, uid: UserId, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that are taken."""
        known: set[str] = set()
        for n in range(0, len(ids), _MAX_READ):
            paths = [
                conversation_path(uid, ConversationId(name)) for name in ids[n : n + _MAX_READ]
            ]
            known |= {d.id for d in await self._documents.get_many(paths) if d is not None}
        return known

    async def get_stored(self, uid: UserId, conversation_id: ConversationId) -> Conversation:
        """Return it without its parts and photos. Raises NotFound."""
        document = None
        if is_id(conversation_id):
            document = await self._documents.get(conversation_path(uid, conversation_id))
        for conversation in load_shown([document]):
            return conversation
        raise NotFound("Conversation not found")

    async def find_many(
        self, uid: UserId, conversation_ids: Sequence[ConversationId]
    ) -> list[Conversation]:
        """Return those that are stored, merged ones too, without parts and photos."""
        paths = [conversation_path(uid, conversation_id) for conversation_id in conversation_ids]
        return load_all(Conversation, await self._documents.get_many(paths))

    async def load_transcript(self, uid: UserId, conversation: Conversation) -> Conversation:
        """Read the parts and what its people are called now. Raises IncompleteTranscript while a part is missing."""
        [whole] = await self.load_transcripts(uid, [conversation])
        if whole is None:
            raise IncompleteTranscript("A part of the transcript is not there yet")
        return whole

    async def load_transcripts(
        self, uid: UserId, conversations: Sequence[Conversation]
    ) -> list[Conversation | None]:
        """Read the parts and the people of all in one round; None for one of which a part is missing."""
        paths = [
            part_path(conversation_path(uid, c.id), n)
            for c in conversations
            for n in range(len(c.parts))
        ]
        spoken = [c for c in conversations if c.transcript_segments or c.parts]
        people = [
            person_path(uid, name) for name in sorted({n for c in spoken for n in c.person_ids})
        ]
        if not paths and not people:
            return [*conversations]
        documents = await self._documents.get_many([*paths, *people])
        names = read_names(documents[len(paths) :])
        merge = partial(_merge_all, conversations, documents, names)
        return await to_thread.run_sync(merge) if paths else merge()

    async def load_photos(
        self, uid: UserId, conversations: Sequence[Conversation]
    ) -> list[Conversation]:
        """Read the photos of all in one round."""
        paths = [
            path
            for c in conversations
            for path in list_photo_paths(conversation_path(uid, c.id), c)
        ]
        documents = iter(await self._documents.get_many(paths) if paths else ())
        return [merge_photos(c, [*islice(documents, c.photo_count)]) for c in conversations]

    async def add(self, uid: UserId, conversation: Conversation) -> Conversation:
        """Store it once: the same content under the same id returns what is stored.

        Raises Conflict for other content under that id.
        """
        return (await self.add_once(uid, conversation))[0]

    async def add_once(
        self, uid: UserId, conversation: Conversation, *, also: Sequence[Write] = ()
    ) -> tuple[Conversation, bool]:
        """Do as add(), and tell whether it was new; the writes `also` are made with a new one.

        One that a route stamped by `listed_at` is announced, should its event be lost.
        """
        path = conversation_path(uid, conversation.id)
        build = partial(split_conversation, path, conversation)
        new, part_writes = await run_beside_the_loop([conversation], build)
        creation = (Create(path, dump_conversation(new)), *part_writes, *also)
        announced = [build_announcement(uid, new, new.listed_at)] if new.listed_at else []
        try:
            await self._documents.write(*creation, *announced)
        except AlreadyExists:
            stored = await self._find_same(path, new)
            if stored is None:
                await self._create_again(uid, new, creation)
            return stored or new, stored is None
        return new, True

    async def _create_again(
        self, uid: UserId, new: Conversation, creation: Sequence[Write]
    ) -> None:
        """Create one under the id of a conversation that was deleted, whose claim is left."""

        async def work(tx: Transaction) -> None:
            if new.listed_at:
                tx.write(await build_change_announcement(tx, uid, new, new.listed_at))
            tx.write(*creation)

        await self._documents.transaction(work)

    async def list_page(
        self,
        uid: UserId,
        *,
        limit: int,
        after: str | None = None,
        before: datetime | None = None,
    ) -> Page[Conversation]:
        """List newest first, without transcripts; with `before`, only those created earlier.

        Raises Invalid for a cursor that is not ours.
        """
        upper_bound = () if before is None else (Where("created_at", "<", before),)
        query = Query(
            collection=f"users/{uid}/conversations",
            where=(
                Where("created_at", ">", _EARLIEST),
                *upper_bound,
            ),  # skips what is no time: clients write this field
            order_by=_NEWEST_FIRST,
            limit=limit,
            start_after=parse_cursor(after),
            fields=_WITHOUT_TRANSCRIPT,
        )
        documents = await self._documents.query(query)
        return build_page(load_shown(documents), documents, query)

    async def list_between(
        self,
        uid: UserId,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int,
        offset: int = 0,
        with_segments: bool = False,
    ) -> list[Conversation]:
        """List processed conversations by start, newest first, without discarded ones.

        `start` is included, `end` is not. An incomplete transcript is left out. Most skipped ones are counted,
        not read: bound the offset.
        """
        query = replace(
            _build_kept_query(uid, start, end),
            limit=limit,
            fields=None if with_segments else _WITHOUT_TRANSCRIPT,
        )
        conversations = load_shown(await query_from(self._documents, query, offset))
        if not with_segments:
            return conversations
        whole = await self.load_transcripts(uid, conversations)
        return [loaded or stored for loaded, stored in zip(whole, conversations, strict=True)]

    async def list_noted(
        self,
        uid: UserId,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int,
    ) -> list[Conversation]:
        """List hundreds as list_between() does, with what was noted of them alone."""
        query = replace(_build_kept_query(uid, start, end), limit=limit, fields=_NOTED)
        return await to_thread.run_sync(load_shown, await self._documents.query(query))

    async def list_of_person(
        self, uid: UserId, person_id: PersonId, *, after: str | None, limit: int
    ) -> list[Conversation]:
        """List those in which a person speaks, whole but for parts and photos, by their ids from `after` on."""
        query = _build_person_query(uid, person_id)
        start = (after,) if after else None
        found = await self._documents.query(replace(query, limit=limit, start_after=start))
        return load_all(Conversation, found)

    async def count_of_person(self, uid: UserId, person_id: PersonId) -> int:
        """Count what list_of_person() lists."""
        return await self._documents.count(_build_person_query(uid, person_id))

    async def count_all(self, uid: UserId) -> int:
        """Count what list_page() lists in all."""
        created = Where("created_at", ">", _EARLIEST)
        query = Query(
            collection=f"users/{uid}/conversations", where=(created,), order_by=_NEWEST_FIRST
        )
        return await self._documents.count(query)

    async def count_between(
        self, uid: UserId, *, start: datetime | None = None, end: datetime | None = None
    ) -> int:
        """Count what list_between() lists."""
        return await self._documents.count(_build_kept_query(uid, start, end))

    async def edit(self, uid: UserId, conversation_id: ConversationId, **fields: Any) -> None:
        """Overwrite extracted fields; reprocessing keeps these edits. Raises NotFound."""

        def build_changes(stored: Conversation) -> Fields:
            edits = replace(stored.edits, **fields)
            return {"edits": dump(edits), "structured": dump(apply_edits(stored.structured, edits))}

        await self._change(uid, conversation_id, build_changes)

    async def discard(
        self, uid: UserId, conversation_id: ConversationId, *, discarded: bool, now: datetime
    ) -> None:
        """Count it no longer as a conversation, or again; reprocessing keeps to it. Raises NotFound."""

        def build_changes(stored: Conversation) -> Fields:
            edits = replace(stored.edits, discarded=discarded)
            return {"edits": dump(edits), "discarded": discarded, "listed_at": now}

        await self._change(uid, conversation_id, build_changes)

    async def star(
        self, uid: UserId, conversation_id: ConversationId, *, starred: bool, now: datetime
    ) -> None:
        """Raises NotFound."""
        changes = {"starred": starred, "listed_at": now}
        await self._change(uid, conversation_id, lambda _: changes)

    async def choose_summary_app(
        self, uid: UserId, conversation_id: ConversationId, app_id: AppId
    ) -> None:
        """Let this app write its summary whenever it is processed. Raises NotFound."""
        await self._change(uid, conversation_id, lambda _: {"summary_app": app_id})

    async def reopen(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        *,
        now: datetime,
        language: str | None = None,
    ) -> None:
        """Delete the models' answers about it, so that it is processed anew: that is announced. Raises NotFound.

        With `language`, its transcript counts as being in that language from now on. Where a model failed
        at some of it, what it had answered of the rest is kept.
        """
        spoken = {"language": language} if language else {}

        async def work(tx: Transaction) -> None:
            for stored in load_shown([await tx.get(path)]):
                restored_hash = None if stored.restored_hash is None else ""
                changes = {"processed_hash": None, "restored_hash": restored_hash, **spoken}
                changed = replace(stored, language=language or stored.language)
                announcement = await build_change_announcement(tx, uid, changed, now)
                tx.write(Update(path, changes), announcement)
                return
            raise NotFound("Conversation not found")

        before = await self.get_stored(uid, conversation_id)
        path = conversation_path(uid, before.id)
        # First: an attempt that the announcement begins would take them.
        if language or before.status != "failed" or before.failure_reason == "too_long":
            await delete_below(self._documents, path, ("answers",))
        await self._documents.transaction(work)

    async def _change(
        self,
        uid: UserId,
        conversation_id: ConversationId,
        build_changes: Callable[[Conversation], Fields],
    ) -> None:
        path = conversation_path(uid, (await self.get_stored(uid, conversation_id)).id)

        async def work(tx: Transaction) -> None:
            for stored in load_shown([await tx.get(path)]):
                tx.write(Update(path, build_changes(stored)))
                return
            raise NotFound("Conversation not found")

        await self._documents.transaction(work)

    async def mark_events(
        self, uid: UserId, conversation_id: ConversationId, created: Mapping[int, bool]
    ) -> None:
        """Say of events by their places from 0 on whether a calendar has them. Raises NotFound."""
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> None:
            document = await tx.get(path) if is_id(conversation_id) else None
            if document is None or not load_shown([document]):
                raise NotFound("Conversation not found")
            events = lookup(document.fields, "structured.events") or []
            if any(place >= len(events) for place in created):
                raise NotFound("Event not found")
            marked = [
                {**event, "created": created.get(place, event.get("created", False))}
                for place, event in enumerate(events)
            ]
            tx.write(Update(path, {"structured.events": marked}))

        await self._documents.transaction(work)

    async def delete(self, uid: UserId, conversation_id: ConversationId, *, now: datetime) -> int:
        """Delete it with its link and its content; return its bytes. Raises NotFound.

        It is announced, should its event be lost: what was derived goes then as well.

        The marks of what its owner deleted go with its rows: they alone tell of some of them.
        """
        if not is_id(conversation_id):
            raise NotFound("Conversation not found")
        path = conversation_path(uid, conversation_id)

        async def work(tx: Transaction) -> Document | None:
            document = await tx.get(path)
            conversations = load_all(Conversation, [document])
            if any(stored.merged_into for stored in conversations):
                raise NotFound("Conversation not found")
            tokens = [stored.share_token for stored in conversations if stored.share_token]
            if document is not None:
                announcement = await build_deletion_announcement(tx, uid, conversation_id, now)
                tx.write(*map(Delete, [*map(shared_path, tokens), path]), announcement)
            return document

        # Of two deletions at once, only the one that finds the document may give its bytes back.
        deleted = await self._documents.transaction(work)
        if not await delete_below(self._documents, path) and deleted is None:
            raise NotFound("Conversation not found")
        conversations = load_all(Conversation, [deleted])
        positions = [(stored.created_at, stored.id) for stored in conversations]
        await ConversationKeys(self._documents).forget(uid, positions, now=now)
        return sum(stored.text_bytes + stored.photo_bytes for stored in conversations)

    async def _find_same(self, path: str, new: Conversation) -> Conversation | None:
        """Return what is stored, None where nothing is. Raises Conflict for other content."""
        document = await self._documents.get(path)
        if document is None:
            return None
        for stored in load_all(Conversation, [document]):
            if transcript_hash(replace(stored, speakers={}, assignments=())) == transcript_hash(
                replace(new, speakers={})
            ):
                return stored
        raise Conflict("Another conversation is stored under this id")


async def delete_below(
    documents: Documents, path: str, collections: Sequence[str] = CONTENT_COLLECTIONS
) -> int:
    """Delete what stands below a conversation, and return how many documents that were."""
    paths = await list_paths_below(documents, path, collections)
    for n in range(0, len(paths), _MAX_DELETED):
        await documents.write(*map(Delete, paths[n : n + _MAX_DELETED]))
    return len(paths)


async def list_paths_below(
    documents: Documents,
    path: str,
    collections: Sequence[str] = CONTENT_COLLECTIONS,
) -> list[str]:
    """Return the paths of what stands below a conversation."""
    return [
        document.path
        for name in collections
        for document in await documents.query(
            Query(collection=f"{path}/{name}", fields=("content_hash",))
        )
    ]


def load_shown(documents: Sequence[Document | None]) -> list[Conversation]:
    """Load those that were not merged into another."""
    return [c for c in load_all(Conversation, documents) if c.merged_into is None]


def tombstone_path(conversation_path: str, derived_id: str) -> str:
    """Return the path of the mark that keeps a deleted record from being derived again."""
    return f"{conversation_path}/forgotten/{derived_id}"


def shared_path(token: str) -> str:
    """Return the path of the link with this token."""
    return f"shared_conversations/{token}"


def conversation_path(uid: UserId, conversation_id: ConversationId) -> str:
    return f"users/{uid}/conversations/{conversation_id}"


def split_conversation(path: str, conversation: Conversation) -> tuple[Conversation, list[Set]]:
    """Return a conversation as it is stored at the path, and the writes of its parts and photos."""
    new, photo_writes = split_photos(path, conversation)
    new, parts = split_transcript(new)
    part_writes = [Set(part_path(path, n), part_fields(part)) for n, part in enumerate(parts)]
    return new, [*part_writes, *photo_writes]


def _build_person_query(uid: UserId, person_id: PersonId) -> Query:
    names_person = Where("person_ids", "array_contains", person_id)
    return Query(collection=f"users/{uid}/conversations", where=(names_person,))


def _merge_all(
    conversations: Sequence[Conversation],
    documents: Sequence[Document | None],
    names: Mapping[PersonId, str],
) -> list[Conversation | None]:
    remaining = iter(documents)
    return [
        _merge_parts(replace(c, person_names=names), [next(remaining) for _ in c.parts])
        for c in conversations
    ]


def _merge_parts(
    conversation: Conversation, documents: Sequence[Document | None]
) -> Conversation | None:
    if not conversation.parts:
        return conversation
    pairs = zip(documents, conversation.parts, strict=True)
    parts = [read_part(document, expected) for document, expected in pairs]
    whole: list[Part] = [part for part in parts if part is not None]
    if len(whole) < len(parts):
        return None
    return replace(conversation, transcript_segments=tuple(s for part in whole for s in part))


def _build_kept_query(uid: UserId, start: datetime | None, end: datetime | None) -> Query:
    is_kept = Where("discarded", "==", False)  # noqa: FBT003 - a stored value
    return Query(
        collection=f"users/{uid}/conversations",
        where=(is_kept, *_build_time_filters(start, end)),
        order_by=(Order("started_at", "desc"),),
    )


def _build_time_filters(start: datetime | None, end: datetime | None) -> tuple[Where, ...]:
    bounds: tuple[tuple[Operator, datetime | None], ...] = ((">=", start), ("<", end))
    return tuple(Where("started_at", operator, at) for operator, at in bounds if at)

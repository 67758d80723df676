"""What follows a conversation, with every message in the test's hands."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from functions.process_conversation.deps import ProcessDeps, TriggerDeps
from functions.process_conversation.processing.claims import Claims, claim_path
from functions.process_conversation.processing.process import process
from functions.process_conversation.processing.trigger import publish_change
from shared.adapters.embedded.local_identity import LocalIdentity, LocalServiceIdentity
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.system_clock import RandomIds
from shared.data.codec import dump
from shared.data.conversations import conversation_path
from shared.data.library_index import LibraryIndex
from shared.data.search import Search
from shared.data.stores import Stores
from shared.domain.conversation import Conversation, Segment
from shared.domain.documents import Delete, Fields, Set, Update
from shared.domain.ids import ConversationId, UserId
from shared.ports import ChatModel, Documents, Vectors
from tests.fakes import FixedClock, RecordingEvents, RecordingTasks

ALICE = UserId("alice")
TALK = ConversationId("talk")
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
INDEXES = Path(__file__).parents[3] / "infra/firestore.indexes.json"
SECRET = b"a secret of the tests"
CLAIM = claim_path(ALICE, TALK)

STRUCTURE = "process_conversation/structure"
MEMORIES = "process_conversation/memories"
DISCARD = "process_conversation/discard"

Wrap = Callable[[str, Any], Any]
Step = Callable[[], Awaitable[None]]


@dataclass
class ProcessingFixture:
    """`changes` are the writes that the trigger has not been told of yet."""

    database: SqliteDatabase
    documents: Documents
    vectors: Vectors
    events: RecordingEvents
    clock: FixedClock
    deps: ProcessDeps
    trigger: TriggerDeps
    changes: list[tuple[str, Fields | None, Fields | None]]
    tasks: RecordingTasks = field(default_factory=RecordingTasks)

    async def write(self, conversation: Conversation, uid: UserId = ALICE) -> None:
        """Write as the app does: through the store, without our fields."""
        fields = to_client_fields(conversation)
        path = conversation_path(uid, conversation.id)
        document = await self.documents.get(path)
        await self.documents.write(Update(path, fields) if document else Set(path, fields))

    async def delete(self, uid: UserId = ALICE, *, name: ConversationId = TALK) -> None:
        await self.documents.write(Delete(conversation_path(uid, name)))

    async def run_trigger(self) -> list[Mapping[str, Any]]:
        """Run the trigger for every write so far; return the messages it sent."""
        sent_count = len(self.events.list_by_topic("conversation.changed"))
        while self.changes:
            path, old, new = self.changes.pop(0)
            await publish_change(self.trigger, path, old=old, new=new)
        return self.events.list_by_topic("conversation.changed")[sent_count:]

    async def deliver(self, message: Mapping[str, Any]) -> None:
        await process(
            self.deps,
            UserId(message["uid"]),
            ConversationId(message["conversation_id"]),
            message_hash=message.get("content_hash"),
        )

    async def deliver_all(self) -> None:
        """Deliver until nothing is told any more."""
        while messages := await self.run_trigger():
            for message in messages:
                await self.deliver(message)

    async def load_conversation(self, uid: UserId = ALICE) -> Conversation:
        return await self.deps.stores.conversations.get(uid, TALK)

    async def search_ids(self, query: str, uid: UserId = ALICE) -> list[str]:
        hits = await Search(self.documents, self.vectors).search_conversations(uid, query, limit=10)
        return [hit.conversation.id for hit in hits]

    async def list_row_ids(self, uid: UserId = ALICE) -> list[str]:
        """Name all rows of a user's index, also those that no search would show."""
        sql = "SELECT id FROM vector_rows WHERE namespace = ? ORDER BY id"
        rows = await self.database.read(lambda c: c.execute(sql, (uid,)).fetchall())
        return [row[0] for row in rows]

    async def load_everything(self, uid: UserId = ALICE) -> dict[str, Any]:
        """Return all documents and rows of a user, but who worked on them and when."""
        sql = "SELECT path FROM documents WHERE path LIKE ? ORDER BY path"
        names = await self.database.read(lambda c: c.execute(sql, (f"users/{uid}/%",)).fetchall())
        documents = await self.documents.get_many([name for (name,) in names])
        fields_by_path = {d.path: d.fields for d in documents if d and d.path != CLAIM}
        sql = "SELECT id, metadata FROM vector_rows WHERE namespace = ? ORDER BY id"
        rows = await self.database.read(lambda c: c.execute(sql, (uid,)).fetchall())
        return {"documents": fields_by_path, "rows": rows}


def build_fixture(
    database: SqliteDatabase,
    model: ChatModel,
    wrap: Wrap = lambda _, port: port,
    *,
    external_documents: Documents | None = None,
    clock: FixedClock | None = None,
) -> ProcessingFixture:
    """Build the embedded world; `wrap` may put something between the processor and its ports.

    Documents that are `stored_in` another place tell of no changes.
    """
    changes: list[tuple[str, Fields | None, Fields | None]] = []
    documents: Documents = external_documents or SqliteDocuments(
        database,
        FirestoreIndexes.read(INDEXES),
        on_change=lambda _, path, old, new: _record_change(changes, path, old, new),
    )
    vectors = SqliteVectors(database)
    events, clock = RecordingEvents(), clock or FixedClock(START + timedelta(hours=3))
    callers: dict[str, Any] = {
        "identity": LocalIdentity(SECRET),
        "service_identity": LocalServiceIdentity(SECRET),
    }
    wrapped_documents = wrap("documents", documents)
    deps = ProcessDeps(
        **callers,
        model=wrap("model", model),
        events=wrap("events", events),
        stores=Stores(wrapped_documents),
        claims=Claims(wrapped_documents, clock, RandomIds()),
        index=LibraryIndex(wrap("vectors", vectors)),
    )
    trigger = TriggerDeps(**callers, events=events)
    return ProcessingFixture(database, documents, vectors, events, clock, deps, trigger, changes)


def _record_change(
    changes: list[tuple[str, Fields | None, Fields | None]],
    path: str,
    old: Fields | None,
    new: Fields | None,
) -> None:
    if path.count("/") == 3 and "/conversations/" in path:
        changes.append((path, old, new))


def to_client_fields(conversation: Conversation) -> dict[str, Any]:
    names = ("created_at", "started_at", "finished_at", "source", "language", "parts")
    fields = dump(conversation)
    return {name: fields[name] for name in (*names, "transcript_segments")}


def build_test_conversation(*texts: str, **changes: Any) -> Conversation:
    """Build a conversation whose owner speaks first, by turns; longer than what is asked about."""
    spoken_texts = texts or (
        "The launch in Berlin moved to May, and I'm allergic to peanuts.",
        "Okay, I will call the printer.",
    )
    conversation = Conversation(
        id=TALK,
        created_at=START,
        started_at=START,
        finished_at=START + timedelta(minutes=30),
        transcript_segments=tuple(
            Segment(text=text, speaker=f"SPEAKER_0{n % 2}", is_user=n % 2 == 0, start=n, end=n + 1)
            for n, text in enumerate((*spoken_texts, "well " * 101))
        ),
    )
    return replace(conversation, **changes)


def build_structure_output(**changes: Any) -> dict[str, Any]:
    return {
        "title": "Berlin launch in May",
        "overview": "The launch moved to May.",
        "emoji": "🚀",
        "category": "work",
        "action_items": [{"description": "Call the printer", "due_at": None}],
        "events": [],
        "people": [],
        "topics": ["launch"],
        "entities": ["Berlin"],
        "dates": [],
        **changes,
    }


def build_memory_output(
    content: str = "User is allergic to peanuts", **changes: Any
) -> dict[str, Any]:
    return {
        "content": content,
        "category": "system",
        "segment": 0,
        "evidence": "I'm allergic to peanuts",
        "kind": "lasting",
        **changes,
    }


def build_outputs(
    *, items: list[str] | None = None, facts: list[str] | None = None
) -> dict[str, Any]:
    """Script one processing: a structure with these tasks, and these memories."""
    tasks = [{"description": item} for item in (["Call the printer"] if items is None else items)]
    contents = ["User is allergic to peanuts"] if facts is None else facts
    return {
        STRUCTURE: build_structure_output(action_items=tasks),
        MEMORIES: {"memories": [build_memory_output(content) for content in contents]},
    }


def build_script(*rounds: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [outputs[name] for outputs in rounds] for name in (STRUCTURE, MEMORIES)}

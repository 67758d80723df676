"""Indexes: those that the queries of the data layer need, and no others."""

import re
from datetime import UTC, datetime
from pathlib import Path

from functions.process_conversation.upkeep.missed_events import build_recent_queries
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sealed_documents import SealedDocuments
from shared.data.account.accounts import Accounts
from shared.data.account.figures import Figures
from shared.data.account.inbox import Inbox
from shared.data.apps.app_reviews import AppReviews
from shared.data.apps.apps import Apps
from shared.data.apps.call_log import CallLog
from shared.data.apps.mcp_sessions import McpSessions
from shared.data.apps.model_refusals import ModelRefusals
from shared.data.chats.arcs import Arcs
from shared.data.chats.crisis_log import CrisisLog
from shared.data.chats.embeds import Embeds
from shared.data.chats.messages import Messages
from shared.data.chats.projects import Projects
from shared.data.chats.runs import Runs
from shared.data.chats.safety_reviews import SafetyReviews
from shared.data.chats.sealed_chats import SealedChats
from shared.data.chats.sessions import Sessions
from shared.data.chats.sync_cache import SyncCache
from shared.data.conversations.conversation_keys import ConversationKeys, KeyList
from shared.data.conversations.conversations import Conversations
from shared.data.conversations.folders import Folders
from shared.data.conversations.reindexings import Reindexings
from shared.data.files.file_imports import FileImports
from shared.data.memories.memories import Memories
from shared.data.store.dead_letters import DeadLetters
from shared.data.stores import Stores
from shared.data.tasks.action_items import ActionItemFilter, ActionItems
from shared.domain.conversations.figures import Span
from shared.domain.ids import (
    AppId,
    ConversationId,
    FolderId,
    MemoryId,
    PersonId,
    ProjectId,
    SessionId,
    UserId,
)
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Set
from shared.security.pseudonyms import Pseudonyms
from tests.fakes import FixedClock
from tests.fixtures.sealed import seal

ROOT = Path(__file__).parents[3]
INFRA = ROOT / "infra"
COLLECTION_NAMES = (
    r'"(?:users/{[^}"]*}|apps/{[^}"]*}|{[^}"]*})/([a-z_]+)(?=["/])',
    r'users/{[^}"]*}/[a-z_]+/{[^}"]*}/([a-z_]+)(?=["/])',
    r'collection ?= ?"([a-z_]+)"',
    r'f"([a-z_]+)/{',
    r'_PATH = "([a-z_]+)/',
)
"""As they stand in paths and in stores of records."""
ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
FACT = Memory(
    id=MemoryId("m1"),
    content="User lives in Bergen",
    category="system",
    created_at=NOON,
    updated_at=NOON,
    aspect="home",
)


async def test_the_listed_indexes_serve_every_query_and_each_is_used(database: SqliteDatabase):
    indexes = FirestoreIndexes.read(INFRA / "firestore.indexes.json")
    documents = SqliteDocuments(database, indexes)
    sealed = seal(documents, FixedClock())

    for store, chat in ((documents, "main"), (sealed, "sealed-c1")):
        await Messages(store).list_newest(ANN, SessionId(chat), limit=20)
        await Messages(store).list_after(ANN, SessionId(chat), None, limit=20)
        await Embeds(store).list_of_session(ANN, SessionId(chat), limit=20)
    await Messages(documents).list_page(ANN, limit=20)
    await Messages(documents).clear(ANN, SessionId("main"))
    await Sessions(documents).list_page(ANN, limit=20)
    await Sessions(documents).list_page(ANN, limit=20, app_id=AppId("chess"))
    await Sessions(documents).list_page(ANN, limit=20, starred=True)
    await Sessions(documents).list_page(ANN, limit=20, app_id=AppId("chess"), starred=True)
    await Sessions(documents).list_tagged(ANN, ["boats"], limit=20)
    await Sessions(documents).list_page(ANN, limit=20, project_id=ProjectId("boat"))
    await Projects(documents).list_files(ANN, "boat")
    await Embeds(documents).delete_for_session(ANN, SessionId("main"))
    await Conversations(documents).list_page(ANN, limit=20)
    await Conversations(documents).list_between(ANN, start=NOON, end=NOON, limit=20)
    await Memories(documents).list_newest(ANN, limit=20)
    await Memories(documents).list_in_categories(ANN, ["system", "manual"], limit=20)
    await Memories(documents).list_for_conversation(ANN, ConversationId("c1"))
    await ActionItems(documents).list_newest(ANN, limit=20)
    await ActionItems(documents).list_for_conversation(ANN, ConversationId("c1"))
    for start in (None, NOON):
        for conversation_id in (None, ConversationId("c1")):
            shown = ActionItemFilter(
                completed=True, conversation_id=conversation_id, start=start, end=NOON
            )
            where = shown.to_where()
            await ActionItems(documents).list_newest(ANN, limit=20, offset=20, where=where)
    task = {"created_at": NOON, "completed": True, "conversation_id": "c1", "description": "Sail"}
    await documents.write(Set("users/ann/action_items/t1", {**task, "updated_at": NOON}))
    for completed in (None, True):
        for conversation_id in (None, ConversationId("c1")):
            shown = ActionItemFilter(completed=completed, conversation_id=conversation_id)
            await ActionItems(documents).list_owned_page(
                ANN, ("me",), limit=20, offset=200, where=shown.to_where()
            )
    in_conversation = ActionItemFilter(conversation_id=ConversationId("c1"))
    await ActionItems(documents).list_page(ANN, limit=20, where=in_conversation.to_where())
    await ActionItems(documents).list_open(ANN, limit=20)
    await ActionItems(documents).list_completed_exports(ANN, limit=20)
    await Inbox(documents).list_delivered(ANN, limit=20)
    await Apps(documents).list_public()
    await CallLog(documents).list_newest(AppId("chess"), since=NOON, limit=20)
    await ModelRefusals(documents).list_newest(AppId("chess"), since=NOON, limit=20)
    await CallLog(documents).list_consecutive_failures(AppId("chess"), after=NOON, limit=20)
    await CallLog(documents).has_success(AppId("chess"), "webhook", after=NOON)
    await Figures(documents).load(ANN, Span(name="", begin=NOON, end=NOON))

    await ask_by_one_field(documents, sealed)

    assert indexes.used_indexes == {*indexes.composite, *indexes.single}


async def ask_by_one_field(documents: SqliteDocuments, sealed: SealedDocuments) -> None:
    """Ask all that a field's own index answers, beside what the caller asked."""
    await Accounts(documents).is_in_use(ANN, since=NOON)
    await Accounts(documents).delete(ANN)
    await ask_about_the_library(documents)
    await ask_about_chats(documents, sealed)
    await Apps(documents).list_owned(ANN)
    await Apps(documents).is_valid_key(AppId("chess"), "sk_1")
    await AppReviews(documents).list_newest(AppId("chess"))
    await CallLog(documents).list_newest(AppId("chess"), since=NOON, limit=20)
    await Reindexings(documents).count_users("v4")
    await DeadLetters(documents).list_newest()
    await SafetyReviews(documents).list_newest()
    await McpSessions(documents).take_replies(ANN, "s1")
    log = CrisisLog(documents, Pseudonyms(b"k" * 32))
    await log.forget_user(ANN)
    await log.find_highest_level(ANN, SessionId("main"), since=NOON, before=NOON)


async def ask_about_the_library(documents: SqliteDocuments) -> None:
    stores = Stores(documents)
    await FileImports(documents).count_open(ANN)
    await FileImports(documents).list_previews(ANN)
    for recent in build_recent_queries(ANN, NOON):
        await documents.query(recent)
    keys = ConversationKeys(documents)
    await keys.read(ANN, KeyList.count_facets, now=NOON)
    await documents.write(Set("users/ann/conversations/c1", {"created_at": NOON}))
    await keys.read(ANN, KeyList.count_facets, now=NOON)
    await keys.read(ANN, KeyList.count_facets, now=NOON)
    await Folders(documents)._empty(ANN, FolderId("work"), NOON)
    await stores.people.unassign(ANN, PersonId("p1"))
    await stores.people.list_by_values(ANN, "name", ["Bob"])
    await stores.people.list_by_words(ANN, ["bob"])
    await stores.people.list_with_roles(ANN, limit=20)
    memories = Memories(documents)
    await memories.list_all(ANN, limit=20)
    await memories.list_held(ANN, now=NOON, limit=20)
    await memories.list_valid(ANN, now=NOON, limit=20)
    await memories.list_superseded_by(ANN, [MemoryId("m1")])
    await memories.list_repeated_in(ANN, ConversationId("c1"))
    await memories.find_conflicting(ANN, [FACT])
    await ActionItems(documents).list_open_alike(ANN, "call bob", NOON)
    for records in (memories, ActionItems(documents), stores.arcs):
        await records.list_created_between(ANN, NOON, NOON, limit=20)
    await stores.merges.list_undoable(ANN, NOON)
    await stores.bin_entries.list_newest(ANN, NOON)
    await stores.bin_entries.list_taken(ANN, ConversationId("c1"))
    await stores.bin_entries.forget_memories(ANN)
    await stores.file_imports.count_open(ANN)
    await stores.recordings.list_newest(ANN)
    await stores.recordings.list_of_conversation(ANN, ConversationId("c1"))
    await stores.recordings.list_unheard_of(ANN, ConversationId("c1"))
    await stores.daily_summaries.list_newest(ANN, limit=20)
    await stores.daily_summaries.list_newest(ANN, limit=20, first=NOON.date(), last=NOON.date())
    await Inbox(documents).list_deferred(ANN, NOON)


async def ask_about_chats(documents: SqliteDocuments, sealed: SealedDocuments) -> None:
    async for _ in Memories(documents).iter_of_session(ANN, SessionId("main")):
        pass
    await Arcs(documents).delete_for_session(ANN, SessionId("main"))
    for store, chat in ((documents, "main"), (sealed, "sealed-c1")):
        await Runs(store).delete_for_session(ANN, SessionId(chat))
        await Messages(store).clear(ANN, SessionId(chat))
        await Embeds(store).delete_for_session(ANN, SessionId(chat))
    await Projects(documents)._release_chats(ANN, "boat")
    chats = SealedChats(documents)
    await chats.create(ANN, SessionId("c1"), NOON)
    await chats.list_newest(ANN, limit=20)
    await chats.list_changed(ANN, limit=20)
    await chats.list_messages(ANN, SessionId("c1"), limit=20)
    await SyncCache(documents).clear(ANN)


def test_no_collection_has_automatic_indexes() -> None:
    indexes = FirestoreIndexes.read(INFRA / "firestore.indexes.json")
    processing = ROOT / "functions/process_conversation/processing"
    sources = [
        *(ROOT / "shared/data").rglob("*.py"),
        processing / "claims.py",
        processing / "stored_answers.py",
    ]
    named = {
        name
        for source in sources
        for pattern in COLLECTION_NAMES
        for name in re.findall(pattern, source.read_text())
    }

    assert len(named) > 70
    assert named - indexes.listed_groups == set()
    assert {index.group for index in indexes.composite} <= indexes.listed_groups

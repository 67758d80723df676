"""Indexes: those that the queries of the data layer need, and no others."""

from datetime import UTC, datetime
from pathlib import Path

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.data.action_items import ActionItemFilter, ActionItems
from shared.data.apps import Apps
from shared.data.call_log import CallLog
from shared.data.conversations import Conversations
from shared.data.embeds import Embeds
from shared.data.figures import Figures
from shared.data.inbox import Inbox
from shared.data.memories import Memories
from shared.data.messages import Messages
from shared.data.projects import Projects
from shared.data.sessions import Sessions
from shared.domain.figures import Span
from shared.domain.ids import AppId, ConversationId, ProjectId, SessionId, UserId
from tests.fakes import FixedClock
from tests.fixtures.sealed import seal

INFRA = Path(__file__).parents[3] / "infra"
ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


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
    in_conversation = ActionItemFilter(conversation_id=ConversationId("c1"))
    await ActionItems(documents).list_page(ANN, limit=20, where=in_conversation.to_where())
    await ActionItems(documents).list_open(ANN, limit=20)
    await ActionItems(documents).list_completed_exports(ANN, limit=20)
    await Inbox(documents).list_delivered(ANN, limit=20)
    await Apps(documents).list_public()
    await CallLog(documents).list_newest(AppId("chess"), since=NOON, limit=20)
    await CallLog(documents).list_consecutive_failures(AppId("chess"), after=NOON, limit=20)
    await CallLog(documents).has_success(AppId("chess"), "webhook", after=NOON)
    await Figures(documents).load(ANN, Span(name="", begin=NOON, end=NOON))

    assert indexes.used_indexes == set(indexes.composite)

"""Messages and the count that their session keeps."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.messages import Messages
from shared.data.sessions import Sessions
from shared.domain.chat import MAIN_SESSION, Message, new_session
from shared.domain.documents import Write
from shared.domain.errors import AlreadyExists, PreconditionFailed
from shared.domain.ids import AppId, MessageId, SessionId, UserId

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SESSION = new_session(MAIN_SESSION, app_id=None, now=NOON)
INDEXES = Path(__file__).parents[3] / "infra/firestore.indexes.json"


@pytest.fixture
def documents(tmp_path):
    database = SqliteDatabase(tmp_path / "keepsake.db")
    yield SqliteDocuments(database, FirestoreIndexes.read(INDEXES))
    database.close()


def message(name: str) -> Message:
    return Message(
        id=MessageId(name), session_id=MAIN_SESSION, text=name, sender="ai", created_at=NOON
    )


async def test_a_session_counts_its_messages_and_none_twice(documents):
    messages, sessions = Messages(documents), Sessions(documents)
    await messages.add(ALICE, SESSION, message("a"), message("b"))

    with pytest.raises(AlreadyExists):
        await messages.add(ALICE, SESSION, message("c"), message("a"))

    stored = await sessions.get(ALICE, MAIN_SESSION)
    assert stored is not None
    assert stored.message_count == 2
    assert [m.id for m in await messages.newest(ALICE, MAIN_SESSION, limit=9)] == ["b", "a"]


class Late:
    """Refuses a first write only after somebody else has made the session."""

    def __init__(self, documents: SqliteDocuments) -> None:
        self._documents = documents
        self._first = True

    async def write(self, *writes: Write) -> None:
        try:
            await self._documents.write(*writes)
        except PreconditionFailed:
            if self._first:
                self._first = False
                await Messages(self._documents).add(ALICE, SESSION, message("theirs"))
            raise


async def test_of_two_first_messages_at_once_both_are_stored_and_counted(documents):
    late: Any = Late(documents)

    await Messages(late).add(ALICE, SESSION, message("ours"))

    stored = await Sessions(documents).get(ALICE, MAIN_SESSION)
    assert stored is not None
    assert stored.message_count == 2


async def test_an_answer_after_its_chat_was_cleared_counts_from_nothing(documents):
    messages, sessions = Messages(documents), Sessions(documents)
    await messages.add(ALICE, SESSION, message("a"), message("b"))
    at_the_question = await sessions.get(ALICE, MAIN_SESSION)
    assert at_the_question is not None

    await messages.clear(ALICE, MAIN_SESSION)
    await messages.add(ALICE, at_the_question, message("answer"))

    stored = await sessions.get(ALICE, MAIN_SESSION)
    assert stored is not None
    assert stored.message_count == 1


async def test_a_chat_that_its_owner_deleted_takes_no_message_and_a_main_one_begins(documents):
    messages, sessions = Messages(documents), Sessions(documents)
    work = new_session(SessionId("work"), app_id=None, now=NOON)
    chess = new_session(SessionId("chess"), app_id=AppId("chess"), now=NOON)

    with pytest.raises(PreconditionFailed):
        await messages.add(ALICE, work, message("a"))
    await messages.add(ALICE, chess, message("b"))

    assert [await sessions.get(ALICE, one.id) is None for one in (work, chess)] == [True, False]

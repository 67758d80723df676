"""Messages, and their count in the session."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.chats.messages import Messages
from shared.data.chats.sessions import Sessions
from shared.domain.chats.chat import MAIN_SESSION, Message, build_session
from shared.domain.errors import AlreadyExists, PreconditionFailed
from shared.domain.ids import AppId, MessageId, SessionId, UserId
from shared.domain.store.documents import Write

ALICE = UserId("alice")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SESSION = build_session(MAIN_SESSION, app_id=None, now=NOON)


def message(name: str) -> Message:
    return Message(
        id=MessageId(name), session_id=MAIN_SESSION, text=name, sender="ai", created_at=NOON
    )


async def test_a_session_counts_each_message_once(documents):
    messages, sessions = Messages(documents), Sessions(documents)
    await messages.add(ALICE, SESSION, message("a"), message("b"))

    with pytest.raises(AlreadyExists):
        await messages.add(ALICE, SESSION, message("c"), message("a"))

    stored = await sessions.get(ALICE, MAIN_SESSION)
    assert stored is not None
    assert stored.message_count == 2
    assert [m.id for m in await messages.list_newest(ALICE, MAIN_SESSION, limit=9)] == ["b", "a"]


class LateDocuments:
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


async def test_two_concurrent_first_messages_are_both_stored_and_counted(documents):
    late_documents: Any = LateDocuments(documents)

    await Messages(late_documents).add(ALICE, SESSION, message("ours"))

    stored = await Sessions(documents).get(ALICE, MAIN_SESSION)
    assert stored is not None
    assert stored.message_count == 2


async def test_an_answer_to_a_cleared_chat_restarts_the_count(documents):
    messages, sessions = Messages(documents), Sessions(documents)
    await messages.add(ALICE, SESSION, message("a"), message("b"))
    session_before = await sessions.get(ALICE, MAIN_SESSION)
    assert session_before is not None

    await messages.clear(ALICE, MAIN_SESSION)
    await messages.add(ALICE, session_before, message("answer"))

    stored = await sessions.get(ALICE, MAIN_SESSION)
    assert stored is not None
    assert stored.message_count == 1


async def test_a_deleted_chat_refuses_messages_and_a_main_chat_is_created(documents):
    messages, sessions = Messages(documents), Sessions(documents)
    work = build_session(SessionId("work"), app_id=None, now=NOON)
    chess = build_session(SessionId("chess"), app_id=AppId("chess"), now=NOON)

    with pytest.raises(PreconditionFailed):
        await messages.add(ALICE, work, message("a"))
    await messages.add(ALICE, chess, message("b"))

    assert [await sessions.get(ALICE, session.id) is None for session in (work, chess)] == [
        True,
        False,
    ]

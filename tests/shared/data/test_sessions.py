"""Chats as documents (P15, P16), on SQLite and on Firestore's emulator."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.messages import Messages
from shared.data.sessions import Sessions
from shared.domain.chat import MAIN_SESSION, Message, Session, new_session
from shared.domain.errors import NotFound
from shared.domain.ids import AppId, MessageId, SessionId, UserId
from shared.ports import Documents
from shared.wiring import ROOT
from tests.contracts.test_documents import firestore_documents

ANN = UserId("ann")
BOB = UserId("bob")
NOON = datetime(2026, 3, 2, 12, 0, 0, 123456, tzinfo=UTC)
MAIN = new_session(MAIN_SESSION, app_id=None, now=NOON)


@pytest.fixture(params=["sqlite", pytest.param("firestore", marks=pytest.mark.emulators)])
async def documents(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Documents]:
    if request.param == "firestore":
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", request.getfixturevalue("firestore_emulator"))
        yield firestore_documents()
        return
    database = SqliteDatabase(tmp_path / "keepsake.db")
    indexes = FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json")
    yield SqliteDocuments(database, indexes)
    database.close()


def message(n: int) -> Message:
    return Message(
        id=MessageId(f"m{n}"),
        session_id=MAIN_SESSION,
        text=f"text {n}",
        sender="ai" if n % 2 else "human",
        created_at=NOON + timedelta(seconds=n // 2),
    )


def chat(name: str, minute: int, *, app: str | None = None, starred: bool = False) -> Session:
    now = NOON + timedelta(minutes=minute)
    made = new_session(SessionId(name), app_id=AppId(app) if app else None, now=now)
    return replace(made, starred=starred)


async def test_p16_pages_of_chats_come_by_their_newest_message_and_filtered(
    documents: Documents,
) -> None:
    sessions = Sessions(documents)
    for one in (chat("a", 1), chat("b", 1, starred=True), chat("c", 3, app="chess")):
        await sessions.add(ANN, one)
    await sessions.add(BOB, chat("his", 2))

    first = await sessions.page(ANN, limit=2)
    rest = await sessions.page(ANN, limit=2, after=first.next)
    starred = await sessions.page(ANN, limit=9, starred=True)
    chess = await sessions.page(ANN, limit=9, app_id=AppId("chess"), starred=False)

    names = [[one.id for one in page.items] for page in (first, rest, starred, chess)]
    assert names == [["c", "b"], ["a"], ["b"], ["c"]]
    assert [first.next is None, rest.next is None] == [False, True]


async def test_p15_messages_are_read_in_order_from_a_position_though_times_are_equal(
    documents: Documents,
) -> None:
    messages = Messages(documents)
    told = [message(n) for n in range(7)]
    await messages.add(ANN, MAIN, *told)

    following = await messages.following(ANN, MAIN_SESSION, told[2].position, limit=3)
    older = await messages.newest(ANN, MAIN_SESSION, limit=9, before=told[3].position)

    assert following == told[3:6]
    assert older == told[2::-1]


async def test_a_chat_tells_of_its_newest_message(documents: Documents) -> None:
    long = replace(message(5), text="word\n " * 100)
    await Messages(documents).add(ANN, MAIN, message(0), long)

    stored = await Sessions(documents).get(ANN, MAIN_SESSION)

    assert stored is not None
    assert (stored.message_count, stored.updated_at) == (2, long.created_at)
    assert stored.preview == "word " * 24


async def test_p15_what_is_derived_is_written_once_and_never_for_a_message_that_is_gone(
    documents: Documents,
) -> None:
    messages, sessions = Messages(documents), Sessions(documents)
    source = message(4)
    await messages.add(ANN, MAIN, source)
    seen = await sessions.get(ANN, MAIN_SESSION)
    assert seen is not None
    until = source.position

    await messages.add(ANN, MAIN, message(5))
    first = await sessions.derive(ANN, seen, source=source, summary="A", summarised_until=until)
    second = await sessions.derive(ANN, seen, source=source, summary="B", summarised_until=until)
    gone = await sessions.derive(ANN, seen, source=message(9), title="C")
    titled = await sessions.derive(ANN, seen, source=source, title="D")

    stored = await sessions.get(ANN, MAIN_SESSION)
    assert (second, gone) == (None, None)
    assert first == replace(
        seen,
        message_count=2,
        updated_at=message(5).created_at,
        preview="text 5",
        summary="A",
        summarised_until=until,
    )
    assert stored == titled
    assert stored == replace(first, title="D")
    assert stored.covers(message(4))
    assert not stored.covers(message(5))


async def test_of_a_chat_cleared_meanwhile_nothing_derived_comes_back(
    documents: Documents,
) -> None:
    messages, sessions = Messages(documents), Sessions(documents)
    await messages.add(ANN, MAIN, message(0))
    seen = await sessions.get(ANN, MAIN_SESSION)
    assert seen is not None

    await messages.clear(ANN, MAIN_SESSION)
    missing = await sessions.derive(ANN, seen, source=message(0), title="Old")
    await messages.add(ANN, replace(seen, title="Old", summary="Old"), message(1))
    late = await sessions.derive(ANN, seen, source=message(0), title="Old")

    stored = await sessions.get(ANN, MAIN_SESSION)
    assert (missing, late) == (None, None)
    assert stored is not None
    assert (stored.title, stored.summary, stored.message_count) == ("", "", 1)


@pytest.mark.parametrize("name", ["nope", "a/b", "..", "__x__", ""])
async def test_what_is_no_chat_cannot_be_changed(documents: Documents, name: str) -> None:
    with pytest.raises(NotFound, match="Chat session not found"):
        await Sessions(documents).change(ANN, SessionId(name), title="Mine")

"""Chat sessions (P15, P16), on SQLite and on Firestore's emulator."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.data.chats.messages import Messages
from shared.data.chats.sessions import Sessions
from shared.domain.chats.branches import build_shown_path, show_position
from shared.domain.chats.chat import MAIN_SESSION, ROOT, Fork, Message, Session, build_session
from shared.domain.chats.chat_notes import ChatNotes
from shared.domain.errors import AlreadyExists, NotFound, PreconditionFailed
from shared.domain.ids import AppId, BranchId, FileId, MessageId, SessionId, UserId
from shared.domain.store.documents import Create
from shared.ports import Documents

ANN = UserId("ann")
BOB = UserId("bob")
NOON = datetime(2026, 3, 2, 12, 0, 0, 123456, tzinfo=UTC)
MAIN = build_session(MAIN_SESSION, app_id=None, now=NOON)


def message(n: int) -> Message:
    return Message(
        id=MessageId(f"m{n}"),
        session_id=MAIN_SESSION,
        text=f"text {n}",
        sender="ai" if n % 2 else "human",
        created_at=NOON + timedelta(seconds=n // 2),
    )


FORK = Fork(
    id=BranchId("r2"),
    parent=ROOT,
    question=message(0).position,
    keeps_question=True,
    original=MessageId("m1"),
    head=MessageId("r2"),
)


def chat(name: str, minute: int, *, app: str | None = None, starred: bool = False) -> Session:
    now = NOON + timedelta(minutes=minute)
    session = build_session(SessionId(name), app_id=AppId(app) if app else None, now=now)
    return replace(session, starred=starred)


async def test_chat_pages_are_ordered_by_newest_message_and_can_be_filtered_p16(
    any_documents: Documents,
) -> None:
    sessions = Sessions(any_documents)
    for session in (chat("a", 1), chat("b", 1, starred=True), chat("c", 3, app="chess")):
        await sessions.add(ANN, session)
    await sessions.add(BOB, chat("his", 2))

    first = await sessions.list_page(ANN, limit=2)
    second = await sessions.list_page(ANN, limit=2, after=first.next)
    starred = await sessions.list_page(ANN, limit=9, starred=True)
    chess = await sessions.list_page(ANN, limit=9, app_id=AppId("chess"), starred=False)

    names = [[session.id for session in page.items] for page in (first, second, starred, chess)]
    assert names == [["c", "b"], ["a"], ["b"], ["c"]]
    assert [first.next is None, second.next is None] == [False, True]


async def test_messages_with_equal_times_are_listed_in_order_from_a_position_p15(
    any_documents: Documents,
) -> None:
    messages = Messages(any_documents)
    stored_messages = [message(n) for n in range(7)]
    await messages.add(ANN, MAIN, *stored_messages)

    newer = await messages.list_after(ANN, MAIN_SESSION, stored_messages[2].position, limit=3)
    older = await messages.list_newest(
        ANN, MAIN_SESSION, limit=9, before=stored_messages[3].position
    )

    assert newer == stored_messages[3:6]
    assert older == stored_messages[2::-1]


async def test_a_chat_stores_a_preview_of_its_newest_message(any_documents: Documents) -> None:
    long_message = replace(message(5), text="word\n " * 100)
    await Messages(any_documents).add(ANN, MAIN, message(0), long_message)

    stored = await Sessions(any_documents).get(ANN, MAIN_SESSION)

    assert stored is not None
    assert (stored.message_count, stored.updated_at) == (2, long_message.created_at)
    assert stored.preview == "word " * 24


async def test_derived_fields_are_written_once_and_never_for_a_deleted_message_p15(
    any_documents: Documents,
) -> None:
    messages, sessions = Messages(any_documents), Sessions(any_documents)
    source = message(4)
    await messages.add(ANN, MAIN, source)
    read_session = await sessions.get(ANN, MAIN_SESSION)
    assert read_session is not None
    until = source.position

    await messages.add(ANN, MAIN, message(5))
    first = await sessions.update_derived(
        ANN, read_session, source=source, summary="A", summarised_until=until
    )
    second = await sessions.update_derived(
        ANN, read_session, source=source, summary="B", summarised_until=until
    )
    without_source = await sessions.update_derived(ANN, read_session, source=message(9), title="C")
    titled = await sessions.update_derived(ANN, read_session, source=source, title="D")

    stored = await sessions.get(ANN, MAIN_SESSION)
    assert (second, without_source) == (None, None)
    assert first == replace(
        read_session,
        message_count=2,
        updated_at=message(5).created_at,
        preview="text 5",
        summary="A",
        summarised_until=until,
    )
    assert stored == titled
    assert stored == replace(first, title="D")
    assert stored.is_summarised(message(4))
    assert not stored.is_summarised(message(5))


async def test_derived_fields_are_not_written_to_a_cleared_chat(
    any_documents: Documents,
) -> None:
    messages, sessions = Messages(any_documents), Sessions(any_documents)
    await messages.add(ANN, MAIN, message(0))
    read_session = await sessions.get(ANN, MAIN_SESSION)
    assert read_session is not None

    await messages.clear(ANN, MAIN_SESSION)
    after_clear = await sessions.update_derived(ANN, read_session, source=message(0), title="Old")
    await messages.add(ANN, replace(read_session, title="Old", summary="Old"), message(1))
    after_restart = await sessions.update_derived(ANN, read_session, source=message(0), title="Old")

    stored = await sessions.get(ANN, MAIN_SESSION)
    assert (after_clear, after_restart) == (None, None)
    assert stored is not None
    assert (stored.title, stored.summary, stored.message_count) == ("", "", 1)


@pytest.mark.parametrize("name", ["nope", "a/b", "..", "__x__", ""])
async def test_changing_an_unknown_chat_raises_not_found(
    any_documents: Documents, name: str
) -> None:
    with pytest.raises(NotFound, match="Chat session not found"):
        await Sessions(any_documents).change(ANN, SessionId(name), title="Mine")


async def test_a_version_is_stored_once_and_shown(any_documents: Documents) -> None:
    messages, sessions = Messages(any_documents), Sessions(any_documents)
    await messages.add(ANN, MAIN, message(0), message(1))
    also = Create("users/ann/runs/r2", {"writer": "w"})
    await messages.add_version(ANN, MAIN_SESSION, FORK, also=[also])
    with pytest.raises(AlreadyExists):
        await messages.add_version(ANN, MAIN_SESSION, FORK, also=[also])
    await messages.add(ANN, MAIN, replace(message(2), branch=FORK.id))

    session = await sessions.get(ANN, MAIN_SESSION)
    assert session is not None
    assert session.forks == (FORK,)
    path = build_shown_path(session.forks)
    shown = await messages.list_newest(ANN, MAIN_SESSION, limit=2, path=path)
    assert [m.id for m in shown] == ["m2", "m0"]
    back = await sessions.change_forks(
        ANN, MAIN_SESSION, lambda forks: show_position(forks, ROOT, message(1).position)
    )
    after = await messages.list_after(
        ANN, MAIN_SESSION, None, limit=2, path=build_shown_path(back.forks)
    )
    assert [m.id for m in after] == ["m0", "m1"]


async def test_a_deleted_chat_gets_no_versions(any_documents: Documents) -> None:
    messages, sessions = Messages(any_documents), Sessions(any_documents)

    with pytest.raises(PreconditionFailed):
        await messages.add_version(ANN, MAIN_SESSION, FORK)
    with pytest.raises(NotFound):
        await sessions.change_forks(ANN, MAIN_SESSION, lambda forks: forks)


async def test_what_was_derived_of_a_chat_is_forgotten_and_nothing_else_c52(
    any_documents: Documents,
):
    sessions = Sessions(any_documents)
    noted = replace(
        chat("a", 1, starred=True),
        title="Inhalers",
        title_kinds=("mail",),
        summary="About inhalers.",
        summarised_until=message(3).position,
        summarised_files=(FileId("leaflet"),),
        notes=ChatNotes(summary="They asked about inhalers.", tags=("inhalers",)),
    )
    await sessions.add(ANN, noted)

    await sessions.forget_notes(ANN, noted)
    await sessions.forget_notes(ANN, chat("gone", 2))

    assert await sessions.get(ANN, noted.id) == chat("a", 1, starred=True)
    assert await sessions.get(ANN, SessionId("gone")) is None

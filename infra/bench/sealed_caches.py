"""Sealed cache: milliseconds to write a turn's messages and to read them again, sealed and in clear."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from statistics import median

from infra.bench.figures import Figure
from infra.bench.processes import open_folder
from shared.adapters.system_clock import SystemClock
from shared.data.chats.messages import Messages
from shared.data.chats.sessions import Sessions
from shared.domain.chats.chat import Message, Session, build_session
from shared.domain.ids import MessageId, SessionId, UserId
from shared.ports import Documents
from tests.fixtures.sealed import seal
from tests.fixtures.storage import open_documents

UID = UserId("ada")
TURNS = 100
READ = 40
MAX_MS = 3.0
TEXT = "The offsite moves to Friday, because the train on Thursday is full. " * 8


async def measure_sealed_cache() -> list[Figure]:
    with open_folder() as folder, open_documents(folder) as documents:
        clear = await _measure(documents, SessionId("chat"))
        sealed = await _measure(seal(documents, SystemClock()), SessionId("sealed-chat"))
    names = ("put a turn", "get a message", f"get {READ} messages: over those in clear")
    put_ms, get_ms, history_ms = sealed
    return [
        Figure(f"sealed cache: {name}", value, "ms", target=MAX_MS)
        for name, value in zip(names, (put_ms, get_ms, history_ms - clear[2]), strict=True)
    ]


async def _measure(documents: Documents, session_id: SessionId) -> list[float]:
    """Return the median milliseconds of each kind of access."""
    messages = Messages(documents)
    session = build_session(session_id, app_id=None, now=SystemClock().now())
    await Sessions(documents).add(UID, session)
    puts = [
        await _time(lambda turn=turn: messages.add(UID, session, *_build_turn(session, turn)))  # type: ignore[misc]
        for turn in range(TURNS)
    ]
    name = MessageId(f"{session_id}-a1")
    gets = [await _time(lambda: messages.get(UID, name)) for _ in range(TURNS)]
    lists = [
        await _time(lambda: messages.list_newest(UID, session_id, limit=READ)) for _ in range(TURNS)
    ]
    return [median(puts), median(gets), median(lists)]


def _build_turn(session: Session, turn: int) -> tuple[Message, Message]:
    question = Message(
        id=MessageId(f"{session.id}-q{turn}"),
        session_id=session.id,
        text=TEXT,
        sender="human",
        created_at=session.created_at + timedelta(seconds=turn),
    )
    return question, replace(question, id=MessageId(f"{session.id}-a{turn}"), sender="ai")


async def _time(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return 1000 * (time.perf_counter() - started)

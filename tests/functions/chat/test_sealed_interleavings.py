"""Sealed cache under every interleaving: what is read is what was sent, or the client is asked (M84)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta

import anyio
from hypothesis import given
from hypothesis import strategies as st

from functions.chat.deps import ChatDeps
from functions.chat.sealed import cached_chats
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.memory_database import MemoryDatabase
from shared.adapters.system_clock import RandomIds
from shared.domain.chats.chat import Message, build_session
from shared.domain.chats.sealed_chat import MAX_CACHED_CHATS
from shared.domain.errors import AlreadyExists, HistoryMissing, Unavailable
from shared.domain.ids import MessageId, RunId, SessionId
from tests.fakes import FixedClock
from tests.fixtures.chat import ADA, ChatFixture, build_chat_fixture
from tests.fixtures.storage import INDEXES

LIMIT = 40
CHATS = tuple(SessionId(f"sealed-{name}") for name in "abcde")
LENGTHS = {chat: length for length, chat in enumerate(CHATS, 1)}
Step = tuple[str, int, int]
STEPS = st.tuples(
    st.sampled_from(["resend", "resend", "ask", "half_resend", "forget", "forget_all", "hour"]),
    st.integers(0, 1),
    st.integers(0, len(CHATS) - 1),
)
"""What happens, on which instance, to which chat."""


def build_messages(chat: SessionId, clock: FixedClock) -> list[Message]:
    start = clock.now().replace(hour=0)
    return [
        Message(
            id=MessageId(f"{chat}-m{number}-q"),
            session_id=chat,
            text=f"{chat} says {number}",
            sender="human",
            created_at=start + timedelta(seconds=number),
        )
        for number in range(LENGTHS[chat])
    ]


async def read_texts(deps: ChatDeps, chat: SessionId) -> list[str] | None:
    """Return what a turn would read of a chat; None where the client is asked."""
    try:
        session = await cached_chats.find_cached(deps, ADA, chat)
        newest = await deps.stores.messages.list_newest(ADA, chat, limit=LIMIT)
        cached_chats.require_complete(session, newest, limit=LIMIT)
    except HistoryMissing:
        return None
    return [message.text for message in reversed(newest)]


class Play:
    """Two instances over one store, and what each client would send."""

    def __init__(self, world: ChatFixture) -> None:
        self.clock = world.clock
        self.instances = [replace(world.deps(), new_id=RandomIds()) for _ in range(2)]
        self.sent: Mapping[SessionId, Sequence[Message]] = {
            chat: build_messages(chat, world.clock) for chat in CHATS
        }

    async def begin(self) -> None:
        for chat in CHATS:
            await self.instances[0].stores.sealed_chats.create(ADA, chat, self.clock.now())

    async def run(self, step: Step) -> None:
        kind, instance, number = step
        deps, chat = self.instances[instance], CHATS[number]
        work: Mapping[str, Callable[[], Awaitable[object]]] = {
            "resend": lambda: self._resend(deps, chat),
            "ask": lambda: self._ask(deps, chat),
            "half_resend": lambda: self._die_before_the_cleanup(deps, chat),
            "forget": lambda: cached_chats.forget(deps, ADA, chat),
            "forget_all": lambda: cached_chats.forget_all(deps, ADA),
            "hour": self._wait,
        }
        with suppress(Unavailable):
            await work[kind]()

    async def _resend(self, deps: ChatDeps, chat: SessionId) -> None:
        run_id = RunId(f"{chat}-run")
        with suppress(AlreadyExists):
            await cached_chats.cache_again(deps, ADA, run_id, chat, self.sent[chat], [])

    async def _die_before_the_cleanup(self, deps: ChatDeps, chat: SessionId) -> None:
        session = build_session(chat, app_id=None, now=self.clock.now())
        await deps.stores.sealed_cache.put(ADA, session, self.sent[chat], self.clock.now())

    async def _ask(self, deps: ChatDeps, chat: SessionId) -> None:
        self.check(chat, await read_texts(deps, chat))

    async def _wait(self) -> None:
        self.clock.time += timedelta(hours=1)

    def check(self, chat: SessionId, texts: list[str] | None) -> None:
        assert texts in (None, [message.text for message in self.sent[chat]])


async def check_groups(database: SqliteDatabase, groups: Sequence[Sequence[Step]]) -> None:
    """Run the steps of each group at once, then check all chats on both instances."""
    play = Play(build_chat_fixture(database, SqliteDocuments(database, INDEXES)))
    await play.begin()
    for group in groups:
        async with anyio.create_task_group() as tasks:
            for step in group:
                tasks.start_soon(play.run, step)
        for deps in play.instances:
            read = {chat: await read_texts(deps, chat) for chat in CHATS}
            for chat, texts in read.items():
                play.check(chat, texts)
            assert sum(texts is not None for texts in read.values()) <= MAX_CACHED_CHATS
            assert len(await deps.stores.sealed_cache.list_all(ADA)) <= MAX_CACHED_CHATS
    play.clock.time += timedelta(minutes=5)  # keys that were deleted are forgotten
    await play.run(("resend", 0, 0))
    assert await read_texts(play.instances[1], CHATS[0]) is not None


@given(st.lists(st.lists(STEPS, min_size=1, max_size=3), max_size=8))
def test_what_is_read_is_what_was_sent_m84(groups: list[list[Step]]) -> None:
    with closing(MemoryDatabase()) as database:
        anyio.run(check_groups, database, groups)

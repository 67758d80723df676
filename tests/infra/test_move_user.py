"""Moving a user: in every interleaving with edits, deletions and searches nothing is lost (D4)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.move_user import MoveDeps, move_user
from infra.reindex import reindex
from shared.adapters.cloud.pinecone_vectors import PineconeVectors
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.sharded_vectors import ShardedVectors
from shared.data.account.quotas import Quotas
from shared.data.account.vector_homes import VectorHomeCache, VectorHomes
from shared.data.conversations.conversations import Conversations, conversation_path
from shared.data.search.library_index import LibraryIndex, chunk_id
from shared.data.store.codec import dump
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Segment, content_hash
from shared.domain.errors import Conflict, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.store.documents import Delete, Update
from shared.domain.store.vector_home import VectorHome, hash_home
from shared.ports import Documents
from shared.retrieval.query import parse_query
from tests.fakes import AutoAdvanceClock
from tests.fixtures.storage import INDEXES
from tests.servers.pinecone import API_KEY, FakePinecone, fake_pinecone

ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
STALENESS = timedelta(seconds=30)
PAUSE = timedelta(seconds=90)
OLD_BUCKET = hash_home(ANN).bucket
NEW_BUCKET = (OLD_BUCKET + 512) % 1_024


@dataclass
class Turns:
    """Lets one task run at a time, up to its next step, in a drawn order."""

    draws: list[int]
    waiting: list[asyncio.Future[None]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        self.changed.set()
        await turn

    async def run(self, *works: Awaitable[None]) -> None:
        tasks = [asyncio.ensure_future(work) for work in works]
        for task in tasks:
            task.add_done_callback(lambda _: self.changed.set())
        while live := [task for task in tasks if not task.done()]:
            if len(self.waiting) < len(live):
                self.changed.clear()
                await self.changed.wait()
                continue
            drawn = self.draws.pop() if self.draws else 0
            self.waiting.pop(drawn % len(self.waiting)).set_result(None)
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)


class TurnPort:
    """A port each of whose calls waits for its turn."""

    def __init__(self, port: Any, turns: Turns) -> None:
        self._port = port
        self._turns = turns

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            await self._turns.take()
            return await method(*arguments, **options)

        return call


@dataclass
class Traffic:
    """Work under way; none takes longer than a move's pause beyond the staleness of homes."""

    turns: Turns
    time: datetime = NOON
    under_way: set[object] = field(default_factory=set)

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Let every process read homes anew, then let what began before come to its end."""
        self.time += STALENESS
        began_before = set(self.under_way)
        while began_before & self.under_way:
            await self.turns.take()
        self.time += timedelta(seconds=seconds) - STALENESS

    async def do(self, work: Callable[[], Awaitable[None]]) -> None:
        token = object()
        self.under_way.add(token)
        try:
            await work()
        finally:
            self.under_way.remove(token)


@dataclass
class Shards:
    old: FakePinecone
    new: FakePinecone
    old_vectors: PineconeVectors
    new_vectors: PineconeVectors

    def build(self, homes: VectorHomes, clock: Any, turns: Turns | None = None) -> ShardedVectors:
        """Build what a process of its own has: its cache is no other's."""
        old, new = self.old_vectors, self.new_vectors
        if turns:
            old, new = TurnPort(old, turns), TurnPort(new, turns)  # type: ignore[assignment]
        first_half, second_half = (old, new) if OLD_BUCKET < 512 else (new, old)
        shards = [(range(512), first_half), (range(512, 1_024), second_half)]
        return ShardedVectors(shards, VectorHomeCache(homes, clock, STALENESS).get)


@asynccontextmanager
async def open_shards() -> AsyncIterator[Shards]:
    async with AsyncExitStack() as stack:
        old, new = (stack.enter_context(fake_pinecone()) for _ in range(2))
        vectors = [PineconeVectors(api_key=API_KEY, sparse_host=s.url) for s in (old, new)]
        for each in vectors:
            stack.push_async_callback(each.aclose)
        yield Shards(old, new, *vectors)


@dataclass
class Writer:
    """A process that writes and searches one conversation, as processing and the library do."""

    name: str
    documents: Documents
    vectors: ShardedVectors
    stored: Conversation | None = None

    async def edit(self) -> None:
        """Store what was said, write the rows, and find it."""
        text = f"heron {self.name}"
        said = (Segment(text=f"{text} {len(self._said)}", speaker="Bea"),)
        if self.stored is None:
            await self._add(said)
        else:
            fields = {"transcript_segments": [dump(segment) for segment in said]}
            await self.documents.write(Update(self._path, fields))
        current = await Conversations(self.documents).get(ANN, ConversationId(self.name))
        await LibraryIndex(self.vectors).put(ANN, current)
        self.stored = current
        await self.search()

    async def delete(self) -> None:
        """Delete the document, then the rows."""
        await self.documents.write(Delete(self._path))
        await LibraryIndex(self.vectors).remove(ANN, ConversationId(self.name), 1)
        self.stored = None

    async def search(self) -> None:
        """Find it as it was written."""
        if self.stored is not None:
            assert await find_hash(self.vectors, self.name) == content_hash(self.stored)

    async def _add(self, said: tuple[Segment, ...]) -> None:
        conversation = Conversation(
            id=ConversationId(self.name),
            created_at=NOON,
            started_at=NOON,
            finished_at=NOON,
            transcript_segments=said,
        )
        await Conversations(self.documents).add(ANN, conversation)
        fields = {"status": "completed", "chunk_count": 1}
        await self.documents.write(Update(self._path, fields))

    @property
    def _said(self) -> str:
        return (
            "".join(segment.text for segment in self.stored.transcript_segments)
            if self.stored
            else ""
        )

    @property
    def _path(self) -> str:
        return conversation_path(ANN, ConversationId(self.name))


async def find_hash(vectors: ShardedVectors, name: str) -> object:
    """Return the content hash of the conversation's row that a search finds; None without one."""
    hits = await vectors.query_sparse(ANN, parse_query(f"heron {name}").vector, limit=50)
    row_id = chunk_id(ANN, ConversationId(name), 0)
    return next((hit.metadata["content_hash"] for hit in hits if hit.id == row_id), None)


def build_deps(documents: Documents, vectors: ShardedVectors, clock: Any) -> MoveDeps:
    stores = Stores(documents)

    async def build_rows(uid: UserId) -> None:
        await reindex(uid, stores, LibraryIndex(vectors), Quotas(documents, {}))

    return MoveDeps(
        homes=VectorHomes(stores.profiles),
        clock=clock,
        pause=PAUSE,
        build_rows=build_rows,
        delete_copies=vectors.delete_copies,
    )


actions = st.lists(st.sampled_from(["edit", "edit", "delete", "search"]), max_size=6)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(actions, actions, st.lists(st.integers(0, 5), min_size=60, max_size=200))
async def test_a_move_loses_nothing_in_any_interleaving_d4(
    first: list[str], second: list[str], draws: list[int]
) -> None:
    with TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "keepsake.db")
        documents = SqliteDocuments(database, INDEXES)
        try:
            async with open_shards() as shards:
                await check_move(shards, documents, (first, second), draws)
        finally:
            database.close()


async def check_move(
    shards: Shards, documents: Documents, plans: Sequence[Sequence[str]], draws: list[int]
) -> None:
    homes = VectorHomes(Stores(documents).profiles)
    turns = Turns(draws)
    traffic = Traffic(turns)
    writers = [Writer(f"w{n}", documents, shards.build(homes, traffic)) for n in range(len(plans))]
    for writer in writers:
        await writer.edit()
    for writer in writers:
        writer.documents = TurnPort(documents, turns)
        writer.vectors = shards.build(homes, traffic, turns)
    deps = build_deps(TurnPort(documents, turns), shards.build(homes, traffic, turns), traffic)

    async def act(writer: Writer, plan: Sequence[str]) -> None:
        for action in plan:
            if action != "delete" or writer.stored:
                await traffic.do(getattr(writer, action))

    await turns.run(
        move_user(deps, ANN, NEW_BUCKET),
        *(act(writer, plan) for writer, plan in zip(writers, plans, strict=True)),
    )

    assert await homes.get(ANN) == VectorHome(bucket=NEW_BUCKET)
    assert shards.old.namespaces == {}
    found = [await find_hash(shards.build(homes, traffic), writer.name) for writer in writers]
    assert found == [writer.stored and content_hash(writer.stored) for writer in writers]


async def test_a_move_that_was_interrupted_goes_on_d4(documents: Documents) -> None:
    async with open_shards() as shards:
        clock = AutoAdvanceClock()
        homes = VectorHomes(Stores(documents).profiles)
        writer = Writer("w", documents, shards.build(homes, clock))
        await writer.edit()
        deps = build_deps(documents, shards.build(homes, clock), clock)

        shards.new.status = 503
        with pytest.raises(Unavailable):
            await move_user(deps, ANN, NEW_BUCKET)
        assert await homes.get(ANN) == VectorHome(bucket=OLD_BUCKET, twin=NEW_BUCKET)
        await writer.search()

        shards.new.status = None
        with pytest.raises(Conflict, match=f"is being moved to bucket {NEW_BUCKET}"):
            await move_user(deps, ANN, (NEW_BUCKET + 1) % 1_024)
        await move_user(deps, ANN, NEW_BUCKET)
        await writer.search()

    assert await homes.get(ANN) == VectorHome(bucket=NEW_BUCKET)
    assert shards.old.namespaces == {}


async def test_an_erasure_reaches_every_shard_also_during_a_move_d4(documents: Documents) -> None:
    async with open_shards() as shards:
        clock = AutoAdvanceClock()
        homes = VectorHomes(Stores(documents).profiles)
        moving = VectorHome(bucket=OLD_BUCKET, twin=NEW_BUCKET)
        await homes.replace(ANN, moving, expected=hash_home(ANN))
        vectors = shards.build(homes, clock)
        await Writer("w", documents, vectors).edit()
        assert shards.old.namespaces.keys() == shards.new.namespaces.keys() == {ANN}

        await documents.delete_tree(f"users/{ANN}")
        await vectors.delete_namespace(ANN)

    assert shards.old.namespaces == shards.new.namespaces == {}


async def test_a_move_ends_where_somebody_else_moved_the_user_d4(documents: Documents) -> None:
    homes = VectorHomes(Stores(documents).profiles)

    with pytest.raises(Conflict):
        await homes.replace(ANN, VectorHome(bucket=1), expected=replace(hash_home(ANN), twin=2))
    assert await homes.get(ANN) == hash_home(ANN)

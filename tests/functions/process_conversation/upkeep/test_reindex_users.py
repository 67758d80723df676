"""Reindexing of all users by tasks: repeated, cut at every call, beside others and through an erasure (D4)."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from functions.process_conversation.deps import ReindexDeps
from functions.process_conversation.upkeep.reindex_routes import REINDEX_ROUTES
from functions.process_conversation.upkeep.reindex_schedule import REINDEX_TARGET
from functions.process_conversation.upkeep.reindex_users import (
    ITEMS_A_STEP,
    USERS_A_PAGE,
    list_users,
    reindex_user,
)
from infra.reindex_all import start, watch
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.conversations.conversations import Conversations, conversation_path
from shared.data.conversations.reindexings import Reindexings
from shared.data.memories.memories import memory_path
from shared.data.search.file_index import FileIndex
from shared.data.search.library_index import INDEX_VERSION, LibraryIndex
from shared.data.search.search import Search
from shared.data.store.codec import dump
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.conversations.reindexing import ABANDONED_AFTER, PARTS, Reindexing, ReindexStep
from shared.domain.errors import Unavailable
from shared.domain.files.file import File, Page
from shared.domain.ids import ConversationId, FileId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Set, Update
from shared.library.files import store_pages
from tests.fakes import CreatedTask, FixedClock, MemoryBlobs, RecordingTasks
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.callers import IDENTITY, SERVICE_IDENTITY, build_service_headers, open_client
from tests.fixtures.storage import INDEXES, MemoryDatabase

ANN, BEN, CLEO = UserId("ann"), UserId("ben"), UserId("cleo")
ALL = (ANN, BEN, CLEO)


@dataclass
class Embedder:
    """Embeds every text alike; `is_down` fails every call."""

    name: str = "constant"
    is_down: bool = False
    embeds_later: bool = False

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        if self.is_down:
            raise Unavailable("as the test wants it")
        return [(1.0, 1.0) for _ in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        [vector] = await self.embed(uid, [question])
        return vector


@dataclass
class Fleet:
    """Users with rows of an earlier version, and the tasks of their reindexing."""

    documents: SqliteDocuments
    vectors: SqliteVectors
    embedder: Embedder = field(default_factory=Embedder)
    clock: FixedClock = field(default_factory=FixedClock)
    tasks: RecordingTasks = field(default_factory=RecordingTasks)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    delivered: int = 0

    @property
    def scheme(self) -> str:
        return LibraryIndex(self.vectors, self.embedder).scheme

    @property
    def stores(self) -> Stores:
        return Stores(self.documents)

    @property
    def reindexings(self) -> Reindexings:
        return Reindexings(self.documents)

    def build_deps(self, injector: FaultInjector | None = None) -> ReindexDeps:
        def wrap(port: Any) -> Any:
            return WatchedPort(port, injector) if injector else port

        documents, vectors = wrap(self.documents), wrap(self.vectors)
        return ReindexDeps(
            identity=IDENTITY,
            service_identity=SERVICE_IDENTITY,
            clock=self.clock,
            user_list=documents,
            reindexings=Reindexings(documents),
            tasks=wrap(self.tasks),
            stores=Stores(documents),
            blobs=wrap(self.blobs),
            index=LibraryIndex(vectors, self.embedder, awaits_embedder=True),
            file_index=FileIndex(vectors, self.embedder, awaits_embedder=True),
        )

    async def add(self, uid: UserId, *, conversations: int = 1) -> None:
        """Store a library as an earlier version indexed it: by words alone, under its own number."""
        for n in range(conversations):
            conversation = Conversation(
                id=ConversationId(f"c{n}"),
                created_at=self.clock.now(),
                started_at=self.clock.now() + timedelta(minutes=n),
                finished_at=self.clock.now() + timedelta(minutes=n),
                transcript_segments=(Segment(text=f"The heron {n}", speaker="Bea"),),
            )
            stored = await Conversations(self.documents).add(uid, conversation)
            whole = replace(stored, transcript_segments=conversation.transcript_segments)
            chunk_count = await LibraryIndex(self.vectors).put(uid, whole)
            fields = {"status": "completed", "chunk_count": chunk_count}
            path = conversation_path(uid, conversation.id)
            await self.documents.write(Update(path, fields))
        memory = Memory(
            id=MemoryId("m"),
            content="Has a boat",
            category="system",
            created_at=self.clock.now(),
            updated_at=self.clock.now(),
        )
        await self.documents.write(Set(memory_path(uid, memory.id), dump(memory)))
        file = File(
            id=FileId("f"), created_at=self.clock.now(), name="f.pdf", size=9, status="ready"
        )
        await self.stores.files.add(uid, file)
        await store_pages(self.blobs, uid, file.id, [Page(number=1, text="The keel is of oak.")])
        rows = await self.load_rows(uid)
        old = [replace(r, metadata={**r.metadata, "index_version": 4}) for r in rows.values()]
        await self.vectors.upsert(uid, old)

    async def load_rows(self, uid: UserId) -> dict[str, Any]:
        ids = [f"{uid}-c{n}{end}" for n in range(2 * ITEMS_A_STEP) for end in ("", "#0")]
        return await self.vectors.fetch(uid, [*ids, f"{uid}-m#m", f"{uid}-f#f0"])

    async def start(self, name: str = "first") -> Reindexing:
        new = Reindexing(
            attempt=name, scheme=self.scheme, users_per_second=2.0, advanced_at=self.clock.now()
        )
        return await start(self.reindexings, self.tasks, new)

    async def deliver(self, task: CreatedTask, deps: ReindexDeps | None = None) -> None:
        body = task.body
        deps = deps or self.build_deps()
        if "uid" in body:
            await reindex_user(deps, ReindexStep(**body))
        else:
            await list_users(deps, body["attempt"], body["page"])

    async def deliver_all(self, *, times: int = 1) -> None:
        """Deliver every task, in the order in which they were created."""
        while self.delivered < len(self.tasks.created):
            for _ in range(times):
                await self.deliver(self.tasks.created[self.delivered])
            self.delivered += 1

    async def check_done(self, *users: UserId) -> None:
        """Every row of these users is new, has its dense values if any, and all is found."""
        for uid in users:
            rows = await self.load_rows(uid)
            assert {row.metadata["index_version"] for row in rows.values()} == {INDEX_VERSION}
            assert all(row.dense for row in rows.values())
            assert {f"{uid}-c0", f"{uid}-c0#0", f"{uid}-m#m", f"{uid}-f#f0"} <= rows.keys()
            profile = await self.stores.profiles.get(uid)
            assert (profile.index_scheme, profile.next_index_scheme) == (self.scheme, None)
        progress = await self.reindexings.count_users(self.scheme)
        assert (progress.done, progress.pending, progress.is_done) == (len(users), 0, True)

    async def finds(self, uid: UserId) -> bool:
        search = Search(self.documents, self.vectors, self.embedder)
        return bool(await search.search_conversations(uid, "heron", limit=5))


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    with closing(MemoryDatabase()) as database:
        yield build_fleet(database)


def build_fleet(database: MemoryDatabase) -> Fleet:
    return Fleet(SqliteDocuments(database, INDEXES), SqliteVectors(database))


@pytest.fixture
async def users(fleet: Fleet) -> Sequence[UserId]:
    for uid in ALL:
        await fleet.add(uid)
    return ALL


@pytest.mark.parametrize("times", [1, 2])
async def test_the_rows_of_every_user_are_built_anew_also_if_tasks_are_repeated_d4(
    fleet: Fleet, users: Sequence[UserId], times: int
):
    await fleet.start()

    await fleet.deliver_all(times=times)

    await fleet.check_done(*users)
    names = [task.name for task in fleet.tasks.created]
    assert len(set(names)) == len(names) == 1 + len(users) * len(PARTS)


async def test_users_are_begun_at_the_rate_of_the_run_page_by_page_d4(fleet: Fleet):
    everybody = [UserId(f"u{n:03}") for n in range(USERS_A_PAGE + 2)]
    for uid in everybody:
        await fleet.stores.profiles.change(uid, name="Somebody")

    await fleet.start()
    await fleet.deliver(fleet.tasks.created[0])

    first_page = [task for task in fleet.tasks.created if "uid" in task.body]
    assert [task.body["uid"] for task in first_page] == everybody[:USERS_A_PAGE]
    assert [(task.at - fleet.clock.now()).total_seconds() for task in first_page if task.at] == [
        n / 2 for n in range(USERS_A_PAGE)
    ]
    next_page = fleet.tasks.created[-1]
    assert next_page.body == {"attempt": "first", "page": 1}
    assert next_page.at == fleet.clock.now() + timedelta(seconds=USERS_A_PAGE / 2)

    await fleet.deliver_all()
    assert (await fleet.reindexings.count_users(fleet.scheme)).done == len(everybody)


async def test_a_large_library_takes_a_step_for_each_page_d4(fleet: Fleet):
    await fleet.add(ANN, conversations=ITEMS_A_STEP + 1)
    await fleet.start()

    await fleet.deliver_all()

    await fleet.check_done(ANN)
    assert [task.body.get("part") for task in fleet.tasks.created[1:]] == [PARTS[0], *PARTS]


async def test_a_process_that_dies_at_any_call_leaves_nothing_undone_or_unfound_d4():
    """The queue repeats the task that died, before or after what the call did."""
    crashes = 0
    for fails_after_effect in (False, True):
        for at in range(1, 1_000):
            injector = FaultInjector(fail_at_call=at, fails_after_effect=fails_after_effect)
            with closing(MemoryDatabase()) as database:
                fleet = build_fleet(database)
                await fleet.add(ANN)
                await fleet.add(BEN)
                await fleet.start()
                await run_with_crash(fleet, injector)
                await fleet.check_done(ANN, BEN)
            if not injector.failure_count:
                break
            crashes += 1
    assert crashes > 2 * len(PARTS) * 2


async def run_with_crash(fleet: Fleet, injector: FaultInjector) -> None:
    while fleet.delivered < len(fleet.tasks.created):
        task = fleet.tasks.created[fleet.delivered]
        try:
            await fleet.deliver(task, fleet.build_deps(injector))
        except Crash:
            assert await fleet.finds(ANN)
            assert await fleet.finds(BEN)
            injector.is_down = False
            await fleet.deliver(task)
        fleet.delivered += 1
        assert await fleet.finds(ANN)
        assert await fleet.finds(BEN)


@pytest.mark.usefixtures("users")
async def test_who_was_erased_since_they_were_listed_gets_nothing_written_d4(fleet: Fleet):
    await fleet.start()
    await fleet.deliver(fleet.tasks.created[0])
    steps = [task for task in fleet.tasks.created if task.body.get("uid") == BEN]
    await fleet.deliver(steps[0])

    await fleet.documents.delete_tree(f"users/{BEN}")
    await fleet.vectors.delete_namespace(BEN)
    await fleet.deliver_all()

    await fleet.check_done(ANN, CLEO)
    assert await fleet.documents.delete_tree(f"users/{BEN}") == 0
    assert await fleet.load_rows(BEN) == {}


async def test_a_second_run_at_once_joins_the_first_d4(fleet: Fleet, users: Sequence[UserId]):
    first = await fleet.start("first")

    second = await fleet.start("second")
    await fleet.deliver_all()
    third = await fleet.start("third")
    await fleet.deliver_all()

    assert (second, third.attempt) == (first, "third")
    await fleet.check_done(*users)
    assert sum("uid" in task.body for task in fleet.tasks.created) == len(users) * len(PARTS)


async def test_an_abandoned_run_goes_on_where_it_was_and_its_tasks_end_d4(fleet: Fleet):
    everybody = [UserId(f"u{n:03}") for n in range(USERS_A_PAGE + 2)]
    for uid in everybody:
        await fleet.stores.profiles.change(uid, name="Somebody")
    await fleet.start("first")
    await fleet.deliver(fleet.tasks.created[0])
    fleet.clock.advance(seconds=ABANDONED_AFTER.total_seconds())

    resumed = await fleet.start("second")
    old_page = CreatedTask(REINDEX_TARGET, "late", {"attempt": "first", "page": 1}, None)
    await fleet.deliver(old_page)

    assert (resumed.attempt, resumed.page) == ("second", 1)
    assert await fleet.reindexings.get() == resumed
    await fleet.deliver_all()
    progress = await fleet.reindexings.count_users(fleet.scheme)
    assert (progress.done, progress.is_done) == (len(everybody), True)


async def test_another_scheme_does_everybody_again_and_the_same_one_nobody_d4(
    fleet: Fleet, users: Sequence[UserId]
):
    await fleet.start("first")
    await fleet.deliver_all()

    fleet.embedder.name = "another"
    await fleet.start("second")
    await fleet.deliver_all()

    await fleet.check_done(*users)
    assert sum("uid" in task.body for task in fleet.tasks.created) == 2 * len(users) * len(PARTS)


async def test_nobody_is_done_while_the_embedder_is_down_d4(fleet: Fleet, users: Sequence[UserId]):
    await fleet.start()
    fleet.embedder.is_down = True

    with pytest.raises(Unavailable):
        await fleet.deliver_all()
    assert await fleet.finds(ANN)

    fleet.embedder.is_down = False
    await fleet.deliver_all()
    await fleet.check_done(*users)


async def test_watching_ends_when_every_user_is_done_d4(fleet: Fleet, users: Sequence[UserId]):
    await fleet.start()
    seen = []

    async def sleep(_: float) -> None:
        await fleet.deliver(fleet.tasks.created[fleet.delivered])
        fleet.delivered += 1
        seen.append((await fleet.reindexings.count_users(fleet.scheme)).pending)

    progress = await watch(fleet.reindexings, fleet.scheme, sleep)

    assert (progress.done, progress.pending) == (len(users), 0)
    assert seen[0] == len(users)
    assert seen[-1] == 0


async def test_tasks_of_pages_and_users_arrive_at_one_entry_point_d4(
    fleet: Fleet, users: Sequence[UserId]
):
    await fleet.start()
    headers = await build_service_headers("reindex_users")

    async with open_client("reindex_users", REINDEX_ROUTES, fleet.build_deps(), headers) as client:
        for task in fleet.tasks.created:
            assert (await client.post("/", json=dict(task.body))).status_code == 204

    await fleet.check_done(*users)

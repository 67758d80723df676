"""Erasure: tokens and work from before it are refused, on every instance, on both stores (S6)."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.library.account.erase_account import erase
from functions.library.deps import EraseDeps
from shared.adapters.embedded.disk_blobs import DiskBlobs
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.erasure_guard import (
    ErasureFence,
    FencedBlobs,
    FencedDocuments,
    FencedEvents,
    FencedTasks,
    FencedVectors,
    GuardedIdentity,
)
from shared.data.account.erasures import ErasureCache, Erasures
from shared.data.account.sign_outs import SignOutCache, SignOuts
from shared.data.apps.app_reviews import AppReviews
from shared.data.apps.apps import Apps
from shared.data.chats.crisis_log import CrisisLog
from shared.data.stores import Stores
from shared.domain.account.account import TokenCheck, VerifiedToken, round_up_to_second
from shared.domain.apps.app import App
from shared.domain.errors import AccountErased, NotAuthenticated, PreconditionFailed, Unavailable
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Create, Delete, Set, Update
from shared.domain.store.vectors import Row, SparseVector
from shared.edge.declare.problems import to_problem
from shared.ports import Documents
from shared.security.pseudonyms import Pseudonyms
from tests.fakes import CountingIds, FixedClock, RecordingEvents, RecordingTasks, ScriptedModel
from tests.fixtures.chat import PSEUDONYMS
from tests.fixtures.library import build_erasures
from tests.fixtures.processing import (
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.fixtures.storage import INDEXES, MemoryDatabase
from tests.functions.library.account.test_account import (
    GRACE,
    DisconnectingToolBox,
    PatientClock,
    build_erase_deps,
    find_traces,
)
from tests.functions.process_conversation.test_interruptions import Interruption

ZAPHOD = UserId("zaphod-4711")
STALENESS = GRACE - timedelta(seconds=1)


class NoResidualData:
    async def erase(self, uid: UserId) -> None:
        """Find nothing."""


class NoVectors:
    async def delete_namespace(self, namespace: str) -> None:
        """Find nothing."""


class NoBlobs:
    async def delete_tree(self, prefix: str) -> None:
        """Find nothing."""


class IssuedIdentity:
    """Takes the time at which a token was issued as the token."""

    async def verify(self, token: str, *, check: TokenCheck = "standard") -> VerifiedToken:
        return VerifiedToken(uid=ZAPHOD, issued_at=datetime.fromisoformat(token))


def issue(instant: datetime) -> str:
    """Issue a token, which says whole seconds only."""
    return instant.replace(microsecond=0).isoformat()


def build_deps(documents: Documents, clock: FixedClock) -> EraseDeps:
    unused: Any = None
    vectors: Any = NoVectors()
    blobs: Any = NoBlobs()
    return EraseDeps(
        identity=unused,
        service_identity=unused,
        clock=PatientClock(clock),
        new_id=CountingIds(),
        stores=Stores(documents),
        erasures=build_erasures(documents),
        toolbox=DisconnectingToolBox(unused),
        vectors=vectors,
        blobs=blobs,
        residual_data=NoResidualData(),
        crisis_log=CrisisLog(documents, PSEUDONYMS),
        grace=GRACE,
    )


def build_instance(documents: Documents, clock: FixedClock) -> GuardedIdentity:
    """Build what one instance verifies users with; each has a cache of its own."""
    cache = ErasureCache(build_erasures(documents), clock, STALENESS)
    sign_outs = SignOutCache(SignOuts(documents), clock, STALENESS)
    return GuardedIdentity(IssuedIdentity(), cache.get, sign_outs.find)


async def accepts(identity: GuardedIdentity, token: str, check: TokenCheck = "standard") -> bool:
    try:
        await identity.verify(token, check=check)
    except NotAuthenticated:
        return False
    return True


async def test_a_token_is_judged_by_the_second_in_which_it_was_issued_s6(any_documents):
    clock = FixedClock()
    clock.advance(seconds=0.4)
    before = issue(clock.now())
    erasure = await build_erasures(any_documents).begin(ZAPHOD, clock.now())
    await erase(build_deps(any_documents, clock), erasure.id, is_sweep=False)
    instance = build_instance(any_documents, clock)
    last_second = issue(clock.now() - timedelta(milliseconds=1))

    assert not await accepts(instance, before)
    assert not await accepts(instance, last_second)
    assert await accepts(instance, issue(clock.now()))


async def test_while_an_erasure_is_under_way_only_its_own_routes_answer_s6(any_documents):
    clock = FixedClock()
    await build_erasures(any_documents).begin(ZAPHOD, clock.now())
    instance, token = build_instance(any_documents, clock), issue(clock.now())

    assert not await accepts(instance, token)
    assert not await accepts(instance, token, "revocation")
    assert await accepts(instance, token, "erasure_request")
    assert await accepts(instance, token, "erasure_status")


async def test_an_old_token_cannot_request_another_erasure_s6(documents):
    clock = FixedClock()
    token = issue(clock.now())
    erasure = await build_erasures(documents).begin(ZAPHOD, clock.now())
    await erase(build_deps(documents, clock), erasure.id, is_sweep=False)
    instance = build_instance(documents, clock)

    assert not await accepts(instance, token, "erasure_request")
    assert await accepts(instance, token, "erasure_status")


@given(
    read_at=st.floats(min_value=0, max_value=20),
    requested_at=st.floats(min_value=0, max_value=20),
    asks_after=st.floats(min_value=0, max_value=20),
)
def test_no_instance_accepts_an_old_token_once_an_erasure_is_done_s6(
    read_at, requested_at, asks_after
):
    """Whenever it looked last, and whichever part of a second it is."""

    async def play() -> None:
        documents, clock = SqliteDocuments(MemoryDatabase(), INDEXES), FixedClock()
        start = clock.now()
        instance = build_instance(documents, clock)
        token = issue(start + timedelta(seconds=requested_at))
        for moment in sorted({read_at, requested_at}):
            clock.time = start + timedelta(seconds=moment)
            if moment == read_at:
                await accepts(instance, token)
            if moment == requested_at:
                erasure = await build_erasures(documents).begin(ZAPHOD, clock.now())
        clock.time = max(clock.time, start + timedelta(seconds=requested_at))
        await accepts(instance, token)
        await erase(build_deps(documents, clock), erasure.id, is_sweep=False)
        fresh_token = issue(clock.now())
        clock.advance(seconds=asks_after)

        assert not await accepts(instance, token)
        assert await accepts(instance, fresh_token)

    asyncio.run(play())


async def test_a_lookup_is_repeated_only_when_it_is_stale_s6(documents):
    clock, reads = FixedClock(), 0

    class CountedErasures(Erasures):
        async def get(self, uid: UserId) -> Any:
            nonlocal reads
            reads += 1
            return await super().get(uid)

    cache = ErasureCache(CountedErasures(documents, Pseudonyms(b"k")), clock, STALENESS)
    for _ in range(100):
        await cache.get(ZAPHOD)
    assert reads == 1
    clock.advance(seconds=STALENESS.total_seconds())
    await cache.get(ZAPHOD)
    assert reads == 2


async def test_two_attempts_do_not_erase_at_once_s6(any_documents):
    """The slower one would delete what its owner writes after the end."""
    clock = FixedClock()
    erasures = build_erasures(any_documents)
    erasure = await erasures.begin(ZAPHOD, clock.now())
    first = await erasures.claim(erasure.id, "first", clock.now(), is_sweep=False)
    assert first is not None

    with pytest.raises(Unavailable):
        await erase(build_deps(any_documents, clock), erasure.id, is_sweep=False)
    clock.advance(seconds=60)
    await erase(build_deps(any_documents, clock), erasure.id, is_sweep=False)

    with pytest.raises(Unavailable):
        await erasures.save(replace(first, documents=9))


async def test_a_finished_erasure_keeps_a_keyed_hash_and_instants_s6(documents, database):
    clock = FixedClock()
    deps = build_deps(documents, clock)
    erasure = await build_erasures(documents).begin(ZAPHOD, clock.now())
    for is_sweep in (False, True):
        await erase(deps, erasure.id, is_sweep=is_sweep)

    stored_erasure = await build_erasures(documents).get(ZAPHOD)

    assert stored_erasure is not None
    assert stored_erasure.subject is None
    assert stored_erasure.id != Pseudonyms(b"another key").hash(ZAPHOD)
    assert await find_traces(database, ZAPHOD) == []


def build_fence(
    documents: Documents,
    clock: FixedClock,
    began_at: datetime,
    *,
    staleness: timedelta = timedelta(0),
) -> ErasureFence:
    erasures = build_erasures(documents)
    cache = ErasureCache(erasures, clock, staleness)

    def measure_elapsed_s() -> float:
        return (clock.now() - began_at).total_seconds()

    return ErasureFence(cache.get, erasures.get, clock, measure_elapsed_s)


PATH = f"users/{ZAPHOD}/memories/m1"
WRITES = (
    Create(PATH, {"n": 1}),
    Set(PATH, {"n": 1}),
    Update(PATH, {"n": 1}),
    Create("apps/a1", {"owner": ZAPHOD}),
    Create("task_shares/s1", {"uid": ZAPHOD}),
    Set("dead_letters/d1", {"ids": {"uid": ZAPHOD}}),
)


@pytest.mark.parametrize("is_done", [False, True])
@pytest.mark.parametrize("write", WRITES)
async def test_work_from_before_an_erasure_cannot_write_s6(any_documents, write, is_done):
    clock = FixedClock()
    fenced = FencedDocuments(any_documents, build_fence(any_documents, clock, clock.now()))
    erasure = await build_erasures(any_documents).begin(ZAPHOD, clock.now())
    if is_done:
        await erase(build_deps(any_documents, clock), erasure.id, is_sweep=False)

    async def work(tx):
        await tx.get(PATH)
        tx.write(write)

    with pytest.raises(PreconditionFailed):
        await fenced.write(write)
    with pytest.raises(PreconditionFailed):
        await fenced.transaction(work)

    assert await any_documents.get(write.path) is None
    await fenced.write(Delete(PATH))
    await fenced.write(Set("users/arthur/memories/m1", {"n": 1}))


@pytest.mark.parametrize("after", [False, True])
async def test_a_review_that_is_written_during_an_erasure_goes_too_s6(after):
    """The instance that writes it learns of the erasure late; the review leads to nobody."""
    for at in range(1, 60):
        database = MemoryDatabase()
        clock = FixedClock()
        documents = SqliteDocuments(database, INDEXES)
        app = App(id=AppId("babel"), owner=UserId("arthur"), name="Babel", created_at=clock.now())
        await Apps(documents).create(app)
        fence = build_fence(documents, clock, clock.now(), staleness=STALENESS)
        await fence.is_shut(ZAPHOD)  # it is in the cache now that there is no erasure
        reviews = AppReviews(FencedDocuments(documents, fence))

        async def review(
            reviews: AppReviews = reviews, app: App = app, clock: FixedClock = clock
        ) -> None:
            with suppress(AccountErased):
                await reviews.put(
                    app, ZAPHOD, points=5, text="Useful", username="Zaphod", now=clock.now()
                )

        interruption = Interruption(at, review, after)
        watched = interruption.wrap("documents", documents)
        erasure = await build_erasures(watched).begin(ZAPHOD, clock.now())
        await erase(build_deps(watched, clock), erasure.id, is_sweep=False)
        left = await AppReviews(documents).list_newest(app.id)
        rating = (await Apps(documents).get(app.id)).rating
        database.close()
        if not interruption.done:
            break
        assert (left, rating.count) == ([], 0), f"written at call {at}"

    assert 10 < at < 60


async def test_work_from_after_an_erasure_writes_s6(any_documents):
    clock = FixedClock()
    erasure = await build_erasures(any_documents).begin(ZAPHOD, clock.now())
    await erase(build_deps(any_documents, clock), erasure.id, is_sweep=False)
    fenced = FencedDocuments(any_documents, build_fence(any_documents, clock, clock.now()))

    await fenced.write(Set(PATH, {"n": 1}))

    assert await any_documents.get(PATH) is not None


async def test_work_from_before_an_erasure_sends_indexes_and_keeps_nothing_s6(
    documents, vectors, tmp_path
):
    clock, events, tasks = FixedClock(), RecordingEvents(), RecordingTasks()
    fence = build_fence(documents, clock, clock.now())
    await build_erasures(documents).begin(ZAPHOD, clock.now())
    row = Row(id="r1", sparse=SparseVector((1,), (1.0,)), dense=None, metadata={})

    await FencedEvents(events, fence).publish("turn.ended", {"uid": ZAPHOD})
    await FencedEvents(events, fence).publish("turn.ended", {"uid": "arthur"})
    await FencedTasks(tasks, fence).create("close_run", "close-1", {"uid": ZAPHOD})
    with pytest.raises(PreconditionFailed):
        await FencedVectors(vectors, fence).upsert(ZAPHOD, [row])
    with pytest.raises(PreconditionFailed):
        await FencedBlobs(DiskBlobs(tmp_path), fence).write(
            f"users/{ZAPHOD}/a", b"x", media_type="text/plain"
        )

    assert events.published == [("turn.ended", {"uid": "arthur"})]
    assert tasks.created == []
    assert await vectors.fetch(ZAPHOD, ["r1"]) == {}
    assert [*tmp_path.glob("users")] == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 16))
async def test_an_erasure_during_the_processing_of_a_conversation_needs_no_sweep_s6(
    database, at, after
):
    """The processor has claimed the conversation while its owner is erased, and goes on then."""

    async def erase_owner() -> None:
        erasure = await build_erasures(world.documents).begin(ZAPHOD, world.clock.now())
        await erase(build_erase_deps(world), erasure.id, is_sweep=False)

    interruption = Interruption(at, erase_owner, after=after)

    def wrap(name: str, port: Any) -> Any:
        fences: dict[str, Callable[..., Any]] = {
            "documents": FencedDocuments,
            "vectors": FencedVectors,
            "events": FencedEvents,
        }
        return interruption.wrap(name, fences[name](port, fence) if name in fences else port)

    clock = FixedClock()
    fence = build_fence(SqliteDocuments(database, INDEXES), clock, clock.now())
    model = ScriptedModel(answers=build_script(build_outputs()))
    world = build_processing_fixture(database, model, wrap, clock=clock)
    await world.write(build_test_conversation(), ZAPHOD)
    with suppress(Unavailable, PreconditionFailed):  # the attempt asks to be called again
        await world.deliver_all()

    assert interruption.done or interruption.calls < at
    if interruption.done:
        assert await find_traces(database, ZAPHOD) == []


def test_the_end_is_a_whole_second_after_every_token_of_before():
    instant = FixedClock().now()

    assert round_up_to_second(instant) == instant + timedelta(seconds=1)
    assert round_up_to_second(instant + timedelta(seconds=0.999)) == instant + timedelta(seconds=1)


def test_a_request_that_an_erasure_overtakes_is_answered_gone_s6():
    problem = to_problem(AccountErased("This account was erased"))

    assert problem.status_code == 410
    assert b"This account was erased" in problem.body

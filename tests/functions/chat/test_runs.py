"""An answer in progress, seen from outside: followed, resumed, stopped, repeated, closed (X33–X36)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import anyio
import pytest

from functions.chat import guards, sessions, thread
from functions.chat.accepting import prepare
from functions.chat.closing import close, close_run
from functions.chat.following import follow
from functions.chat.journal import Journal
from functions.chat.live import LiveRun, LiveRuns
from functions.chat.repeats import Key
from functions.chat.turn import answer
from functions.chat.wiring import ChatDeps
from shared.domain.chat import MAIN_SESSION, Message
from shared.domain.documents import Write
from shared.domain.errors import NotFound, Unavailable
from shared.domain.ids import RunId, SessionId
from shared.domain.model import ReasoningDelta, TextDelta
from shared.domain.run import LEASE, Ended, Numbered, Said
from tests.doubles import CountingIds, ScriptedModel, Step, calls, says
from tests.faults import Faulty, error, lost, well
from tests.functions.chat.conftest import ADA, EVE, RecordingTasks, World


class Watched:
    """Documents that tell when something was written."""

    def __init__(self, world: World) -> None:
        self._documents = world.documents
        self._written = anyio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._documents, name)

    async def write(self, *writes: Write) -> None:
        await self._documents.write(*writes)
        if any("/batches/" in write.path for write in writes):
            self._written.set()
            self._written = anyio.Event()

    async def flushed(self, world: World) -> None:
        """Let half a second pass, and wait until what was told is stored."""
        written = self._written
        await anyio.wait_all_tasks_blocked()
        world.clock.pass_(seconds=0.5)
        await written.wait()


@asynccontextmanager
async def running(deps: ChatDeps, text: str = "Hello") -> AsyncIterator[RunId]:
    """Run a turn until it has told its first word; it goes on while the block lasts."""
    turn = await prepare(deps, ADA, text, None)
    journal = Journal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer, deps, turn, journal)
        async for told in journal.tail():
            if isinstance(told.event, Said):
                break
        yield turn.run_id


async def told(deps: ChatDeps, run_id: RunId) -> list[Numbered]:
    return [numbered async for numbered in follow(deps, ADA, run_id)]


async def rest(world: World, following: AsyncIterator[Numbered]) -> list[Numbered]:
    """Read to the end while time passes."""
    events: list[Numbered] = []

    async def read() -> None:
        events.extend([numbered async for numbered in following])
        reading.cancel_scope.cancel()

    async with anyio.create_task_group() as reading:
        reading.start_soon(read)
        while True:
            await world.passes(seconds=0.5)
    return events


def text_of(events: list[Numbered]) -> str:
    return "".join(n.event.text for n in events if isinstance(n.event, Said))


def end_of(events: list[Numbered]) -> Ended:
    ends = [n.event for n in events if isinstance(n.event, Ended)]
    assert ends == [events[-1].event], "exactly one Ended, and nothing after it"
    return ends[0]


async def stored(deps: ChatDeps) -> list[Message]:
    return list(reversed(await deps.messages.newest(ADA, MAIN_SESSION, limit=100)))


async def test_x36_another_process_tells_the_same_from_the_store(world: World) -> None:
    with ScriptedModel(
        calls(("get_memories", {}), text="Let me see."), says("Hi ", "Ada")
    ) as model:
        here = world.deps(model)
        turn = await prepare(here, ADA, "Hello", None)
        journal = Journal()
        await answer(here, turn, journal)

    live = [numbered async for numbered in journal.tail()]
    assert await told(world.deps(), turn.run_id) == live


async def test_x36_a_run_in_progress_is_followed_from_another_process(world: World) -> None:
    documents, held = Watched(world), anyio.Event()
    with ScriptedModel([TextDelta("Half"), held.wait, TextDelta(" and half")]) as model:
        here = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with running(here) as run_id:
            await documents.flushed(world)
            following = follow(world.deps(), ADA, run_id)
            early = [await anext(following), await anext(following), await anext(following)]
            held.set()
        late = await rest(world, following)

    assert text_of(early) == "Half"
    assert end_of(early + late).message == (await stored(here))[-1]
    assert text_of(early + late) == "Half and half"


async def test_x34_stopping_keeps_exactly_what_was_said_and_closes_the_model(world: World) -> None:
    with ScriptedModel([TextDelta("One "), TextDelta("two"), anyio.sleep_forever]) as model:
        deps = world.deps(model)
        async with running(deps) as run_id:
            live = deps.live.find(ADA, run_id)
            assert live is not None
            live.end("stopped")

    end = end_of(await told(deps, run_id))
    assert (end.outcome, end.message.text) == ("stopped", "One two")
    assert end.message.metadata["stop_reason"] == "user_cancelled"
    assert (await stored(deps))[-1] == end.message
    assert model.open_streams == 0


async def test_x34_a_stop_from_another_process_is_seen_within_half_a_second(world: World) -> None:
    documents = Watched(world)
    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        here = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with running(here) as run_id:
            await world.deps().runs.request_stop(ADA, run_id)
            await documents.flushed(world)

    assert end_of(await told(here, run_id)).outcome == "stopped"


async def test_x34_an_answer_stopped_before_its_first_word_says_so(world: World) -> None:
    with ScriptedModel([anyio.sleep_forever]) as model:
        deps = world.deps(model)
        turn = await prepare(deps, ADA, "Hello", None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, deps, turn, Journal())
            await anyio.wait_all_tasks_blocked()
            deps.live.find(ADA, turn.run_id).end("stopped")  # type: ignore[union-attr]

    assert [m.text for m in await stored(deps)] == ["Hello", guards.STOPPED]


async def test_a_process_that_goes_interrupts_all_its_runs_and_those_that_come_late(
    world: World,
) -> None:
    stalls: list[Step] = [TextDelta("One"), anyio.sleep_forever]
    with ScriptedModel(stalls, stalls, stalls) as model:
        deps = world.deps(model)
        async with running(deps) as first, running(deps, "Again") as second:
            deps.live.close()
        late = await prepare(deps, ADA, "Late", None)
        await answer(deps, late, Journal())

    outcomes = [end_of(await told(deps, run)).outcome for run in (first, second, late.run_id)]
    assert outcomes == ["interrupted"] * 3


@asynccontextmanager
async def dead(
    world: World, *script: Step, session_id: SessionId | None = None
) -> AsyncIterator[RunId]:
    """Yield a run whose process died after its first flush: nothing it does reaches the store."""
    documents = Watched(world)
    with ScriptedModel([*script, anyio.sleep_forever]) as model:
        here = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        turn = await prepare(here, ADA, "Hello", None, session_id)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, here, turn, Journal())
            await documents.flushed(world)
            documents.write = documents.get = _unplugged  # type: ignore[method-assign, attr-defined]
            yield turn.run_id
            tasks.cancel_scope.cancel()


async def _unplugged(*_: object) -> None:
    raise RuntimeError("this process is dead: it tries nothing again")


@pytest.mark.parametrize(
    ("said", "kept"), [("Half an answer", "Half an answer"), ("", guards.INTERRUPTED)]
)
async def test_a_run_whose_process_died_is_closed_by_its_task_with_what_was_flushed(
    world: World, said: str, kept: str
) -> None:
    script = [TextDelta(said)] if said else []
    async with dead(world, *script) as run_id:
        deps = world.deps()
        with pytest.raises(Unavailable):
            await close_run(deps.runs, ADA, run_id, now=world.clock.now())
        world.clock.pass_(seconds=10)
        for _ in range(2):
            await close_run(deps.runs, ADA, run_id, now=world.clock.now())
        end = end_of(await told(deps, run_id))

    assert (end.outcome, end.message.text) == ("interrupted", kept)
    assert await stored(deps) == [(await stored(deps))[0], end.message]
    session = await deps.sessions.get(ADA, MAIN_SESSION)
    assert session is not None
    assert session.message_count == 2


async def test_whoever_follows_a_lapsed_run_closes_it(world: World) -> None:
    async with dead(world, TextDelta("Half")) as run_id:
        world.clock.pass_(seconds=10)
        end = end_of(await told(world.deps(), run_id))

    assert (end.outcome, end.message.text) == ("interrupted", "Half")


async def test_whoever_lists_a_chat_closes_its_lapsed_run(world: World) -> None:
    async with dead(world, TextDelta("Half")):
        early = await thread.newest(world.deps(), ADA, None)
        world.clock.pass_(seconds=10)
        late = await thread.newest(world.deps(), ADA, None)

    assert [[m.text for m in page] for page in (early, late)] == [["Hello"], ["Half", "Hello"]]


async def test_a_run_whose_chat_was_deleted_is_gone_with_it(world: World) -> None:
    deps = world.deps()
    chat = await sessions.create(deps, ADA, "Garden", None)
    async with dead(world, TextDelta("Half"), session_id=chat.id) as run_id:
        await sessions.delete(deps, ADA, chat.id)
        world.clock.pass_(seconds=10)
        with pytest.raises(NotFound):
            await anext(follow(deps, ADA, run_id))
        await close_run(deps.runs, ADA, run_id, now=world.clock.now())


async def test_an_answer_in_progress_leaves_nothing_behind_of_what_was_erased(world: World) -> None:
    """P30: neither its journal nor its chat begins anew."""
    documents = Watched(world)
    with ScriptedModel([TextDelta("Half"), anyio.sleep_forever]) as model:
        here = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with running(here):
            await world.documents.delete_tree(f"users/{ADA}")
            await documents.flushed(world)

    assert await world.documents.delete_tree(f"users/{ADA}") == 0


async def test_a_reader_elsewhere_of_a_chat_that_is_deleted_meanwhile_finds_nothing_more(
    world: World,
) -> None:
    deps = world.deps()
    chat = await sessions.create(deps, ADA, "Garden", None)
    async with dead(world, TextDelta("Half"), session_id=chat.id) as run_id:
        following = follow(deps, ADA, run_id)
        early = [await anext(following) for _ in range(3)]
        await sessions.delete(deps, ADA, chat.id)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_pass_half_a_second, world)
            with pytest.raises(NotFound):
                await anext(following)

    assert text_of(early) == "Half"


async def _pass_half_a_second(world: World) -> None:
    await anyio.wait_all_tasks_blocked()
    world.clock.pass_(seconds=0.5)


async def test_two_processes_that_begin_one_question_at_once_give_one_answer(world: World) -> None:
    held, key = anyio.Event(), Key(text="k1", fingerprint="f1")
    with ScriptedModel([TextDelta("One"), held.wait]) as model, ScriptedModel(says("Two")) as spare:
        here, there = world.deps(model), replace(world.deps(spare), new_id=CountingIds("b"))
        turns = [await prepare(deps, ADA, "Hello", None, key=key) for deps in (here, there)]
        journals = [Journal(), Journal()]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, here, turns[0], journals[0])
            async for first in journals[0].tail():
                if isinstance(first.event, Said):
                    break
            await answer(there, turns[1], journals[1])
            held.set()
        run_id = turns[0].run_id
        heard = [n async for n in follow(there, ADA, run_id, journal=journals[1])]

    assert (end_of(heard).outcome, text_of(heard)) == ("completed", "One")
    assert [m.text for m in await stored(here)] == ["Hello", "One"]


async def test_the_end_of_a_closed_run_is_numbered_past_all_that_was_lost(world: World) -> None:
    async with dead(world, TextDelta("Half")) as run_id:
        world.clock.pass_(seconds=10)
        *_, end = await told(world.deps(), run_id)

    assert end.seq > 1_000_000


async def test_a_process_that_wakes_up_after_its_run_was_closed_tells_the_stored_end(
    world: World,
) -> None:
    documents, held = Watched(world), anyio.Event()
    with ScriptedModel([TextDelta("Half"), held.wait, TextDelta(" more")]) as model:
        here = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        turn = await prepare(here, ADA, "Hello", None)
        journal = Journal()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, here, turn, journal)
            await documents.flushed(world)
            lapsed = world.clock.now() + timedelta(seconds=10)
            await close_run(world.deps().runs, ADA, turn.run_id, now=lapsed)
            held.set()
            events = [n async for n in follow(here, ADA, turn.run_id, journal=journal)]

    end = end_of(events)
    assert (end.outcome, end.message.text) == ("interrupted", "Half")
    assert [m.text for m in await stored(here)] == ["Hello", "Half"]


async def test_the_lease_is_renewed_while_a_run_goes_on(world: World) -> None:
    documents = Watched(world)
    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        here = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with running(here) as run_id:
            world.clock.pass_(seconds=7)
            await documents.flushed(world)
            run = await here.runs.get(ADA, run_id, world.clock.now())
            assert run is not None
            assert run.lease_until - world.clock.now() > timedelta(seconds=9)
            here.live.close()


async def test_x34_a_run_is_kept_and_stopped_while_the_queue_of_tasks_hangs(world: World) -> None:
    documents = Watched(world)

    class Hanging(RecordingTasks):
        async def create(self, *_: object, **__: object) -> None:
            await anyio.sleep_forever()

    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        here = replace(world, documents=documents, tasks=Hanging()).deps(model)  # type: ignore[arg-type]
        async with running(here) as run_id:
            await world.deps().runs.request_stop(ADA, run_id)
            with anyio.fail_after(20):
                await documents.flushed(world)

    assert end_of(await told(here, run_id)).outcome == "stopped"


async def test_a_write_that_hangs_is_given_up_before_the_lease_runs_out(world: World) -> None:
    given_up = anyio.Event()

    class Hanging(Watched):
        async def write(self, *writes: Write) -> None:
            if not given_up.is_set() and any("/batches/" in write.path for write in writes):
                try:
                    await anyio.sleep_forever()
                finally:
                    given_up.set()
            await super().write(*writes)

    documents = Hanging(world)
    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        here = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with running(here) as run_id:
            await anyio.wait_all_tasks_blocked()
            world.clock.pass_(seconds=0.5)
            with anyio.fail_after(LEASE.total_seconds() / 2):
                await given_up.wait()
            await documents.flushed(world)
            kept = await here.runs.batches(ADA, run_id)
            here.live.close()

    assert Said("One") in kept[0].events


async def test_an_end_is_stored_by_the_last_attempt_though_a_part_of_it_stood_there(
    world: World,
) -> None:
    begun = [well] * 3  # no chat yet; the chat; the question
    documents, held = (
        Faulty(world.documents, write=[*begun, lost, error, error, error]),
        anyio.Event(),
    )
    with ScriptedModel([TextDelta("One"), held.wait, TextDelta(" two")]) as model:
        here = replace(world, documents=documents).deps(model)
        async with running(here) as run_id:
            await world.passes(seconds=0.5)
            while not documents.befallen:
                await anyio.wait_all_tasks_blocked()
            await world.passes()
            held.set()
            events = await rest(world, follow(here, ADA, run_id))

    assert end_of(events).outcome == "completed"
    assert end_of(await told(world.deps(), run_id)).message.text == "One two"


async def test_a_closing_task_is_left_for_every_run(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        deps = world.deps(model)
        turn = await prepare(deps, ADA, "Hello", None)
        await answer(deps, turn, Journal())

    due = turn.question.created_at + timedelta(seconds=180)
    ids = {"uid": ADA, "run_id": turn.run_id}
    assert world.tasks.created == [("close_run", f"close-{turn.run_id}", ids, due)]


async def test_nobody_elses_run_is_found(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        deps = world.deps(model)
        turn = await prepare(deps, ADA, "Hello", None)
        await answer(deps, turn, Journal())

    with pytest.raises(NotFound):
        await anext(follow(deps, EVE, turn.run_id))


async def test_a_run_that_never_began_is_told_as_not_saved_never_as_interrupted(
    world: World,
) -> None:
    class Refusing(Watched):
        async def write(self, *writes: Write) -> None:
            here.live.close()
            raise RuntimeError("refused while the process goes")

    with ScriptedModel([anyio.sleep_forever]) as model:
        here = replace(world, documents=Refusing(world)).deps(model)  # type: ignore[arg-type]
        turn = await prepare(here, ADA, "Hello", None)
        journal = Journal()
        await answer(here, turn, journal)

    end = end_of([numbered async for numbered in journal.tail()])
    assert (end.outcome, end.message.text) == ("failed", guards.NOT_SAVED)
    assert await stored(here) == []


async def test_nothing_is_let_out_before_the_question_is_stored(world: World) -> None:
    stored_now, spoken = anyio.Event(), anyio.Event()

    class Slow(Watched):
        async def write(self, *writes: Write) -> None:
            await stored_now.wait()
            await super().write(*writes)

    async def note() -> None:
        spoken.set()

    with ScriptedModel([note, *says("Hi")]) as model:
        deps = replace(world, documents=Slow(world)).deps(model)  # type: ignore[arg-type]
        turn = await prepare(deps, ADA, "Hello", None)
        journal = Journal()
        heard: list[Numbered] = []

        async def listen() -> None:
            heard.extend([numbered async for numbered in journal.tail()])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            tasks.start_soon(answer, deps, turn, journal)
            await spoken.wait()
            await anyio.wait_all_tasks_blocked()
            early = list(heard)
            stored_now.set()

    assert early == []
    assert text_of(heard) == "Hi"


async def test_a_lease_renewed_at_the_last_moment_keeps_its_run(world: World) -> None:
    async with dead(world, TextDelta("Half")) as run_id:
        runs = world.deps().runs
        world.clock.pass_(seconds=10)
        run = await runs.get(ADA, run_id, world.clock.now())
        assert run is not None
        await runs.append(ADA, run, lease_until=world.clock.now() + timedelta(seconds=10))
        await close(runs, ADA, run, now=world.clock.now())
        after = await runs.get(ADA, run_id, world.clock.now())

    assert after is not None
    assert after.outcome is None


async def test_of_two_runs_that_mean_to_be_one_the_first_stays_listed() -> None:
    runs, first, second = LiveRuns(), LiveRun(Journal()), LiveRun(Journal())
    with runs.holding(ADA, RunId("r1"), first):
        with runs.holding(ADA, RunId("r1"), second):
            pass

        assert runs.find(ADA, RunId("r1")) is first

    assert runs.find(ADA, RunId("r1")) is None


async def test_a_journal_larger_than_a_document_is_kept_in_pieces(world: World) -> None:
    long = "🌼" * 30_000
    reasoned = [ReasoningDelta("x" * 400_000)] * 5
    with ScriptedModel([*reasoned, TextDelta(long), TextDelta(long)]) as model:
        deps = world.deps(model)
        turn = await prepare(deps, ADA, "Hello", None)
        journal = Journal()
        await answer(deps, turn, journal)

    live = [numbered async for numbered in journal.tail()]
    assert await told(world.deps(), turn.run_id) == live
    assert len(await deps.runs.batches(ADA, turn.run_id)) > 4

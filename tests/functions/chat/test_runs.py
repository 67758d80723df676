"""Runs in progress: follow, resume, stop, repeat and close them (X33-X36)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import anyio
import pytest

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.close_run import close_as_interrupted
from functions.chat.runs.journal import Journal
from functions.chat.runs.lapsed_runs import require_closed
from functions.chat.runs.recorder import FLUSH_INTERVAL_S
from functions.chat.runs.run_events import stream_events
from functions.chat.runs.run_registry import ActiveRun, RunRegistry
from functions.chat.sessions import chat_messages, chat_sessions
from functions.chat.sessions.delete_chat import delete_chat
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.idempotency import IdempotencyKey
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.run import LEASE_TTL, AnswerText, RunEnded, SequencedEvent
from shared.domain.errors import NotFound, Unavailable
from shared.domain.ids import RunId, SessionId
from shared.domain.models.model import ReasoningDelta, TextDelta
from shared.domain.store.documents import Write
from tests.fakes import (
    CountingIds,
    RecordingTasks,
    ScriptedModel,
    ScriptedStep,
    script_answer,
    script_calls,
)
from tests.fault_injection import FaultyPort, lose_response, raise_unavailable, succeed
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_turn import list_stored

LEASE_S = LEASE_TTL.total_seconds() * 0.6
"""After so long the lease is due, and with it the journal."""


class WatchedDocuments:
    """Documents that signal each write."""

    def __init__(self, world: ChatFixture) -> None:
        self._documents = world.documents
        self._batch_written = anyio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._documents, name)

    async def write(self, *writes: Write) -> None:
        await self._documents.write(*writes)
        if any("/batches/" in write.path for write in writes):
            self._batch_written.set()
            self._batch_written = anyio.Event()

    async def wait_for_flush(self, world: ChatFixture) -> None:
        """Advance time until the lease is due, and wait until the events so far are stored."""
        batch_written = self._batch_written
        await anyio.wait_all_tasks_blocked()
        world.clock.advance(seconds=LEASE_S)
        await batch_written.wait()


@asynccontextmanager
async def run_until_first_text(deps: ChatDeps, text: str = "Hello") -> AsyncIterator[RunId]:
    """Run a turn until its first text; it goes on while the block lasts."""
    turn = await prepare_turn(deps, ADA, Question(text))
    journal = Journal()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_turn, deps, turn, journal)
        async for sequenced in journal.tail():
            if isinstance(sequenced.event, AnswerText):
                break
        yield turn.run_id


async def collect_events(deps: ChatDeps, run_id: RunId) -> list[SequencedEvent]:
    return [numbered async for numbered in stream_events(deps, ADA, run_id)]


async def collect_rest(
    world: ChatFixture, following: AsyncIterator[SequencedEvent]
) -> list[SequencedEvent]:
    """Read to the end of the run, advancing time."""
    events: list[SequencedEvent] = []

    async def read() -> None:
        events.extend([numbered async for numbered in following])
        reading.cancel_scope.cancel()

    async with anyio.create_task_group() as reading:
        reading.start_soon(read)
        while True:
            await world.advance_when_idle(seconds=0.5)
    return events


def join_text(events: list[SequencedEvent]) -> str:
    return "".join(n.event.text for n in events if isinstance(n.event, AnswerText))


def require_end(events: list[SequencedEvent]) -> RunEnded:
    ends = [n.event for n in events if isinstance(n.event, RunEnded)]
    assert ends == [events[-1].event], "exactly one Ended, and nothing after it"
    return ends[0]


async def test_another_process_streams_the_same_events_from_the_store_x36(
    world: ChatFixture,
) -> None:
    with ScriptedModel(
        script_calls(("get_memories", {}), text="Let me see."), script_answer("Hi ", "Ada")
    ) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        journal = Journal()
        await answer_turn(deps, turn, journal)

    journal_events = [numbered async for numbered in journal.tail()]
    assert await collect_events(world.deps(), turn.run_id) == journal_events


async def test_another_process_follows_a_run_in_progress_x36(world: ChatFixture) -> None:
    documents, release = WatchedDocuments(world), anyio.Event()
    with ScriptedModel([TextDelta("Half"), release.wait, TextDelta(" and half")]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with run_until_first_text(deps) as run_id:
            await documents.wait_for_flush(world)
            following = stream_events(world.deps(), ADA, run_id)
            early_events = [await anext(following), await anext(following), await anext(following)]
            release.set()
        late_events = await collect_rest(world, following)

    assert join_text(early_events) == "Half"
    assert require_end(early_events + late_events).message == (await list_stored(deps))[-1]
    assert join_text(early_events + late_events) == "Half and half"


async def test_stopping_stores_the_text_so_far_and_closes_the_model_stream_x34(
    world: ChatFixture,
) -> None:
    with ScriptedModel([TextDelta("One two"), anyio.sleep_forever]) as model:
        deps = world.deps(model)
        async with run_until_first_text(deps) as run_id:
            active_run = deps.active_runs.find(ADA, run_id)
            assert active_run is not None
            active_run.end("stopped")

    end = require_end(await collect_events(deps, run_id))
    assert (end.outcome, end.message.text) == ("stopped", "One two")
    assert end.message.metadata["stop_reason"] == "user_cancelled"
    assert (await list_stored(deps))[-1] == end.message
    assert model.open_streams == 0


async def test_a_stop_from_another_process_is_seen_at_the_next_flush_x34(
    world: ChatFixture,
) -> None:
    documents = WatchedDocuments(world)
    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with run_until_first_text(deps) as run_id:
            await world.deps().stores.runs.send_signal(ADA, run_id, "stop")
            await documents.wait_for_flush(world)

    assert require_end(await collect_events(deps, run_id)).outcome == "stopped"


async def test_an_answer_stopped_before_its_first_word_is_stored_as_stopped_x34(
    world: ChatFixture,
) -> None:
    with ScriptedModel([anyio.sleep_forever]) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, deps, turn, Journal())
            await anyio.wait_all_tasks_blocked()
            deps.active_runs.find(ADA, turn.run_id).end("stopped")  # type: ignore[union-attr]

    assert [m.text for m in await list_stored(deps)] == ["Hello", user_texts.ANSWER_STOPPED]


async def test_a_process_that_shuts_down_interrupts_its_current_and_later_runs(
    world: ChatFixture,
) -> None:
    stalls: list[ScriptedStep] = [TextDelta("One"), anyio.sleep_forever]
    with ScriptedModel(stalls, stalls, stalls) as model:
        deps = world.deps(model)
        async with (
            run_until_first_text(deps) as first,
            run_until_first_text(deps, "Again") as second,
        ):
            deps.active_runs.close()
        late_turn = await prepare_turn(deps, ADA, Question("Late"))
        await answer_turn(deps, late_turn, Journal())

    outcomes = [
        require_end(await collect_events(deps, run)).outcome
        for run in (first, second, late_turn.run_id)
    ]
    assert outcomes == ["interrupted"] * 3


@asynccontextmanager
async def run_in_dead_process(
    world: ChatFixture, *script: ScriptedStep, session_id: SessionId | None = None
) -> AsyncIterator[RunId]:
    """Yield a run whose process died after its first flush, so that no later write succeeds."""
    documents = WatchedDocuments(world)
    with ScriptedModel([*script, anyio.sleep_forever]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        turn = await prepare_turn(deps, ADA, Question("Hello", session_id=session_id))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, deps, turn, Journal())
            await documents.wait_for_flush(world)
            documents.write = documents.get = _fail_as_dead  # type: ignore[method-assign, attr-defined]
            yield turn.run_id
            tasks.cancel_scope.cancel()


async def _fail_as_dead(*_: object) -> None:
    raise RuntimeError("this process is dead")


@pytest.mark.parametrize(
    ("text", "stored_text"),
    [("Half an answer", "Half an answer"), ("", user_texts.ANSWER_INTERRUPTED)],
)
async def test_the_closing_task_closes_a_run_of_a_dead_process_with_its_flushed_text(
    world: ChatFixture, text: str, stored_text: str
) -> None:
    script = [TextDelta(text)] if text else []
    async with run_in_dead_process(world, *script) as run_id:
        deps = world.deps()
        with pytest.raises(Unavailable):
            await require_closed(deps.stores.runs, ADA, run_id, now=world.clock.now())
        world.clock.advance(seconds=10)
        for _ in range(2):
            await require_closed(deps.stores.runs, ADA, run_id, now=world.clock.now())
        end = require_end(await collect_events(deps, run_id))

    assert (end.outcome, end.message.text) == ("interrupted", stored_text)
    assert await list_stored(deps) == [(await list_stored(deps))[0], end.message]
    session = await deps.stores.sessions.get(ADA, MAIN_SESSION)
    assert session is not None
    assert session.message_count == 2


async def test_following_a_lapsed_run_closes_it(world: ChatFixture) -> None:
    async with run_in_dead_process(world, TextDelta("Half")) as run_id:
        world.clock.advance(seconds=10)
        end = require_end(await collect_events(world.deps(), run_id))

    assert (end.outcome, end.message.text) == ("interrupted", "Half")


async def test_listing_a_chat_closes_its_lapsed_run(world: ChatFixture) -> None:
    async with run_in_dead_process(world, TextDelta("Half")):
        early_page = (await chat_messages.list_newest(world.deps(), ADA, None)).messages
        world.clock.advance(seconds=10)
        late_page = (await chat_messages.list_newest(world.deps(), ADA, None)).messages

    assert [[m.text for m in page] for page in (early_page, late_page)] == [
        ["Hello"],
        ["Half", "Hello"],
    ]


async def test_deleting_a_chat_deletes_its_run(world: ChatFixture) -> None:
    deps = world.deps()
    chat = await chat_sessions.create(deps, ADA, "Garden", None)
    async with run_in_dead_process(world, TextDelta("Half"), session_id=chat.id) as run_id:
        await delete_chat(deps, ADA, chat.id)
        world.clock.advance(seconds=10)
        with pytest.raises(NotFound):
            await anext(stream_events(deps, ADA, run_id))
        await require_closed(deps.stores.runs, ADA, run_id, now=world.clock.now())


async def test_a_run_in_progress_writes_nothing_after_its_account_is_erased(
    world: ChatFixture,
) -> None:
    """Neither its journal nor its chat is created again (P30)."""
    with ScriptedModel([TextDelta("Half"), anyio.sleep_forever]) as model:
        deps = world.deps(model)
        async with run_until_first_text(deps):
            await world.documents.delete_tree(f"users/{ADA}")
            await world.advance_when_idle(seconds=LEASE_S)

    assert await world.documents.delete_tree(f"users/{ADA}") == 0


async def test_following_a_run_ends_with_not_found_when_its_chat_is_deleted(
    world: ChatFixture,
) -> None:
    deps = world.deps()
    chat = await chat_sessions.create(deps, ADA, "Garden", None)
    async with run_in_dead_process(world, TextDelta("Half"), session_id=chat.id) as run_id:
        following = stream_events(deps, ADA, run_id)
        early_events = [await anext(following) for _ in range(3)]
        await delete_chat(deps, ADA, chat.id)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_advance, world)
            with pytest.raises(NotFound):
                await anext(following)
            tasks.cancel_scope.cancel()

    assert join_text(early_events) == "Half"


async def _advance(world: ChatFixture) -> None:
    while True:
        await world.advance_when_idle(seconds=0.5)


async def test_two_processes_that_begin_the_same_question_give_one_answer(
    world: ChatFixture,
) -> None:
    release, key = anyio.Event(), IdempotencyKey(text="k1", fingerprint="f1")
    with (
        ScriptedModel([TextDelta("One"), release.wait]) as model,
        ScriptedModel(script_answer("Two")) as spare,
    ):
        first_deps, second_deps = (
            world.deps(model),
            replace(world.deps(spare), new_id=CountingIds("b")),
        )
        turns = [
            await prepare_turn(deps, ADA, Question("Hello"), key=key)
            for deps in (first_deps, second_deps)
        ]
        journals = [Journal(), Journal()]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, first_deps, turns[0], journals[0])
            async for first in journals[0].tail():
                if isinstance(first.event, AnswerText):
                    break
            await answer_turn(second_deps, turns[1], journals[1])
            release.set()
        run_id = turns[0].run_id
        events = [n async for n in stream_events(second_deps, ADA, run_id, journal=journals[1])]

    assert (require_end(events).outcome, join_text(events)) == ("completed", "One")
    assert [m.text for m in await list_stored(first_deps)] == ["Hello", "One"]


async def test_the_end_of_a_closed_run_is_numbered_beyond_all_unsaved_events(
    world: ChatFixture,
) -> None:
    async with run_in_dead_process(world, TextDelta("Half")) as run_id:
        world.clock.advance(seconds=10)
        *_, end = await collect_events(world.deps(), run_id)

    assert end.seq > 1_000_000


async def test_a_process_that_wakes_up_after_its_run_was_closed_streams_the_stored_end(
    world: ChatFixture,
) -> None:
    documents, release = WatchedDocuments(world), anyio.Event()
    with ScriptedModel([TextDelta("Half"), release.wait, TextDelta(" more")]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        journal = Journal()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, deps, turn, journal)
            await documents.wait_for_flush(world)
            lapsed = world.clock.now() + timedelta(seconds=10)
            await require_closed(world.deps().stores.runs, ADA, turn.run_id, now=lapsed)
            release.set()
            events = [n async for n in stream_events(deps, ADA, turn.run_id, journal=journal)]

    end = require_end(events)
    assert (end.outcome, end.message.text) == ("interrupted", "Half")
    assert [m.text for m in await list_stored(deps)] == ["Hello", "Half"]


async def test_the_lease_is_renewed_while_a_run_goes_on(world: ChatFixture) -> None:
    documents = WatchedDocuments(world)
    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with run_until_first_text(deps) as run_id:
            await documents.wait_for_flush(world)
            run = await deps.stores.runs.get(ADA, run_id, world.clock.now())
            assert run is not None
            assert run.lease_until - world.clock.now() > timedelta(seconds=9)
            deps.active_runs.close()


async def test_a_run_is_flushed_and_stopped_while_the_task_queue_hangs_x34(
    world: ChatFixture,
) -> None:
    documents = WatchedDocuments(world)

    class HangingTasks(RecordingTasks):
        async def create(self, *_: object, **__: object) -> None:
            await anyio.sleep_forever()

    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        deps = replace(world, documents=documents, tasks=HangingTasks()).deps(model)  # type: ignore[arg-type]
        async with run_until_first_text(deps) as run_id:
            await world.deps().stores.runs.send_signal(ADA, run_id, "stop")
            with anyio.fail_after(20):
                await documents.wait_for_flush(world)

    assert require_end(await collect_events(deps, run_id)).outcome == "stopped"


async def test_a_write_that_hangs_times_out_before_the_lease_expires(world: ChatFixture) -> None:
    write_cancelled = anyio.Event()

    class HangingDocuments(WatchedDocuments):
        async def write(self, *writes: Write) -> None:
            if not write_cancelled.is_set() and any("/batches/" in write.path for write in writes):
                try:
                    await anyio.sleep_forever()
                finally:
                    write_cancelled.set()
            await super().write(*writes)

    documents = HangingDocuments(world)
    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with run_until_first_text(deps) as run_id:
            await anyio.wait_all_tasks_blocked()
            world.clock.advance(seconds=LEASE_S)
            with anyio.fail_after(LEASE_TTL.total_seconds() / 2):
                await write_cancelled.wait()
            await documents.wait_for_flush(world)
            batches = await deps.stores.runs.list_batches(ADA, run_id)
            deps.active_runs.close()

    assert AnswerText("One") in batches[0].events


async def test_the_last_attempt_stores_the_end_when_a_part_of_it_is_already_stored(
    world: ChatFixture,
) -> None:
    first_writes = [succeed] * 5  # the slot; the quota; no chat yet; the chat; the question
    documents, release = (
        FaultyPort(
            world.documents,
            write=[
                *first_writes,
                lose_response,
                raise_unavailable,
                raise_unavailable,
                raise_unavailable,
            ],
        ),
        anyio.Event(),
    )
    with ScriptedModel([TextDelta("One"), release.wait, TextDelta(" two")]) as model:
        deps = replace(world, documents=documents).deps(model)
        async with run_until_first_text(deps) as run_id:
            await world.advance_when_idle(seconds=LEASE_S)
            while not documents.fault_count:
                await anyio.wait_all_tasks_blocked()
            await world.advance_when_idle()
            release.set()
            events = await collect_rest(world, stream_events(deps, ADA, run_id))

    assert require_end(events).outcome == "completed"
    assert require_end(await collect_events(world.deps(), run_id)).message.text == "One two"


async def test_a_closing_task_is_scheduled_for_every_run(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        await answer_turn(deps, turn, Journal())

    due = turn.question.created_at + timedelta(seconds=180)
    ids = {"uid": ADA, "run_id": turn.run_id}
    assert world.tasks.created == [("close_run", f"close-{turn.run_id}", ids, due)]


async def test_another_users_run_is_not_found(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        await answer_turn(deps, turn, Journal())

    with pytest.raises(NotFound):
        await anext(stream_events(deps, EVE, turn.run_id))


async def test_a_run_whose_question_was_not_stored_fails_as_not_saved(
    world: ChatFixture,
) -> None:
    class RefusingDocuments(WatchedDocuments):
        async def write(self, *writes: Write) -> None:
            deps.active_runs.close()
            raise RuntimeError("refused while the process goes")

    with ScriptedModel([anyio.sleep_forever]) as model:
        deps = replace(world, documents=RefusingDocuments(world)).deps(model)  # type: ignore[arg-type]
        turn = await prepare_turn(world.deps(model), ADA, Question("Hello"))
        journal = Journal()
        await answer_turn(deps, turn, journal)

    end = require_end([numbered async for numbered in journal.tail()])
    assert (end.outcome, end.message.text) == ("failed", user_texts.QUESTION_NOT_SAVED)
    assert await list_stored(deps) == []


async def test_no_event_is_streamed_before_the_question_is_stored(world: ChatFixture) -> None:
    allow_write, model_called = anyio.Event(), anyio.Event()

    class SlowDocuments(WatchedDocuments):
        async def write(self, *writes: Write) -> None:
            await allow_write.wait()
            await super().write(*writes)

    async def signal_call() -> None:
        model_called.set()

    with ScriptedModel([signal_call, *script_answer("Hi")]) as model:
        deps = replace(world, documents=SlowDocuments(world)).deps(model)  # type: ignore[arg-type]
        turn = await prepare_turn(world.deps(model), ADA, Question("Hello"))
        journal = Journal()
        events: list[SequencedEvent] = []

        async def listen() -> None:
            events.extend([numbered async for numbered in journal.tail()])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            tasks.start_soon(answer_turn, deps, turn, journal)
            await model_called.wait()
            await anyio.wait_all_tasks_blocked()
            early_events = list(events)
            allow_write.set()

    assert early_events == []
    assert join_text(events) == "Hi"


async def test_a_run_whose_lease_is_renewed_at_the_last_moment_is_not_closed(
    world: ChatFixture,
) -> None:
    async with run_in_dead_process(world, TextDelta("Half")) as run_id:
        runs = world.deps().stores.runs
        world.clock.advance(seconds=10)
        run = await runs.get(ADA, run_id, world.clock.now())
        assert run is not None
        await runs.append(ADA, run, lease_until=world.clock.now() + timedelta(seconds=10))
        await close_as_interrupted(runs, ADA, run, now=world.clock.now())
        run_afterwards = await runs.get(ADA, run_id, world.clock.now())

    assert run_afterwards is not None
    assert run_afterwards.outcome is None


async def test_the_first_of_two_runs_with_one_id_stays_registered() -> None:
    runs, first, second = RunRegistry(), ActiveRun(Journal()), ActiveRun(Journal())
    with runs.register(ADA, RunId("r1"), first):
        with runs.register(ADA, RunId("r1"), second):
            pass

        assert runs.find(ADA, RunId("r1")) is first

    assert runs.find(ADA, RunId("r1")) is None


async def test_a_journal_larger_than_a_document_is_split_into_batches(world: ChatFixture) -> None:
    long = "🌼" * 30_000
    reasoning = [ReasoningDelta("x" * 400_000)] * 5
    with ScriptedModel([*reasoning, TextDelta(long), TextDelta(long)]) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        journal = Journal()
        await answer_turn(deps, turn, journal)

    journal_events = [numbered async for numbered in journal.tail()]
    assert await collect_events(world.deps(), turn.run_id) == journal_events
    assert len(await deps.stores.runs.list_batches(ADA, turn.run_id)) > 4


async def test_two_signals_and_the_next_batch_stand_in_their_order_x34(world: ChatFixture) -> None:
    documents, release = WatchedDocuments(world), anyio.Event()
    runs = world.deps().stores.runs
    with ScriptedModel([TextDelta("One"), release.wait, TextDelta(" two")]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with run_until_first_text(deps) as run_id:
            await runs.send_signal(ADA, run_id, "follow")
            await runs.send_signal(ADA, run_id, "follow")
            await runs.send_signal(ADA, run_id, "stop")
            await documents.wait_for_flush(world)

    batches = await runs.list_batches(ADA, run_id)
    end = require_end(await collect_events(world.deps(), run_id))
    assert [batch.signal for batch in batches] == ["follow", "stop", None, None]
    assert (end.outcome, end.message.text) == ("stopped", "One")
    await runs.send_signal(ADA, run_id, "stop")
    assert await runs.list_batches(ADA, run_id) == batches


async def test_a_run_that_waits_is_stopped_from_another_process_x34(world: ChatFixture) -> None:
    documents = WatchedDocuments(world)
    with ScriptedModel([TextDelta("One"), anyio.sleep_forever]) as model:
        deps = replace(world, documents=documents).deps(model)  # type: ignore[arg-type]
        async with run_until_first_text(deps) as run_id:
            await documents.wait_for_flush(world)
            await world.deps().stores.runs.send_signal(ADA, run_id, "stop")
            await world.advance_when_idle(seconds=FLUSH_INTERVAL_S)

    assert require_end(await collect_events(deps, run_id)).outcome == "stopped"


async def test_a_run_that_is_not_there_cannot_be_stopped_x34(world: ChatFixture) -> None:
    with pytest.raises(NotFound):
        await world.deps().stores.runs.send_signal(ADA, RunId("nobody"), "stop")

    assert await world.deps().stores.runs.list_batches(ADA, RunId("nobody")) == []


async def test_a_dead_run_with_signals_is_closed_behind_them_x36(world: ChatFixture) -> None:
    async with run_in_dead_process(world, TextDelta("Half")) as run_id:
        await world.deps().stores.runs.send_signal(ADA, run_id, "follow")
        await world.deps().stores.runs.send_signal(ADA, run_id, "stop")
        world.clock.advance(seconds=10)
        events = await collect_events(world.deps(), run_id)

    assert (require_end(events).outcome, join_text(events)) == ("interrupted", "Half")

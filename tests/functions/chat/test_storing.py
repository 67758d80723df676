"""Storing an answer, and emitting its end, while the store fails (P10)."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio.lowlevel
import pytest

from functions.chat.deps import ChatDeps
from functions.chat.runs.close_run import close_as_interrupted
from functions.chat.runs.journal import Journal
from functions.chat.runs.recorder import MAX_WRITE_ATTEMPTS
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.run import RunEnded
from shared.domain.errors import Unavailable
from shared.domain.ids import RunId
from shared.domain.store.documents import Create, Query, Write
from tests.fakes import InstantSleepClock, ScriptedModel, script_answer
from tests.fixtures.chat import ADA, ChatFixture


class ReplyLosingDocuments:
    """Stores all writes, and reports a failure of those for which `is_lost` holds."""

    def __init__(self, world: ChatFixture, is_lost: Callable[[Write], bool]) -> None:
        self._world = world
        self._is_lost = is_lost

    def __getattr__(self, name: str) -> object:
        return getattr(self._world.documents, name)

    async def write(self, *writes: Write) -> None:
        await self._world.documents.write(*writes)
        if any(self._is_lost(write) for write in writes):
            raise Unavailable("no answer in time")


class BrokenDocuments(ReplyLosingDocuments):
    """Raises an error that no adapter may raise, for writes for which `is_lost` holds."""

    async def write(self, *writes: Write) -> None:
        if any(self._is_lost(write) for write in writes):
            raise RuntimeError("a bug")
        await self._world.documents.write(*writes)


class ReturningDocuments(ReplyLosingDocuments):
    """Refuses the first writes for which `is_lost` holds, and calls `back` before it takes the next."""

    def __init__(
        self,
        world: ChatFixture,
        is_lost: Callable[[Write], bool],
        back: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(world, is_lost)
        self._back = back
        self._left = MAX_WRITE_ATTEMPTS + 2

    async def write(self, *writes: Write) -> None:
        if any(self._is_lost(write) for write in writes):
            self._left -= 1
            if self._left > 0:
                raise Unavailable("the store is away")
            if self._left == 0:
                await self._back()
        await self._world.documents.write(*writes)


async def run_to_end(deps: ChatDeps) -> RunEnded:
    turn = await prepare_turn(deps, ADA, Question("Hello"))
    journal = Journal()
    await answer_turn(deps, turn, journal)
    *_, last = [sequenced.event async for sequenced in journal.tail()]
    assert isinstance(last, RunEnded)
    return last


def is_answer(write: Write) -> bool:
    return isinstance(write, Create) and write.fields.get("sender") == "ai"


def is_question(write: Write) -> bool:
    return isinstance(write, Create) and write.fields.get("sender") == "human"


async def test_an_answer_is_stored_when_the_reply_to_storing_its_question_is_lost(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        documents = ReplyLosingDocuments(world, is_lost=is_question)
        deps = replace(world, documents=documents, clock=InstantSleepClock()).deps(model)  # type: ignore[arg-type]
        outcome = (await run_to_end(deps)).outcome

    messages = await world.deps().stores.messages.list_newest(ADA, MAIN_SESSION, limit=9)
    session = await world.deps().stores.sessions.get(ADA, MAIN_SESSION)
    assert (outcome, [m.text for m in messages]) == ("completed", ["Hi", "Hello"])
    assert session is not None
    assert session.message_count == 2


@pytest.mark.parametrize("turn", [script_answer("Hi"), script_answer()])
async def test_a_run_ends_as_failed_when_the_store_breaks(world: ChatFixture, turn: object) -> None:
    with ScriptedModel(turn) as model:  # type: ignore[arg-type]
        documents = BrokenDocuments(world, is_lost=is_question)
        deps = replace(world, documents=documents, clock=InstantSleepClock()).deps(model)  # type: ignore[arg-type]

        assert (await run_to_end(deps)).outcome == "failed"


async def test_an_answer_is_stored_once_the_store_is_back_though_its_end_told_that_it_was_not(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        documents = ReturningDocuments(world, is_answer, back=anyio.lowlevel.checkpoint)
        deps = replace(world, documents=documents, clock=InstantSleepClock()).deps(model)  # type: ignore[arg-type]
        end = await run_to_end(deps)

    stores = world.deps().stores
    stored = await stores.messages.list_newest(ADA, MAIN_SESSION, limit=9)
    run = await stores.runs.get(ADA, RunId(end.message.id), world.clock.now())
    assert (end.outcome, [message.text for message in stored]) == ("failed", ["Hi", "Hello"])
    assert run is not None
    assert run.outcome == "completed"


async def test_an_answer_that_comes_late_leaves_a_run_as_another_process_closed_it(
    world: ChatFixture,
) -> None:
    runs = world.deps().stores.runs

    async def close() -> None:
        [document] = await world.documents.query(Query(collection=f"users/{ADA}/runs"))
        run_id, now = RunId(document.path.rpartition("/")[2]), world.clock.now()
        run = await runs.get(ADA, run_id, now)
        assert run is not None
        await close_as_interrupted(runs, ADA, run, now=now)

    with ScriptedModel(script_answer("Hi")) as model:
        documents = ReturningDocuments(world, is_answer, back=close)
        deps = replace(world, documents=documents, clock=InstantSleepClock()).deps(model)  # type: ignore[arg-type]
        end = await run_to_end(deps)

    run = await runs.get(ADA, RunId(end.message.id), world.clock.now())
    assert end.outcome == "failed"
    assert run is not None
    assert run.outcome == "interrupted"

"""Storing an answer, and emitting its end, while the store fails (P10)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.run import RunEnded
from shared.domain.errors import Unavailable
from shared.domain.store.documents import Create, Write
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


async def run_to_end(deps: ChatDeps) -> RunEnded:
    turn = await prepare_turn(deps, ADA, Question("Hello"))
    journal = Journal()
    await answer_turn(deps, turn, journal)
    *_, last = [sequenced.event async for sequenced in journal.tail()]
    assert isinstance(last, RunEnded)
    return last


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

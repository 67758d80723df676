"""An answer is kept, and its end told, however the store behaves (P10)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from functions.chat.accepting import prepare
from functions.chat.journal import Journal
from functions.chat.turn import answer
from functions.chat.wiring import ChatDeps
from shared.domain.chat import MAIN_SESSION
from shared.domain.documents import Create, Write
from shared.domain.errors import Unavailable
from shared.domain.run import Ended
from tests.doubles import FlowingClock, ScriptedModel, says
from tests.functions.chat.conftest import ADA, World


class Unheard:
    """Stores what is written and, where `lost` says so, answers that it did not."""

    def __init__(self, world: World, lost: Callable[[Write], bool]) -> None:
        self._world = world
        self._lost = lost

    def __getattr__(self, name: str) -> object:
        return getattr(self._world.documents, name)

    async def write(self, *writes: Write) -> None:
        await self._world.documents.write(*writes)
        if any(self._lost(write) for write in writes):
            raise Unavailable("no answer in time")


class Broken(Unheard):
    """Fails as no adapter should."""

    async def write(self, *_: Write) -> None:
        raise RuntimeError("a bug")


async def end(deps: ChatDeps) -> Ended:
    turn = await prepare(deps, ADA, "Hello", None)
    journal = Journal()
    await answer(deps, turn, journal)
    *_, last = [told.event async for told in journal.tail()]
    assert isinstance(last, Ended)
    return last


def is_question(write: Write) -> bool:
    return isinstance(write, Create) and write.fields.get("sender") == "human"


async def test_an_answer_is_stored_though_nobody_heard_that_its_question_was(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        documents = Unheard(world, lost=is_question)
        deps = replace(world, documents=documents, clock=FlowingClock()).deps(model)  # type: ignore[arg-type]
        outcome = (await end(deps)).outcome

    stored = await world.deps().messages.newest(ADA, MAIN_SESSION, limit=9)
    session = await world.deps().sessions.get(ADA, MAIN_SESSION)
    assert (outcome, [m.text for m in stored]) == ("completed", ["Hi", "Hello"])
    assert session is not None
    assert session.message_count == 2


@pytest.mark.parametrize("said", [says("Hi"), says()])
async def test_a_store_that_breaks_still_lets_the_end_be_told(world: World, said: object) -> None:
    with ScriptedModel(said) as model:  # type: ignore[arg-type]
        documents = Broken(world, lost=is_question)
        deps = replace(world, documents=documents, clock=FlowingClock()).deps(model)  # type: ignore[arg-type]

        assert (await end(deps)).outcome == "failed"

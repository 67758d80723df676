"""Single place of a server: a question comes before notes, and notes are made all the same."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import get_args

import anyio
import pytest

from shared.adapters.models_by_urgency import ModelsByUrgency
from shared.adapters.single_place import MAX_YIELDS
from shared.domain.ids import UserId
from shared.domain.models.model import (
    ModelCallFinished,
    ModelEvent,
    ModelFacts,
    ModelMessage,
    ModelRole,
    Prompt,
    TextDelta,
    ToolSpec,
    Urgency,
    UserText,
)
from shared.ports import ChatModel

UID = UserId("alice")
URGENCIES = get_args(Urgency)
NOTES = Prompt(name="chat/notes", version="1", instructions="Note.", data={})
HELLO = [UserText(text="Hello")]


@dataclass
class HeldModel:
    """A model whose structured answers come when `release` is set; it counts those that were cancelled."""

    places: int | None = 1
    release: anyio.Event = field(default_factory=anyio.Event)
    started: list[str] = field(default_factory=list)
    cancelled: int = 0

    def name(self, role: ModelRole) -> str:
        return "held"

    def describe(self, role: ModelRole) -> ModelFacts:
        return ModelFacts(places=self.places)

    @asynccontextmanager
    async def stream(
        self, role: ModelRole, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()
    ) -> AsyncIterator[AsyncIterator[ModelEvent]]:
        self.started.append("answer")
        yield self._answer()

    async def _answer(self) -> AsyncIterator[ModelEvent]:
        yield TextDelta("Hi")
        yield ModelCallFinished(reason="stop", model="held")

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type) -> str:
        self.started.append("notes")
        try:
            await self.release.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        return "noted"


async def _ask(model: ChatModel) -> list[ModelEvent]:
    async with model.stream("agent", HELLO) as events:
        return [event async for event in events]


@pytest.fixture
def models() -> tuple[HeldModel, ModelsByUrgency]:
    held = HeldModel()
    return held, ModelsByUrgency(held, held)  # type: ignore[arg-type]  # its answers are texts


async def test_notes_make_way_for_a_question_and_are_made_after_it(models) -> None:
    held, by_urgency = models
    notes = by_urgency.for_user(UID, is_masked=False, urgency="soon")
    question = by_urgency.for_user(UID, is_masked=False)
    results: list[str] = []

    async def take_notes() -> None:
        results.append(await notes.complete_structured("fast", NOTES, str))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take_notes)
        await anyio.wait_all_tasks_blocked()
        assert len(await _ask(question)) == 2
        held.release.set()

    assert results == ["noted"]
    assert held.cancelled == 1
    assert held.started == ["notes", "answer", "notes"]


async def test_a_reading_does_not_wait_for_the_answer_that_waits_for_it(models) -> None:
    held, by_urgency = models
    held.release.set()
    question = by_urgency.for_user(UID, is_masked=False)

    async with question.stream("agent", HELLO):
        reading = by_urgency.for_user(UID, is_masked=True, urgency="crisis")
        assert await reading.complete_structured("fast", NOTES, str) == "noted"


async def test_notes_that_made_way_often_enough_are_not_kept_waiting(models) -> None:
    held, by_urgency = models
    notes = by_urgency.for_user(UID, is_masked=False, urgency="later")
    question = by_urgency.for_user(UID, is_masked=False)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(notes.complete_structured, "fast", NOTES, str)
        for _ in range(MAX_YIELDS + 1):
            await anyio.wait_all_tasks_blocked()
            await _ask(question)
        await anyio.wait_all_tasks_blocked()
        held.release.set()

    assert held.cancelled == MAX_YIELDS


@pytest.mark.parametrize("places", [None, 2, 8])
async def test_where_there_are_more_places_nobody_makes_way(places: int | None) -> None:
    held = HeldModel(places=places)
    models = ModelsByUrgency(held, held)  # type: ignore[arg-type]  # its answers are texts
    served: list[object] = [models.for_user(UID, is_masked=False, urgency=u) for u in URGENCIES]

    assert served == [held] * len(URGENCIES)

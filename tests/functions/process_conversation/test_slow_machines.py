"""Slow machines: what takes long is not lost, neither where attempts are cut off nor where one would be (D6, F2)."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from anyio import sleep_forever
from anyio.lowlevel import checkpoint

from functions.process_conversation.processing.cached_completion import (
    LAST_QUESTION_AFTER,
    ask_model,
)
from functions.process_conversation.processing.failures import ModelOutage
from functions.process_conversation.processing.model_outputs import WholeOutput
from functions.process_conversation.upkeep.dead_letters import record_dead_letter
from functions.process_conversation.upkeep.sweep import sweep
from infra.local.queue_worker import TIMEOUT_S
from shared.adapters.cloud.openai_model import LOCAL_CHUNK_TIMEOUT_S
from shared.data.store.codec import load
from shared.domain.conversations.claim import FIRST_WAIT, Claim
from shared.domain.conversations.conversation import Segment
from shared.domain.errors import TimedOut, Unavailable
from shared.domain.models.model import ModelRole, Prompt
from tests.fault_injection import Crash
from tests.fixtures.processing import (
    CLAIM,
    TALK,
    ProcessingFixture,
    build_extraction_output,
    build_processing_fixture,
    build_structure_output,
    build_test_conversation,
)
from tests.fixtures.windowed_model import WindowedModel
from tests.functions.process_conversation.upkeep.test_dead_letters import (
    build_deps as build_dead_letter_deps,
)
from tests.functions.process_conversation.upkeep.test_dead_letters import build_letter
from tests.functions.process_conversation.upkeep.test_sweep import build_deps as build_sweep_deps

ANSWERS: Any = {
    "process_conversation/extraction": lambda _: build_extraction_output(),
    "process_conversation/whole": lambda _: {
        name: found
        for name, found in build_structure_output().items()
        if name in ("title", "overview", "emoji", "category")
    },
}
LONG_TALK = build_test_conversation(
    transcript_segments=tuple(Segment(text="word " * 100, start=n, end=n + 1) for n in range(700))
)


class SlowModel(WindowedModel):
    """A model that reads a long transcript in many parts; `after_answer` happens behind each."""

    before_answer: Callable[[], Awaitable[None]] = staticmethod(checkpoint)
    after_answer: Callable[[], None] = staticmethod(lambda: None)

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: Any) -> Any:
        await self.before_answer()
        answer = await super().complete_structured(role, prompt, schema)
        self.after_answer()
        return answer


@pytest.fixture
def model() -> SlowModel:
    return SlowModel(ANSWERS, window=9_000)


@pytest.fixture
def world(database: Any, model: SlowModel) -> ProcessingFixture:
    return build_processing_fixture(database, model)


async def read_claim(world: ProcessingFixture) -> Claim:
    document = await world.documents.get(CLAIM)
    assert document is not None
    return load(Claim, document)


async def go_on(world: ProcessingFixture) -> None:
    """Let the sweep publish what is due, and deliver it."""
    sent = len(world.events.list_by_topic("conversation.changed"))
    await sweep(build_sweep_deps(world))
    for message in world.events.list_by_topic("conversation.changed")[sent:]:
        await world.deliver(message)


async def test_attempts_that_are_cut_off_but_get_further_are_not_given_up_d6(world, model):
    await world.write(LONG_TALK)
    (message,) = await world.run_trigger()

    def answer_once() -> None:
        if len(model.prompts) % 2 == 0:
            raise Crash

    model.after_answer = answer_once
    for _ in range(10):
        with suppress(Crash):
            await world.deliver(message)
        world.clock.advance(seconds=11)
    await record_dead_letter(build_dead_letter_deps(world), build_letter(message))
    given_up = await world.load_conversation()
    model.after_answer = lambda: None
    world.clock.advance(seconds=FIRST_WAIT.total_seconds() + 1)
    await go_on(world)

    assert (given_up.status, given_up.failure) == ("processing", None)
    assert (await world.load_conversation()).status == "completed"


async def test_a_reading_that_takes_longer_than_a_request_goes_on_in_the_next_f2(world, model):
    await world.write(LONG_TALK)
    (message,) = await world.run_trigger()
    answer_time = timedelta(minutes=3)
    model.after_answer = lambda: world.clock.advance(seconds=answer_time.total_seconds())

    began = world.clock.now()
    await world.deliver(message)
    first_attempt = world.clock.now() - began
    found_meanwhile = await world.search_ids("word")
    pauses = 0
    while (await world.load_conversation()).status == "processing":
        claim = await read_claim(world)
        assert claim.due_at == world.clock.now() + FIRST_WAIT
        world.clock.advance(seconds=FIRST_WAIT.total_seconds())
        await go_on(world)
        pauses += 1

    assert first_attempt <= LAST_QUESTION_AFTER + answer_time
    assert found_meanwhile == [TALK]
    assert pauses > 3
    assert (await world.load_conversation()).status == "completed"
    read = [line["segment"] for p in model.prompts for line in p.data.get("transcript", ())]
    assert set(read) == set(range(700))


async def test_an_answer_that_never_comes_waits_longer_each_time_f2(world, model):
    def be_away() -> None:
        raise Unavailable("no answer in time")

    model.after_answer = be_away
    await world.write(LONG_TALK)
    (message,) = await world.run_trigger()
    await world.deliver(message)
    waits = []
    for _ in range(4):
        claim = await read_claim(world)
        assert claim.due_at is not None
        waits.append(claim.due_at - world.clock.now())
        world.clock.advance(seconds=waits[-1].total_seconds())
        await go_on(world)

    assert waits == [FIRST_WAIT * 2**n for n in range(4)]


async def test_an_answer_that_outlasts_its_request_ends_before_it_and_waits_f2(model) -> None:
    model.before_answer = sleep_forever
    prompt = Prompt(name="process_conversation/whole", version="1", instructions="", data={})

    with pytest.raises(ModelOutage) as outage:
        await ask_model(model, "standard", prompt, WholeOutput, timedelta(microseconds=1))

    assert isinstance(outage.value.__cause__, TimedOut)


def test_a_delivery_here_outlasts_the_answer_of_a_model_on_this_machine_f2() -> None:
    assert LAST_QUESTION_AFTER.total_seconds() + LOCAL_CHUNK_TIMEOUT_S < TIMEOUT_S

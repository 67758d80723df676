"""Attempts, stand-ins and breakers over real HTTP, counted at the servers (C55, C57)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

import pytest
from pydantic import BaseModel

from shared import telemetry
from shared.adapters.openai_model import OpenaiModel
from shared.adapters.resilient_model import ResilientModel
from shared.domain.breaker import FAILURES, REST
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.model import ModelMessage, Prompt, TextDelta, UserText
from tests.doubles import HastyClock
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

HELLO: list[ModelMessage] = [UserText(text="Hello")]
PROMPT = Prompt(name="library/count", version="1", instructions="Count.", data={})
DOWN = Script(status=503, sticky=True)
PASSING = [
    Script(status=408),
    Script(status=429),
    Script(status=500),
    Script(status=503),
    Script(break_after=0, text="never seen"),
]


class Count(BaseModel):
    number: int


@dataclass
class Models:
    """Two providers, and a model that asks the first and then the second."""

    first: ScriptedOpenai
    second: ScriptedOpenai
    clock: HastyClock
    alone: ResilientModel
    both: ResilientModel

    async def text(self, model: ResilientModel) -> str:
        async with model.stream("agent", HELLO) as events:
            return "".join([e.text async for e in events if isinstance(e, TextDelta)])

    @property
    def asked(self) -> tuple[int, int]:
        return len(self.first.requests), len(self.second.requests)


@pytest.fixture
async def models() -> AsyncIterator[Models]:
    async with AsyncExitStack() as opened:
        first = opened.enter_context(scripted_openai(Script(text="From the first.")))
        second = opened.enter_context(scripted_openai(Script(text="From the second.")))
        asked = [
            OpenaiModel(api_key="key", base_url=server.url, models={"agent": f"model-{n}"})
            for n, server in enumerate((first, second), 1)
        ]
        for each in asked:
            opened.push_async_callback(each.aclose)
        clock = HastyClock()
        yield Models(
            first=first,
            second=second,
            clock=clock,
            alone=ResilientModel({"agent": asked[:1]}, clock),
            both=ResilientModel({"agent": asked}, clock),
        )


@pytest.mark.parametrize("fault", PASSING)
async def test_a_passing_fault_before_the_first_event_is_tried_once_more_c55(models, fault):
    models.first.play(fault)

    assert await models.text(models.both) == "From the first."
    assert models.asked == (2, 0)
    assert len(models.clock.waits) == 1


@pytest.mark.parametrize("fault", PASSING)
async def test_without_a_stand_in_the_second_fault_is_final_c55(models, fault):
    models.first.play(fault, fault)

    with pytest.raises(Unavailable):
        await models.text(models.alone)

    assert models.asked == (2, 0)


@pytest.mark.parametrize("fault", PASSING)
async def test_after_two_passing_faults_the_stand_in_answers_c57(models, fault):
    models.first.play(fault, fault)

    assert await models.text(models.both) == "From the second."
    assert models.asked == (2, 1)


async def test_diagnostics_tell_the_attempts_and_who_stood_in_c75(models):
    models.first.play(Script(status=503), Script(status=503))

    with telemetry.request("chat") as record:
        await models.text(models.both)

    facts = record.facts()
    assert (facts["model_attempts"], facts["fallback_model"]) == (3, "model-2")


async def test_the_stand_in_has_two_attempts_of_its_own_c55(models):
    models.first.play(DOWN)
    models.second.play(Script(status=500), Script(status=500))

    with pytest.raises(Unavailable):
        await models.text(models.both)

    assert models.asked == (2, 2)


@pytest.mark.parametrize(
    "fault",
    [Script(status=400), Script(status=401), Script(status=404), Script(refusal="I cannot.")],
)
async def test_what_no_retry_can_mend_is_neither_tried_again_nor_elsewhere_c57(models, fault):
    models.first.play(fault)

    with pytest.raises(ModelFailed):
        await models.text(models.both)

    assert models.asked == (1, 0)


async def test_nothing_is_tried_again_once_a_word_was_said_c55(models):
    models.first.play(Script(text="one two three", break_after=2))

    async with models.both.stream("agent", HELLO) as events:
        said = [await anext(events), await anext(events)]
        with pytest.raises(Unavailable):
            await anext(events)

    assert said == [TextDelta("one"), TextDelta(" two")]
    assert models.asked == (1, 0)


async def test_a_structured_answer_is_tried_again_and_elsewhere_too_c55(models):
    models.first.play(*[Script(schema="count", text='{"num', break_after=1)] * 2)
    models.second.play(Script(schema="count", text='{"number": 3}'))

    assert await models.both.structured("agent", PROMPT, Count) == Count(number=3)
    assert models.asked == (2, 1)


async def test_a_wait_that_the_provider_asks_for_is_kept_where_it_is_short_c55(models):
    models.first.play(Script(status=429, retry_after="1"))

    assert await models.text(models.both) == "From the first."
    assert 1 < models.clock.waits[0] < 2


async def test_a_long_one_is_not_waited_for_c55(models):
    models.first.play(Script(status=429, retry_after="60"))

    assert await models.text(models.both) == "From the second."
    assert (models.asked, models.clock.waits) == ((1, 1), [])


async def test_a_model_that_keeps_failing_is_left_alone_c57(models):
    models.first.play(DOWN)
    for _ in range(3):
        await models.text(models.both)
    assert models.asked == (FAILURES, 3), "the third question's second attempt is not made"

    assert await models.text(models.both) == "From the second."
    assert models.asked == (FAILURES, 4)


async def test_a_probe_that_succeeds_brings_it_back_c57(models):
    models.first.play(*[Script(status=503)] * FAILURES)
    for _ in range(3):
        await models.text(models.both)

    models.clock.pass_(seconds=REST.total_seconds())

    assert await models.text(models.both) == "From the first."


async def test_a_probe_that_fails_costs_one_request_c57(models):
    models.first.play(DOWN)
    for _ in range(3):
        await models.text(models.both)

    models.clock.time += REST + timedelta(seconds=1)

    assert await models.text(models.both) == "From the second."
    assert models.asked[0] == FAILURES + 1


async def test_without_a_stand_in_an_open_breaker_fails_at_once_c57(models):
    models.first.play(DOWN)
    for _ in range(3):
        with pytest.raises(Unavailable, match="answered 503"):
            await models.text(models.alone)

    with pytest.raises(Unavailable, match="left alone"):
        await models.text(models.alone)

    assert models.asked == (FAILURES, 0)


async def test_refusals_do_not_open_the_breaker_c57(models):
    models.first.play(*[Script(status=400)] * (FAILURES + 1))
    for _ in range(FAILURES + 1):
        with pytest.raises(ModelFailed):
            await models.text(models.both)

    assert await models.text(models.both) == "From the first."


async def test_the_first_model_gives_its_name(models):
    assert models.both.name("agent") == "model-1"

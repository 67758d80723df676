"""Attempts, stand-ins and breakers over real HTTP, counted at the servers (C55, C57)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta

import pytest
from pydantic import BaseModel

from shared import telemetry
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.models_by_urgency import ModelsByUrgency
from shared.adapters.resilient_model import ResilientModel
from shared.domain.errors import ModelFailed, ModelUnreachable, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.model import ModelFacts, ModelMessage, Prompt, TextDelta, UserText
from shared.ports import ChatModel
from shared.resilience.circuit_breaker import FAILURE_THRESHOLD, OPEN_FOR
from tests.fakes import AutoAdvanceClock
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

HELLO: list[ModelMessage] = [UserText(text="Hello")]
PROMPT = Prompt(name="library/count", version="1", instructions="Count.", data={})
ANN, BOB = UserId("ann"), UserId("bob")
UNREACHABLE = "http://127.0.0.1:9"
ALWAYS_DOWN = Script(status=503, sticky=True)
TRANSIENT_FAULTS = [
    Script(status=408),
    Script(status=429),
    Script(status=500),
    Script(status=503),
    Script(break_after=0, text="never seen"),
]


class Count(BaseModel):
    number: int


@dataclass
class TwoProviders:
    """Two providers, and a model that asks the first and then the second."""

    first: ScriptedOpenai
    second: ScriptedOpenai
    clock: AutoAdvanceClock
    without_fallback: ResilientModel
    with_fallback: ResilientModel

    async def collect_text(self, model: ChatModel) -> str:
        async with model.stream("agent", HELLO) as events:
            return "".join([e.text async for e in events if isinstance(e, TextDelta)])

    @property
    def request_counts(self) -> tuple[int, int]:
        return len(self.first.requests), len(self.second.requests)


@pytest.fixture
async def models() -> AsyncIterator[TwoProviders]:
    async with AsyncExitStack() as stack:
        first = stack.enter_context(scripted_openai(Script(text="From the first.")))
        second = stack.enter_context(scripted_openai(Script(text="From the second.")))
        openai_models = [
            OpenaiModel(api_key="key", base_url=server.url, models={"agent": f"model-{n}"})
            for n, server in enumerate((first, second), 1)
        ]
        for openai_model in openai_models:
            stack.push_async_callback(openai_model.aclose)
        clock = AutoAdvanceClock()
        yield TwoProviders(
            first=first,
            second=second,
            clock=clock,
            without_fallback=ResilientModel({"agent": openai_models[:1]}, clock),
            with_fallback=ResilientModel({"agent": openai_models}, clock),
        )


@pytest.mark.parametrize("fault", TRANSIENT_FAULTS)
async def test_a_transient_failure_before_the_first_event_is_retried_once_c55(models, fault):
    models.first.play(fault)

    assert await models.collect_text(models.with_fallback) == "From the first."
    assert models.request_counts == (2, 0)
    assert len(models.clock.sleeps_s) == 1


@pytest.mark.parametrize("fault", TRANSIENT_FAULTS)
async def test_without_a_fallback_the_second_failure_is_final_c55(models, fault):
    models.first.play(fault, fault)

    with pytest.raises(Unavailable):
        await models.collect_text(models.without_fallback)

    assert models.request_counts == (2, 0)


@pytest.mark.parametrize("fault", TRANSIENT_FAULTS)
async def test_after_two_transient_failures_the_fallback_answers_c57(models, fault):
    models.first.play(fault, fault)

    assert await models.collect_text(models.with_fallback) == "From the second."
    assert models.request_counts == (2, 1)


async def test_diagnostics_show_the_attempts_and_the_fallback_model_c75(models):
    models.first.play(Script(status=503), Script(status=503))

    with telemetry.log_request("chat") as record:
        await models.collect_text(models.with_fallback)

    facts = record.collect_fields()
    assert (facts["model_attempts"], facts["fallback_model"]) == (3, "model-2")


async def test_the_fallback_has_two_attempts_of_its_own_c55(models):
    models.first.play(ALWAYS_DOWN)
    models.second.play(Script(status=500), Script(status=500))

    with pytest.raises(Unavailable):
        await models.collect_text(models.with_fallback)

    assert models.request_counts == (2, 2)


@pytest.mark.parametrize(
    "fault",
    [
        Script(status=400, error_code="content_filter"),
        Script(status=401),
        Script(status=404),
        Script(refusal="I cannot."),
    ],
)
async def test_a_permanent_failure_is_neither_retried_nor_sent_to_the_fallback_c57(models, fault):
    models.first.play(fault)

    with pytest.raises(ModelFailed):
        await models.collect_text(models.with_fallback)

    assert models.request_counts == (1, 0)


async def test_nothing_is_retried_after_the_first_token_c55(models):
    models.first.play(Script(text="one two three", break_after=2))

    async with models.with_fallback.stream("agent", HELLO) as events:
        first_tokens = [await anext(events), await anext(events)]
        with pytest.raises(Unavailable):
            await anext(events)

    assert first_tokens == [TextDelta("one"), TextDelta(" two")]
    assert models.request_counts == (1, 0)


async def test_a_structured_answer_is_retried_and_sent_to_the_fallback_c55(models):
    models.first.play(*[Script(schema="count", text='{"num', break_after=1)] * 2)
    models.second.play(Script(schema="count", text='{"number": 3}'))

    assert await models.with_fallback.complete_structured("agent", PROMPT, Count) == Count(number=3)
    assert models.request_counts == (2, 1)


async def test_a_short_retry_after_is_waited_for_c55(models):
    models.first.play(Script(status=429, retry_after="1"))

    assert await models.collect_text(models.with_fallback) == "From the first."
    assert 1 < models.clock.sleeps_s[0] < 2


async def test_a_long_retry_after_is_not_waited_for_c55(models):
    models.first.play(Script(status=429, retry_after="60"))

    assert await models.collect_text(models.with_fallback) == "From the second."
    assert (models.request_counts, models.clock.sleeps_s) == ((1, 1), [])


async def test_the_breaker_opens_after_repeated_failures_c57(models):
    models.first.play(ALWAYS_DOWN)
    for _ in range(3):
        await models.collect_text(models.with_fallback)
    assert models.request_counts == (FAILURE_THRESHOLD, 3), (
        "the third question's second attempt is not made"
    )

    assert await models.collect_text(models.with_fallback) == "From the second."
    assert models.request_counts == (FAILURE_THRESHOLD, 4)


async def test_a_successful_probe_closes_the_breaker_c57(models):
    models.first.play(*[Script(status=503)] * FAILURE_THRESHOLD)
    for _ in range(3):
        await models.collect_text(models.with_fallback)

    models.clock.advance(seconds=OPEN_FOR.total_seconds())

    assert await models.collect_text(models.with_fallback) == "From the first."


async def test_a_failed_probe_costs_one_request_c57(models):
    models.first.play(ALWAYS_DOWN)
    for _ in range(3):
        await models.collect_text(models.with_fallback)

    models.clock.time += OPEN_FOR + timedelta(seconds=1)

    assert await models.collect_text(models.with_fallback) == "From the second."
    assert models.request_counts[0] == FAILURE_THRESHOLD + 1


async def test_without_a_fallback_an_open_breaker_fails_at_once_c57(models):
    models.first.play(ALWAYS_DOWN)
    for _ in range(3):
        with pytest.raises(Unavailable, match="answered 503"):
            await models.collect_text(models.without_fallback)

    with pytest.raises(Unavailable, match="left alone"):
        await models.collect_text(models.without_fallback)

    assert models.request_counts == (FAILURE_THRESHOLD, 0)


async def test_refusals_do_not_open_the_breaker_c57(models):
    models.first.play(*[Script(status=400, error_code="content_filter")] * (FAILURE_THRESHOLD + 1))
    for _ in range(FAILURE_THRESHOLD + 1):
        with pytest.raises(ModelFailed):
            await models.collect_text(models.with_fallback)

    assert await models.collect_text(models.with_fallback) == "From the first."


@pytest.mark.parametrize("fault", TRANSIENT_FAULTS)
@pytest.mark.parametrize("kind", ["with_fallback", "without_fallback"])
async def test_what_one_user_provokes_stops_no_other_c57(models, fault, kind):
    model = getattr(models, kind)
    attempts = 3 * FAILURE_THRESHOLD
    models.first.play(*[fault] * attempts)
    for _ in range(attempts):
        with suppress(Unavailable):
            await models.collect_text(model.for_asker(ANN))
        models.clock.advance(seconds=OPEN_FOR.total_seconds() / 4)
    models.first.reset()
    models.first.play(Script(text="From the first.", sticky=True))

    assert await models.collect_text(model.for_asker(BOB)) == "From the first."


async def test_a_server_that_is_not_there_is_left_alone_by_all_c57(models):
    nowhere = OpenaiModel(api_key="key", base_url=UNREACHABLE, models={"agent": "m"})
    model = ResilientModel({"agent": [nowhere]}, models.clock)
    for _ in range(FAILURE_THRESHOLD):
        with pytest.raises(ModelUnreachable):
            await models.collect_text(model.for_asker(ANN))

    with pytest.raises(ModelUnreachable, match="left alone"):
        await models.collect_text(model.for_asker(BOB))
    await nowhere.aclose()


async def test_users_of_one_models_setup_are_told_apart_c57(models):
    models.first.play(ALWAYS_DOWN)
    shared = ModelsByUrgency(models.without_fallback, models.without_fallback)
    for _ in range(FAILURE_THRESHOLD):
        with pytest.raises(Unavailable):
            await models.collect_text(shared.for_user(ANN, is_masked=False))
    models.first.reset()
    models.first.play(Script(text="From the first.", sticky=True))

    with pytest.raises(Unavailable, match="left alone"):
        await models.collect_text(shared.for_user(ANN, is_masked=False))
    assert await models.collect_text(shared.for_user(BOB, is_masked=False)) == "From the first."


@pytest.fixture
async def flex(models: TwoProviders) -> AsyncIterator[ResilientModel]:
    """Flex processing at the first provider, and the usual tier at the second."""
    options = [(models.first, True), (models.second, False)]
    tiers = [
        OpenaiModel(api_key="key", base_url=server.url, models={"agent": "model"}, is_flex=is_flex)
        for server, is_flex in options
    ]
    yield ResilientModel({"agent": tiers}, models.clock)
    for tier in tiers:
        await tier.aclose()


async def test_what_the_usual_tier_refuses_as_well_keeps_nobody_from_flex_processing_d5(
    models, flex
):
    refusals = [Script(status=400, error_code="content_filter")] * (FAILURE_THRESHOLD + 1)
    models.first.play(*refusals)
    models.second.play(*refusals)
    for _ in refusals:
        with pytest.raises(ModelFailed):
            await models.collect_text(flex)

    assert await models.collect_text(flex) == "From the first."


async def test_a_model_without_flex_processing_is_soon_asked_for_none_d5(models, flex):
    models.first.play(Script(status=400, sticky=True))
    for _ in range(FAILURE_THRESHOLD + 3):
        assert await models.collect_text(flex) == "From the second."

    assert models.request_counts == (FAILURE_THRESHOLD, FAILURE_THRESHOLD + 3)


async def test_the_name_is_that_of_the_first_model(models):
    assert models.with_fallback.name("agent") == "model-1"


def test_a_role_is_given_what_its_fallback_takes_too_x8():
    first, second = (
        OpenaiModel(api_key="key", base_url="http://a", models={"agent": name}, windows=windows)
        for name, windows in (("gpt-6-luna", {}), ("gpt-6-sol", {"agent": 64_000}))
    )
    model = ResilientModel({"agent": [first, second]}, AutoAdvanceClock())
    unknown = OpenaiModel(api_key="key", base_url="http://a", models={"agent": "llama3"})

    assert model.describe("agent") == ModelFacts(window_tokens=64_000, takes_images=True)
    assert (
        ResilientModel({"agent": [first, unknown]}, AutoAdvanceClock()).describe("agent")
        == ModelFacts()
    )

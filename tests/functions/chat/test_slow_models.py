"""Models that read for long before their first word: told once, and no time of the turn is lost (P10, N7)."""

from collections.abc import Sequence

import anyio
import pytest

from functions.chat import user_texts
from functions.chat.deps import Limits
from functions.chat.turn.deadline import SLOW_AFTER_S
from functions.chat.turn.start_turn import CLOSING_DELAY
from shared.domain.chats.run import AnswerText, RunEvent, Status
from shared.domain.models.model import (
    ModelCallFinished,
    ModelFacts,
    ReasoningDelta,
    TextDelta,
    ToolLeftOut,
)
from shared.languages import translate
from tests.fakes import ScriptedModel, ScriptedStep, ScriptedTurn, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.test_turn import ask, require_end

LOCAL = ModelFacts(window_tokens=128_000, is_local=True)
ELSEWHERE = ModelFacts(window_tokens=128_000)
READS = Status(user_texts.MODEL_READS)
LIMITS = Limits(deadline_s=1_000.0)
END = ModelCallFinished(reason="stop", model="m")


def list_told(events: Sequence[RunEvent]) -> list[Status]:
    return [event for event in events if event == READS]


@pytest.mark.parametrize("facts", [LOCAL, ELSEWHERE])
async def test_who_waits_for_the_first_word_is_told_once_that_the_model_reads(
    world: ChatFixture, facts: ModelFacts
) -> None:
    async def read() -> None:
        for _ in range(3):
            await world.advance_when_idle(seconds=SLOW_AFTER_S)

    search: ScriptedTurn = [read, *script_calls(("get_memories", {}))]
    with ScriptedModel(search, [read, *script_answer("Hi")], facts=facts) as model:
        events = await ask(world.deps(model))

    assert list_told(events) == [READS]
    assert events.index(READS) < next(
        n for n, event in enumerate(events) if isinstance(event, AnswerText)
    )
    assert require_end(events).message.text == "Hi"


async def test_it_is_told_of_a_later_call_that_takes_long(world: ChatFixture) -> None:
    async def read() -> None:
        await world.advance_when_idle(seconds=SLOW_AFTER_S)
        await anyio.wait_all_tasks_blocked()

    with ScriptedModel(script_calls(("get_memories", {})), [read, *script_answer("Hi")]) as model:
        events = await ask(world.deps(model))

    assert list_told(events) == [READS]


@pytest.mark.parametrize("word", [TextDelta("Well"), ReasoningDelta("Hm")])
async def test_nobody_is_told_once_the_model_has_said_a_word(
    world: ChatFixture, word: ScriptedStep
) -> None:
    async def speak_slowly() -> None:
        await world.advance_when_idle(seconds=SLOW_AFTER_S)
        await anyio.wait_all_tasks_blocked()

    with ScriptedModel([word, speak_slowly, TextDelta("."), END]) as model:
        events = await ask(world.deps(model))

    assert list_told(events) == []


async def test_it_is_told_in_the_owners_language(world: ChatFixture) -> None:
    async def read() -> None:
        await world.advance_when_idle(seconds=SLOW_AFTER_S)
        await anyio.wait_all_tasks_blocked()

    with ScriptedModel([read, *script_answer("Hallo")]) as model:
        deps = world.deps(model)
        await deps.stores.profiles.change(ADA, language="de")
        events = await ask(deps)

    assert Status(translate(user_texts.MODEL_READS, "de")) in events


async def measure_time_left(world: ChatFixture, facts: ModelFacts) -> list[float]:
    """Return how many seconds a turn has before its first word, after it, and before that of the next call."""
    left_s: list[float] = []

    async def look() -> None:
        left_s.append(anyio.current_effective_deadline() - anyio.current_time())

    first: ScriptedTurn = [look, ToolLeftOut(name="x", reason="no"), TextDelta("Hm"), look]
    with ScriptedModel(
        [*first, *script_calls(("get_memories", {}))], [look, *script_answer("Hi")], facts=facts
    ) as model:
        await ask(world.deps(model, limits=LIMITS))
    return left_s


async def test_what_a_local_model_reads_costs_no_time_of_its_turn_p10(world: ChatFixture) -> None:
    before, after, again = await measure_time_left(world, LOCAL)

    limit_s = LIMITS.deadline_s
    assert limit_s < before <= limit_s + LIMITS.allow_reading_s(LOCAL)
    assert after <= limit_s
    assert again > limit_s


async def test_any_other_model_has_its_deadline_from_the_start_p10(world: ChatFixture) -> None:
    assert all(left_s <= LIMITS.deadline_s for left_s in await measure_time_left(world, ELSEWHERE))


async def test_a_local_model_that_never_speaks_is_left_in_the_end_p10(world: ChatFixture) -> None:
    limits = Limits(deadline_s=0.02)
    with ScriptedModel([anyio.sleep_forever], facts=LOCAL) as model:
        end = require_end(await ask(world.deps(model, limits=limits)))

    assert (end.outcome, end.message.text) == ("limited", user_texts.DEADLINE_PASSED)


@pytest.mark.parametrize("facts", [LOCAL, ELSEWHERE])
async def test_a_run_is_closed_only_after_all_the_time_that_it_may_take_x36(
    world: ChatFixture, facts: ModelFacts
) -> None:
    with ScriptedModel(script_answer("Hi"), facts=facts) as model:
        await ask(world.deps(model, limits=LIMITS))

    [task] = world.tasks.list_by_target("close_run")
    assert task.at is not None
    longest_s = LIMITS.deadline_s + LIMITS.allow_reading_s(facts)
    assert (task.at - world.clock.now() - CLOSING_DELAY).total_seconds() == longest_s

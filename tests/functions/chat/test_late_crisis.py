"""Crises that the rules miss: read beside the answer, which ends as soon as one is found."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import permutations
from typing import Any, TypeVar

import anyio
import pytest

from functions.chat.deps import ChatDeps, Limits
from functions.chat.runs.journal import Journal
from functions.chat.safety.crisis_verdict import DOUBTFUL_SELF_HARM
from functions.chat.sessions.alternatives import list_alternatives
from functions.chat.tools.toolkit import ResultRenderer
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from shared.domain.chats.crisis import CLEAR, CrisisLevel
from shared.domain.chats.run import RouteChosen, RunEnded, ToolEnded, ToolStarted
from shared.domain.chats.safety import Moderation
from shared.domain.chats.voices import select_voice
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.models.model import ModelRole, Prompt, TextDelta
from shared.languages import translate
from shared.safety import crisis_plan
from shared.safety.crisis_rules import find_crisis
from tests.fakes import ScriptedModel, ScriptedTurn, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.test_agent import build_tool
from tests.functions.chat.test_crisis_gate import FAILURES, list_events, read
from tests.functions.chat.test_harm_gate import (
    RATING,
    HeldModerator,
    OrderedModel,
    ask,
    join_text,
    never_end,
    rate,
    wait_stored,
)
from tests.functions.chat.test_message_routes import open_chat
from tests.functions.chat.test_turn import list_stored

T = TypeVar("T")
MISSED = "Friday is the last one, everything is sorted out. Tell ann@example.org."
JUDGE = "chat/crisis"
DANGER = Moderation(self_harm=DOUBTFUL_SELF_HARM)
WORD = "First, "


def test_the_rules_call_it_clear_c44() -> None:
    assert find_crisis(MISSED).certainty == "clear"


@asynccontextmanager
async def hold_moderation(
    deps: ChatDeps, turn: PreparedTurn | None = None, *, resume: anyio.Event | None = None
) -> AsyncIterator[Journal]:
    """Let a question be answered as far as it goes; moderated when the block ends, and then resumed."""
    moderator, journal = HeldModerator(DANGER), Journal()
    deps = replace(deps, moderator=moderator)
    turn = turn or await prepare_turn(deps, ADA, Question(MISSED))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_turn, deps, turn, journal)
        await wait_stored(deps)
        yield journal
        moderator.let_go.set()
        if resume is not None:
            while not (turn.output_gate.verdict or CLEAR).level:
                await anyio.lowlevel.checkpoint()
            resume.set()


async def wait_for(journal: Journal, check: Callable[[Journal], object]) -> None:
    while not check(journal):
        await anyio.lowlevel.checkpoint()


def require_end(journal: Journal) -> RunEnded:
    (end,) = (event for event in journal.events if isinstance(event, RunEnded))
    assert journal.events[-1] is end
    assert end.message.text == join_text(journal.events)
    return end


def build_plan(level: CrisisLevel) -> str:
    step = crisis_plan.GET_HELP_NOW if level == 3 else crisis_plan.TELL_SOMEBODY
    return f"{crisis_plan.NOT_ALONE}\n\n{step}"


@pytest.mark.parametrize("level", [2, 3])
@pytest.mark.parametrize("words", [[], [TextDelta(WORD)]], ids=["before a word", "after one"])
async def test_the_answer_ends_where_a_crisis_is_found_and_the_plan_follows_c43(
    world: ChatFixture, words: Sequence[Any], level: CrisisLevel
) -> None:
    with ScriptedModel([*words, never_end], answers={JUDGE: [read(level)]}) as model:
        async with hold_moderation(world.deps(model)) as journal:
            await wait_for(journal, lambda j: join_text(j.events) or not words)

    message = require_end(journal).message
    lead = f"{WORD}\n\n" if words else ""
    assert message.text.startswith(lead + build_plan(level))
    assert model.open_streams == 0
    assert (message.route, message.crisis_level) == ("crisis", level)
    assert message.metadata["outcome"] == "completed"
    [event] = await list_events(world)
    assert (event["kind"], event["level"], event["decided_by"]) == ("answered", level, "classifier")


async def test_a_call_under_way_is_cancelled_and_none_follows_c43(world: ChatFixture) -> None:
    async def wait_forever(_: Mapping[str, Any]) -> ResultRenderer:
        await anyio.sleep_forever()
        raise AssertionError

    turn = await prepare_turn(world.deps(), ADA, Question(MISSED))
    (voice,) = turn.voices
    turn = replace(turn, voices=(replace(voice, tools=(build_tool("a", wait_forever),)),))
    with ScriptedModel(script_calls(("a", {})), answers={JUDGE: [read(3)]}) as model:
        async with hold_moderation(world.deps(model), turn) as journal:
            await wait_for(journal, lambda j: any(isinstance(e, ToolStarted) for e in j.events))

    message = require_end(journal).message
    assert message.text.startswith(crisis_plan.NOT_ALONE)
    assert not any(isinstance(event, ToolEnded) for event in journal.events)
    assert len(model.calls) == 1


async def test_a_call_that_was_asked_for_waits_while_a_crisis_is_judged_c43(
    world: ChatFixture,
) -> None:
    call = script_calls(("remember", {"fact": "Friday"}))
    model = OrderedModel(
        [TextDelta(WORD), never_end],
        events={JUDGE: anyio.Event()},
        answers={JUDGE: [read(2)]},
    )
    model._turns = [[TextDelta(WORD), anyio.wait_all_tasks_blocked, *call]]
    world.moderator.ratings = [DANGER]
    deps, journal = world.deps(model), Journal()
    turn = await prepare_turn(deps, ADA, Question(MISSED))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_turn, deps, turn, journal)
        await wait_stored(deps)
        model._events[JUDGE].set()

    assert not any(isinstance(event, ToolStarted) for event in journal.events)
    assert require_end(journal).message.crisis_level == 2


@pytest.mark.parametrize("words", [[], [WORD]], ids=["before a word", "after one"])
async def test_a_gentle_question_ends_the_answer_once_c45(
    world: ChatFixture, words: Sequence[str]
) -> None:
    resume = anyio.Event()
    turn_of_model: ScriptedTurn = [*map(TextDelta, words), resume.wait, *script_answer("it rains.")]
    with ScriptedModel(turn_of_model, answers={JUDGE: [read(1)]}) as model:
        async with hold_moderation(world.deps(model), resume=resume) as journal:
            await wait_for(journal, lambda j: join_text(j.events) or not words)

    message = require_end(journal).message
    assert message.text == f"{''.join(words)}it rains.\n\n{crisis_plan.ASK_GENTLY}"
    assert (message.route, message.crisis_level) == ("answer", 1)


async def test_an_answer_that_is_ready_waits_for_a_judgement_under_way_c43(
    world: ChatFixture,
) -> None:
    world.moderator.ratings = [DANGER]
    model = OrderedModel(
        script_answer(WORD), events={JUDGE: anyio.Event()}, answers={JUDGE: [read(3)]}
    )
    deps, journal = world.deps(model), Journal()
    turn = await prepare_turn(deps, ADA, Question(MISSED))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_turn, deps, turn, journal)
        await wait_stored(deps)
        model._events[JUDGE].set()

    assert require_end(journal).message.crisis_level == 3


@pytest.mark.parametrize("level", [1, 2, 3])
async def test_after_the_end_a_crisis_is_logged_and_marked_c48(
    world: ChatFixture, level: int
) -> None:
    with ScriptedModel(script_answer("It rains."), answers={JUDGE: [read(level)]}) as model:
        deps = world.deps(model)
        async with hold_moderation(deps) as journal:
            await wait_for(journal, lambda j: isinstance(j.events[-1], RunEnded))
            assert require_end(journal).message.crisis_level == 0

    _, answer = await list_stored(deps)
    [event] = await list_events(world)
    assert (event["kind"], event["level"], event["resource_count"]) == ("found_late", level, 0)
    assert (answer.text, answer.crisis_level, answer.route) == ("It rains.", level, "answer")
    assert answer.diagnostics["crisis_level"] == level


async def test_the_turn_after_a_crisis_that_was_found_late_begins_with_care_c43(
    world: ChatFixture,
) -> None:
    answers = {JUDGE: [read(3), read(3)]}
    with ScriptedModel(script_answer("It rains."), [never_end], answers=answers) as model:
        deps = world.deps(model)
        async with hold_moderation(deps) as journal:
            await wait_for(journal, lambda j: isinstance(j.events[-1], RunEnded))
        world.clock.advance(seconds=9)
        message, _ = await ask(deps, "Thanks")

    assert message.text.startswith(crisis_plan.NOT_ALONE)
    assert model.prompts[1][1].data["earlier"] == [MISSED.replace("ann@example.org.", "[…]")]


async def test_a_reply_with_a_country_gets_its_numbers_after_a_late_plan_too_c46(
    world: ChatFixture,
) -> None:
    answers = {JUDGE: [read(2, language="de")]}
    with ScriptedModel([TextDelta(WORD), never_end], answers=answers) as model:
        deps = world.deps(model)
        async with hold_moderation(deps):
            pass
        world.clock.advance(seconds=9)
        message, _ = await ask(deps, "Deutschland")

    assert message.text.endswith(translate(crisis_plan.ASK_SAFE, "de"))


@pytest.mark.parametrize("failure", FAILURES)
async def test_without_a_classifier_the_answer_ends_with_whom_to_call_c44(
    world: ChatFixture, failure: str
) -> None:
    world.moderator.ratings = [DANGER]
    with ScriptedModel(script_answer("Yes."), answers={JUDGE: FAILURES[failure]}) as model:
        message, _ = await ask(world.deps(model), MISSED)

    (finder,) = [row for row in crisis_plan.load_resources() if not row.country]
    assert message.text.startswith("Yes.\n\n")
    assert finder.contact in message.text
    assert message.crisis_level == 0


class SlowModel(ScriptedModel):
    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        await anyio.sleep_forever()
        raise AssertionError


async def test_a_classifier_that_hangs_is_left_behind_c44(world: ChatFixture) -> None:
    world.moderator.ratings = [DANGER]
    with SlowModel(script_answer("Yes.")) as model:
        message, _ = await ask(world.deps(model, limits=Limits(crisis_timeout_s=0.01)), MISSED)

    assert message.text.startswith("Yes.")


@pytest.mark.parametrize("moderation", [None, Unavailable("down"), ModelFailed("?"), ValueError()])
@pytest.mark.parametrize("self_harm", [0, 0.9, 1, 10, "much", None])
async def test_where_nobody_moderates_one_call_of_the_model_rates_c44(
    world: ChatFixture, moderation: Any, self_harm: Any
) -> None:
    world.moderator.ratings = [moderation]
    is_doubted = self_harm in (1, 10)
    answers = {
        RATING: [rate(self_harm=self_harm)],
        JUDGE: [read(2)] if is_doubted else [],
    }
    end = [never_end] if is_doubted else script_answer()
    with ScriptedModel([TextDelta("Yes."), *end], answers=answers) as model:
        message, _ = await ask(world.deps(model), MISSED)

    assert message.route == ("crisis" if is_doubted else "answer")
    assert [prompt.name for _, prompt in model.prompts].count(RATING) == 1


async def test_where_nobody_moderates_harm_to_others_is_refused_and_counts_m128(
    world: ChatFixture,
) -> None:
    world.moderator.ratings = [None, None]
    answers = {RATING: [rate(9), rate(2)]}
    with ScriptedModel([never_end], script_answer("Yes."), answers=answers) as model:
        deps = world.deps(model)
        refused, _ = await ask(deps)
        session = await deps.stores.sessions.get(ADA, refused.session_id)
        world.clock.advance(days=9)
        answered, _ = await ask(deps, "And the basil?")
        later = await deps.stores.sessions.get(ADA, refused.session_id)

    assert session is not None
    assert later is not None
    assert (refused.route, answered.route) == ("refusal", "answer")
    assert session.safety.points == pytest.approx(0.45)
    assert later.safety == session.safety


@pytest.mark.parametrize("level", [0, 2])
async def test_somebody_in_a_crisis_is_never_refused_m97(
    world: ChatFixture, level: CrisisLevel
) -> None:
    world.moderator.ratings = [Moderation(harm=1.0, self_harm=1.0)]
    answers = {JUDGE: [read(level)], RATING: [] if level else [rate(9)]}
    with ScriptedModel([never_end], answers=answers) as model:
        deps = world.deps(model)
        message, _ = await ask(deps, MISSED)
        session = await deps.stores.sessions.get(ADA, message.session_id)

    assert session is not None
    assert message.route == ("crisis" if level else "refusal")
    assert (session.safety.points > 0) is not bool(level)


async def test_below_the_doubt_no_classifier_is_asked_c44(world: ChatFixture) -> None:
    world.moderator.ratings = [Moderation(self_harm=0.09)]
    with ScriptedModel(script_answer("Yes.")) as model:
        await ask(world.deps(model), MISSED)

    assert model.prompts == []


async def test_nobody_who_rates_or_judges_reads_addresses_c43(world: ChatFixture) -> None:
    world.moderator.ratings = [None]
    answers = {RATING: [rate(self_harm=9)], JUDGE: [read(2)]}
    with ScriptedModel([never_end], answers=answers) as model:
        await ask(world.deps(model), MISSED)

    texts = [*world.moderator.texts, *(prompt.data["message"] for _, prompt in model.prompts)]
    assert len(texts) == 3
    assert not any("ann@" in text for text in texts)


@pytest.mark.parametrize("level", [1, 2])
async def test_every_voice_gets_what_the_verdict_adds_c43(
    world: ChatFixture, level: CrisisLevel
) -> None:
    resume = anyio.Event()
    turn = await prepare_turn(world.deps(), ADA, Question(MISSED, models=["agent", "fast"]))
    voices: Mapping[ModelRole, Any] = {
        "agent": [script_answer("A.")],
        "fast": [[TextDelta("B."), resume.wait, *script_answer()]],
    }
    with ScriptedModel(by_role=voices, answers={JUDGE: [read(level)]}) as model:
        async with hold_moderation(world.deps(model), turn, resume=resume) as journal:
            await wait_for(journal, lambda j: join_text(select_voice(j.events, 1)))

    end = journal.events[-1]
    assert isinstance(end, RunEnded)
    others = await list_alternatives(world.deps(), ADA, end.message.id)
    texts = {message.text for message in [end.message, *others]}
    assert len(texts) == 2
    assert all(("are you having thoughts" in t) is (level == 1) for t in texts)
    assert all((crisis_plan.NOT_ALONE in t) is (level == 2) for t in texts)


async def test_in_an_incognito_chat_the_log_names_nobody_c68(world: ChatFixture) -> None:
    world.moderator.ratings = [DANGER]
    with ScriptedModel([never_end], answers={JUDGE: [read(2)]}) as model:
        async with open_chat(world.deps(model)) as http:
            chat = (await http.post("/v2/chat-sessions", json={"storage_mode": "incognito"})).json()
            place = {"chat_session_id": chat["id"]}
            await http.post("/v2/messages", json={"text": MISSED}, params=place)

    [event] = await list_events(world)
    assert (event["user"], event["level"]) == (None, 2)


@pytest.mark.parametrize("order", list(permutations(("moderate", "judge", "word", "end"))))
@pytest.mark.parametrize("level", [0, 1, 2, 3])
async def test_in_every_order_a_question_has_one_end_and_its_level_is_known_c43(
    world: ChatFixture, level: CrisisLevel, order: Sequence[str]
) -> None:
    events = {name: anyio.Event() for name in order}
    moderator, journal = HeldModerator(DANGER, events["moderate"]), Journal()
    model = OrderedModel(
        [events["word"].wait, TextDelta(WORD), events["end"].wait, *script_answer("it rains.")],
        events={JUDGE: events["judge"]},
        answers={JUDGE: [read(level)]},
    )
    deps = replace(world.deps(model), moderator=moderator)
    turn = await prepare_turn(deps, ADA, Question(MISSED))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_turn, deps, turn, journal)
        await wait_stored(deps)
        for name in order:
            events[name].set()
            await anyio.wait_all_tasks_blocked()

    text = require_end(journal).message.text
    _, stored = await list_stored(deps)
    is_late = max(map(order.index, ("word", "end"))) < order.index("moderate")
    assert stored.text == text
    assert stored.crisis_level == level
    assert text.count(crisis_plan.NOT_ALONE) == (level >= 2 and not is_late)
    assert text.count(crisis_plan.ASK_GENTLY) == (level == 1 and not is_late)
    assert sum(isinstance(event, RouteChosen) for event in journal.events) == (
        level > 0 and not is_late
    )


async def test_a_cry_for_help_in_words_to_keep_gets_the_plan_and_is_not_kept_c43(
    world: ChatFixture,
) -> None:
    with ScriptedModel(answers={JUDGE: [read(3)]}) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question(f"/remember {MISSED}"))
        async with hold_moderation(deps, turn) as journal:
            pass

    message = require_end(journal).message
    assert message.text.startswith(build_plan(3))
    assert (message.route, message.crisis_level) == ("crisis", 3)
    assert await deps.stores.memories.list_newest(ADA, limit=9) == []

"""Our own words in answers: people read them, no model is given them as its own (N7)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Any, TypeVar, get_args

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.chat import user_texts
from functions.chat.context.history import pair_answers
from functions.chat.context.model_words import select_model_words
from functions.chat.corrections.safe_answer import write_safe_answer
from functions.chat.deps import ChatDeps, Limits
from functions.chat.runs.close_run import close_as_interrupted
from functions.chat.runs.journal import Journal, VoiceJournal, merge_text
from functions.chat.sessions.chat_messages import list_newest
from functions.chat.sessions.quota_answer import store_quota_answer
from functions.chat.tools.app_tools import build_model_name
from functions.chat.turn.after_turn import after_turn
from functions.chat.turn.answer_turn import answer_turn, build_run
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from functions.chat.turn.result_summaries import summarise_results
from shared.data.store.codec import type_adapter
from shared.domain.account.profile import Profile
from shared.domain.chats.chat import MAIN_SESSION, Message
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.chats.run import AnswerText, Batch, OwnText, SequencedEvent
from shared.domain.chats.steps import CallStep
from shared.domain.errors import (
    ModelBusy,
    ModelFailed,
    ModelUnreachable,
    QuotaExceeded,
    RateLimited,
    Unavailable,
)
from shared.domain.failure import FailureReason
from shared.domain.ids import MessageId
from shared.domain.models.model import (
    SAFE_WINDOW_TOKENS,
    AssistantTurn,
    FinishReason,
    ModelCallFinished,
    ModelRole,
    Prompt,
    SystemText,
    TextDelta,
    ToolResult,
    UserText,
)
from shared.domain.models.model_failure import ModelPlace, describe_model_failure
from shared.languages import LANGUAGES, translate
from shared.safety.crisis_plan import PLAN_LANGUAGES, build_addition, build_plan
from tests.fakes import (
    ScriptedModel,
    ScriptedModerator,
    ScriptedTurn,
    script_answer,
    script_calls,
)
from tests.fixtures.chat import ADA, ChatFixture, build_chat_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.chat.chats import (
    GONE_ANSWER,
    build_after_turn_deps,
    load_session,
    store_messages,
)
from tests.functions.chat.context.test_history import build_messages
from tests.functions.chat.test_chat_tools import search
from tests.functions.chat.test_consent import MILK, NOTES, SEND
from tests.functions.chat.test_crisis_gate import CERTAIN
from tests.functions.chat.test_disclosure_plays import build_deps
from tests.functions.chat.test_lookups import FOUND, LOOK_UP
from tests.functions.chat.test_old_app_consent import set_up
from tests.functions.chat.test_stretches import DOG, STRETCH
from tests.functions.chat.test_stretches import end as end_stretch_of
from tests.functions.chat.test_turn import list_stored, require_end, run_turn

T = TypeVar("T")
IDS = count()
WORDS = "Ann comes on Friday."
AGAIN = script_calls(("get_memories", {"limit": 5}))


@dataclass(frozen=True)
class Ending:
    """A question, what its model does, and the words that are the model's in the answer."""

    turns: tuple[ScriptedTurn, ...] = ()
    words: str = ""
    text: str = "When?"
    harm: float = 0.0
    ends_by: str = ""


class JudgingModel(ScriptedModel):
    """A model that judges whatever it is asked to, too: no crisis, and so much harm of 0 to 1."""

    harm: float = 0.0

    async def complete_structured(self, role: ModelRole, prompt: Prompt, schema: type[T]) -> T:
        judgements = {
            "chat/reading": {
                "danger": 0,
                "harm": 10 * self.harm,
                "harm_quote": prompt.data["message"],
                "language": "en",
            },
        }
        value: T = type_adapter(schema).validate_python(judgements[prompt.name])
        return value


def fail_with(error: Exception, *, after: str = "") -> Ending:
    said = [TextDelta(after)] if after else []
    return Ending(turns=([*said, error],), words=after)


def cut_by(reason: FinishReason, words: str = WORDS) -> Ending:
    return Ending(
        turns=((TextDelta(words), ModelCallFinished(reason=reason, model="m")),), words=words
    )


REASONS: tuple[FailureReason, ...] = (
    "refused_key",
    "unknown_model",
    "no_quota",
    "filtered",
    "wrong_server",
    "other",
)
ENDINGS = {
    "answered": Ending(turns=(script_answer(WORDS),), words=WORDS),
    "empty": Ending(turns=(script_answer(),)),
    **{f"failed_{reason}": fail_with(ModelFailed(reason=reason)) for reason in REASONS},
    "unreachable": fail_with(ModelUnreachable()),
    "down": fail_with(Unavailable()),
    "limited": fail_with(RateLimited(retry_after_s=40.0)),
    "limited_for_unknown": fail_with(RateLimited()),
    "busy": fail_with(ModelBusy()),
    "bug": fail_with(RuntimeError()),
    "broke_off": fail_with(Unavailable(), after=WORDS),
    "limited_while_speaking": fail_with(RateLimited(retry_after_s=4_000.0), after=WORDS),
    "at_the_bound": cut_by("length"),
    "cut": cut_by("cut"),
    "repeating": cut_by("repetition"),
    "calls_repeated": Ending(turns=(AGAIN, AGAIN, AGAIN)),
    "stopped": Ending(turns=((anyio.sleep_forever,),), ends_by="stopped"),
    "stopped_while_speaking": Ending(
        turns=((TextDelta(WORDS), anyio.sleep_forever),), words=WORDS, ends_by="stopped"
    ),
    "interrupted": Ending(turns=((anyio.sleep_forever,),), ends_by="interrupted"),
    "slow": Ending(turns=((anyio.sleep_forever,),), ends_by="deadline"),
    "slow_while_speaking": Ending(
        turns=((TextDelta(WORDS), anyio.sleep_forever),), words=WORDS, ends_by="deadline"
    ),
    "crisis": Ending(text=CERTAIN),
    "refused": Ending(turns=((anyio.sleep_forever,),), harm=1.0),
    "command": Ending(text="/rules"),
    "quota": Ending(ends_by="quota"),
}


SESSIONS = st.lists(st.sampled_from(sorted(ENDINGS)), max_size=5).filter(
    lambda names: names.count("refused") < 2  # more of them close a chat
)


async def play(world: ChatFixture, ending: Ending) -> None:
    """Ask a question that ends so."""
    world.clock.advance(hours=3)
    if ending.ends_by == "quota":
        refusal = QuotaExceeded("Enough for today.", policy="turns", limit=1, retry_after_s=9)
        await store_quota_answer(name_anew(world.deps()), ADA, ending.text, None, None, refusal)
        return
    limits = Limits(deadline_s=0.01) if ending.ends_by == "deadline" else None
    with JudgingModel(*ending.turns) as model:
        model.harm = ending.harm
        moderator = ScriptedModerator([ending.harm])
        deps = name_anew(replace(world, moderator=moderator).deps(model, limits=limits))
        turn = await prepare_turn(deps, ADA, Question(ending.text))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, deps, turn, Journal())
            if ending.ends_by in ("stopped", "interrupted"):
                await _wait_for_model(model)
                active_run = deps.active_runs.find(ADA, turn.run_id)
                assert active_run is not None
                active_run.end("stopped" if ending.ends_by == "stopped" else "interrupted")


async def _wait_for_model(model: ScriptedModel) -> None:
    """Return once the model said what it says."""
    while not model.open_streams:
        await anyio.lowlevel.checkpoint()
    await anyio.wait_all_tasks_blocked()


def name_anew(deps: ChatDeps) -> ChatDeps:
    return replace(deps, new_id=lambda: f"n{next(IDS)}")


async def read_history(world: ChatFixture) -> list[Any]:
    """Ask once more; return what the model reads between our rules and that question."""
    world.clock.advance(hours=3)
    with JudgingModel(script_answer("So it is.")) as model:
        deps = name_anew(world.deps(model))
        await run_turn(deps, await prepare_turn(deps, ADA, Question("And now?")))
    messages = model.calls[0].messages
    assert messages[-1].text.endswith("And now?")
    return [message for message in messages[:-1] if not isinstance(message, SystemText)]


def check_session(names: list[str], language: str | None) -> None:
    anyio.run(_check_session, build_chat_fixture(MemoryDatabase()), names, language)


async def _check_session(world: ChatFixture, names: list[str], language: str | None) -> None:
    await world.deps().stores.profiles.change(ADA, language=language)
    await list_newest(world.deps(), ADA, None)  # which stores the greeting
    for name in names:
        await play(world, ENDINGS[name])
    history = await read_history(world)
    stored = [m for m in await list_stored(world.deps()) if m.sender == "ai"]

    words = [ENDINGS[name].words for name in names if ENDINGS[name].words]
    said = [m.text for m in history if isinstance(m, AssistantTurn) and m.text]
    assert said == words
    assert all(isinstance(m, UserText) for m in history[:1])
    questions = [m.text for m in history if isinstance(m, UserText)]
    assert [text for text in questions if not text.startswith("Keepsake itself")] == [
        ENDINGS[name].text for name in names
    ]
    assert all(message.text for message in stored), "people read each of them"


@given(SESSIONS, st.sampled_from([None, "de", "ja"]))
def test_a_model_is_given_its_own_words_however_its_answers_ended_n7(
    names: list[str], language: str | None
) -> None:
    check_session(names, language)


@pytest.mark.parametrize("name", ENDINGS)
def test_each_ending_is_read_by_people_and_by_no_model_n7(name: str) -> None:
    check_session([name], None)


async def list_said(world: ChatFixture) -> list[str]:
    """Return what the model of the next question reads as its own words."""
    history = await read_history(world)
    return [m.text for m in history if isinstance(m, AssistantTurn) and m.text]


async def test_a_question_before_a_call_is_no_word_of_the_model_n7(world: ChatFixture) -> None:
    await set_up(world)
    call = script_calls((build_model_name(NOTES, SEND), MILK))
    with ScriptedModel(call, script_answer("One moment.")) as model:
        deps = name_anew(world.deps(model))
        end = require_end(await run_turn(deps, await prepare_turn(deps, ADA, Question("Send it"))))

    history = await read_history(world)

    assert "May “" in end.message.text
    assert "May “" not in repr(history)
    assert [m.text for m in history if isinstance(m, AssistantTurn)] == ["", "One moment."]
    [result] = [m.text for m in history if isinstance(m, ToolResult)]
    assert "was not made" in result, "that stands in the results"


async def test_sources_that_we_name_below_an_answer_are_no_words_of_the_model_n7(
    world: ChatFixture,
) -> None:
    world.toolbox.answer = FOUND
    with ScriptedModel(LOOK_UP, script_answer("3 euros.")) as model:
        deps = name_anew(build_deps(world, model))
        end = require_end(await run_turn(deps, await prepare_turn(deps, ADA, Question("Bread?"))))

    assert "Sources:" in end.message.text
    assert await list_said(world) == ["3 euros."]


async def test_an_answer_keeps_whose_words_it_holds_in_whatever_process_stores_it_n7(
    world: ChatFixture,
) -> None:
    with ScriptedModel() as model:
        turn = await prepare_turn(world.deps(model), ADA, Question("When?"))
    run, runs = build_run(world.deps(), turn), world.deps().stores.runs
    await runs.begin(ADA, run, turn.session, turn.question)
    journal = VoiceJournal(active := Journal())
    journal.append(AnswerText(WORDS))
    journal.append_notice(user_texts.ANSWER_CUT)
    batch = Batch(position=1, events=active.events, last_seq=2, writer=run.writer)
    await runs.append(ADA, run, batch)

    lapsed = await runs.get(ADA, run.id, world.clock.now())
    assert lapsed is not None
    await close_as_interrupted(runs, ADA, lapsed, now=world.clock.now())

    stored = await world.deps().stores.messages.get(ADA, MessageId(run.id))
    assert (stored.text, stored.model_text) == (f"{WORDS}\n\n{user_texts.ANSWER_CUT}", WORDS)
    first, _ = await runs.list_batches(ADA, run.id)
    assert first.events == active.events


def test_who_reads_along_gets_our_words_as_any_others_n7() -> None:
    merged = list(merge_text([AnswerText("One. "), OwnText("Two.")], first=1))

    assert merged == [SequencedEvent(2, AnswerText("One. Two."))]


OURS = "It was cut here."


async def store_partly_ours(world: ChatFixture, *texts: str) -> list[Message]:
    """Store questions and answers; every answer ends with words of ours, and there is one of ours alone."""
    messages = await store_messages(world, *texts, "Are you there?", OURS)
    stores = world.deps().stores
    for message in messages:
        if message.sender == "ai":
            words = message.text.removesuffix(OURS)
            await stores.messages.change(
                ADA, message.id, text=f"{words}\n\n{OURS}".strip(), model_text=words
            )
    return [await stores.messages.get(ADA, message.id) for message in messages]


async def read_for_notes(world: ChatFixture, model: ScriptedModel) -> None:
    *_, answer = await store_partly_ours(world, "When is it?", WORDS)
    await after_turn(build_after_turn_deps(world, model), ADA, MAIN_SESSION, answer.id)


async def read_for_a_summary(world: ChatFixture, model: ScriptedModel) -> None:
    await store_partly_ours(world, *[f"text {n}" for n in range(30)])
    await after_turn(
        build_after_turn_deps(world, model), ADA, MAIN_SESSION, GONE_ANSWER, SAFE_WINDOW_TOKENS
    )


async def read_for_an_arc(world: ChatFixture, model: ScriptedModel) -> None:
    await store_partly_ours(world, DOG, WORDS)
    await end_stretch_of(world, model)


async def read_for_result_summaries(world: ChatFixture, model: ScriptedModel) -> None:
    await store_partly_ours(world, "When is it?", WORDS)
    newest = await world.deps().stores.messages.list_newest(ADA, MAIN_SESSION, limit=9)
    call = CallStep(call_id="c", tool="find", arguments="{}", cycle=1, output="It", state="done")
    newest = [replace(m, steps=(call,)) if m.sender == "ai" else m for m in newest]
    profile = Profile(summarises_results=True)
    await summarise_results(build_after_turn_deps(world, model), ADA, profile, newest)


async def read_for_a_safe_answer(world: ChatFixture, model: ScriptedModel) -> None:
    *_, question, answer = await store_partly_ours(world, "When is it?", WORDS)
    deps = build_after_turn_deps(world, model)
    await write_safe_answer(deps, ADA, await load_session(world), question, answer)


READERS: Mapping[str, tuple[Callable[[ChatFixture, ScriptedModel], Awaitable[None]], Any]] = {
    "chat/notes": (read_for_notes, {}),
    "chat/summary": (read_for_a_summary, {"summary": "It was said."}),
    "chat/stretch": (read_for_an_arc, {**STRETCH, "statements": []}),
    "chat/result_summaries": (read_for_result_summaries, {"results": []}),
    "chat/safe_answer": (read_for_a_safe_answer, {"answer": "No."}),
}


@pytest.mark.parametrize("name", READERS)
async def test_who_reads_a_chat_for_later_reads_no_words_of_ours_n7(
    world: ChatFixture, name: str
) -> None:
    read, output = READERS[name]
    with ScriptedModel(answers={name: [output]}) as model:
        await read(world, model)

    [(_, prompt)] = [each for each in model.prompts if each[1].name == name]
    assert OURS not in repr(prompt.data)


async def test_a_search_of_chats_finds_no_words_of_ours_n7(world: ChatFixture) -> None:
    await store_partly_ours(world, "When is it?", "It was on Friday.")

    [found] = await search(world, "was cut")

    assert found["text"] == "It was on Friday."


def list_own_sentences() -> list[str]:
    texts = [text for name, text in vars(user_texts).items() if name.isupper()]
    plain = [text for text in texts if "{" not in text]
    failures = [
        describe_model_failure(reason, place)
        for reason in get_args(FailureReason)
        for place in get_args(ModelPlace)
    ]
    verdicts = (CrisisVerdict(level=level, adds_contacts=level > 1) for level in (1, 2))
    return [
        *failures,
        *(build_addition(v, language) for v in verdicts for language in (None, *LANGUAGES)),
        *(build_plan(CrisisVerdict(level=3), language) for language in (None, *LANGUAGES)),
        *(build_plan(CrisisVerdict(level=3, language=each), None) for each in PLAN_LANGUAGES),
        *(translate(text, language) for text in plain for language in (None, *LANGUAGES)),
    ]


@given(st.sampled_from(list_own_sentences()), st.sampled_from(["", WORDS, "One.\n\nTwo."]))
def test_an_answer_that_was_stored_before_ends_where_our_sentences_begin_n7(
    sentence: str, words: str
) -> None:
    [before] = build_messages(1, first=1)
    text = f"{words}\n\n{sentence}" if words else sentence

    assert select_model_words(replace(before, text=text)) == words


@given(st.text())
def test_whatever_a_model_writes_stays_as_it_is_n7(text: str) -> None:
    [answer] = build_messages(1, first=1)

    assert select_model_words(replace(answer, text=f"{text}.")) == f"{text}."


async def test_two_questions_that_are_asked_at_once_are_replayed_each_with_its_answer_x26(
    world: ChatFixture,
) -> None:
    ids = (f"r{number}" for number in count())
    with ScriptedModel(
        script_answer("Oak."), script_answer("Blue."), script_answer("Yes.")
    ) as model:
        deps = replace(world.deps(model), new_id=lambda: next(ids))
        keel = await prepare_turn(deps, ADA, Question("What is the keel of?"))
        world.clock.advance(seconds=1)
        sail = await prepare_turn(deps, ADA, Question("Which colour is the sail?"))
        world.clock.advance(seconds=1)
        for turn in (keel, sail):
            await answer_turn(deps, turn, Journal())
            world.clock.advance(seconds=1)
        await answer_turn(deps, await prepare_turn(deps, ADA, Question("Sure?")), Journal())

    stored = await deps.stores.messages.list_newest(ADA, MAIN_SESSION, limit=10)
    assert [message.sender for message in stored[::-1]] == [
        "human",
        "human",
        "ai",
        "ai",
        "human",
        "ai",
    ]
    history = [m.text for m in model.calls[-1].messages if isinstance(m, UserText | AssistantTurn)]
    assert history[:-1] == ["What is the keel of?", "Oak.", "Which colour is the sail?", "Blue."]


@given(st.lists(st.integers(0, 5), max_size=12))
def test_each_answer_follows_its_question_however_they_came_c57(order: list[int]) -> None:
    messages: list[Message] = []
    for number in order:
        base, *_ = build_messages(1, first=len(messages))
        name = f"r{number}"
        if all(m.id != f"{name}-q" for m in messages):
            messages.append(replace(base, id=MessageId(f"{name}-q"), sender="human"))
        elif all(m.id != name for m in messages):
            messages.append(replace(base, id=MessageId(name), sender="ai"))
        else:
            notice = MessageId(f"n{len(messages)}")
            messages.append(replace(base, id=notice, sender="ai", from_integration=True))

    paired = pair_answers(messages)

    assert sorted(m.id for m in paired) == sorted(m.id for m in messages)
    for before, message in pairwise([None, *paired]):
        if message is not None and message.id.startswith("r") and message.sender == "ai":
            assert before is not None
            assert before.id == f"{message.id}-q"
    others = [m for m in messages if m.sender == "human" or m.from_integration]
    assert [m for m in paired if m in others] == others

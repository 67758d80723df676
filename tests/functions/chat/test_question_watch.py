"""Watch over a question: one reading beside its answer, for which words wait in doubt and the end always (G1, G2)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any, Literal

import anyio
import pytest
from pydantic_core import to_json

from functions.chat import user_texts
from functions.chat.api.question_schemas import SendQuery
from functions.chat.api.run_streams import build_stream
from functions.chat.deps import ChatDeps, Limits
from functions.chat.runs.journal import Journal
from functions.chat.runs.run_events import stream_events
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.data.search.question_meaning import QuestionMeaning
from shared.domain.chats.crisis import CrisisLevel
from shared.domain.chats.run import AnswerExtended, RouteChosen, RunEnded
from shared.domain.chats.safety import Moderation
from shared.domain.errors import Unavailable
from shared.domain.ids import RunId, UserId
from shared.domain.models.model import TextDelta
from shared.domain.store.documents import Update
from shared.reading.crisis_verdict import DOUBTFUL_DANGER, DOUBTFUL_SELF_HARM
from shared.safety import crisis_plan
from tests.fakes import ScriptedMeanings, ScriptedModel, script_answer
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.test_crisis_gate import PLAIN, list_events, read
from tests.functions.chat.test_harm_gate import (
    READING,
    OrderedModel,
    ask,
    join_text,
    list_kept,
    never_end,
    raise_score,
    rate,
    wait_stored,
)
from tests.functions.chat.test_turn import RefusingDocuments, list_stored

MISSED = "Friday is the last one, everything is sorted out. Tell ann@example.org."
WORD = "First, "
RUN = RunId("run-1")
LOOSE = Limits(reading_end_s=0.0)
"""An answer whose end waits for nothing."""


class HeldTurn:
    """An answer to a question whose reading comes once the test says so."""

    def __init__(
        self,
        world: ChatFixture,
        *turns: Any,
        readings: Sequence[Any],
        limits: Limits | None = None,
        text: str = MISSED,
    ) -> None:
        self.let_read, self.journal = anyio.Event(), Journal()
        self.model = OrderedModel(
            *turns, events={READING: self.let_read}, answers={READING: readings}
        )
        self.deps = world.deps(self.model, limits=limits)
        self._text = text

    async def answer(self, *, ends_first: bool = False) -> str:
        """Answer as far as it goes, then let the question be read; return what was out before that."""
        turn = await prepare_turn(self.deps, ADA, Question(self._text))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, self.deps, turn, self.journal)
            await wait_stored(self.deps)
            while ends_first and not isinstance(self.journal.events[-1], RunEnded):
                await anyio.lowlevel.checkpoint()
            early = join_text(self.journal.events)
            self.let_read.set()
        return early

    @property
    def end(self) -> RunEnded:
        (end,) = (event for event in self.journal.events if isinstance(event, RunEnded))
        return end


async def test_a_clear_question_is_read_once_and_its_words_wait_for_nothing_g1(
    world: ChatFixture,
) -> None:
    turn = HeldTurn(world, script_answer("It rains."), readings=[read(0)])
    early = await turn.answer()

    assert early == turn.end.message.text == "It rains."
    assert [(role, prompt.name) for role, prompt in turn.model.prompts] == [("fast", READING)]


@pytest.mark.parametrize("level", [2, 3])
async def test_the_end_of_a_short_answer_waits_for_the_reading_and_the_plan_joins_it_g2(
    world: ChatFixture, level: CrisisLevel
) -> None:
    turn = HeldTurn(world, script_answer("It rains."), readings=[read(level)])
    await turn.answer()

    message = turn.end.message
    assert message.text.startswith(f"It rains.\n\n{crisis_plan.NOT_ALONE}")
    assert (message.route, message.crisis_level) == ("crisis", level)
    assert [m.text for m in await list_stored(turn.deps)] == [MISSED, message.text]


async def test_where_nothing_was_compared_words_wait_and_the_reading_alone_judges_g1(
    world: ChatFixture,
) -> None:
    class BrokenMeanings(ScriptedMeanings):
        async def read(self, uid: UserId, question: str) -> QuestionMeaning | None:
            raise Unavailable("the encoder is late")

    ends = []
    for reading in (read(0), read(2), Unavailable("the model is down")):
        turn = HeldTurn(world, script_answer("It rains."), readings=[reading] * 2)
        turn.deps = replace(turn.deps, meanings=BrokenMeanings())
        assert await turn.answer() == ""
        ends.append(turn.end.message)
        world.clock.advance(seconds=9)

    harmless, serious, unread = ends
    assert (harmless.text, harmless.crisis_level) == ("It rains.", 0)
    assert serious.route == "crisis"
    assert unread.text.startswith("It rains.\n\n")
    assert "findahelpline.com" in unread.text


async def test_words_of_a_doubted_question_wait_and_then_for_so_long_only_c44(
    world: ChatFixture,
) -> None:
    world.meanings.danger = {MISSED: DOUBTFUL_DANGER}
    held = HeldTurn(world, script_answer("It rains."), readings=[read(0, quote="Friday")])
    given_up = HeldTurn(
        world,
        script_answer("It rains."),
        readings=[read(0)],
        limits=Limits(reading_wait_s=0.0, reading_end_s=0.01),
    )

    assert await held.answer() == ""
    assert held.end.message.text == "It rains."
    world.clock.advance(seconds=9)
    await given_up.answer(ends_first=True)
    assert "findahelpline.com" in given_up.end.message.text


@pytest.mark.parametrize("level", [1, 2, 3])
async def test_a_late_plan_joins_the_stored_answer_and_is_pushed_g2(
    world: ChatFixture, level: int
) -> None:
    turn = HeldTurn(world, script_answer("It rains."), readings=[read(level)], limits=LOOSE)
    early = await turn.answer(ends_first=True)

    _, stored = await list_stored(turn.deps)
    [event] = await list_events(world)
    pushes = [task for task in world.tasks.created if task.target == "deliver_notification"]
    assert early == "It rains."
    assert stored.text.count(crisis_plan.NOT_ALONE) == (level >= 2)
    assert stored.text.count(crisis_plan.ASK_GENTLY) == (level == 1)
    assert stored.text.startswith("It rains.\n\n")
    assert stored.marked_text == stored.text, "clients that link numbers show this one"
    assert (stored.crisis_level, stored.diagnostics["crisis_level"]) == (level, level)
    assert (event["kind"], event["level"]) == ("found_late", level)
    assert len(pushes) == (level >= 2)
    assert not any(word in str(pushes) for word in ("Friday", "rains", "alone"))


@pytest.mark.parametrize("level", [0, 2])
async def test_whoever_still_follows_an_answer_reads_its_late_plan_g2(
    world: ChatFixture, level: int
) -> None:
    turn = HeldTurn(world, script_answer("It rains."), readings=[read(level)], limits=LOOSE)
    frames: dict[str, list[bytes]] = {"released": [], "ui": []}

    async def follow(protocol: Literal["ui-message-stream"] | None, read: list[bytes]) -> None:
        events = stream_events(turn.deps, ADA, RUN, journal=turn.journal)
        stream = build_stream(SendQuery(protocol=protocol), RUN, events)
        read += [frame async for frame in stream._frames]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow, None, frames["released"])
        tasks.start_soon(follow, "ui-message-stream", frames["ui"])
        await turn.answer(ends_first=True)

    _, stored = await list_stored(turn.deps)
    *_, end = (frame for frame in frames["ui"] if b'"type":"finish"' in frame)
    late = b"".join(frames["ui"][frames["ui"].index(end) + 1 :])
    assert [frame[:5] for frame in frames["released"]].index(b"done:") == len(
        frames["released"]
    ) - 1
    assert late.count(crisis_plan.NOT_ALONE.encode()) == (2 if level else 0)
    assert late.count(to_json(stored.text)) == bool(level)
    assert late.endswith(b"data: [DONE]\nid: %d\n\n" % len(turn.journal.events)) == bool(level)


async def test_a_late_plan_reaches_reader_and_devices_where_it_cannot_be_stored_g2(
    world: ChatFixture,
) -> None:
    full = RefusingDocuments(
        world, lambda write: isinstance(write, Update) and "/messages/" in write.path
    )
    turn = HeldTurn(
        replace(world, documents=full),  # type: ignore[arg-type]
        script_answer("It rains."),
        readings=[read(3)],
        limits=LOOSE,
    )
    await turn.answer(ends_first=True)

    _, stored = await list_stored(turn.deps)
    extended = turn.journal.events[-1]
    assert stored.text == "It rains."
    assert isinstance(extended, AnswerExtended)
    assert crisis_plan.NOT_ALONE in extended.text
    assert "deliver_notification" in [task.target for task in world.tasks.created]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("order", list(permutations(("read", "word", "end"))))
async def test_in_every_order_a_question_has_one_end_and_its_plan_once_g2(
    world: ChatFixture, order: Sequence[str], level: CrisisLevel
) -> None:
    events = {name: anyio.Event() for name in order}
    journal = Journal()
    model = OrderedModel(
        [events["word"].wait, TextDelta(WORD), events["end"].wait, *script_answer("it rains.")],
        events={READING: events["read"]},
        answers={READING: [read(level)]},
    )
    deps = world.deps(model)
    turn = await prepare_turn(deps, ADA, Question(MISSED))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_turn, deps, turn, journal)
        await wait_stored(deps)
        for name in order:
            events[name].set()
            await anyio.wait_all_tasks_blocked()

    end = journal.events[-1]
    assert isinstance(end, RunEnded)
    text = end.message.text
    assert text == join_text(journal.events)
    assert [m.text for m in await list_stored(deps)] == [MISSED, text]
    assert (end.message.crisis_level, model.open_streams) == (level, 0)
    assert text.count(crisis_plan.NOT_ALONE) == (level >= 2)
    assert text.count(crisis_plan.ASK_GENTLY) == (level == 1)
    assert sum(isinstance(event, RouteChosen) for event in journal.events) == (level > 0)


@pytest.mark.parametrize("second", [rate(2), rate(9, harm_quote="a bomb"), Unavailable("down")])
async def test_one_reading_alone_refuses_nobody_m97(world: ChatFixture, second: object) -> None:
    readings = [rate(9), second, second]
    with ScriptedModel(script_answer("Like this."), answers={READING: readings}) as model:
        message, _ = await ask(world.deps(model))
        model._answers.clear()  # a second attempt is made only where the first failed

    assert (message.text, message.route) == ("Like this.", "answer")


async def test_two_readings_close_an_answer_wherever_it_is_m97(world: ChatFixture) -> None:
    turn = HeldTurn(
        world, [TextDelta(WORD), never_end], readings=[rate(9, harm_quote="Friday")] * 2
    )
    await turn.answer()

    assert turn.end.message.text == f"{WORD}\n\n{user_texts.REFUSED}"
    assert turn.model.open_streams == 0


async def test_somebody_in_danger_is_never_refused_m97(world: ChatFixture) -> None:
    await raise_score(world)
    world.moderator.ratings = [1.0]
    reading = {**rate(10, harm_quote=PLAIN), "danger": 1}
    with ScriptedModel(script_answer("I hear you."), answers={READING: [reading]}) as model:
        message, _ = await ask(world.deps(model), PLAIN)

    assert message.text == f"I hear you.\n\n{crisis_plan.ASK_GENTLY}"


@pytest.mark.parametrize("text", ["/remember It is done with a hammer", "Tell me how it is done"])
async def test_words_wait_where_they_would_be_kept_or_the_chat_went_towards_harm_m97(
    world: ChatFixture, text: str
) -> None:
    await raise_score(world)
    is_command = text.startswith("/")
    answers = [] if is_command else [script_answer("Like this.")]
    turn = HeldTurn(world, *answers, readings=[rate(0)], text=text)

    assert await turn.answer() == ""
    assert turn.end.message.text
    assert len(await list_kept(world)) == is_command


@pytest.mark.parametrize(("quote", "level"), [("Friday is the last one", 0), ("", 1)])
async def test_what_a_moderator_doubts_has_to_be_quoted_to_be_harmless_c44(
    world: ChatFixture, quote: str, level: int
) -> None:
    world.moderator.ratings = [Moderation(self_harm=DOUBTFUL_SELF_HARM)]
    answers = {READING: [read(0, quote=quote)]}
    with ScriptedModel(script_answer("Yes."), answers=answers) as model:
        message, _ = await ask(world.deps(model), MISSED)

    assert message.crisis_level == level


async def test_the_reading_sees_the_last_eight_messages_without_addresses_g1(
    world: ChatFixture,
) -> None:
    turns = [script_answer(f"Answer {n}.") for n in range(6)]
    with ScriptedModel(*turns) as model:
        deps: ChatDeps = world.deps(model)
        for n in range(5):
            await ask(deps, f"Question {n}?")
            world.clock.advance(seconds=9)
        model._answers[READING] = [read(0)]
        await ask(replace(deps), MISSED)

    [(_, prompt)] = model.prompts
    assert prompt.data["message"] == MISSED.replace("ann@example.org.", "[…]")
    assert len(prompt.data["earlier"]) == 8
    assert prompt.data["earlier"][0] == "owner: Question 1?"
    assert prompt.data["earlier"][-1] == "assistant: Answer 4."

"""Ratings while tokens are short: what waits for one goes out with it or not at all, and nothing else waits."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import anyio
import pytest

from functions.chat import user_texts
from functions.chat.deps import ChatDeps, Limits
from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.run import RunEnded
from shared.domain.errors import RateLimited
from shared.resilience.admission import Admission
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_admission import admit
from tests.functions.chat.test_harm_gate import (
    DOUBTED,
    KEPT_WORDS,
    RATING,
    HeldModerator,
    join_text,
    list_kept,
    raise_score,
    rate,
    wait_stored,
)

QUESTION = "How is it done?"
Step = Callable[[], Awaitable[None]]


@dataclass
class ShortTurn:
    """A question of Ada's on an instance whose tokens are used up once its answer has begun."""

    world: ChatFixture
    deps: ChatDeps
    admission: Admission
    moderator: HeldModerator
    words: anyio.Event = field(default_factory=anyio.Event)
    journal: Journal = field(default_factory=Journal)

    async def use_up_tokens(self) -> None:
        """Let the instance owe so much that no call is admitted within ten seconds."""
        await self.admission.admit(EVE, "crisis", 500_000)

    async def moderate(self) -> None:
        self.moderator.let_go.set()

    async def write(self) -> None:
        self.words.set()

    async def give_up(self) -> None:
        """Let as much time pass as a call waits for tokens."""
        self.world.clock.advance(seconds=11)

    async def repay(self) -> None:
        self.world.clock.advance(hours=1)

    async def answer(self, text: str, *steps: Step) -> str:
        """Answer it and return the words; each step follows once everybody went as far as they can."""
        turn = await prepare_turn(self.deps, ADA, Question(text))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, self.deps, turn, self.journal)
            await wait_stored(self.deps)
            for step in steps:
                await step()
                await anyio.wait_all_tasks_blocked()
        end = self.journal.events[-1]
        assert isinstance(end, RunEnded)
        return end.message.text


def begin(
    world: ChatFixture,
    *,
    moderator: HeldModerator | None = None,
    readings: Mapping[str, Any] | Exception | None = None,
    limits: Limits | None = None,
    begins: bool = True,
) -> tuple[ShortTurn, ScriptedModel]:
    words = anyio.Event()
    turns = [[words.wait, *script_answer("Like this.")]] if begins else []
    model = ScriptedModel(*turns, answers={RATING: [readings]} if readings else {})
    moderator = moderator or HeldModerator(DOUBTED)
    deps = replace(world.deps(model, limits=limits), moderator=moderator)
    deps, admission = admit(deps, world)
    return ShortTurn(world, deps, admission, moderator, words), model


async def test_a_doubted_question_is_not_answered_where_tokens_lack_for_its_rating_m97(
    world: ChatFixture,
) -> None:
    turn, model = begin(world)
    with model:
        text = await turn.answer(
            QUESTION, turn.use_up_tokens, turn.moderate, turn.write, turn.give_up
        )

    assert text == user_texts.MODEL_BUSY
    assert isinstance(turn.journal.events[-1], RunEnded)
    assert turn.journal.events[-1].outcome == "failed"
    assert model.open_streams == 0


async def test_a_doubted_question_that_is_not_rated_counts_by_its_moderation_m97(
    world: ChatFixture,
) -> None:
    turn, model = begin(world, moderator=HeldModerator(0.9))
    with model:
        await turn.answer(QUESTION, turn.use_up_tokens, turn.moderate, turn.write, turn.give_up)
    session = await turn.deps.stores.sessions.get(ADA, MAIN_SESSION)

    assert session is not None
    assert session.safety.points == pytest.approx(0.45)


@pytest.mark.parametrize(("harm", "text"), [(1, "Like this."), (9, user_texts.REFUSED)])
async def test_tokens_that_come_back_in_time_let_the_rating_decide_m97(
    world: ChatFixture, harm: float, text: str
) -> None:
    """Its time is over already: what it waited for tokens does not count."""
    await raise_score(world)
    turn, model = begin(world, readings=rate(harm), limits=Limits(moderation_timeout_s=0.0))
    await turn.use_up_tokens()
    with model:
        answered = await turn.answer(QUESTION, turn.write, turn.repay)

    assert answered == text


async def test_a_question_that_nobody_doubts_waits_for_no_rating_while_tokens_are_short_m97(
    world: ChatFixture,
) -> None:
    turn, model = begin(world, moderator=HeldModerator(None))
    seen: list[str] = []

    async def look() -> None:
        seen.append(join_text(turn.journal.events))

    with model:
        await turn.answer(
            QUESTION, turn.use_up_tokens, turn.moderate, turn.write, look, turn.give_up
        )

    assert seen == ["Like this."]
    assert model.prompts == []


async def test_a_rating_that_the_provider_has_no_tokens_for_lets_nothing_out_m97(
    world: ChatFixture,
) -> None:
    turn, model = begin(world, readings=RateLimited("the model provider answered 429"))
    with model:
        text = await turn.answer(QUESTION, turn.moderate, turn.write)

    assert text == user_texts.MODEL_BUSY


async def test_without_a_moderator_what_the_score_of_its_chat_doubts_is_not_answered_unrated_m97(
    world: ChatFixture,
) -> None:
    await raise_score(world)
    readings = RateLimited("the model provider answered 429")
    turn, model = begin(world, moderator=HeldModerator(None), readings=readings)
    seen: list[str] = []

    async def look() -> None:
        seen.append(join_text(turn.journal.events))

    with model:
        text = await turn.answer(QUESTION, turn.write, look, turn.moderate)

    assert (seen, text) == ([""], user_texts.MODEL_BUSY)


STEPS = ("use_up_tokens", "moderate", "write", "repay")


@pytest.mark.parametrize("order", list(permutations(STEPS)))
async def test_in_every_order_no_word_follows_a_doubt_that_is_not_settled_m97(
    world: ChatFixture, order: Sequence[str]
) -> None:
    turn, _ = begin(world, readings=rate(9))
    text = await turn.answer(QUESTION, *(getattr(turn, name) for name in order), turn.give_up)

    if order.index("moderate") < order.index("write"):
        assert text in (user_texts.REFUSED, user_texts.MODEL_BUSY)
    else:
        assert text == "Like this."


@pytest.mark.parametrize("words", KEPT_WORDS)
async def test_words_are_not_kept_where_tokens_lack_for_their_rating_m97(
    world: ChatFixture, words: str
) -> None:
    world.moderator.ratings = [None]
    turn, model = begin(world, begins=False)
    turn.deps = replace(turn.deps, moderator=world.moderator)
    await turn.use_up_tokens()
    with model:
        text = await turn.answer(words, turn.give_up)

    assert text == user_texts.MODEL_BUSY
    assert await list_kept(world) == []

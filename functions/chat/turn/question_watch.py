"""Watch over a question: it is read once beside its answer, with the chat before it, for all who need to know.

Where rules or examples doubt it, words and calls wait for the reading a while; else nothing waits but the end of
the answer. A crisis or a refusal closes the answer wherever it is; a refusal needs a second reading that agrees. A moderator,
where there is one, rates the question as well. What was found out is kept once the answer is out.
"""

from collections.abc import Sequence

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import VoiceJournal
from functions.chat.safety.moderate_text import moderate_text
from functions.chat.turn.prepared_turn import PreparedTurn
from shared import prompts, telemetry
from shared.domain.chats.chat import Message
from shared.domain.chats.crisis import CrisisVerdict
from shared.domain.chats.run import RouteChosen
from shared.domain.chats.safety import Moderation
from shared.domain.models.model import Urgency
from shared.reading.crisis_verdict import (
    DOUBTED,
    DOUBTFUL_SELF_HARM,
    judge_alone,
    judge_reading,
)
from shared.reading.read_question import read_question
from shared.reading.reading import Reading, asks_for_harm
from shared.safety.crisis_plan import build_addition
from shared.safety.safety_score import is_worth_keeping

DOUBTFUL_HARM = 0.3
"""A model's rating, 0 to 1, below which harm to others does not count for the chat."""


class QuestionWatch:
    """`reading` is that of a model; None until there is one, where nobody reads the question, or the model failed.

    `found_crisis` and `is_refused` tell that words of ours take the place of the answer, or follow it where it is out.
    """

    def __init__(
        self, deps: ChatDeps, turn: PreparedTurn, journals: Sequence[VoiceJournal]
    ) -> None:
        self.reading: Reading | None = None
        self.found_crisis = False
        self.is_refused = False
        self._deps = deps
        self._turn = turn
        self._journals = journals
        self._gate = turn.output_gate
        self._finding = turn.finding
        self._moderation: Moderation | None = None
        self._is_moderated = anyio.Event()
        self._is_answered = False
        self._ending = anyio.Event()
        self._done = anyio.Event()

    async def run(self) -> None:
        """Read the question, if anybody does; raises no failure."""
        try:
            if self._turn.is_read:
                await self._turn.let_model_be_asked()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._give_up_in_time)
                    if not self._turn.is_doubted:
                        tasks.start_soon(self._moderate)
                    await self._read()
                    tasks.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - an answer does not fail with its watch
            telemetry.warning("question_not_watched", error=type(error).__name__)
        finally:
            self._conclude()
            self._done.set()

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    async def wait_done(self) -> None:
        await self._done.wait()

    async def wait_ending(self) -> None:
        """Return once the answer has to give way to words of ours; mostly never."""
        await self._ending.wait()

    def mark_answered(self) -> None:
        """Leave the answer alone from now on: it has ended."""
        self._is_answered = True

    @property
    def harm(self) -> float:
        """How much the question asks for harm to others, 0 to 1, for the score of its chat."""
        read = self.reading.to_moderation().harm if self.reading else 0.0
        if self._moderation is None:
            return read if read >= DOUBTFUL_HARM else 0.0
        return max(self._moderation.harm, read if self.is_refused else 0.0)

    @property
    def counts(self) -> bool:
        """Whether the question counts for the score of its chat: never that of somebody in need."""
        return self._turn.is_read and self._gate.verdict.is_clear

    async def _give_up_in_time(self) -> None:
        """Let rules and examples decide where a doubted question is not read in time."""
        limits, facts = self._deps.limits, self._deps.model.describe("fast")
        await anyio.sleep(limits.wait_reading_s(facts))
        if self._gate.verdict.route == "crisis":
            self._end_answer()
        self._gate.open()

    async def _read(self) -> None:
        turn = self._turn
        reading = await self._ask("crisis" if turn.is_doubted else "soon")
        if reading is not None:
            self._note_reading(reading)
        if self._gate.verdict.level:
            return  # somebody in need is neither refused nor rated
        if reading is not None and self._is_refused_by(reading):
            self._gate.hold()
            again = await self._ask("now")
            self.is_refused = again is not None and self._is_refused_by(again)
        if turn.is_doubted:
            await self._moderate()
        await self._is_moderated.wait()
        self._weigh_moderation()

    async def _ask(self, urgency: Urgency) -> Reading | None:
        turn = self._turn
        return await read_question(
            self._deps, turn.uid, turn.question.text, turn.earlier, urgency=urgency
        )

    def _is_refused_by(self, reading: Reading) -> bool:
        return asks_for_harm(reading, self._turn.question.text, self._deps.thresholds)

    def _note_reading(self, reading: Reading) -> None:
        self.reading = reading
        if reading.injection >= self._deps.thresholds.injection:
            self._gate.warning = prompts.render("chat/injection")
        self._judge(judge_reading(self._turn.question.text, self._finding, reading))

    def _weigh_moderation(self) -> None:
        """Count a moderator's doubt as one of rules and examples: what was read as harmless has to be quoted."""
        if self._moderation is None or self._moderation.self_harm < DOUBTFUL_SELF_HARM:
            return
        if not self._finding.is_suspected:
            self._finding = DOUBTED
            text, reading = self._turn.question.text, self.reading
            self._judge(judge_reading(text, DOUBTED, reading) if reading else judge_alone(DOUBTED))

    def _judge(self, verdict: CrisisVerdict) -> None:
        """Let a verdict hold: an answer that is not out yet ends with what it adds, or gives way."""
        if self._ending.is_set():
            return  # what the answer gave way to stands
        self._gate.verdict = verdict
        self._gate.addition = build_addition(verdict, self._turn.language)
        if verdict.route == "crisis":
            self._end_answer()
        elif verdict.level and not self._is_answered:
            for journal in self._journals:
                journal.append(RouteChosen(verdict.route, verdict.level))

    def _end_answer(self) -> None:
        self.found_crisis = True
        self._ending.set()

    def _conclude(self) -> None:
        """Let the answer out, or end it: what is known by now is all there is."""
        if self._turn.is_read and self._gate.verdict.route == "crisis":
            self._end_answer()
        if self.is_refused:
            self._ending.set()
        if not self._ending.is_set():
            self._gate.open()
            self._gate.mark_read()

    async def _moderate(self) -> None:
        self._moderation = await moderate_text(self._deps, self._turn.question.text)
        self._is_moderated.set()


# --- what is kept


async def keep_rating(deps: ChatDeps, turn: PreparedTurn, watch: QuestionWatch) -> None:
    """Add a question's harm to the score of its chat, and mark a question that quotes an injection.

    A question that nobody rated in time counts as harmless. Raises what the store raises.
    """
    now = deps.clock.now()
    if watch.counts and is_worth_keeping(turn.session.safety, watch.harm, now):
        await deps.stores.safety_reviews.add_harm(turn.uid, turn.session.id, watch.harm, now)
    score = watch.reading.injection if watch.reading else 0.0
    if score >= deps.thresholds.injection:
        await deps.stores.messages.change(turn.uid, turn.question.id, injection_score=score)


async def log_crisis(deps: ChatDeps, turn: PreparedTurn, answer: Message) -> None:
    """Log what was not harmless. Raises what the store raises."""
    verdict = turn.output_gate.verdict
    if not verdict.level:
        return
    await deps.crisis_log.record(
        turn.uid,
        turn.session.id,
        turn.run_id,
        verdict,
        now=deps.clock.now(),
        missed="found_late" if is_late(turn, answer) else None,
        names_user=not turn.session.is_incognito,
    )


def is_late(turn: PreparedTurn, answer: Message) -> bool:
    """Tell whether an answer was out before what the verdict adds was known."""
    verdict = turn.output_gate.verdict
    return verdict.level > answer.crisis_level or (
        verdict.adds_contacts and turn.output_gate.addition not in answer.text
    )

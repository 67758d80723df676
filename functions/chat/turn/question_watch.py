"""Watch over a question: it is rated beside its answer, once, for all who need to know.

A moderator rates each question, or else a model. Whom it may be in a crisis after all, the classifier judges;
what may ask for harm, a model reads once more. Only in such a doubt the answer waits. A model also reads what the owner pasted.
What was found out is kept once the answer is out.
"""

from collections.abc import Iterator, Sequence

import anyio

from functions.chat.consent.nobodys_words import has_pasted_text
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import VoiceJournal
from functions.chat.safety.crisis_verdict import DOUBTED, DOUBTFUL_SELF_HARM
from functions.chat.safety.judge_text import judge_text
from functions.chat.safety.moderate_text import moderate_text
from functions.chat.safety.question_rating import MAX_SCORE, QuestionRating, is_refused
from functions.chat.safety.rate_question import rate_question
from functions.chat.turn.crisis_gate import let_out
from functions.chat.turn.prepared_turn import PreparedTurn
from shared import prompts, telemetry
from shared.domain.chats.chat import Message
from shared.domain.chats.safety import Moderation
from shared.domain.models.model import AssistantTurn, UserText
from shared.safety.safety_score import is_worth_keeping

DOUBTFUL_HARM = 0.3
"""A rating, 0 to 1, as of which the question may ask for harm to others."""


class QuestionWatch:
    """`rating` is that of the model that read the question, harmless where none did in time.

    Nobody rates a command that keeps no words, nor somebody who may be in a crisis: then it never `is_rated`. `found_crisis`
    tells of a crisis that the rules have missed.
    """

    def __init__(
        self, deps: ChatDeps, turn: PreparedTurn, journals: Sequence[VoiceJournal]
    ) -> None:
        self.is_rated = False
        self.found_crisis = False
        self.rating = QuestionRating()
        self._moderated_harm = 0.0
        self._deps = deps
        self._turn = turn
        self._journals = journals
        self._gate = turn.output_gate
        self._is_doubtful = turn.went_towards_harm
        self._is_read = False
        self._reading = anyio.Lock()
        self._is_answered = False
        self._done = anyio.Event()

    async def run(self) -> None:
        """Rate the question once the rules or the classifier find no crisis; raises no failure."""
        try:
            verdict = await self._gate.wait_judged()
            self.is_rated = verdict.is_clear and self._turn.is_rated
            if self.is_rated:
                await self._rate(is_judged=verdict.decided_by == "classifier")
        except Exception as error:  # noqa: BLE001 - an answer does not fail with its watch
            telemetry.warning("question_not_watched", error=type(error).__name__)
        finally:
            if not self.ends_answer:
                self._gate.release_rated()
            self._done.set()

    async def wait_done(self) -> None:
        await self._done.wait()

    def mark_answered(self) -> None:
        """Leave the answer alone from now on: it has ended."""
        self._is_answered = True

    @property
    def ends_answer(self) -> bool:
        """Whether the answer has to give way to words of ours."""
        return self.found_crisis or self.is_refused or self.lacks_rating

    @property
    def is_refused(self) -> bool:
        """Whether the answer has to give way to a refusal; a question that nobody doubts never is."""
        is_doubtful = self.is_rated and self._is_doubtful
        return is_doubtful and is_refused(self.rating, self._deps.thresholds)

    @property
    def lacks_rating(self) -> bool:
        """Whether what waits for a rating gets none, because tokens are short; nobody else waits for one."""
        waits = self.is_rated and (self._is_doubtful or self._turn.command is not None)
        return waits and self.rating.lacked_tokens

    @property
    def harm(self) -> float:
        """How much the question asks for harm to others, 0 to 1, for the score of its chat."""
        read = self.rating.harm / MAX_SCORE if self.is_refused else 0.0
        return max(self._moderated_harm, read)

    async def _rate(self, *, is_judged: bool) -> None:
        async with anyio.create_task_group() as tasks:
            if self._is_doubtful or has_pasted_text(self._turn.question.text):
                tasks.start_soon(self._read)
            moderation = await self._moderate()
            may_be_crisis = not is_judged and moderation.self_harm >= DOUBTFUL_SELF_HARM
            self._is_doubtful = self._is_doubtful or moderation.harm >= DOUBTFUL_HARM
            if may_be_crisis or self._is_doubtful:
                self._gate.hold()
            if may_be_crisis:
                await self._judge()
            if not self.is_rated:
                tasks.cancel_scope.cancel()
            elif self._is_doubtful:
                await self._read()

    async def _moderate(self) -> Moderation:
        """Return the moderator's ratings, or else those of the model; of its own low ones none counts for the chat."""
        moderation = await moderate_text(self._deps, self._turn.question.text)
        if moderation is not None:
            self._moderated_harm = moderation.harm
            return moderation
        await self._read()
        read = self.rating.to_moderation()
        self._moderated_harm = read.harm if read.harm >= DOUBTFUL_HARM else 0.0
        return read

    async def _judge(self) -> None:
        """Let the classifier judge a question that a rating doubts; somebody in need is rated no further."""
        turn = self._turn
        verdict = await judge_text(
            self._deps, turn.uid, turn.question.text, DOUBTED, earlier=turn.earlier_texts
        )
        self._gate.judge(verdict)
        self.is_rated = verdict.is_clear
        self.found_crisis = verdict.route == "crisis"
        if not self._is_answered and not verdict.is_clear and not self.found_crisis:
            let_out(turn, self._journals, verdict)

    async def _read(self) -> None:
        """Let a model read the question, once: a second caller waits for the first."""
        async with self._reading:
            if not self._is_read:
                self._is_read = True
                await self._read_once()

    async def _read_once(self) -> None:
        earlier = list(self._list_earlier()) if self._is_doubtful else []
        self.rating = await rate_question(
            self._deps, self._turn.uid, self._turn.question.text, earlier
        )
        if self.rating.injection >= self._deps.thresholds.injection:
            self._gate.warning = prompts.render("chat/injection")

    def _list_earlier(self) -> Iterator[str]:
        """Yield what the chat holds before the question, as its model is given it."""
        for message in (each for m in self._turn.context.history for each in m.messages):
            if isinstance(message, UserText | AssistantTurn) and message.text:
                sender = "owner" if isinstance(message, UserText) else "assistant"
                yield f"{sender}: {message.text}"


# --- what is kept


async def keep_rating(deps: ChatDeps, turn: PreparedTurn, watch: QuestionWatch) -> None:
    """Add a question's harm to the score of its chat, and mark a question that quotes an injection.

    A question that nobody rated in time counts as harmless. Raises what the store raises.
    """
    now = deps.clock.now()
    if watch.is_rated and is_worth_keeping(turn.session.safety, watch.harm, now):
        await deps.stores.safety_reviews.add_harm(turn.uid, turn.session.id, watch.harm, now)
    if watch.rating.injection >= deps.thresholds.injection:
        score = watch.rating.injection
        await deps.stores.messages.change(turn.uid, turn.question.id, injection_score=score)


async def log_crisis(deps: ChatDeps, turn: PreparedTurn, answer: Message) -> None:
    """Log what was not harmless. Raises what the store raises."""
    verdict = turn.output_gate.verdict
    if verdict is None or not verdict.level:
        return
    await deps.crisis_log.record(
        turn.uid,
        turn.session.id,
        turn.run_id,
        verdict,
        now=deps.clock.now(),
        missed="found_late" if _is_late(turn, answer) else None,
        names_user=not turn.session.is_incognito,
    )


async def mark_late_crisis(deps: ChatDeps, turn: PreparedTurn, answer: Message) -> None:
    """Mark an answer that was out before a crisis was found, so that what follows it is judged.

    Raises what the store raises.
    """
    if not _is_late(turn, answer):
        return
    verdict = turn.output_gate.verdict
    level = verdict.level if verdict is not None else 0
    diagnostics = {**answer.diagnostics, "crisis_level": level}
    await deps.stores.messages.change(
        turn.uid, answer.id, crisis_level=level, diagnostics=diagnostics
    )


def _is_late(turn: PreparedTurn, answer: Message) -> bool:
    verdict = turn.output_gate.verdict
    return verdict is not None and verdict.level > answer.crisis_level

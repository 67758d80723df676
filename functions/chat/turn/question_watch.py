"""Watch over a question: it is rated beside its answer, once, for all who need to know.

A moderator rates each question. Where it doubts one, or the chat went towards harm before, a model reads
it once more and the answer waits for that. A model also reads what the owner pasted.
"""

from collections.abc import Iterator

import anyio

from functions.chat.context.pasted_text import has_pasted_text
from functions.chat.deps import ChatDeps
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.rate_question import rate_question
from shared import prompts, telemetry
from shared.domain.model import AssistantTurn, UserText
from shared.safety.crisis_verdict import mask_contacts
from shared.safety.question_rating import MAX_SCORE, QuestionRating, is_refused

DOUBTFUL_HARM = 0.3
"""A moderator's rating, 0 to 1, as of which a model reads the question as well."""


class QuestionWatch:
    """`rating` is that of the model that read the question, harmless where none did.

    Nobody rates a command, nor somebody who may be in a crisis: then it never `is_rated`.
    """

    def __init__(self, deps: ChatDeps, turn: PreparedTurn) -> None:
        self.is_rated = False
        self.rating = QuestionRating()
        self._moderated_harm = 0.0
        self._deps = deps
        self._turn = turn
        self._gate = turn.output_gate
        self._is_doubtful = turn.went_towards_harm
        self._done = anyio.Event()

    async def run(self) -> None:
        """Rate the question once it is known that its writer is in no crisis; raises no failure."""
        try:
            verdict = await self._gate.wait_judged()
            self.is_rated = verdict.is_clear and not self._turn.command
            if self.is_rated:
                await self._rate()
        except Exception as error:  # noqa: BLE001 - an answer does not fail with its watch
            telemetry.warning("question_not_watched", error=type(error).__name__)
        finally:
            if not self.is_refused:
                self._gate.release_rated()
            self._done.set()

    async def wait_done(self) -> None:
        await self._done.wait()

    @property
    def is_refused(self) -> bool:
        """Whether the answer has to give way to a refusal; a question that nobody doubts never is."""
        return self._is_doubtful and is_refused(self.rating, self._deps.thresholds)

    @property
    def harm(self) -> float:
        """How much the question asks for harm to others, 0 to 1, for the score of its chat."""
        read = self.rating.harm / MAX_SCORE if self.is_refused else 0.0
        return max(self._moderated_harm, read)

    async def _rate(self) -> None:
        is_read = self._is_doubtful or has_pasted_text(self._turn.question.text)
        async with anyio.create_task_group() as tasks:
            if is_read:
                tasks.start_soon(self._read)
            await self._moderate()
            if self._is_doubtful and not is_read:
                await self._read()

    async def _moderate(self) -> None:
        with anyio.move_on_after(self._deps.limits.moderation_timeout_s):
            try:
                text = mask_contacts(self._turn.question.text)
                self._moderated_harm = await self._deps.moderator.rate_harm(text)
            except Exception as error:  # noqa: BLE001 - whatever fails, the question counts as harmless
                telemetry.warning("question_not_rated", error=type(error).__name__)
        if self._moderated_harm >= DOUBTFUL_HARM:
            self._is_doubtful = True
            self._gate.hold()

    async def _read(self) -> None:
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

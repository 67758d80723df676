"""End of a turn: the answer, whole or partial, is stored, then its end is emitted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.build_message import build_message
from functions.chat.runs.journal import Journal
from functions.chat.runs.recorder import OwnershipLost, Recorder
from functions.chat.turn.after_turn import publish_turn_ended
from functions.chat.turn.agent import Agent
from functions.chat.turn.prepare_turn import PreparedTurn
from shared import prompts, telemetry
from shared.domain.chat import Message
from shared.domain.run import Outcome, Run, RunEnded
from shared.domain.value import value

NOTICE_BY_OUTCOME: Mapping[Outcome, str] = {
    "stopped": user_texts.ANSWER_STOPPED,
    "interrupted": user_texts.ANSWER_INTERRUPTED,
    "failed": user_texts.QUESTION_NOT_SAVED,
}
"""What the owner reads of a run that ended without text."""


@value
class TurnEnd:
    """Stores the answer of a run and emits its end, once."""

    deps: ChatDeps
    turn: PreparedTurn
    run: Run
    recorder: Recorder
    journal: Journal
    agent: Agent

    async def finish(self, outcome: Outcome, *, is_question_stored: bool) -> None:
        """Store the answer and emit RunEnded, unless another process owns the run by now."""
        if not is_question_stored:
            outcome = "failed"  # nothing of the turn is stored, however it ended
        if not self.journal.answer_text:
            self.journal.append_notice(NOTICE_BY_OUTCOME[outcome])
        message = self._build_message(outcome)
        if is_question_stored:
            with telemetry.measure_stage("store"):
                message = await self._store_answer(message, outcome)
        telemetry.add_fields(outcome=message.metadata["outcome"])
        self.journal.append(RunEnded(message, message.metadata["outcome"]))
        self.journal.open()
        await publish_turn_ended(
            self.deps.events, self.turn.uid, message.session_id, self.turn.run_id
        )

    async def _store_answer(self, message: Message, outcome: Outcome) -> Message:
        """Return the message to emit; one that could not be stored has the outcome `failed`."""
        try:
            await self.recorder.finish(message, outcome)
        except OwnershipLost:
            self.journal.abandon()
        except Exception:  # noqa: BLE001 - the end is emitted whatever the store does
            telemetry.error("answer_not_stored", run_id=self.run.id)
            return self._build_message("failed")
        return message

    def _build_message(self, outcome: Outcome) -> Message:
        now = self.deps.clock.now()
        message = build_message(self.run, self.journal.events, outcome, now)
        self._add_log_fields(message, outcome)
        return replace(message, diagnostics=telemetry.get_fields())

    @property
    def _diagnostic_path(self) -> Literal["simple", "tools", "persona"]:
        """Name the kind of turn in the log."""
        if self.turn.role != "agent":
            return "persona"
        return "tools" if self.agent.calls else "simple"

    def _add_log_fields(self, message: Message, outcome: Outcome) -> None:
        telemetry.add_fields(
            outcome=outcome,
            path=self._diagnostic_path,
            citations=len(message.cards),
            prompt=prompts.compute_version("chat/system"),
            model=self.run.model,
            cycles=self.agent.cycles,
            input_tokens=self.agent.usage.input_tokens,
            cached_tokens=self.agent.usage.cached_tokens,
            output_tokens=self.agent.usage.output_tokens,
        )

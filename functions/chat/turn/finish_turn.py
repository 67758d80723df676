"""End of a turn: the answer, whole or partial, is stored, then its end is emitted."""

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Literal

import anyio

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

CLEANUP_TIMEOUT_S = 5.0
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
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._free_slot)
            tasks.start_soon(self._count_tokens)
            await publish_turn_ended(
                self.deps.events, self.turn.uid, message.session_id, self.turn.run_id
            )

    async def _free_slot(self) -> None:
        """Free the slot where the end of the run could not: another process owned the run."""
        await _log_failure("slot_not_freed", self.turn.slot.release())

    async def _count_tokens(self) -> None:
        usage, now = self.agent.usage, self.turn.question.created_at
        tokens = usage.input_tokens + usage.output_tokens
        record = self.deps.quotas.record(self.turn.uid, "tokens", tokens, now=now)
        await _log_failure("tokens_not_counted", record)

    async def _store_answer(self, message: Message, outcome: Outcome) -> Message:
        """Return the message to emit; one that could not be stored has the outcome `failed`."""
        try:
            await self.recorder.finish(message, outcome, also=self.turn.slot.build_release_writes())
            self.turn.slot.mark_released()
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


async def _log_failure(event: str, work: Awaitable[None]) -> None:
    """Await what follows the end of a run; a failure is logged, because the run has ended."""
    try:
        with anyio.fail_after(CLEANUP_TIMEOUT_S):
            await work
    except Exception as error:  # noqa: BLE001 - after the end nothing raises
        telemetry.warning(event, error=type(error).__name__)

"""One turn: an accepted question is answered; what streams out is stored before its end is told."""

import math
from collections.abc import Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Literal

import anyio

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.build_message import build_message, join_text
from functions.chat.runs.journal import Journal
from functions.chat.runs.recorder import OwnershipLost, Recorder
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.tools.toolkit import Toolkit
from functions.chat.turn.after_turn import publish_turn_ended
from functions.chat.turn.agent import Agent
from functions.chat.turn.confirmation import Confirmer, NoConfirmer, StoredConfirmer
from functions.chat.turn.prepare_turn import PreparedTurn
from shared import prompts, telemetry
from shared.domain.chat import Message
from shared.domain.errors import Unavailable
from shared.domain.run import LEASE_TTL, AnswerText, Outcome, Run, RunEnded

CLOSING_DELAY = timedelta(seconds=30)
"""How long after its deadline a run that has no end is closed."""


async def answer_turn(deps: ChatDeps, turn: PreparedTurn, journal: Journal) -> None:
    """Answer, store, tell the end: exactly one Ended on every path, and no failure raised.

    A cancelled run stores what it has said so far, and only then lets itself be cancelled.
    """
    turn_in_progress = _TurnInProgress(deps=deps, turn=turn, journal=journal)
    outcome: Outcome = "interrupted"
    with deps.active_runs.register(turn.uid, turn.run_id, turn_in_progress.active_run):
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(turn_in_progress.record)
                outcome = await turn_in_progress.run_agent()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await turn_in_progress.finish(outcome)


_NOTICE_BY_OUTCOME: Mapping[Outcome, str] = {
    "stopped": user_texts.ANSWER_STOPPED,
    "interrupted": user_texts.ANSWER_INTERRUPTED,
    "failed": user_texts.QUESTION_NOT_SAVED,
}


class _TurnInProgress:
    """An answer in progress: what it has said, and who records it."""

    def __init__(self, *, deps: ChatDeps, turn: PreparedTurn, journal: Journal) -> None:
        self.active_run = ActiveRun(journal)
        self._deps = deps
        self._turn = turn
        self._journal = journal
        self._is_question_stored = False
        self._deadline = anyio.CancelScope()
        self._agent = Agent(
            run_id=turn.run_id,
            model=deps.model,
            role=turn.role,
            toolkit=Toolkit(turn.tools, timeout_s=deps.limits.call_timeout_s),
            tool_policy=turn.tool_policy,
            confirmer=self._build_confirmer(),
            output_gate=turn.output_gate,
            limits=deps.limits,
        )
        self._run = _build_run(deps, turn)
        self._recorder = Recorder(
            deps.stores.runs, deps.clock, turn.uid, self._run, turn.session, journal
        )

    def _build_confirmer(self) -> Confirmer:
        if not self._turn.can_confirm:
            return NoConfirmer()
        deps, turn = self._deps, self._turn
        return StoredConfirmer(
            deps.stores.confirmations,
            deps.clock,
            deps.new_id,
            turn.uid,
            turn.run_id,
            self._pause_deadline,
        )

    @contextmanager
    def _pause_deadline(self) -> Iterator[None]:
        """The deadline is the model's and the tools'; it moves by what their owner takes."""
        left_s = self._deadline.deadline - anyio.current_time()
        self._deadline.deadline = math.inf
        try:
            yield
        finally:
            self._deadline.deadline = anyio.current_time() + left_s

    async def record(self) -> None:
        """Store the question beside the first model call; let words out then, and keep them."""
        with anyio.CancelScope(shield=True):
            await self._store_question()
        if self._is_question_stored:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._recorder.flush_periodically, self.active_run)
                await self._schedule_close()

    async def _store_question(self) -> None:
        try:
            await self._recorder.begin(self._turn.question)
        except OwnershipLost:
            self._journal.abandon()
            self.active_run.end("interrupted")
        except Exception as error:  # noqa: BLE001 - the end tells what became of the turn
            telemetry.warning("question_not_stored", error=type(error).__name__)
            self.active_run.end("failed")
        else:
            self._is_question_stored = True
            self._journal.open()
            self._turn.output_gate.mark_stored()

    async def _schedule_close(self) -> None:
        """Have the run closed if this process does not live to do it."""
        deadline = timedelta(seconds=self._deps.limits.deadline_s)
        try:
            await self._deps.tasks.create(
                "close_run",
                f"close-{self._run.id}",
                {"uid": self._turn.uid, "run_id": self._run.id},
                at=self._run.created_at + deadline + CLOSING_DELAY,
            )
        except Exception as error:  # noqa: BLE001 - whoever reads the run closes it as well
            telemetry.warning("closing_not_ordered", error=type(error).__name__)

    async def run_agent(self) -> Outcome:
        """Run the agent into the journal until it is done, or somebody ends the run."""
        with self.active_run.scope:
            return await self._run_to_outcome()
        return self.active_run.outcome

    async def _run_to_outcome(self) -> Outcome:
        try:
            with anyio.fail_after(self._deps.limits.deadline_s) as self._deadline:
                await self._journal_events()
        except TimeoutError:
            return self._append_notice(user_texts.DEADLINE_PASSED, "limited")
        except Exception as error:  # noqa: BLE001 - after the first byte nothing raises
            telemetry.error("turn_failed")
            is_model_down = isinstance(error, Unavailable) and not self._answer_text
            return self._append_notice(
                user_texts.MODEL_DOWN if is_model_down else user_texts.INTERNAL_ERROR, "failed"
            )
        if not self._answer_text:
            return self._append_notice(user_texts.ANSWER_EMPTY, "failed")
        return "limited" if self._agent.is_limited else "completed"

    async def _journal_events(self) -> None:
        """Run the agent; what waits in it is told however it ends."""
        try:
            async with aclosing(self._agent.run(self._turn.messages)) as events:
                async for event in events:
                    self._journal.append(event)
        finally:
            for event in self._agent.flush_pending_text():
                self._journal.append(event)

    def _append_notice(self, text: str, outcome: Outcome) -> Outcome:
        self._journal.append(AnswerText(f"\n\n{text}" if self._answer_text else text))
        return outcome

    @property
    def _answer_text(self) -> str:
        return join_text(self._journal.events)

    async def finish(self, outcome: Outcome) -> None:
        """Store the answer, whole or partial, and tell the end; unless somebody else does."""
        if not self._is_question_stored:
            outcome = "failed"  # nothing of it is stored, however it ended
        if not self._answer_text:
            self._append_notice(_NOTICE_BY_OUTCOME[outcome], outcome)
        message = self._build_message(outcome)
        if self._is_question_stored:
            with telemetry.measure_stage("store"):
                message = await self._store_answer(message, outcome)
        telemetry.add_fields(outcome=message.metadata["outcome"])
        self._journal.append(RunEnded(message, message.metadata["outcome"]))
        self._journal.open()
        await publish_turn_ended(
            self._deps.events, self._turn.uid, message.session_id, self._turn.run_id
        )

    async def _store_answer(self, message: Message, outcome: Outcome) -> Message:
        """Return the message as it has to be told; one that is not stored is a failed one."""
        try:
            await self._recorder.finish(message, outcome)
        except OwnershipLost:
            self._journal.abandon()
        except Exception:  # noqa: BLE001 - the end is told whatever the store does
            telemetry.error("answer_not_stored", run_id=self._run.id)
            return self._build_message("failed")
        return message

    def _build_message(self, outcome: Outcome) -> Message:
        now = self._deps.clock.now()
        message = build_message(self._run, self._journal.events, outcome, now)
        self._add_log_fields(message, outcome)
        return replace(message, diagnostics=telemetry.get_fields())

    @property
    def _diagnostic_path(self) -> Literal["simple", "tools", "persona"]:
        """Say what the turn took the question for."""
        if self._turn.role != "agent":
            return "persona"
        return "tools" if self._agent.calls else "simple"

    def _add_log_fields(self, message: Message, outcome: Outcome) -> None:
        telemetry.add_fields(
            outcome=outcome,
            path=self._diagnostic_path,
            citations=len(message.cards),
            prompt=prompts.compute_version("chat/system"),
            model=self._run.model,
            cycles=self._agent.cycles,
            input_tokens=self._agent.usage.input_tokens,
            cached_tokens=self._agent.usage.cached_tokens,
            output_tokens=self._agent.usage.output_tokens,
        )


def _build_run(deps: ChatDeps, turn: PreparedTurn) -> Run:
    question = turn.question
    return Run(
        id=turn.run_id,
        session_id=question.session_id,
        question_id=question.id,
        writer=deps.new_id(),
        created_at=question.created_at,
        lease_until=deps.clock.now() + LEASE_TTL,
        model=deps.model.name(turn.role),
        app_id=question.app_id,
        fingerprint=turn.fingerprint,
    )

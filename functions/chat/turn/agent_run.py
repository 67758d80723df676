"""Agent run: the agent's events go into the journal until it is done or the run is ended."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.tools.toolkit import Toolkit
from functions.chat.turn.agent import Agent
from functions.chat.turn.call_review import CallReview
from functions.chat.turn.confirmation import (
    ButtonConfirmer,
    Confirmer,
    QuestionStore,
    ReplyConfirmer,
)
from functions.chat.turn.deadline import Deadline
from functions.chat.turn.prepare_turn import PreparedTurn
from shared import telemetry
from shared.domain.errors import KeepsakeError, Unavailable
from shared.domain.ids import UserId
from shared.domain.run import Outcome


class AgentRun:
    """Runs the agent of one turn. Failures become a notice in the journal and an outcome."""

    def __init__(self, deps: ChatDeps, turn: PreparedTurn, active_run: ActiveRun) -> None:
        self._messages = turn.messages
        self._active_run = active_run
        self._journal = active_run.journal
        self._deadline = Deadline(deps.limits.deadline_s)
        self.agent = Agent(
            run_id=turn.run_id,
            model=deps.model,
            role=turn.role,
            toolkit=Toolkit(turn.tools, timeout_s=deps.limits.call_timeout_s),
            call_review=CallReview(
                policy=turn.tool_policy,
                confirmer=_build_confirmer(deps, turn, self._deadline),
                spend_bits=partial(_spend_bits, deps, turn.uid),
            ),
            output_gate=turn.output_gate,
            limits=deps.limits,
            decided=turn.decided,
        )

    async def run(self) -> Outcome:
        """Return how the agent ended, or the outcome that another part of the turn set."""
        with self._active_run.scope:
            return await self._run_to_outcome()
        return self._active_run.outcome

    async def _run_to_outcome(self) -> Outcome:
        try:
            with self._deadline.enforce():
                await self._journal_events()
        except TimeoutError:
            return self._end_with(user_texts.DEADLINE_PASSED, "limited")
        except Exception as error:  # noqa: BLE001 - after the first byte nothing raises
            telemetry.error("turn_failed")
            is_model_down = isinstance(error, Unavailable) and not self._journal.answer_text
            return self._end_with(
                user_texts.MODEL_DOWN if is_model_down else user_texts.INTERNAL_ERROR, "failed"
            )
        if not self._journal.answer_text:
            return self._end_with(user_texts.ANSWER_EMPTY, "failed")
        return "limited" if self.agent.is_limited else "completed"

    async def _journal_events(self) -> None:
        """Append the agent's events, and its pending text however it ends."""
        try:
            async with aclosing(self.agent.run(self._messages)) as events:
                async for event in events:
                    self._journal.append(event)
        finally:
            for event in self.agent.flush_pending_text():
                self._journal.append(event)

    def _end_with(self, notice: str, outcome: Outcome) -> Outcome:
        self._journal.append_notice(notice)
        return outcome


def _build_confirmer(deps: ChatDeps, turn: PreparedTurn, deadline: Deadline) -> Confirmer:
    questions = QuestionStore(
        confirmations=deps.stores.confirmations,
        clock=deps.clock,
        new_id=deps.new_id,
        uid=turn.uid,
        run_id=turn.run_id,
    )
    if turn.can_confirm:
        return ButtonConfirmer(questions, lambda: _pause(turn, deadline))
    return ReplyConfirmer(questions)


async def _spend_bits(
    deps: ChatDeps, uid: UserId, bits_by_maker: Mapping[str, float]
) -> frozenset[str]:
    from shared.security.disclosure import DAY_BUDGET_BITS

    return await deps.stores.disclosure_ledger.spend(
        uid, bits_by_maker, limit=DAY_BUDGET_BITS, now=deps.clock.now()
    )


@asynccontextmanager
async def _pause(turn: PreparedTurn, deadline: Deadline) -> AsyncIterator[None]:
    """Free the slot of a turn and stop its time while it waits for its owner."""
    with suppress(KeepsakeError):
        await turn.slot.release()
    with deadline.pause():
        yield
    await turn.slot.retake()

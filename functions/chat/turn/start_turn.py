"""Start of a turn: the question is stored beside the first model call, then the journal."""

from datetime import timedelta

import anyio

from functions.chat.deps import ChatDeps
from functions.chat.runs.recorder import OwnershipLost, Recorder
from functions.chat.runs.run_registry import ActiveRun
from functions.chat.turn.prepared_turn import PreparedTurn
from shared import telemetry

CLOSING_DELAY = timedelta(seconds=30)
"""How long after its deadline a run without an end is closed."""


class TurnStart:
    """Stores the question and ends the run if it cannot; afterwards flushes the journal."""

    def __init__(
        self, deps: ChatDeps, turn: PreparedTurn, recorder: Recorder, active_run: ActiveRun
    ) -> None:
        self.is_question_stored = False
        self._deps = deps
        self._turn = turn
        self._recorder = recorder
        self._active_run = active_run

    async def record(self) -> None:
        """Store the question, release the output, and flush the journal until cancelled."""
        with anyio.CancelScope(shield=True):
            await self._turn.let_model_be_asked()
            await self._store_question()
            await self._note_use()
        if self.is_question_stored:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._recorder.flush_periodically, self._active_run)
                if not self._turn.session.is_incognito:  # it ends with its process
                    await self._schedule_close()

    async def _store_question(self) -> None:
        try:
            await self._recorder.begin(self._turn.question, self._turn.fork)
        except OwnershipLost:
            self._active_run.journal.abandon()
            self._active_run.end("interrupted")
        except Exception as error:  # noqa: BLE001 - the outcome says what became of the turn
            telemetry.warning("question_not_stored", error=type(error).__name__)
            self._active_run.end("failed")
        else:
            self.is_question_stored = True
            self._active_run.journal.open()
            self._turn.output_gate.mark_stored()

    async def _note_use(self) -> None:
        """Let other sealed chats leave the cache before this one, which may lose that place by a failure."""
        turn = self._turn
        if not self.is_question_stored or not turn.session.is_sealed:
            return
        try:
            await self._deps.stores.sealed_cache.touch(
                turn.uid, turn.session.id, self._deps.clock.now()
            )
        except Exception as error:  # noqa: BLE001 - the answer goes on
            telemetry.warning("use_not_noted", error=type(error).__name__)

    async def _schedule_close(self) -> None:
        """Create the task that closes the run if this process dies before the run ends."""
        turn, limits = self._turn, self._deps.limits
        facts = (self._deps.model.describe(voice.role) for voice in turn.voices)
        longest_s = limits.deadline_s + max(map(limits.allow_reading_s, facts))
        try:
            await self._deps.tasks.create(
                "close_run",
                f"close-{turn.run_id}",
                {"uid": turn.uid, "run_id": turn.run_id},
                at=turn.accepted_at + timedelta(seconds=longest_s) + CLOSING_DELAY,
            )
        except Exception as error:  # noqa: BLE001 - a reader of the run closes it as well
            telemetry.warning("closing_not_ordered", error=type(error).__name__)

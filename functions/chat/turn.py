"""One turn: an accepted question is answered; what streams out is stored before its end is told."""

import math
from collections.abc import Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Literal

import anyio

from functions.chat import guards
from functions.chat.accepting import Turn
from functions.chat.after_turn import tell
from functions.chat.agent import Agent
from functions.chat.confirming import Asker, Nobody, Owner
from functions.chat.journal import Journal
from functions.chat.live import LiveRun
from functions.chat.recorder import Lost, Recorder
from functions.chat.told import message_of, text_of
from functions.chat.tools.toolkit import Toolkit
from functions.chat.wiring import ChatDeps
from shared import prompts, telemetry
from shared.domain.chat import Message
from shared.domain.errors import Unavailable
from shared.domain.run import LEASE, Ended, Outcome, Run, Said

CLOSING_DELAY = timedelta(seconds=30)
"""How long after its deadline a run that has no end is closed."""


async def answer(deps: ChatDeps, turn: Turn, journal: Journal) -> None:
    """Answer, store, tell the end: exactly one Ended on every path, and no failure raised.

    A cancelled run stores what it has said so far, and only then lets itself be cancelled.
    """
    work = _Work(deps=deps, turn=turn, journal=journal)
    outcome: Outcome = "interrupted"
    with deps.live.holding(turn.uid, turn.run_id, work.live):
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(turn.hold.decide)
                tasks.start_soon(work.record)
                outcome = await work.speak()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await work.end(outcome)


_UNSAID: Mapping[Outcome, str] = {
    "stopped": guards.STOPPED,
    "interrupted": guards.INTERRUPTED,
    "failed": guards.NOT_SAVED,
}


class _Work:
    """An answer in progress: what it has said, and who records it."""

    def __init__(self, *, deps: ChatDeps, turn: Turn, journal: Journal) -> None:
        self.live = LiveRun(journal)
        self._deps = deps
        self._turn = turn
        self._journal = journal
        self._begun = False
        self._deadline = anyio.CancelScope()
        self._agent = Agent(
            model=deps.model,
            role=turn.role,
            toolkit=Toolkit(turn.tools, timeout_s=deps.limits.call_timeout_s),
            gate=turn.gate,
            asker=self._asker(),
            hold=turn.hold,
            limits=deps.limits,
        )
        self._run = _run(deps, turn)
        self._recorder = Recorder(deps.runs, deps.clock, turn.uid, self._run, turn.session, journal)

    def _asker(self) -> Asker:
        if not self._turn.can_ask:
            return Nobody()
        deps, turn = self._deps, self._turn
        return Owner(
            deps.confirmations, deps.clock, deps.new_id, turn.uid, turn.run_id, self._unhurried
        )

    @contextmanager
    def _unhurried(self) -> Iterator[None]:
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
            await self._begin()
        if self._begun:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._recorder.keep, self.live)
                await self._order_closing()

    async def _begin(self) -> None:
        try:
            await self._recorder.begin(self._turn.question)
        except Lost:
            self._journal.abandon()
            self.live.end("interrupted")
        except Exception as error:  # noqa: BLE001 - the end tells what became of the turn
            telemetry.warning("question_not_stored", error=type(error).__name__)
            self.live.end("failed")
        else:
            self._begun = True
            self._journal.open()
            self._turn.hold.note_stored()

    async def _order_closing(self) -> None:
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

    async def speak(self) -> Outcome:
        """Run the agent into the journal until it is done, or somebody ends the run."""
        with self.live.scope:
            return await self._speak()
        return self.live.ended_as

    async def _speak(self) -> Outcome:
        try:
            with anyio.fail_after(self._deps.limits.deadline_s) as self._deadline:
                await self._tell()
        except TimeoutError:
            return self._apologise(guards.TOO_LATE, "limited")
        except Exception as error:  # noqa: BLE001 - after the first byte nothing raises
            telemetry.error("turn_failed")
            unheard = isinstance(error, Unavailable) and not self._said
            return self._apologise(guards.UNREACHABLE if unheard else guards.BROKEN, "failed")
        if not self._said:
            return self._apologise(guards.EMPTY, "failed")
        return "limited" if self._agent.stopped else "completed"

    async def _tell(self) -> None:
        """Run the agent; what waits in it is told however it ends."""
        try:
            async with aclosing(self._agent.run(self._turn.messages)) as events:
                async for event in events:
                    self._journal.append(event)
        finally:
            for event in self._agent.rest():
                self._journal.append(event)

    def _apologise(self, text: str, outcome: Outcome) -> Outcome:
        self._journal.append(Said(f"\n\n{text}" if self._said else text))
        return outcome

    @property
    def _said(self) -> str:
        return text_of(self._journal.events)

    async def end(self, outcome: Outcome) -> None:
        """Store the answer, whole or partial, and tell the end; unless somebody else does."""
        if not self._begun:
            outcome = "failed"  # nothing of it is stored, however it ended
        if not self._said:
            self._apologise(_UNSAID[outcome], outcome)
        message = self._message(outcome)
        if self._begun:
            with telemetry.stage("store"):
                message = await self._store(message, outcome)
        telemetry.note(outcome=message.metadata["outcome"])
        self._journal.append(Ended(message, message.metadata["outcome"]))
        self._journal.open()
        await tell(self._deps.events, self._turn.uid, message.session_id, self._turn.run_id)

    async def _store(self, message: Message, outcome: Outcome) -> Message:
        """Return the message as it has to be told; one that is not stored is a failed one."""
        try:
            await self._recorder.finish(message, outcome)
        except Lost:
            self._journal.abandon()
        except Exception:  # noqa: BLE001 - the end is told whatever the store does
            telemetry.error("answer_not_stored", run_id=self._run.id)
            return self._message("failed")
        return message

    def _message(self, outcome: Outcome) -> Message:
        now = self._deps.clock.now()
        message = message_of(self._run, self._journal.events, outcome, now)
        self._note(message, outcome)
        return replace(message, diagnostics=telemetry.facts())

    @property
    def _path(self) -> Literal["simple", "tools", "persona"]:
        """Say what the turn took the question for."""
        if self._turn.role != "agent":
            return "persona"
        return "tools" if self._agent.calls else "simple"

    def _note(self, message: Message, outcome: Outcome) -> None:
        telemetry.note(
            outcome=outcome,
            path=self._path,
            citations=len(message.cards),
            prompt=prompts.version("chat/system"),
            model=self._run.model,
            cycles=self._agent.cycles,
            input_tokens=self._agent.usage.input_tokens,
            cached_tokens=self._agent.usage.cached_tokens,
            output_tokens=self._agent.usage.output_tokens,
        )


def _run(deps: ChatDeps, turn: Turn) -> Run:
    asked = turn.question
    return Run(
        id=turn.run_id,
        session_id=asked.session_id,
        question_id=asked.id,
        writer=deps.new_id(),
        created_at=asked.created_at,
        lease_until=deps.clock.now() + LEASE,
        model=deps.model.name(turn.role),
        app_id=asked.app_id,
        fingerprint=turn.fingerprint,
    )

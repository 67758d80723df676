"""Plays a plan and checks what holds whatever happens."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from functions.chat import guards
from functions.chat.following import follow
from functions.chat.told import text_of
from functions.chat.wiring import ChatDeps
from shared.domain.chat import MAIN_SESSION
from shared.domain.errors import NotFound, Unavailable
from shared.domain.run import Ended, Numbered, Outcome, RunEvent, Said
from shared.ports import Documents
from tests.functions.chat.conftest import ADA, World
from tests.functions.chat.cuts.client import RUN, Client
from tests.functions.chat.cuts.plans import LAST_TICK, Action, Plan
from tests.functions.chat.cuts.process import Process, idle, open_world

TICK_S = 0.25
TICKS = 400
WAITS = 10
"""More than anything waits in a row before it gives up."""
LOST = 1_000_000
"""The end of a run that somebody else closed has a number beyond this."""


async def play(plan: Plan, documents: Documents | None = None) -> Outcome:
    """Play a plan; returns the outcome that the client was told."""
    stage = _Stage.of(plan, open_world(documents))
    async with anyio.create_task_group() as tasks:
        await stage.perform(tasks)
        tasks.cancel_scope.cancel()
    deps = stage.world.deps()
    truth = await _truth(deps)
    for client in stage.clients:
        _check_client(client, truth, strictly=plan.reaches_store)
    await _check_store(deps, truth)
    _check_processes(stage)
    outcome = _end(stage.clients[0].heard).outcome
    if plan.is_survivable:
        assert (outcome, _text(truth)) == ("completed", plan.text)
    return outcome


@dataclass
class _Stage:
    """Two processes on one store, and who talks to them."""

    plan: Plan
    world: World
    here: Process
    there: Process
    clients: list[Client] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan, world: World) -> "_Stage":
        here = Process(world, plan, "a", plan.faults)
        return cls(plan, world, here, Process(world, plan, "b"))

    async def perform(self, tasks: TaskGroup) -> None:
        """Let time pass until everybody has heard the end."""
        self._ask(tasks, (self.here, self.there), self.plan.cuts)
        for tick in range(TICKS):
            self._break_or_mend(tick)
            for at, action in self.plan.actions:
                if at == tick:
                    await self._act(action, tasks)
            await idle(self.here, self.there)
            if tick > LAST_TICK and all(client.has_ended for client in self.clients):
                break
            self.world.clock.pass_(seconds=TICK_S)
        for _ in range(WAITS):
            self.world.clock.pass_(seconds=30)
            await idle(self.here, self.there)

    def _ask(
        self, tasks: TaskGroup, processes: tuple[Process, Process], cuts: tuple[int, ...] = ()
    ) -> None:
        self.clients.append(Client(processes, tasks, self.world.clock, cuts))
        tasks.start_soon(self.clients[-1].ask)

    def _break_or_mend(self, tick: int) -> None:
        start, end = self.plan.outage
        if start <= tick < end:
            self.here.wire.down = True
        elif tick == end and not self.plan.kills:
            self.here.wire.down = False

    async def _act(self, action: Action, tasks: TaskGroup) -> None:
        match action:
            case "stop here":
                self._stop_here()
            case "stop there":
                await self._stop_there()
            case "terminate":
                self.here.deps.live.close()
            case "kill":
                self.here.kill()
            case "send again":
                self._ask(tasks, (self.there, self.here))
            case "follow":
                tasks.start_soon(_follow, self.there.deps)

    def _stop_here(self) -> None:
        live = self.here.deps.live.find(ADA, RUN)
        if live is not None:
            live.end("stopped")

    async def _stop_there(self) -> None:
        try:
            await self.there.deps.runs.request_stop(ADA, RUN)
        except NotFound:
            return


async def _follow(deps: ChatDeps) -> None:
    """Listen, and close the run when its process is gone."""
    try:
        async with aclosing(follow(deps, ADA, RUN)) as events:
            async for _ in events:
                pass
    except (NotFound, Unavailable):
        return


async def _truth(deps: ChatDeps) -> list[Numbered]:
    """Return what the store tells in the end; empty when nothing was stored."""
    try:
        return [numbered async for numbered in follow(deps, ADA, RUN)]
    except NotFound:
        return []


def _check_client(client: Client, truth: Sequence[Numbered], *, strictly: bool) -> None:
    told = _end(client.heard)
    numbers = [numbered.seq for numbered in client.heard]
    assert numbers == sorted(set(numbers)), "nothing is told twice"
    if told.outcome == "failed" and not strictly:
        return  # the store was away, and that was said
    assert told == _end(truth), "the stored answer is the told one"
    if truth[-1].seq < LOST:
        assert _joined(client.heard) == _joined(truth), "cut and resumed, it is the same"
    else:
        kept = _text(truth)
        assert kept == guards.INTERRUPTED or _text(client.heard).startswith(kept), "a beginning"


def _end(events: Sequence[Numbered]) -> Ended:
    ends = [numbered.event for numbered in events if isinstance(numbered.event, Ended)]
    assert ends, "the end is told"
    assert ends == [events[-1].event], "once, and nothing after it"
    return ends[0]


def _joined(events: Sequence[Numbered]) -> list[RunEvent]:
    """Join neighbouring text, however it was cut."""
    joined: list[RunEvent] = []
    for numbered in events:
        event = numbered.event
        if isinstance(event, Said) and joined and isinstance(joined[-1], Said):
            joined[-1] = Said(joined[-1].text + event.text)
        else:
            joined.append(event)
    return joined


def _text(events: Sequence[Numbered]) -> str:
    return text_of([numbered.event for numbered in events])


async def _check_store(deps: ChatDeps, truth: Sequence[Numbered]) -> None:
    messages = await deps.messages.newest(ADA, MAIN_SESSION, limit=100)
    session = await deps.sessions.get(ADA, MAIN_SESSION)
    assert (session.message_count if session else 0) == len(messages), "each is counted once"
    if not truth:
        assert not messages, "what has no run was not stored"
        return
    assert [m.sender for m in messages] == ["ai", "human"], "one question, one answer"
    assert messages[0] == _end(truth).message
    assert messages[0].text == _text(truth), "what was said is what is stored"


def _check_processes(stage: _Stage) -> None:
    for process in (stage.here, stage.there):
        assert process.model.open_streams == 0, "a model's stream stayed open"
        assert process.deps.live.find(ADA, RUN) is None, "a run stayed listed"

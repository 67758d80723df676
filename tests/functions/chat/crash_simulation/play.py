"""Simulation of a plan, and the invariants that hold in every one."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from functions.chat import user_texts
from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import join_text
from functions.chat.runs.run_events import stream_events
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.chats.run import AnswerText, Outcome, RunEnded, RunEvent, SequencedEvent
from shared.domain.errors import NotFound, Unavailable
from shared.ports import Documents
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.crash_simulation.client import RUN_ID, Client
from tests.functions.chat.crash_simulation.plans import LAST_TICK, Action, Plan
from tests.functions.chat.crash_simulation.process import (
    SimulatedProcess,
    open_fixture,
    wait_until_idle,
)

TICK_S = 0.25
TICKS = 400
FINAL_WAITS = 10
"""More waits than any part makes before it gives up."""
MIN_GAP_SEQ = 1_000_000
"""The end of a run that another process closed has a higher number."""


async def check_plan(plan: Plan, documents: Documents | None = None) -> Outcome:
    """Play a plan and assert what holds in every one; return the outcome that the client received."""
    simulation = _Simulation.create(plan, open_fixture(documents))
    async with anyio.create_task_group() as tasks:
        await simulation.run(tasks)
        tasks.cancel_scope.cancel()
    deps = simulation.world.deps()
    stored_events = await _load_stored_events(deps)
    for client in simulation.clients:
        _check_client(client, stored_events, is_strict=plan.is_store_reliable)
    await _check_store(deps, stored_events)
    _check_processes(simulation)
    outcome = _find_end(simulation.clients[0].received_events).outcome
    if plan.is_survivable:
        assert (outcome, _join_text(stored_events)) == ("completed", plan.text)
    return outcome


@dataclass
class _Simulation:
    """Two processes on one store, and their clients."""

    plan: Plan
    world: ChatFixture
    first_process: SimulatedProcess
    second_process: SimulatedProcess
    clients: list[Client] = field(default_factory=list)

    @classmethod
    def create(cls, plan: Plan, world: ChatFixture) -> "_Simulation":
        first_process = SimulatedProcess(world, plan, "a", plan.faults)
        return cls(plan, world, first_process, SimulatedProcess(world, plan, "b"))

    async def run(self, tasks: TaskGroup) -> None:
        """Advance time until every client has received the end."""
        self._connect_client(tasks, (self.first_process, self.second_process), self.plan.cuts)
        for tick in range(TICKS):
            self._apply_outage(tick)
            for at, action in self.plan.actions:
                if at == tick:
                    await self._apply_action(action, tasks)
            await wait_until_idle(self.first_process, self.second_process)
            if tick > LAST_TICK and all(client.has_ended for client in self.clients):
                break
            self.world.clock.advance(seconds=TICK_S)
        for _ in range(FINAL_WAITS):
            self.world.clock.advance(seconds=30)
            await wait_until_idle(self.first_process, self.second_process)

    def _connect_client(
        self,
        tasks: TaskGroup,
        processes: tuple[SimulatedProcess, SimulatedProcess],
        cuts: tuple[int, ...] = (),
    ) -> None:
        self.clients.append(Client(processes, tasks, self.world.clock, cuts))
        tasks.start_soon(self.clients[-1].ask)

    def _apply_outage(self, tick: int) -> None:
        start, end = self.plan.outage
        if start <= tick < end:
            self.first_process.store_link.is_down = True
        elif tick == end and not self.plan.has_kill:
            self.first_process.store_link.is_down = False

    async def _apply_action(self, action: Action, tasks: TaskGroup) -> None:
        match action:
            case "stop here":
                self._stop_in_first_process()
            case "stop there":
                await self._stop_in_second_process()
            case "terminate":
                self.first_process.deps.active_runs.close()
            case "kill":
                self.first_process.kill()
            case "send again":
                self._connect_client(tasks, (self.second_process, self.first_process))
            case "follow":
                tasks.start_soon(_read_to_end, self.second_process.deps)

    def _stop_in_first_process(self) -> None:
        active_run = self.first_process.deps.active_runs.find(ADA, RUN_ID)
        if active_run is not None:
            active_run.end("stopped")

    async def _stop_in_second_process(self) -> None:
        try:
            await self.second_process.deps.stores.runs.send_signal(ADA, RUN_ID, "stop")
        except NotFound:
            return


async def _read_to_end(deps: ChatDeps) -> None:
    """Read to the end, which closes the run of a dead process."""
    try:
        async with aclosing(stream_events(deps, ADA, RUN_ID)) as events:
            async for _ in events:
                pass
    except (NotFound, Unavailable):
        return


async def _load_stored_events(deps: ChatDeps) -> list[SequencedEvent]:
    """Return the events of the run in the store; none when nothing was stored."""
    try:
        return [numbered async for numbered in stream_events(deps, ADA, RUN_ID)]
    except NotFound:
        return []


def _check_client(
    client: Client, stored_events: Sequence[SequencedEvent], *, is_strict: bool
) -> None:
    client_end = _find_end(client.received_events)
    numbers = [numbered.seq for numbered in client.received_events]
    assert numbers == sorted(set(numbers)), "no event is sent twice"
    if client_end.outcome == "failed" and not is_strict:
        return  # the store was down, and the client was told
    assert client_end == _find_end(stored_events), "the stored answer is the sent one"
    if stored_events[-1].seq < MIN_GAP_SEQ:
        assert _merge_text(client.received_events) == _merge_text(stored_events), (
            "resumed streams are the same"
        )
    else:
        stored_text = _join_text(stored_events)
        assert stored_text == user_texts.ANSWER_INTERRUPTED or _join_text(
            client.received_events
        ).startswith(stored_text), "a prefix of the sent text"


def _find_end(events: Sequence[SequencedEvent]) -> RunEnded:
    ends = [numbered.event for numbered in events if isinstance(numbered.event, RunEnded)]
    assert ends, "the end is sent"
    assert ends == [events[-1].event], "one end, and nothing after it"
    return ends[0]


def _merge_text(events: Sequence[SequencedEvent]) -> list[RunEvent]:
    """Join adjacent text."""
    merged: list[RunEvent] = []
    for numbered in events:
        event = numbered.event
        if isinstance(event, AnswerText) and merged and isinstance(merged[-1], AnswerText):
            merged[-1] = AnswerText(merged[-1].text + event.text)
        else:
            merged.append(event)
    return merged


def _join_text(events: Sequence[SequencedEvent]) -> str:
    return join_text([numbered.event for numbered in events])


async def _check_store(deps: ChatDeps, stored_events: Sequence[SequencedEvent]) -> None:
    messages = await deps.stores.messages.list_newest(ADA, MAIN_SESSION, limit=100)
    session = await deps.stores.sessions.get(ADA, MAIN_SESSION)
    assert (session.message_count if session else 0) == len(messages), "each is counted once"
    if not stored_events:
        assert not messages, "without a run, nothing is stored"
        return
    assert [m.sender for m in messages] == ["ai", "human"], "one question, one answer"
    answer = await deps.stores.messages.get(ADA, messages[0].id)
    assert answer == _find_end(stored_events).message
    assert messages[0].text == _join_text(stored_events), "the sent text is stored"


def _check_processes(simulation: _Simulation) -> None:
    for process in (simulation.first_process, simulation.second_process):
        assert not any(model.open_streams for model in process.models), "a stream stayed open"
        assert process.deps.active_runs.find(ADA, RUN_ID) is None, "a run stayed listed"

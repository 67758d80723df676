"""A long answer on a simulated clock: what it costs, and how late it comes to who follows elsewhere."""

from dataclasses import dataclass, field, replace
from statistics import fmean

import anyio
from anyio.abc import TaskGroup

from functions.chat.runs.journal import Journal
from functions.chat.runs.run_events import stream_events
from functions.chat.turn.answer_turn import answer_turn
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.question import Question
from shared import telemetry
from shared.adapters.metered_documents import MeteredDocuments
from shared.domain.chats.run import AnswerText
from shared.domain.ids import RunId
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.crash_simulation.plans import Plan
from tests.functions.chat.crash_simulation.process import (
    SimulatedProcess,
    open_fixture,
    wait_until_idle,
)

TOKENS = 250
PAUSE_S = 12 / TOKENS
WORD = "word "
PLAN = Plan(script=((WORD, PAUSE_S) * TOKENS,), faults={}, outage=(0, 0), actions=(), cuts=())


@dataclass
class LongAnswer:
    """12 seconds and 250 tokens in one process; `delays_s` are those of each token in another."""

    reads: int = 0
    writes: int = 0
    delays_s: list[float] = field(default_factory=list)

    @property
    def settled_delay_s(self) -> float:
        """The mean delay once the first process knows that somebody follows: after a third of the answer."""
        return fmean(self.delays_s[TOKENS // 3 :])


async def play_long_answer(*, is_followed: bool) -> LongAnswer:
    world, played = open_fixture(None), LongAnswer()
    metered = replace(world, documents=MeteredDocuments(world.documents))
    processes = (SimulatedProcess(metered, PLAN, "a"), SimulatedProcess(world, PLAN, "b"))
    with telemetry.log_request("chat"):
        async with anyio.create_task_group() as tasks:
            await _play(world, processes, tasks, played, is_followed=is_followed)
        fields = telemetry.get_fields()
    played.reads, played.writes = fields["reads"], fields["writes"]
    return played


async def _play(
    world: ChatFixture,
    processes: tuple[SimulatedProcess, SimulatedProcess],
    tasks: TaskGroup,
    played: LongAnswer,
    *,
    is_followed: bool,
) -> None:
    deps = processes[0].build_run_deps()
    turn = await prepare_turn(deps, ADA, Question("Tell me."))
    began_at, has_ended = world.clock.now(), anyio.Event()

    async def answer() -> None:
        await answer_turn(deps, turn, Journal())
        has_ended.set()

    async def follow(run_id: RunId) -> None:
        async for numbered in stream_events(processes[1].deps, ADA, run_id):
            if isinstance(numbered.event, AnswerText):
                age_s = (world.clock.now() - began_at).total_seconds()
                for _ in range(numbered.event.text.count(WORD)):
                    played.delays_s.append(age_s - len(played.delays_s) * PAUSE_S)

    tasks.start_soon(answer)
    await wait_until_idle(*processes)
    if is_followed:
        tasks.start_soon(follow, turn.run_id)
    while not has_ended.is_set():
        await wait_until_idle(*processes)
        world.clock.advance(seconds=PAUSE_S)
    tasks.cancel_scope.cancel()

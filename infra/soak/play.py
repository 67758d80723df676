"""Play of a soak: people and faults for a time, then quiet, then the count."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal, get_args

import httpx

from infra.progress import draw_progress_bar
from infra.soak.changes import change_something
from infra.soak.checks import Findings, check_people
from infra.soak.embedded_world import open_embedded_world
from infra.soak.person import Person
from infra.soak.samples import Sample, take_sample
from infra.soak.world import World

WorldName = Literal["embedded", "cloud"]
WORLDS: Sequence[WorldName] = get_args(WorldName)
ANSWER_TIMEOUT_S = 240
"""Longer than until a run is closed whose process could not store its end."""
PATIENCE_S = 120
"""How long nothing may become better before the soak counts what is lost."""
SAMPLE_S = 1.0
CHECK_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A soak; `processes` serve what people call, and most of all processes are killed in turn."""

    seconds: float
    people: int
    world: WorldName = "embedded"
    processes: int = 3
    kill_every_s: float = 20.0
    seed: int = 1
    logs: Path | None = None
    """Where what the functions of the cloud logged stays; None: nowhere."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The figures of a soak, and samples of the processes that lived throughout."""

    plan: Plan
    findings: Findings
    changes: Counter[str]
    kill_count: int
    faults: Mapping[str, int]
    waiting_count: int
    errors: Sequence[str]
    samples: Sequence[Sample]


@dataclass(slots=True, kw_only=True)
class _Soak:
    plan: Plan
    world: World
    people: Sequence[Person]
    all_answered: asyncio.Event = field(default_factory=asyncio.Event)
    kill_count: int = 0
    samples: list[Sample] = field(default_factory=list)

    async def run(self) -> None:
        """Let people ask under faults for as long as planned."""
        started = time.monotonic()

        def is_time() -> bool:
            return time.monotonic() - started < self.plan.seconds

        async with asyncio.TaskGroup() as faults:
            background = [
                faults.create_task(self._kill_in_turn(is_time)),
                faults.create_task(self._take_samples(started)),
            ]
            await self._ask_all(is_time)
            self.all_answered.set()
            await background[0]
            background[1].cancel()

    async def _ask_all(self, is_time: Callable[[], bool]) -> None:
        """Return when everybody has the end of their last answer, or nobody gets one any more."""
        asking = [asyncio.create_task(_live(person, is_time)) for person in self.people]
        await asyncio.wait(asking, timeout=self.plan.seconds + ANSWER_TIMEOUT_S)
        for task in asking:
            task.cancel()
        for result in await asyncio.gather(*asking, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    async def _kill_in_turn(self, is_time: Callable[[], bool]) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.all_answered.wait(), self.plan.kill_every_s)
            if not is_time():
                return
            await self.world.kill_next()
            self.kill_count += 1

    async def _take_samples(self, started: float) -> None:
        while True:
            with suppress(OSError, httpx.HTTPError):  # too busy to tell: the next sample counts
                await self._take_sample()
            seconds = min(time.monotonic() - started, self.plan.seconds)
            draw_progress_bar("seconds", int(seconds), int(self.plan.seconds))
            await asyncio.sleep(SAMPLE_S)

    async def _take_sample(self) -> None:
        questions = sum(person.question_count for person in self.people)
        rows = await self.world.count_rows()
        self.samples.append(take_sample(self.world.steady_pids, rows=rows, questions=questions))

    async def wait_until_quiet(self) -> Findings:
        """Return what is lost, doubled or left over when all is handled, or does not get handled any more."""
        least, deadline = math.inf, 0.0
        while True:
            waiting_count = await self.world.count_waiting()
            findings = await check_people(self.world, self.people)
            left = waiting_count + len(findings.lost) + len(findings.left_over)
            if left < least:
                least, deadline = left, time.monotonic() + PATIENCE_S
            if not left or time.monotonic() > deadline:
                return findings
            await asyncio.sleep(CHECK_S)


async def play_soak(plan: Plan) -> Outcome:
    """Play a plan in a fresh world; what is drawn follows from its seed."""
    random = Random(plan.seed)
    async with _open_world(plan, random) as world, _open_http() as http:
        people = [await _sign_in(world, f"person-{n}", random, http) for n in range(plan.people)]
        soak = _Soak(plan=plan, world=world, people=people)
        await soak.run()
        return Outcome(
            plan=plan,
            findings=await soak.wait_until_quiet(),
            changes=sum((person.changes for person in people), Counter()),
            kill_count=soak.kill_count,
            faults=await world.count_faults(),
            waiting_count=await world.count_waiting(),
            errors=await world.stop(),
            samples=soak.samples,
        )


def _open_world(plan: Plan, random: Random) -> AbstractAsyncContextManager[World]:
    if plan.world == "embedded":
        return open_embedded_world(plan.processes, random)
    from infra.soak.cloud_world import open_cloud_world

    return open_cloud_world(plan.processes, random, logs=plan.logs)


def _open_http() -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(limits=limits, timeout=60, trust_env=False)


async def _sign_in(world: World, name: str, random: Random, http: httpx.AsyncClient) -> Person:
    person = Person(
        name=name,
        sign_in=world.sign_in,
        http=http,
        find_origin=world.find_origin,
        random=Random(random.random()),
    )
    await person.enter()
    return person


async def _live(person: Person, is_time: Callable[[], bool]) -> None:
    while is_time():
        await person.act()
        await change_something(person)

"""Play of a soak: servers, people and faults for a time, then quiet, then the count."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx

from infra.bench import client
from infra.bench.processes import open_folder, run_scripted_model
from infra.progress import draw_progress_bar
from infra.soak.checks import Findings, check_people
from infra.soak.faulty_link import FaultyLink, open_faulty_link
from infra.soak.person import Person
from infra.soak.redeliveries import add_redeliveries, count_redeliveries, count_waiting
from infra.soak.samples import Sample, take_sample
from infra.soak.servers import Server, run_servers

QUIET_TIMEOUT_S = 120
POLL_S = 0.5
SCRIPTS: Mapping[str, Mapping[str, Any]] = {
    "structure": {
        "title": "A plan",
        "overview": "Ann sends a plan.",
        "action_items": [{"description": "Send the plan"}],
    },
    "memories": {"memories": []},
    "discard": {"discard": False},
    "notes": {"title": "A plan", "summary": "They spoke of plans."},
    "summary": {"summary": "They spoke of plans."},
}
"""The answers of the model about every conversation and every chat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A soak: the first of `processes` lives throughout, the others are killed in turn."""

    seconds: float
    people: int
    processes: int = 3
    kill_every_s: float = 20.0
    seed: int = 1


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The figures of a soak, and samples of the process that lived throughout."""

    plan: Plan
    findings: Findings
    kill_count: int
    reset_count: int
    late_count: int
    repeat_count: int
    waiting_count: int
    errors: Sequence[str]
    samples: Sequence[Sample]


@dataclass(slots=True, kw_only=True)
class _Soak:
    plan: Plan
    database: Path
    servers: Sequence[Server]
    people: Sequence[Person]
    link: FaultyLink
    all_answered: asyncio.Event = field(default_factory=asyncio.Event)
    kill_count: int = 0
    samples: list[Sample] = field(default_factory=list)

    async def run(self) -> None:
        """Let people ask under faults for as long as planned; then wait until all is handled."""
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
        await self._wait_until_quiet()

    async def _ask_all(self, is_time: Callable[[], bool]) -> None:
        """Return when everybody has the end of their last answer, or nobody gets one any more."""
        asking = [asyncio.create_task(person.ask_while(is_time)) for person in self.people]
        await asyncio.wait(asking, timeout=self.plan.seconds + QUIET_TIMEOUT_S)
        for task in asking:
            task.cancel()
        for result in await asyncio.gather(*asking, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    async def _kill_in_turn(self, is_time: Callable[[], bool]) -> None:
        while True:
            for server in self.servers[1:]:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.all_answered.wait(), self.plan.kill_every_s)
                if not is_time():
                    return
                await server.kill()
                self.kill_count += 1
                await server.start()

    async def _take_samples(self, started: float) -> None:
        [steady, *_] = self.servers
        while steady.process:
            questions = sum(len(person.questions) for person in self.people)
            self.samples.append(take_sample(steady.process.pid, self.database, questions))
            seconds = min(time.monotonic() - started, self.plan.seconds)
            draw_progress_bar("seconds", int(seconds), int(self.plan.seconds))
            await asyncio.sleep(POLL_S)

    async def _wait_until_quiet(self) -> None:
        """Wait until the queue is empty, or does not get empty any more."""
        for _ in range(int(QUIET_TIMEOUT_S / POLL_S)):
            if not count_waiting(self.database):
                return
            await asyncio.sleep(POLL_S)


async def play_soak(plan: Plan) -> Outcome:
    """Play a plan on a fresh data folder; what is drawn follows from its seed."""
    random = Random(plan.seed)
    async with AsyncExitStack() as stack:
        database = stack.enter_context(open_folder()) / "keepsake.db"
        model = stack.enter_context(run_scripted_model())
        await _script_model(model.port)
        link = await stack.enter_async_context(
            open_faulty_link(model.port, Random(random.random()))
        )
        openai = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"http://127.0.0.1:{link.port}/v1"}
        servers = await stack.enter_async_context(
            run_servers(plan.processes, database.parent, Random(random.random()), **openai)
        )
        people = await _sign_in(
            plan, servers, random, await stack.enter_async_context(_open_http())
        )
        await _open_libraries(servers[0], people)
        add_redeliveries(database)
        soak = _Soak(plan=plan, database=database, servers=servers, people=people, link=link)
        await soak.run()
        for server in servers:
            await server.stop()
        return _build_outcome(soak)


async def _script_model(port: int) -> None:
    scripts = [
        {"schema": schema, "text": json.dumps(answer), "sticky": True}
        for schema, answer in SCRIPTS.items()
    ]
    (await client.request(port, "POST", "/script", scripts)).require(204)


def _open_http() -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(limits=limits, timeout=60, trust_env=False)


async def _sign_in(
    plan: Plan, servers: Sequence[Server], random: Random, http: httpx.AsyncClient
) -> list[Person]:
    origins = [f"http://127.0.0.1:{server.port}" for server in servers]
    return [
        Person(
            uid=(uid := f"person-{n}"),
            token=await client.sign_in(servers[0].port, uid),
            http=http,
            origins=origins,
            random=Random(random.random()),
        )
        for n in range(plan.people)
    ]


async def _open_libraries(server: Server, people: Sequence[Person]) -> None:
    """Let everybody look at their conversations, after which every table is there."""
    for person in people:
        answer = await client.request(server.port, "GET", "/v1/conversations", token=person.token)
        answer.require()


def _build_outcome(soak: _Soak) -> Outcome:
    return Outcome(
        plan=soak.plan,
        findings=check_people(soak.database, soak.people),
        kill_count=soak.kill_count,
        reset_count=soak.link.reset_count,
        late_count=count_redeliveries(soak.database, "late"),
        repeat_count=count_redeliveries(soak.database, "repeat"),
        waiting_count=count_waiting(soak.database),
        errors=[error for server in soak.servers for error in server.errors],
        samples=soak.samples,
    )

"""Cloud world of a soak: functions as processes of their own, on emulators and local servers behind faulty links."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import cycle
from pathlib import Path
from random import Random

import httpx
from starlette.routing import compile_path

from infra.bench.processes import open_folder
from infra.local.routing import load_entry_points, to_starlette_path
from infra.soak.deliveries import Deliveries
from infra.soak.faulty_link import Faults, FaultyLink, open_link
from infra.soak.firestore_rows import count_rows, load_rows
from infra.soak.instances import Instance
from infra.soak.model import run_model
from infra.soak.world import COLLECTIONS, Rows
from shared.adapters.trust_store import load_trust_store
from tests.cloud_local.cloud import sign_in
from tests.cloud_local.functions import build_environments, choose_urls, name_trigger_audiences
from tests.cloud_local.google_tokens import GoogleTokens
from tests.cloud_local.stand_ins import PROJECT, StandIns, run_stand_ins

STEADY = ("chat", "process_conversation")
"""One process of each lives throughout."""
BUSY = ("chat", "library", "process_conversation", "after_turn")
SINGLE = (
    "on_conversation_written", "on_conversation_processed", "sweep", "close_run", "tool_proxy",
    "record_dead_letter", "end_stretch", "erase_account", "mark_owner", "renew_texts", "summarise_day", "deliver_notification",
)  # fmt: skip
"""All that asking and recording leads to; the other functions are not started."""
SWEEP_EVERY_S = 60.0
STARTED_AT_ONCE = 4
LOOPBACK = re.compile(r"127\.0\.0\.1:(\d+)")


@dataclass(slots=True, kw_only=True)
class CloudWorld:
    stand_ins: StandIns
    urls: Mapping[str, str]
    instances: Sequence[Instance]
    mortals: Iterator[Instance]
    links: Sequence[FaultyLink]
    deliveries: Deliveries

    @property
    def steady_pids(self) -> Sequence[int]:
        firsts = [_find_first(self.instances, name) for name in STEADY]
        return [instance.process.pid for instance in firsts if instance.process]

    def find_origin(self, path: str) -> str:
        return self.urls[_find_function(path.partition("?")[0])]

    async def sign_in(self, name: str) -> tuple[str, str]:
        return await asyncio.to_thread(sign_in, self.stand_ins.auth, f"{name}@example.com")

    async def kill_next(self) -> None:
        instance = next(self.mortals)
        await instance.kill()
        await instance.start()

    async def stop(self) -> Sequence[str]:
        await asyncio.gather(*(instance.kill() for instance in self.instances))
        return [error for instance in self.instances for error in instance.read_errors()]

    async def load_rows(self, uid: str) -> Rows:
        return {
            kind: await asyncio.to_thread(
                lambda path: list(load_rows(self.stand_ins.firestore, PROJECT, path)),
                f"users/{uid}/{kind}",
            )
            for kind in COLLECTIONS
        }

    async def count_rows(self) -> int:
        return await asyncio.to_thread(count_rows, self.stand_ins.firestore, PROJECT)

    async def count_waiting(self) -> int:
        return self.deliveries.waiting_count

    async def count_faults(self) -> Mapping[str, int]:
        return {
            "connections reset": sum(link.reset_count for link in self.links),
            "messages that came late": self.deliveries.late_count,
            "messages that came again": self.deliveries.repeat_count,
        }


def _find_function(path: str) -> str:
    for pattern, name in _compile_paths():
        if pattern.match(path):
            return name
    raise LookupError(f"no function serves {path}")


@cache
def _compile_paths() -> Sequence[tuple[re.Pattern[str], str]]:
    return [
        (compile_path(to_starlette_path(path))[0], function.name)
        for function in load_entry_points()
        for path in function.paths
    ]


@asynccontextmanager
async def open_cloud_world(
    processes: int, random: Random, *, logs: Path | None
) -> AsyncIterator[CloudWorld]:
    """Run `processes` of each busy function, and one of the others."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(open_folder())
        log_folder = logs or folder
        log_folder.mkdir(parents=True, exist_ok=True)
        urls = choose_urls()
        deliveries = Deliveries(Random(random.random()))
        stand_ins = stack.enter_context(
            run_stand_ins(
                folder, urls, wrap_relay=deliveries.wrap, task_faults=Random(random.random())
            )
        )
        stand_ins.tokens.set_audiences(name_trigger_audiences())
        links = _Links(stack, random)
        environments = await _build_environments(stack, stand_ins, links, urls, folder)
        instances = [
            Instance(
                function=function,
                environment=environments[function.name],
                log=log_folder / f"{function.name}-{n}.log",
                random=Random(random.random()),
            )
            for function in load_entry_points()
            for n in range(_count_instances(function.name, processes))
        ]
        await _start_all(stack, instances)
        for name, url in urls.items():
            await links.put_before(url, [i.port for i in instances if i.function.name == name])
        await stand_ins.connect()
        sweeping = asyncio.create_task(_sweep_every_minute(urls["sweep"], stand_ins.tokens))
        stack.callback(sweeping.cancel)
        yield CloudWorld(
            stand_ins=stand_ins,
            urls=urls,
            instances=instances,
            mortals=cycle(_shuffle_mortals(instances, random)),
            links=links.opened,
            deliveries=deliveries,
        )


def _count_instances(name: str, processes: int) -> int:
    return processes if name in BUSY else int(name in SINGLE)


@dataclass(slots=True)
class _Links:
    """Links that are open until the stack is left."""

    stack: AsyncExitStack
    random: Random
    opened: list[FaultyLink] = field(default_factory=list)

    async def put_into(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Lead every address on loopback that settings name through a faulty link."""
        ports = {port for value in settings.values() for port in LOOPBACK.findall(value)}
        linked = {port: await self._open([int(port)], Faults()) for port in sorted(ports)}

        def lead(match: re.Match[str]) -> str:
            return f"127.0.0.1:{linked[match[1]]}"

        return {name: LOOPBACK.sub(lead, value) for name, value in settings.items()}

    async def put_before(self, url: str, ports: Sequence[int]) -> None:
        """Let an address lead to one of these processes, without faults."""
        if ports:
            await self._open(ports, None, port=int(url.rpartition(":")[2]))

    async def _open(self, ports: Sequence[int], faults: Faults | None, *, port: int = 0) -> int:
        opening = open_link(ports, Random(self.random.random()), faults, port=port)
        link = await self.stack.enter_async_context(opening)
        self.opened.append(link)
        return link.port


async def _build_environments(
    stack: AsyncExitStack,
    stand_ins: StandIns,
    links: _Links,
    urls: Mapping[str, str],
    folder: Path,
) -> Mapping[str, Mapping[str, str]]:
    """Build the environment of each function, in which everything it asks is behind a faulty link."""
    model = await stack.enter_async_context(run_model())
    settings = {**stand_ins.settings, "OPENAI_BASE_URL": model.openai_url}
    linked = replace(stand_ins, settings=await links.put_into(settings))
    return build_environments(linked, urls, urls["chat"], folder)


async def _start_all(stack: AsyncExitStack, instances: Sequence[Instance]) -> None:
    limit = asyncio.Semaphore(STARTED_AT_ONCE)

    async def start(instance: Instance) -> None:
        stack.push_async_callback(instance.kill)
        async with limit:
            await instance.start()

    await asyncio.gather(*map(start, instances))


def _shuffle_mortals(instances: Sequence[Instance], random: Random) -> Sequence[Instance]:
    """Return all processes but the first of each steady function."""
    steady_ids = {id(_find_first(instances, name)) for name in STEADY}
    mortals = [instance for instance in instances if id(instance) not in steady_ids]
    random.shuffle(mortals)
    return mortals


def _find_first(instances: Sequence[Instance], name: str) -> Instance:
    return next(instance for instance in instances if instance.function.name == name)


async def _sweep_every_minute(url: str, tokens: GoogleTokens) -> None:
    """Call the sweep as Cloud Scheduler does; a call that fails is left to the next minute."""
    while True:
        await asyncio.sleep(SWEEP_EVERY_S)
        token = await tokens.get_delivery_token("schedule", "sweep")
        headers = {"Authorization": f"Bearer {token}"}
        with suppress(httpx.HTTPError):
            async with httpx.AsyncClient(
                verify=load_trust_store(), trust_env=False, timeout=SWEEP_EVERY_S
            ) as http:
                await http.post(url, headers=headers)

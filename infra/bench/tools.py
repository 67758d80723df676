"""Tool calls: their cost beside a direct one, and what a slow app costs the others."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median, quantiles
from uuid import uuid4

import httpx

from infra.bench import client
from infra.bench.figures import Figure
from infra.bench.processes import (
    ServerProcess,
    find_free_port,
    open_folder,
    run_keepsake_on,
    run_module,
)
from infra.local.routing import load_service_calls
from shared.adapters.embedded.local_identity import read_secret
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.adapters.http_toolbox import HttpToolbox
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import ToolFailed
from shared.domain.ids import UserId
from shared.security.delegations import Delegations

WARM_UP = 10
CALLS = 150
SLOW_CALLS = 500
CALL_INTERVAL_S = 0.095
PACED_CALLS = 190
"""Calls during the slow app's call, one every so often; a user has 200 an hour."""
_LISTEN_STATE = "0A"
"""The state of a listening socket in /proc/net/tcp."""

Call = Callable[[], Awaitable[object]]


async def measure_tools() -> list[Figure]:
    with (
        open_folder() as data,
        run_app_server() as app,
        run_keepsake_on(data, EGRESS_DEV_ORIGINS=app) as server,
    ):
        scene = ToolBench(server, app, build_toolbox(server, data))
        crowd = build_toolbox(server, data)
        figures = [*await _measure_overhead(scene), *await _measure_isolation(scene, crowd)]
        await scene.toolbox.aclose()
        await crowd.aclose()
        return figures


def build_toolbox(server: ServerProcess, data: Path) -> HttpToolbox:
    """Call the tool proxy as the chat does, with the secret of its data folder."""
    secret, clock = read_secret(data), SystemClock()
    return HttpToolbox(
        _find_proxy_url(server),
        LocalServiceIdentity(secret, load_service_calls(), clock),
        Delegations({"tool_call": (secret.hex(),)}, clock),
        clock,
        caller="chat",
    )


async def install_app(
    port: int, app: str, uid: str, manifest: str = "/.well-known/omi-tools.json"
) -> tuple[str, dict[str, str]]:
    """Register and install an app of this user; return its id and the pins of its tools."""
    token = await client.sign_in(port, uid)
    body = {
        "name": "Notes",
        "capabilities": ["external_integration"],
        "external_integration": {"chat_tools_manifest_url": f"{app}{manifest}"},
    }
    response = await client.request(port, "POST", "/v1/apps", body, token=token)
    app_id = str(response.json["id"])
    await client.request(port, "POST", f"/v1/apps/enable?app_id={app_id}", token=token)
    tools = await client.request(port, "GET", f"/v1/apps/{app_id}/tools", token=token)
    return app_id, {tool["name"]: tool["pin"] for tool in tools.json}


class ToolBench:
    """The product, an app's server, and the connection between them."""

    def __init__(self, server: ServerProcess, app: str, toolbox: HttpToolbox) -> None:
        self.app = app
        self.toolbox = toolbox
        self._port = server.port

    async def install_app(self, uid: str) -> tuple[str, dict[str, str]]:
        return await install_app(self._port, self.app, uid)

    async def prepare_call(self, uid: str) -> Call:
        app_id, pins = await self.install_app(uid)
        return lambda: self.toolbox.call(
            UserId(uid), app_id, "find", {"q": "x"}, call_id=uuid4().hex, pin=pins["find"]
        )


async def _measure_overhead(scene: ToolBench) -> list[Figure]:
    """Measure calls through the product and direct ones, alternating."""
    through = await scene.prepare_call("through")
    async with httpx.AsyncClient(trust_env=False) as http:

        async def direct() -> object:
            body = {"q": "x", "uid": "direct", "app_id": "x", "tool_name": "find"}
            return await http.post(f"{scene.app}/find", json=body)

        rounds = [
            (await client.measure_ms(direct()), await client.measure_ms(through()))
            for _ in range(WARM_UP + CALLS)
        ]
    direct_ms, through_ms = map(median, zip(*rounds[WARM_UP:], strict=True))
    name = "a tool call"
    return [
        Figure(f"{name}: direct, by httpx", direct_ms, "ms"),
        Figure(f"{name}: over it", through_ms - direct_ms, "ms", target=6),
    ]


async def _measure_isolation(scene: ToolBench, crowd: HttpToolbox) -> list[Figure]:
    """Measure an app's calls alone, and during SLOW_CALLS calls to another app."""
    alone_ms = await _measure_paced_ms(await scene.prepare_call("alone"))
    slow, pins = await scene.install_app("slow")
    quick = await scene.prepare_call("beside")
    outcomes: Counter[str] = Counter()

    async def call() -> None:
        try:
            await crowd.call(
                UserId("slow"), slow, "slow", {"q": "x"}, call_id=uuid4().hex, pin=pins["slow"]
            )
            outcomes["answered"] += 1
        except ToolFailed:
            outcomes["refused"] += 1

    async with asyncio.TaskGroup() as tasks:
        for _ in range(SLOW_CALLS):
            tasks.create_task(call())
        beside_ms = await _measure_paced_ms(quick)
    name = f"another app beside {SLOW_CALLS} calls to a slow one"
    return [
        Figure("an app alone: p95", _compute_p95(alone_ms), "ms"),
        Figure(
            f"{name}: p95 by that", _compute_p95(beside_ms) / _compute_p95(alone_ms), target=1.5
        ),
        Figure(f"{name}: refused at once", outcomes["refused"]),
    ]


async def _measure_paced_ms(call: Call) -> list[float]:
    times = []
    for _ in range(PACED_CALLS):
        started = time.perf_counter()
        times.append(await client.measure_ms(call()))
        await asyncio.sleep(max(0.0, CALL_INTERVAL_S - (time.perf_counter() - started)))
    return times[WARM_UP:]


def _compute_p95(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


@contextmanager
def run_app_server() -> Iterator[str]:
    port = find_free_port()
    with run_module("infra.bench.app_server", str(port), port=port, env={}):
        yield f"http://127.0.0.1:{port}"


def _list_link_targets(folder: Path) -> Iterator[str]:
    """List where links lead to, without those that go meanwhile."""
    for link in folder.iterdir():
        with suppress(FileNotFoundError):
            yield str(link.readlink())


def _find_proxy_url(server: ServerProcess) -> str:
    """Return the tool proxy's address: the port that is not public."""
    files = Path(f"/proc/{server.pid}/fd")
    inodes = {target[len("socket:[") : -1] for target in _list_link_targets(files)}
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = {
        int(row[1].split(":")[1], 16)
        for row in rows
        if row[3] == _LISTEN_STATE and row[9] in inodes
    }
    [port] = ports - {server.port}
    return f"http://127.0.0.1:{port}/tool_proxy"

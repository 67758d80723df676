"""Intruders: how long one user's worst accepted requests delay a small request of another."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from uuid import uuid4

from infra.bench import client
from infra.bench.figures import Figure
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.bench.tools import ToolBench, build_toolbox, run_app_server
from shared.adapters.http_toolbox import HttpToolbox
from shared.domain.errors import ToolRefused
from shared.domain.ids import UserId

MAX_DELAY_MS = 500
INTERVAL_S = 0.02
"""Between two small requests."""
QUIET_S = 2.0
"""How long the small requests go on behind the last of an intruder: its work may go on, too."""
MAX_QUESTION_CHARS = 20_000
QUESTION_UNITS = (
    "en ",
    "„",
    "<v ",
    "[1",
    "http://a.",
    "I will ",
    "my ",
    "token: ",
    "\u200b",
    "no, ",
)
PROCESSING_TIMEOUT_S = 300
SEGMENTS = 20_000
SEGMENT_TEXT = "I love my garden, and I will call Ann tomorrow at 5 about the Lisbon offsite. " * 2
ARGUMENTS = {"rows": [{"number": n, "name": "x" * 10} for n in range(5_000)]}

Work = Callable[[], Awaitable[object]]


async def measure_intruders() -> list[Figure]:
    with (
        open_folder() as data,
        run_app_server() as app,
        run_keepsake_on(data, EGRESS_DEV_ORIGINS=app) as server,
    ):
        token = await client.sign_in(server.port, "intruder")
        toolbox = build_toolbox(server, data)
        app_id, pins = await ToolBench(server, app, toolbox).install_app("intruder")
        requests: dict[str, Work] = {
            "nothing": lambda: asyncio.sleep(QUIET_S),
            "questions of 20,000 characters": lambda: _ask_all(server, token),
            "tool calls with 5,000 objects": lambda: _call_all(toolbox, app_id, pins),
            "bodies of 8 MB that are refused": lambda: _send_maps(server, token),
            "a conversation of 3 MB, with its processing": lambda: _add_conversation(server, token),
        }
        figures = [
            figure
            for name, work in requests.items()
            for figure in await _measure_delay(server, name, work)
        ]
        await toolbox.aclose()
        return figures


async def _measure_delay(server: ServerProcess, name: str, work: Work) -> list[Figure]:
    """Measure small requests while the work goes on, and shortly after it."""
    token = await client.sign_in(server.port, "bystander")
    await _send_small_request(server, token)
    delays = []
    intruder = asyncio.ensure_future(work())
    until = float("inf")
    while time.perf_counter() < until:
        cpu_s = server.cpu_s
        delay_ms = await client.measure_ms(_send_small_request(server, token))
        delays.append((delay_ms, 1000 * (server.cpu_s - cpu_s)))
        if intruder.done() and until == float("inf"):
            until = time.perf_counter() + QUIET_S
        await asyncio.sleep(INTERVAL_S)
    await intruder
    slowest_ms, most_cpu_ms = map(max, zip(*delays, strict=True))
    title = f"another's request beside {name}"
    return [
        Figure(f"{title}: slowest", slowest_ms, "ms", target=MAX_DELAY_MS),
        Figure(f"{title}: CPU meanwhile", most_cpu_ms, "ms"),
    ]


async def _send_small_request(server: ServerProcess, token: str) -> None:
    (await client.request(server.port, "GET", "/v3/memories?limit=1", token=token)).require()


async def _ask_all(server: ServerProcess, token: str) -> None:
    """Ask the longest questions at once, each of one text that patterns may stumble over."""
    texts = [(unit * MAX_QUESTION_CHARS)[:MAX_QUESTION_CHARS] for unit in QUESTION_UNITS]
    await asyncio.gather(*(client.ask(server.port, text, token=token) for text in texts))


async def _call_all(toolbox: HttpToolbox, app_id: str, pins: Mapping[str, str]) -> None:
    """Call the tools whose schemas ask for most, ten at once; the second asks for too much."""

    async def call(tool: str) -> None:
        call_id, pin = uuid4().hex, pins[tool]
        await toolbox.call(UserId("intruder"), app_id, tool, ARGUMENTS, call_id=call_id, pin=pin)

    async def call_and_be_refused() -> None:
        with suppress(ToolRefused):
            await call("choose")
            raise RuntimeError("a call that asks for too much was not refused")

    calls = (work for _ in range(5) for work in (call("unique"), call_and_be_refused()))
    await asyncio.gather(*calls)


async def _send_maps(server: ServerProcess, token: str) -> None:
    """Send the longest body, of the values that take most memory."""
    body: dict[str, object] = {"transcript_segments": [{}] * 2_000_000}
    for _ in range(3):
        answer = await client.request(server.port, "POST", "/v1/conversations", body, token=token)
        answer.require(413)


async def _add_conversation(server: ServerProcess, token: str) -> None:
    """Add as long a conversation as is accepted, and wait until it is processed."""
    segment = {"text": SEGMENT_TEXT, "speaker": "Ann", "is_user": True}
    body = {
        "id": "long",
        "started_at": "2026-03-02T09:00:00Z",
        "finished_at": "2026-03-02T12:00:00Z",
        "transcript_segments": [segment] * SEGMENTS,
    }
    answer = await client.request(server.port, "POST", "/v1/conversations", body, token=token)
    answer.require(202)
    async with asyncio.timeout(PROCESSING_TIMEOUT_S):
        while await _load_status(server, token) not in ("completed", "failed"):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.5)


async def _load_status(server: ServerProcess, token: str) -> str:
    answer = await client.request(server.port, "GET", "/v1/conversations/long", token=token)
    return str(answer.json["status"])

"""Lists of conversations over HTTP, as the released app asks for them, in a library of 2,000."""

import time
from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any

from infra.bench.client import request, sign_in
from infra.bench.figures import Figure
from infra.bench.libraries import OWNER, GeneratedLibrary, generate_questions
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.progress import create_progress_bar

CONVERSATIONS = 2_000
TURNS = 20
PAGE = 50
FAR_OFFSET = 1_900
ROUNDS = 200
LIST_PATH = f"/v1/conversations?include_discarded=false&limit={PAGE}&statuses=&offset="


async def measure_lists() -> list[Figure]:
    with open_folder() as data:
        with GeneratedLibrary(data) as library:
            await library.fill(CONVERSATIONS, turns=TURNS, tick=create_progress_bar("lists", 100))
        with run_keepsake_on(data) as server:
            token = await sign_in(server.port, OWNER)
            await _time_list(server, token, 0)
            first, far = zip(
                *[
                    (
                        await _time_list(server, token, 0),
                        await _time_list(server, token, FAR_OFFSET),
                    )
                    for _ in range(ROUNDS)
                ],
                strict=True,
            )
            cpu_s = server.cpu_s
            for _ in range(ROUNDS):
                await _time_list(server, token, 0)
            list_cpu_ms = (server.cpu_s - cpu_s) / ROUNDS * 1_000
            searches = [
                await _time_search(server, token, question)
                for question in generate_questions(ROUNDS)
            ]
    name = f"{PAGE} of {CONVERSATIONS:,} conversations"
    return [
        Figure(f"list of {name}: p50", median(first) * 1_000, "ms"),
        Figure(f"list of {name}: CPU", list_cpu_ms, "ms"),
        Figure(f"list of {name}: p95", _compute_p95_ms(first), "ms", target=25),
        Figure(
            f"list at offset {FAR_OFFSET:,} to the first", median(far) / median(first), target=1.5
        ),
        Figure(f"search page among {CONVERSATIONS:,}: p50", median(searches) * 1_000, "ms"),
        Figure(
            f"search page among {CONVERSATIONS:,}: p95", _compute_p95_ms(searches), "ms", target=25
        ),
    ]


async def _time_list(server: ServerProcess, token: str, offset: int) -> float:
    """Return the seconds of a page. Raises RuntimeError when it is not full."""
    duration_s, items = await _time(server, token, "GET", f"{LIST_PATH}{offset}")
    if len(items) != PAGE:
        raise RuntimeError(f"{len(items)} conversations at offset {offset}")
    return duration_s


async def _time_search(server: ServerProcess, token: str, question: str) -> float:
    body = {"query": question, "page": 1, "per_page": 10, "include_discarded": True}
    duration_s, found = await _time(server, token, "POST", "/v1/conversations/search", body)
    if not found["items"]:
        raise RuntimeError(f"no hits for {question!r}")
    return duration_s


async def _time(
    server: ServerProcess, token: str, method: str, path: str, body: Any = None
) -> tuple[float, Any]:
    started = time.perf_counter()
    response = await request(server.port, method, path, body, token=token)
    return time.perf_counter() - started, response.require().json


def _compute_p95_ms(durations_s: Sequence[float]) -> float:
    return quantiles(durations_s, n=20)[-1] * 1_000

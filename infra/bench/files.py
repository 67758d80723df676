"""Files: what a question with files and many tools costs, and how a long PDF is read."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from openai import AsyncOpenAI

from infra.bench.client import ask, request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import (
    ServerProcess,
    build_model_environment,
    open_folder,
    run_keepsake,
    run_keepsake_on,
    run_scripted_model,
)
from infra.bench.streams import measure_raw_first_token, script_after_turn
from infra.bench.tools import install_app, run_app_server
from tests.fixtures.documents import build_pdf

FILES = 5
WORDS_OF_FILE = 2_000
TOOLS = 40
PDF_PAGES, LINES_OF_PAGE = 300, 45
WARM_UP, ROUNDS = 10, 40
POLL_S = 0.1


async def measure_files() -> list[Figure]:
    return [*await _measure_question(), *await _measure_pdf()]


async def _measure_question() -> list[Figure]:
    """Ask with five files and forty tools, and the model the same by the SDK alone, alternately."""
    with (
        run_scripted_model() as model,
        run_app_server() as app,
        open_folder() as data,
        run_keepsake_on(data, EGRESS_DEV_ORIGINS=app, **build_model_environment(model)) as ours,
    ):
        await script_after_turn(model)
        token = await sign_in(ours.port, "bench")
        await install_app(ours.port, app, "bench", manifest="/many-tools.json")
        names = [(f"{n}.txt", b"The keel is of oak. " * (WORDS_OF_FILE // 5)) for n in range(FILES)]
        file_ids = await _send(ours, token, names)
        await ask(ours.port, "Hello", token=token, file_ids=file_ids)
        sent = await _find_sent(model)
        raw, product = [], []
        async with AsyncOpenAI(api_key="x", base_url=model.openai_url) as client:
            for _ in range(WARM_UP + ROUNDS):
                raw.append(await measure_raw_first_token(client, sent))
                answer = await ask(ours.port, "Hello", token=token, file_ids=file_ids)
                product.append(answer.first_s)
                await request(ours.port, "DELETE", "/v2/messages", token=token)
    bare_ms, ours_ms = (median(times[WARM_UP:]) * 1000 for times in (raw, product))
    return [
        Figure("a question with files: files", FILES),
        Figure(
            "a question with files: tools offered",
            len(sent["tools"]),
            target=TOOLS,
            bound="at least",
        ),
        Figure("a question with files: first token over raw", ours_ms - bare_ms, "ms", target=10),
    ]


async def _find_sent(model: ServerProcess) -> dict[str, Any]:
    """Return what the model was sent for the question."""
    requests = (await request(model.port, "GET", "/requests")).json
    return next(sent for sent in (each["body"] for each in requests) if "tools" in sent)


async def _measure_pdf() -> list[Figure]:
    """Hand in a long PDF and wait until it is read, in a process that reads nothing else."""
    page = ") Tj 0 -15 Td (".join(
        ["Twelve planks of oak were brought to the yard."] * LINES_OF_PAGE
    )
    with run_scripted_model() as model, run_keepsake(model) as ours:
        token = await sign_in(ours.port, "bench")
        started = time.perf_counter()
        await _send(ours, token, [("long.pdf", build_pdf(*[page] * PDF_PAGES))])
        took_s = time.perf_counter() - started
        peak_mb = max(process.peak_mb for process in _list_family(ours))
    name = f"a PDF of {PDF_PAGES} pages"
    return [
        Figure(f"{name}: sent until it is ready", took_s, "s", target=20),
        Figure(f"{name}: highest memory of a process", peak_mb, "MB", target=300),
    ]


async def _send(
    server: ServerProcess, token: str, contents: Sequence[tuple[str, bytes]]
) -> list[str]:
    """Hand files in and wait until all are read; return their ids."""
    parts = [("files", content) for content in contents]
    base_url = f"http://127.0.0.1:{server.port}"
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=base_url, headers=headers, trust_env=False, timeout=60
    ) as http:
        files = (await http.post("/v2/files", files=parts)).raise_for_status().json()
        ids = [str(file["id"]) for file in files]
        for file_id in ids:
            await _wait_until_read(http, file_id)
    return ids


async def _wait_until_read(http: httpx.AsyncClient, file_id: str) -> None:
    while True:
        file = (await http.get(f"/v2/files/{file_id}")).raise_for_status().json()
        if file["status"] == "ready":
            return
        await asyncio.sleep(POLL_S)


def _list_family(server: ServerProcess) -> list[ServerProcess]:
    """Return the server and the processes that it began."""
    tasks = Path(f"/proc/{server.pid}/task").iterdir()
    pids = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    return [server, *(ServerProcess(pid=pid, port=0, log=server.log) for pid in pids)]

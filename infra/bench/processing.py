"""Processing: how fast conversations are imported, and what each costs the store and the model."""

import asyncio
import json
import time
from collections.abc import Iterable, Mapping
from statistics import mean
from typing import Any

from infra.bench.client import request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import (
    ServerProcess,
    open_folder,
    run_keepsake,
    run_keepsake_on,
    run_scripted_model,
)
from infra.bench.sessions import generate_sessions
from infra.progress import draw_progress_bar

SESSIONS = 1_000
MODEL_SESSIONS = 20
MAX_CONCURRENT = 8
TIMEOUT_S = 1_800
"""A busy machine may be slow: that is no failure."""
POLL_S = 0.25
PARTS = {
    "library": "the post that creates it",
    "on_conversation_written": "its triggers",
    "process_conversation": "its processing",
    "on_conversation_processed": "its end",
}
"""What happens with one conversation, by the function that does it."""
MOST_READS, MOST_WRITES = 12, 6
"""Of processing one conversation, on average; the import has tasks, memories and known facts as well."""
MODEL_OUTPUTS = {
    "extraction": {
        "structure": {"title": "An evening", "overview": "They met.", "action_items": []},
        "memories": [],
    },
}


async def measure_processing() -> list[Figure]:
    with open_folder() as data, run_keepsake_on(data) as server:
        took_s = await import_all(server, list(generate_sessions(SESSIONS)))
        lines = _read_completed_lines(server)
        figures = [
            Figure(
                f"import of {SESSIONS} sessions, first POST to all completed",
                SESSIONS / took_s,
                "sessions/s",
                target=50,
                bound="at least",
            ),
            Figure("CPU of it", server.cpu_s / SESSIONS * 1000, "ms/session"),
            Figure(
                "documents read to process one", mean(n["reads"] for n in lines), target=MOST_READS
            ),
            Figure(
                "documents written to process one",
                mean(n["writes"] for n in lines),
                target=MOST_WRITES,
            ),
        ]
    return [*figures, *await _measure_model_calls()]


async def import_all(server: ServerProcess, recordings: list[dict[str, Any]]) -> float:
    """Post all conversations and return the seconds until all are completed."""
    token = await sign_in(server.port, "alice")
    pending = iter(recordings)
    started = time.perf_counter()
    await asyncio.gather(*(_post_sessions(server, pending, token) for _ in range(MAX_CONCURRENT)))
    async with asyncio.timeout(TIMEOUT_S):
        while (done := await _count_ended(server, token, len(recordings))) < len(recordings):
            draw_progress_bar("sessions", done, len(recordings))
            await asyncio.sleep(POLL_S)
    draw_progress_bar("sessions", done, len(recordings))
    took_s = time.perf_counter() - started
    if await _list_one(server, token, "failed"):
        raise RuntimeError("Sessions could not be processed")
    return took_s


async def _count_ended(server: ServerProcess, token: str, count: int) -> int:
    """Return how many are not to be processed any more; the library is asked once all seem to be."""
    ended = len(_read_ended_lines(server))
    if ended < count:
        return ended
    return count - len(await _list_one(server, token, "processing"))


async def _list_one(server: ServerProcess, token: str, status: str) -> list[dict[str, Any]]:
    path = f"/v1/conversations?include_discarded=true&limit=1&statuses={status}"
    answer = (await request(server.port, "GET", path, token=token)).require().json
    return list(answer)


async def _measure_model_calls() -> list[Figure]:
    with run_scripted_model() as model, run_keepsake(model) as server:
        scripts = [
            {"schema": schema, "text": json.dumps(answer), "sticky": True}
            for schema, answer in MODEL_OUTPUTS.items()
        ]
        await request(model.port, "POST", "/script", scripts)
        recordings = list(generate_sessions(MODEL_SESSIONS))
        await import_all(server, recordings)
        requests = (await request(model.port, "GET", "/requests")).json
        documents = await _count_documents(server)
    prompts = [
        json.dumps(model_request["body"]["messages"], ensure_ascii=False)
        for model_request in requests
    ]
    ends = [session["transcript_segments"][-1]["text"] for session in recordings]
    times_sent = sum(prompt.count(end) for prompt in prompts for end in ends)
    characters = sum(map(len, prompts))
    return [
        Figure("model calls to process one", len(requests) / MODEL_SESSIONS, target=1),
        Figure("times its transcript is sent", times_sent / MODEL_SESSIONS, target=1),
        Figure("tokens sent, at 4 characters each", characters / 4 / MODEL_SESSIONS),
        *documents,
    ]


async def _count_documents(server: ServerProcess) -> list[Figure]:
    """Count what Firestore bills for a conversation without tasks and memories, part by part."""
    async with asyncio.timeout(TIMEOUT_S):
        while (
            done := len(server.read_request_lines("on_conversation_processed"))
        ) < MODEL_SESSIONS:
            draw_progress_bar("ends", done, MODEL_SESSIONS)
            await asyncio.sleep(POLL_S)
    figures = []
    for function, part in PARTS.items():
        lines = [line for line in server.read_request_lines(function) if line["outcome"] == "ok"]
        bounds = (MOST_READS, MOST_WRITES) if function == "process_conversation" else (None, None)
        for kind, most in zip(("reads", "writes"), bounds, strict=True):
            count = sum(line.get(kind, 0) for line in lines) / MODEL_SESSIONS
            figures.append(Figure(f"a conversation, {part}: document {kind}", count, target=most))
    return figures


async def _post_sessions(
    server: ServerProcess, recordings: Iterable[Mapping[str, Any]], token: str
) -> None:
    for session in recordings:
        answer = await request(server.port, "POST", "/v1/conversations", session, token=token)
        answer.require(202)


def _read_ended_lines(server: ServerProcess) -> list[dict[str, Any]]:
    """Return the log lines of attempts that are not made again; one that met a busy database is."""
    lines = server.read_request_lines("process_conversation")
    return [line for line in lines if line["status"] < 500]


def _read_completed_lines(server: ServerProcess) -> list[dict[str, Any]]:
    return [line for line in _read_ended_lines(server) if line["outcome"] == "ok"]

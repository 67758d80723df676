"""Encoder: what it adds to an import, to a search and to the memory of the server.

CPU time where it says the same: other work on the machine stretches what the lowest priority does beyond measure.
"""

import asyncio
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median

from infra.bench.client import request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.bench.processing import import_all
from infra.bench.sessions import DOES, WHAT, WHEN, WHO, generate_sessions
from infra.progress import create_progress_bar
from shared.adapters.embedded import encoder_process
from shared.adapters.embedded.local_embedder import load_encoder

SESSIONS = 1_000
ROUNDS = 3
ROUND_SESSIONS = 300
QUESTIONS = 100
QUESTION_CHARS = 60
WINDOWS = 30
TIMEOUT_S = 120
UID = "alice"
"""Who imports."""


async def measure_encoder() -> list[Figure]:
    return [*_measure_texts(), *await _measure_imports(), *await _measure_searches()]


def measure_new_questions() -> list[Figure]:
    """Encode what a turn compares with our examples before its first token.

    The same question again is not encoded again, so that it costs nothing in the figures of one that is asked often.
    """
    encoder = load_encoder(threads=1)
    texts = {"of “Hello”": ["Hello"] * QUESTIONS}
    texts[f"of {QUESTION_CHARS} characters"] = _generate_questions(QUESTIONS, seed=1)
    return [
        Figure(
            f"time to first token: encoder's own CPU before it, a new question {name}",
            1_000 * _measure_cpu(encoder.query, many),
            "ms",
        )
        for name, many in texts.items()
    ]


def _measure_texts() -> list[Figure]:
    """Encode questions and windows in one thread."""
    encoder = load_encoder(threads=1)
    question_s = _measure_cpu(encoder.query, _generate_questions(QUESTIONS, seed=1))
    sessions = generate_sessions(WINDOWS)
    turns = [session["transcript_segments"][:4] for session in sessions]
    window_s = _measure_cpu(
        encoder.passage, ["\n".join(turn["text"] for turn in four) for four in turns]
    )
    name = f"encoder, a question of {QUESTION_CHARS} characters: CPU"
    return [
        Figure(name, question_s * 1_000, "ms", target=45),
        Figure("encoder, windows of four turns on a core", 1 / window_s, "windows/s"),
    ]


def _measure_cpu(encode: Callable[[list[str]], object], texts: list[str]) -> float:
    times = []
    for text in texts:
        started = time.process_time()
        encode([text])
        times.append(time.process_time() - started)
    return median(times)


async def _measure_imports() -> list[Figure]:
    """Import sessions with the encoder and without, in turn."""
    tick = create_progress_bar("imports", 2 * ROUNDS)
    walls: dict[str, list[float]] = {"off": [], "local": []}
    cpus: dict[str, list[float]] = {"off": [], "local": []}
    for _ in range(ROUNDS):
        for embedder in ("off", "local"):
            with open_folder() as data, run_keepsake_on(data, EMBEDDER=embedder) as server:
                sessions = list(generate_sessions(ROUND_SESSIONS))
                walls[embedder].append(await import_all(server, sessions))
                encoder_s = _find_encoder(server).cpu_s if embedder == "local" else 0
                cpus[embedder].append(server.cpu_s - encoder_s)
            tick()
    name = f"encoder, import of {ROUND_SESSIONS} sessions until words find all, to that without it"
    return [
        Figure(f"{name}: time", min(walls["local"]) / min(walls["off"])),
        Figure(f"{name}: CPU but its own", min(cpus["local"]) / min(cpus["off"]), target=1.1),
    ]


async def _measure_searches() -> list[Figure]:
    """Search while windows are embedded, and with nothing to embed; with the encoder and without."""
    with open_folder() as data:
        with run_keepsake_on(data, EMBEDDER="local") as server:
            await import_all(server, list(generate_sessions(SESSIONS)))
            await _wait_for_meanings(server)
            busy_to_stopped, share = await _compare_with_stopped(server)
            encoder_mb = _find_encoder(server).memory_mb
        with closing(sqlite3.connect(data / "keepsake.db")) as database:
            database.execute("DELETE FROM vector_texts")
            database.commit()
        memory_mb = []
        for embedder in ("off", "local"):
            with run_keepsake_on(data, EMBEDDER=embedder) as server:
                if embedder == "local":
                    await _wait_for_meanings(server)
                for question in _generate_questions(QUESTIONS, seed=3):
                    await _search(server, question)
                memory_mb.append(server.memory_mb)
    without_mb, with_mb = memory_mb
    name = "encoder, a search while windows are embedded"
    return [
        Figure(f"{name}, to one while that is stopped: p50", busy_to_stopped, target=2),
        Figure(f"{name}: share that meanings took part in", share),
        Figure("encoder, memory of the server beside words alone", with_mb - without_mb, "MB"),
        Figure("encoder, memory of the process that embeds windows", encoder_mb, "MB"),
    ]


async def _compare_with_stopped(server: ServerProcess) -> tuple[float, float]:
    """Search with the process of the encoder running and stopped, in turn; return the ratio and the share by meaning."""
    encoder = _find_encoder(server)
    times: dict[signal.Signals, list[float]] = {signal.SIGCONT: [], signal.SIGSTOP: []}
    before = _count_by_meaning(server)
    for number, question in enumerate(_generate_questions(2 * QUESTIONS, seed=2)):
        state = signal.SIGSTOP if number % 2 else signal.SIGCONT
        os.kill(encoder.pid, state)
        times[state].append(await _search(server, question))
    os.kill(encoder.pid, signal.SIGCONT)
    share = (_count_by_meaning(server) - before) / (2 * QUESTIONS)
    return median(times[signal.SIGCONT]) / median(times[signal.SIGSTOP]), share


async def _wait_for_meanings(server: ServerProcess) -> None:
    """Search until meanings take part: the encoder is loaded, and so are the rows."""
    async with asyncio.timeout(TIMEOUT_S):
        while not _count_by_meaning(server):
            await _search(server, "Is anybody there?")


async def _search(server: ServerProcess, question: str) -> float:
    """Return how many seconds a search took."""
    token = await sign_in(server.port, UID)
    body = {"query": question, "per_page": 20, "include_transcript": False}
    started = time.perf_counter()
    answer = await request(server.port, "POST", "/v1/conversations/search", body, token=token)
    answer.require()
    return time.perf_counter() - started


def _count_by_meaning(server: ServerProcess) -> int:
    lines = server.read_request_lines("library")
    return sum(line.get("retrieval_path") == "words and meanings" for line in lines)


def _find_encoder(server: ServerProcess) -> ServerProcess:
    """Return the process that embeds what waits. Raises StopIteration where there is none."""
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    return next(
        replace(server, pid=int(pid))
        for pid in children
        if encoder_process.__name__ in Path(f"/proc/{pid}/cmdline").read_text()
    )


def _generate_questions(count: int, *, seed: int) -> list[str]:
    rng = random.Random(seed)  # noqa: S311 - no secret
    return [_generate_question(rng)[: QUESTION_CHARS - 1] + "?" for _ in range(count)]


def _generate_question(rng: random.Random) -> str:
    words = [rng.choice(choices) for choices in (WHO, DOES, WHAT, WHEN)]
    return f"Please tell me what it was that once {' '.join(words)}"

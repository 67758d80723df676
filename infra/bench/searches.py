"""Searches over HTTP in libraries of several sizes, from `make run`'s own process."""

import time
from collections.abc import Sequence
from statistics import median, quantiles

from infra.bench.client import request, sign_in
from infra.bench.figures import Figure
from infra.bench.libraries import OWNER, GeneratedLibrary, generate_questions
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.progress import create_progress_bar
from shared.data.search.search import Search
from tests.fakes import CountingDocuments

QUESTIONS = 200
MAX_HITS = 20
OTHER_USERS = 1_000


async def measure_searches() -> list[Figure]:
    return [
        *await _measure_usual_library(),
        *await _measure_large_library(),
        *await _measure_among_others(),
    ]


async def _measure_usual_library() -> list[Figure]:
    """Search a library as large as LoCoMo's, and count the reads."""
    with open_folder() as data:
        with GeneratedLibrary(data) as library:
            chunks = await library.fill(
                135, turns=22, tick=create_progress_bar("a usual library", 7)
            )
            rounds, read = await _count_reads(library)
        name = f"search, {chunks:,} chunks"
        with run_keepsake_on(data) as server:
            times = await _measure_times(name, server, target_p95_ms=10)
    return [
        *times,
        Figure(f"{name}: rounds of document reads", rounds, target=2),
        Figure(f"{name}: documents read for {MAX_HITS} hits", read, target=MAX_HITS + 1),
    ]


async def _measure_large_library() -> list[Figure]:
    with open_folder() as data:
        with GeneratedLibrary(data) as library:
            chunks = await library.fill(
                10_000, turns=10, tick=create_progress_bar("a large library", 500)
            )
        name = f"search, {chunks:,} chunks"
        with run_keepsake_on(data) as server:
            await _search(server, generate_questions(1), uid="nobody")
            before = server.memory_mb
            [first] = await _search(server, generate_questions(1))
            memory, peak = server.memory_mb - before, server.peak_mb
            times = await _measure_times(name, server, target_p95_ms=15)
    return [
        *times,
        Figure(f"{name}: first, which loads them", first * 1_000, "ms"),
        Figure(f"{name}: memory they take", memory, "MB"),
        Figure(f"{name}: process at its peak", peak, "MB"),
    ]


async def _measure_among_others() -> list[Figure]:
    """Search one library alone and among a thousand of its size, alternating."""
    with open_folder() as alone, open_folder() as crowded:
        with GeneratedLibrary(alone) as library:
            chunks = await library.fill(100, turns=10, tick=create_progress_bar("one user", 5))
        with GeneratedLibrary(crowded) as library:
            await library.fill(100, turns=10, tick=create_progress_bar("the same user", 5))
            await library.copy_rows(
                OTHER_USERS, tick=create_progress_bar(f"{OTHER_USERS:,} others", OTHER_USERS)
            )
        with run_keepsake_on(alone) as quiet, run_keepsake_on(crowded) as busy:
            rounds = [
                (await _search(quiet, [q]) + await _search(busy, [q]))
                for q in generate_questions(QUESTIONS)
            ]
    ours, among = (median(times) * 1_000 for times in zip(*rounds, strict=True))
    name = f"search, {chunks:,} chunks"
    return [
        Figure(f"{name} alone: p50", ours, "ms"),
        Figure(f"{name} among {OTHER_USERS:,} users: to alone", among / ours, target=1.1),
    ]


async def _search(server: ServerProcess, queries: Sequence[str], uid: str = OWNER) -> list[float]:
    """Return the seconds of each search. Raises RuntimeError when one is refused."""
    token = await sign_in(server.port, uid)
    times = []
    for question in queries:
        body = {"query": question, "per_page": MAX_HITS, "include_transcript": False}
        started = time.perf_counter()
        response = await request(server.port, "POST", "/v1/conversations/search", body, token=token)
        times.append(time.perf_counter() - started)
        if not response.require().json["items"] and uid == OWNER:
            raise RuntimeError(f"no hits for {question!r}")
    return times


async def _count_reads(library: GeneratedLibrary) -> tuple[float, float]:
    """Return the rounds of reads and the documents of a search, at most."""
    counts = []
    for question in generate_questions(QUESTIONS):
        counting = CountingDocuments(library.documents)
        await Search(counting, library.vectors).search_conversations(
            OWNER, question, limit=MAX_HITS
        )
        counts.append((counting.rounds, counting.documents))
    rounds, documents = zip(*counts, strict=True)
    return max(rounds), max(documents)


async def _measure_times(name: str, server: ServerProcess, *, target_p95_ms: float) -> list[Figure]:
    """Measure wall time, which a busy machine stretches, and the process's own CPU time."""
    cpu_s = server.cpu_s
    times = await _search(server, generate_questions(QUESTIONS))
    cpu_ms = (server.cpu_s - cpu_s) / QUESTIONS * 1_000
    p95_ms = quantiles(times, n=20)[-1] * 1_000
    return [
        Figure(f"{name}: p50", median(times) * 1_000, "ms"),
        Figure(f"{name}: p95", p95_ms, "ms", target=target_p95_ms),
        Figure(f"{name}: CPU", cpu_ms, "ms"),
    ]

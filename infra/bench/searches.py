"""What a search costs over HTTP in libraries of several sizes, from `make run`'s own process."""

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from infra.bench.client import request, sign_in
from infra.bench.figures import Figure
from infra.bench.libraries import OWNER, Library, questions
from infra.bench.processes import Served, keepsake_on
from infra.progress import bar
from shared.data.search import Search
from tests.doubles import ReadRounds

ASKED = 200
LIMIT = 20
OTHERS = 1_000


async def searches() -> list[Figure]:
    return [*await _usual(), *await _large(), *await _among_others()]


async def _usual() -> list[Figure]:
    """Search as many talks as five people have in LoCoMo, and count what is read."""
    with _data() as data:
        with Library(data) as library:
            chunks = await library.fill(135, turns=22, tick=bar("a usual library", 7))
            rounds, read = await _reads(library)
        name = f"search, {chunks:,} chunks"
        with keepsake_on(data) as server:
            times = await _times(name, server, wanted_p95_ms=10)
    return [
        *times,
        Figure(name=f"{name}: rounds of document reads", value=rounds, wanted=1),
        Figure(name=f"{name}: documents read for {LIMIT} hits", value=read, wanted=LIMIT),
    ]


async def _large() -> list[Figure]:
    with _data() as data:
        with Library(data) as library:
            chunks = await library.fill(10_000, turns=10, tick=bar("a large library", 500))
        name = f"search, {chunks:,} chunks"
        with keepsake_on(data) as server:
            await _ask(server, questions(1), uid="nobody")
            before = server.memory_mb
            [first] = await _ask(server, questions(1))
            memory, peak = server.memory_mb - before, server.peak_mb
            times = await _times(name, server, wanted_p95_ms=15)
    return [
        *times,
        Figure(name=f"{name}: first, which loads them", value=first * 1_000, unit="ms"),
        Figure(name=f"{name}: memory they take", value=memory, unit="MB"),
        Figure(name=f"{name}: process at its peak", value=peak, unit="MB"),
    ]


async def _among_others() -> list[Figure]:
    """Search one library alone and among a thousand of its size, in turn."""
    with _data() as alone, _data() as crowded:
        with Library(alone) as library:
            chunks = await library.fill(100, turns=10, tick=bar("one user", 5))
        with Library(crowded) as library:
            await library.fill(100, turns=10, tick=bar("the same user", 5))
            await library.copy_rows(OTHERS, tick=bar(f"{OTHERS:,} others", OTHERS))
        with keepsake_on(alone) as quiet, keepsake_on(crowded) as busy:
            asked = [(await _ask(quiet, [q]) + await _ask(busy, [q])) for q in questions(ASKED)]
    ours, among = (median(times) * 1_000 for times in zip(*asked, strict=True))
    name = f"search, {chunks:,} chunks"
    return [
        Figure(name=f"{name} alone: p50", value=ours, unit="ms"),
        Figure(name=f"{name} among {OTHERS:,} users: to alone", value=among / ours, wanted=1.1),
    ]


async def _ask(server: Served, asked: Sequence[str], uid: str = OWNER) -> list[float]:
    """Return the seconds of each search. Raises RuntimeError when one is refused."""
    token = await sign_in(server.port, uid)
    times = []
    for question in asked:
        body = {"query": question, "limit": LIMIT}
        started = time.perf_counter()
        answer = await request(server.port, "POST", "/v1/conversations/search", body, token=token)
        times.append(time.perf_counter() - started)
        if answer.status != 200 or (uid == OWNER and not json.loads(answer.body)["hits"]):
            raise RuntimeError(f"{answer.status}: {answer.body[:500]!r}")
    return times


async def _reads(library: Library) -> tuple[float, float]:
    """Return how many rounds of reads a search takes, and how many documents, at most."""
    found = []
    for question in questions(ASKED):
        counting = ReadRounds(library.documents)
        await Search(counting, library.vectors).conversations(OWNER, question, limit=LIMIT)
        found.append((counting.rounds, counting.documents))
    rounds, documents = zip(*found, strict=True)
    return max(rounds), max(documents)


async def _times(name: str, server: Served, *, wanted_p95_ms: float) -> list[Figure]:
    """Measure the wall, which a busy machine stretches, and the process's own CPU time."""
    cpu_s = server.cpu_s
    times = await _ask(server, questions(ASKED))
    cpu_ms = (server.cpu_s - cpu_s) / ASKED * 1_000
    p95_ms = quantiles(times, n=20)[-1] * 1_000
    return [
        Figure(name=f"{name}: p50", value=median(times) * 1_000, unit="ms"),
        Figure(name=f"{name}: p95", value=p95_ms, unit="ms", wanted=wanted_p95_ms),
        Figure(name=f"{name}: CPU", value=cpu_ms, unit="ms"),
    ]


@contextmanager
def _data() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)

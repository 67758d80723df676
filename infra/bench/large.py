"""Routes of a user of 20,000 conversations beside the same ones in a small library."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from statistics import median
from typing import Any

from infra.bench.client import parse_response, request, sign_in, stream_bytes
from infra.bench.figures import Figure
from infra.bench.libraries import OWNER, GeneratedLibrary, RecordCounts, generate_questions
from infra.bench.processes import ServerProcess, open_folder, run_keepsake_on
from infra.progress import create_progress_bar

TURNS = 5
"""Each is a chunk."""
PAGE = 50
MEMORIES_BY_OFFSET = 5_000
"""Beyond them, memories come by cursor alone."""
ROUNDS = 15
SMALL = RecordCounts(conversations=600, memories=300, tasks=600, people=50)
LARGE = RecordCounts(conversations=20_000, memories=10_000, tasks=5_000, people=300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request; where it asks for a page, both libraries fill it."""

    name: str
    path: str
    method: str = "GET"
    body: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an answer took: ms, and documents read."""

    ms: float
    reads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What an export took; `growth_mb` is how much memory the server held beyond that before it."""

    first_byte_ms: float
    ms: float
    reads: int
    size_mb: float
    growth_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A library's figures; `answers` belong to the calls of _list_calls()."""

    document_count: int
    export: Export
    first_list: Answer
    answers: Sequence[Answer]


async def measure_large_library() -> list[Figure]:
    small, large = [await _measure(counts) for counts in (SMALL, LARGE)]
    names = [call.name for call in _list_calls(LARGE)]
    return [
        *_compare_exports(small, large),
        Figure("large library, first list: reads", large.first_list.reads, target=200),
        Figure("large library, first list: time", large.first_list.ms, "ms"),
        *(
            figure
            for name, few, many in zip(names, small.answers, large.answers, strict=True)
            for figure in (
                Figure(f"large library, {name}: time", many.ms, "ms"),
                Figure(f"large library, {name}: to a small one's", many.ms / few.ms, target=3),
                Figure(f"large library, {name}: reads", many.reads),
                Figure(f"large library, {name}: reads in a small one", few.reads),
            )
        ),
    ]


def _compare_exports(small: Measurement, large: Measurement) -> list[Figure]:
    few, many = [m.export.reads / m.document_count for m in (small, large)]
    small_ms, large_ms = [m.export.ms / m.document_count * 1_000 for m in (small, large)]
    return [
        Figure("large library, export: first byte", large.export.first_byte_ms, "ms", target=200),
        Figure("large library, export: size", large.export.size_mb, "MB"),
        Figure("large library, export: memory", large.export.growth_mb, "MB", target=200),
        Figure("large library, export: time", large.export.ms / 1_000, "s"),
        Figure("large library, export: a thousand documents", large_ms, "ms"),
        Figure("large library, export: to a small one's", large_ms / small_ms),
        Figure("large library, export: reads a document", many),
        Figure("large library, export: reads to a small one's", many / few, target=1.5),
    ]


def _list_calls(counts: RecordCounts) -> list[Call]:
    conversations = f"/v1/conversations?include_discarded=false&limit={PAGE}&statuses="
    memories, tasks = f"/v3/memories?limit={PAGE}", f"/v1/action-items?limit={PAGE}"
    search = {"page": 1, "per_page": 20, "include_discarded": True}
    [question] = generate_questions(1)
    return [
        Call(name="conversations", path=conversations),
        Call(
            name="last conversations",
            path=f"{conversations}&offset={counts.conversations - PAGE}",
        ),
        _search("search", {**search, "query": question}),
        _search("search with a name", {**search, "query": f"{question} Ben"}),
        _search("search without words", {**search, "query": ""}),
        Call(name="folders", path="/v1/folders"),
        Call(name="memories", path=memories),
        Call(
            name="last memories",
            path=f"{memories}&offset={min(counts.memories, MEMORIES_BY_OFFSET) - PAGE}",
        ),
        Call(name="tasks", path=tasks),
        Call(name="last tasks", path=f"{tasks}&offset={counts.tasks - PAGE}"),
        Call(name="tasks to synchronise", path="/v1/action-items/pending-sync"),
        Call(name="people", path=f"/v1/users/people?limit={PAGE}"),
        Call(name="speakers", path="/v1/users/speakers"),
        Call(name="a new name", method="PATCH", path="/v1/users/people/p1/name?value=Bobby"),
        Call(name="one conversation", path="/v1/conversations/talk-7"),
    ]


def _search(name: str, body: Any) -> Call:
    return Call(name=name, method="POST", path="/v1/conversations/search", body=body)


async def _measure(counts: RecordCounts) -> Measurement:
    with open_folder() as data:
        with GeneratedLibrary(data) as library:
            tick = create_progress_bar("a library", counts.conversations // 20)
            await library.fill(counts.conversations, turns=TURNS, tick=tick)
            await library.add_records(counts)
        with run_keepsake_on(data) as server:
            token = await sign_in(server.port, OWNER)
            await _export(server, await sign_in(server.port, "nobody"))  # imports what it needs
            export = await _export(server, token)
            calls = _list_calls(counts)
            first_list = await _ask(server, token, calls[0])
            answers = [await _ask_often(server, token, call) for call in calls]
    return Measurement(
        document_count=counts.total, export=export, first_list=first_list, answers=answers
    )


async def _ask_often(server: ServerProcess, token: str, call: Call) -> Answer:
    """Return the median time of ROUNDS answers, after one that fills caches."""
    answers = [await _ask(server, token, call) for _ in range(1 + ROUNDS)][1:]
    return Answer(ms=median(answer.ms for answer in answers), reads=answers[-1].reads)


async def _ask(server: ServerProcess, token: str, call: Call) -> Answer:
    seen = len(server.read_request_lines("library"))
    started = time.perf_counter()
    answer = await request(server.port, call.method, call.path, call.body, token=token)
    ms = (time.perf_counter() - started) * 1_000
    answer.require()
    return Answer(ms=ms, reads=await _read_reads(server, seen))


async def _export(server: ServerProcess, token: str) -> Export:
    seen, before_mb = len(server.read_request_lines("library")), server.memory_mb
    started = time.perf_counter()
    first_s, size, begin = 0.0, 0, b""
    stream = stream_bytes(server.port, "GET", "/v1/users/export", token=token)
    async with aclosing(stream):
        async for data in stream:
            size += len(data)
            if not first_s:
                begin += data
                first_s = time.perf_counter() - started if _has_body(begin) else 0.0
    return Export(
        first_byte_ms=first_s * 1_000,
        ms=(time.perf_counter() - started) * 1_000,
        reads=await _read_reads(server, seen),
        size_mb=size / 1e6,
        growth_mb=server.peak_mb - before_mb,
    )


def _has_body(received: bytes) -> bool:
    """Raises RuntimeError for a refusal."""
    return b"\r\n\r\n" in received and bool(parse_response(received).require().body)


async def _read_reads(server: ServerProcess, seen: int) -> int:
    """Return the reads of the request after so many others; its line is written after its answer."""
    async with asyncio.timeout(30):
        while len(lines := server.read_request_lines("library")) <= seen:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
    return int(lines[seen].get("reads", 0))

"""Measurement: the embedded product runs with a scripted model, and its counters are read."""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import anyio

from infra.bench import notifications
from infra.bench.client import ask, request, sign_in
from infra.bench.notes import NOTES
from infra.bench.processes import (
    ROOT,
    ServerProcess,
    build_model_environment,
    open_folder,
    run_keepsake_on,
    run_scripted_model,
)
from infra.bench.prompt_cache import CachedInput, PromptCache
from infra.bench.sessions import generate_sessions
from infra.scale.live import measure_live
from infra.scale.usage import USAGE
from infra.scale.work import Counters, Tokens, Work
from shared.domain.models.tokens import estimate_tokens

CONVERSATIONS = 10
LISTED = 50
"""Conversations of a page, as the released app asks for them."""
VISITS = 5
LIBRARY_PATHS = (
    f"/v1/conversations?limit={LISTED}",
    "/v3/memories?limit=100",
    "/v1/action-items?limit=50",
    "/v1/conversations/{id}",
)
"""What an app asks for when it is opened."""
TURNS = 10
POSTS = 50
KNOWN_FACTS = 100
"""As many as a conversation's model is shown at most; a library of months has them."""
PATIENCE_S = 60.0
ANSWER_TOKENS = 250
_SEARCH = {
    "tool_calls": [{"name": "search_conversations", "arguments": json.dumps({"query": "Lisbon"})}]
}
_ANSWER = {"tokens": ANSWER_TOKENS}
OUTPUTS: Mapping[str, Any] = {
    "extraction": {
        "structure": {
            "title": "An evening with Caroline",
            "overview": "They talked about the garden, a train to Lisbon and what there is to"
            " repair. " * 3,
            "action_items": [{"description": "Book the train to Lisbon"}],
        },
        "memories": [],
    },
    "notes": NOTES,
}
_SUMS = {
    "documents": "SELECT count(*), coalesce(sum(length(path) + length(fields)), 0) FROM documents",
    "rows": "SELECT count(*), coalesce(sum(length(id) + length(indices) + length(weights)"
    " + length(metadata)), 0) FROM vector_rows",
}
_TASKS = "SELECT count(*) FROM jobs WHERE kind = 'task'"
_ROUTES = json.loads((ROOT / "infra/routes.json").read_text())
_DELIVERED = {*_ROUTES["triggers"].values(), *chain.from_iterable(_ROUTES["topics"].values())}
"""Functions that events and document triggers call; an event is forgotten once it is delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything that was counted until a moment."""

    lines: Sequence[Mapping[str, Any]]
    tasks: int
    rows: tuple[int, int]
    stored_bytes: int
    cpu_s: float
    calls: Sequence[Mapping[str, Any]]


async def measure() -> Counters:
    """Run each kind of work, one after another."""
    with (
        open_folder() as folder,
        run_scripted_model() as model,
        run_keepsake_on(folder, CACHE_MARKS="on", **build_model_environment(model)) as server,
    ):
        await _script(model)
        meter = _Meter(server, model, folder)
        await request(server.port, "GET", "/")  # the first one loads what others need, and waits
        token = await sign_in(server.port, "alice")
        await _store_facts(server, token)
        recordings = list(generate_sessions(LISTED))
        recordings, short = recordings[:CONVERSATIONS], map(_shorten, recordings[CONVERSATIONS:])
        texts = [turn["text"] for each in recordings for turn in each["transcript_segments"]]
        conversation = await meter.measure(
            lambda: _import(server, recordings, token),
            CONVERSATIONS,
            last=("process_conversation", "on_conversation_processed"),
            embedded_tokens=sum(map(estimate_tokens, texts)) / CONVERSATIONS,
        )
        turn = await meter.measure(lambda: _ask_all(server, token), TURNS, last=("after_turn",))
        await meter.measure(
            lambda: _import(server, list(short), token),
            LISTED - CONVERSATIONS,
            last=("process_conversation", "on_conversation_processed"),
        )
        library = await meter.measure(
            lambda: _visit(server, recordings, token),
            VISITS * len(LIBRARY_PATHS),
            last=("library",),
        )
    return Counters(
        conversation=conversation,
        turn=turn,
        notification=await _measure_notifications(),
        library=library,
        live=await measure_live(),
        words=sum(len(text.split()) for text in texts) / CONVERSATIONS,
    )


async def _measure_notifications() -> Work:
    with open_folder() as folder, run_scripted_model() as model:
        await notifications.install_app(folder)
        with run_keepsake_on(folder) as server:
            posts = list(notifications.generate_posts())[:POSTS]
            meter = _Meter(server, model, folder)
            return await meter.measure(
                lambda: notifications.post_all(server, posts), POSTS, last=("deliver_notification",)
            )


async def _script(model: ServerProcess) -> None:
    scripts = [
        {"schema": schema, "text": json.dumps(answer), "sticky": True}
        for schema, answer in OUTPUTS.items()
    ]
    await request(model.port, "POST", "/script", scripts)


async def _store_facts(server: ServerProcess, token: str) -> None:
    for number in range(KNOWN_FACTS):
        fact = {"content": f"User met neighbour {number} of the house in May and likes to cook"}
        answer = await request(server.port, "POST", "/v3/memories", fact, token=token)
        answer.require(200)


async def _import(server: ServerProcess, recordings: Sequence[Any], token: str) -> None:
    for recording in recordings:
        answer = await request(server.port, "POST", "/v1/conversations", recording, token=token)
        answer.require(202)


def _shorten(recording: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**recording, "transcript_segments": recording["transcript_segments"][:4]}


async def _visit(server: ServerProcess, recordings: Sequence[Any], token: str) -> None:
    for recording in recordings[:VISITS]:
        for path in LIBRARY_PATHS:
            answer = await request(server.port, "GET", path.format(id=recording["id"]), token=token)
            answer.require(200)


async def _ask_all(server: ServerProcess, token: str) -> None:
    for number in range(TURNS):
        script = [_SEARCH, _ANSWER] if number < USAGE.searching_of_ten_turns else [_ANSWER]
        question = f"What did I say about the train to Lisbon? [[script {json.dumps(script)}]]"
        await ask(server.port, question, token=token)


class _Meter:
    """Reads the counters of a server, its model and its database."""

    def __init__(self, server: ServerProcess, model: ServerProcess, folder: Path) -> None:
        self._server = server
        self._model = model
        self._database = folder / "keepsake.db"

    async def measure(
        self,
        run: Callable[[], Awaitable[object]],
        count: int,
        *,
        last: Sequence[str],
        embedded_tokens: float = 0.0,
    ) -> Work:
        """Run `count` pieces of work until the functions that come `last` have seen each of them."""
        before = await self._read()
        await run()
        with anyio.fail_after(PATIENCE_S):
            await self._wait_for_lines(last, count, before)
        after = await self._read()
        return _build_work(before, after, count, embedded_tokens)

    async def _wait_for_lines(self, functions: Sequence[str], count: int, before: Reading) -> None:
        while True:
            if all(self._count_lines(name, before) >= count for name in functions):
                return
            await anyio.sleep(0.2)

    def _count_lines(self, function: str, before: Reading) -> int:
        lines = self._read_lines()[len(before.lines) :]
        return sum(line["function"] == function and line["outcome"] != "failed" for line in lines)

    def _read_lines(self) -> list[dict[str, Any]]:
        lines = self._server.log.read_text().splitlines()
        return [json.loads(line) for line in lines if '"function": "' in line and line[-1] == "}"]

    async def _read(self) -> Reading:
        with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as database:
            read = partial(_read_table, database)
            [(_, stored_bytes)] = read("documents", _SUMS["documents"]) or [(0, 0)]
            [rows] = read("vector_rows", _SUMS["rows"]) or [(0, 0)]
            [(tasks,)] = read("jobs", _TASKS) or [(0,)]
        return Reading(
            lines=self._read_lines(),
            tasks=tasks,
            rows=rows,
            stored_bytes=stored_bytes,
            cpu_s=self._server.cpu_s,
            calls=(await request(self._model.port, "GET", "/requests")).json,
        )


def _read_table(database: sqlite3.Connection, table: str, sql: str) -> list[Any]:
    """Return the rows; none of a table that is made when it is first needed."""
    known = database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return database.execute(sql).fetchall() if known else []


def _build_work(before: Reading, after: Reading, count: int, embedded_tokens: float) -> Work:
    lines = after.lines[len(before.lines) :]
    deliveries = sum(line["function"] in _DELIVERED for line in lines)
    return Work(
        reads=sum(line.get("reads", 0) for line in lines) / count,
        writes=sum(line.get("writes", 0) for line in lines) / count,
        requests=len(lines) / count,
        tasks=(after.tasks - before.tasks) / count,
        deliveries=deliveries / count,
        vector_rows=(after.rows[0] - before.rows[0]) / count,
        vector_bytes=(after.rows[1] - before.rows[1]) / count,
        stored_bytes=(after.stored_bytes - before.stored_bytes) / count,
        embedded_tokens=embedded_tokens,
        cpu_s=(after.cpu_s - before.cpu_s) / count,
        tokens=_sum_tokens(after.calls[len(before.calls) :], count),
    )


def _sum_tokens(calls: Sequence[Mapping[str, Any]], count: int) -> dict[str, Tokens]:
    caches: defaultdict[str, PromptCache] = defaultdict(PromptCache)
    read: defaultdict[str, CachedInput] = defaultdict(CachedInput)
    written: Counter[str] = Counter()
    for call in calls:
        model = call["body"]["model"]
        read[model] += caches[model].take(call["body"])
        written[model] += call["sent_tokens"]
    return {
        model: Tokens(
            input=each.total / count,
            output=written[model] / count,
            cached=each.read / count,
            cache_write=each.written / count,
        )
        for model, each in read.items()
    }

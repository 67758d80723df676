"""Eighty people ask at once, with tools; then the process is killed while it answers them all."""

import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.bench import client
from infra.bench.figures import Figure
from infra.bench.processes import Served, at_model, keepsake_on, scripted_model
from infra.progress import draw
from shared.domain.run import LEASE

STREAMS = 80
TOKENS = 200
TOKEN_MS = 50
CYCLES = 2
WARM_UP = 10
MOST_S = 60
FLUSHED_S = 1.0
"""Twice the time after which a run writes down what it told."""
ENDS = frozenset({"finish", "abort", "error"})


def question(*, cycles: int = CYCLES, token_ms: int = 0) -> str:
    """Ask for an answer after so many tool calls, as fast as it comes or paced."""
    calls = [
        {"id": f"call_{n}", "name": "get_memories", "arguments": json.dumps({"limit": n + 1})}
        for n in range(cycles)
    ]
    answer = {"tokens": TOKENS, "token_ms": token_ms}
    script = json.dumps([*({"tool_calls": [call]} for call in calls), answer])
    return f"Tell me. [[script {script}]]"


async def crowds() -> list[Figure]:
    with tempfile.TemporaryDirectory() as data, scripted_model() as model:
        with keepsake_on(Path(data), **at_model(model)) as server:
            tokens = [await client.sign_in(server.port, f"crowd-{n}") for n in range(STREAMS)]
            for token in tokens[:WARM_UP]:
                await client.ask(server.port, question(), token=token)
            before_mb = server.memory_mb
            crowd = [_Person(token) for token in tokens]
            figures = [
                *await _at_once(server, tokens),
                _memory("at the peak", server.peak_mb - before_mb),
                _memory("in mid-answer, before the kill", await _killed(server, crowd) - before_mb),
            ]
        with keepsake_on(Path(data), **at_model(model)) as server:
            return [*figures, *await _resumed(server, crowd)]


async def _at_once(server: Served, tokens: Sequence[str]) -> list[Figure]:
    started = time.perf_counter()
    asked = (
        client.request(server.port, "POST", "/v2/messages", {"text": question()}, token=token)
        for token in tokens
    )
    answers = await asyncio.gather(*asked)
    took = time.perf_counter() - started
    whole = sum(answer.status == 200 and answer.words == TOKENS for answer in answers)
    name = f"{STREAMS} streams with {CYCLES} tool cycles each"
    return [
        Figure(name=f"{name}: not answered in full", value=STREAMS - whole, wanted=0),
        Figure(name=f"{name}: all answered", value=took, unit="s"),
    ]


@dataclass(slots=True)
class _Person:
    """Somebody who listens to an answer; `heard` is what came before it broke off."""

    token: str
    heard: bytes = field(default=b"")

    async def listen(self, port: int, text: str) -> None:
        body = {"text": text}
        told = client.pieces(port, "POST", "/v2/messages", body, token=self.token)
        async with aclosing(told):
            async for piece in told:
                self.heard += piece

    @property
    def answer(self) -> client.Answer:
        return client.answer(self.heard)


def _memory(when: str, megabytes: float) -> Figure:
    value = megabytes / STREAMS * 1024
    return Figure(name=f"{STREAMS} streams: memory of one, {when}", value=value, unit="KB")


async def _killed(server: Served, crowd: Sequence[_Person]) -> float:
    """Kill the process when all have heard their answers begin; returns the MB it took then."""
    async with asyncio.timeout(MOST_S), asyncio.TaskGroup() as tasks:
        for person in crowd:
            tasks.create_task(person.listen(server.port, question(token_ms=TOKEN_MS)))
        while (begun := sum(b"\ndata: " in person.heard for person in crowd)) < STREAMS:
            draw("answers begun", begun, STREAMS)
            await asyncio.sleep(0.1)
        draw("answers begun", begun, STREAMS)
        await asyncio.sleep(FLUSHED_S)
        memory = server.memory_mb
        server.kill()
    return memory


async def _resumed(server: Served, crowd: Sequence[_Person]) -> list[Figure]:
    """Let all resume at once at the new process, and compare what they hear with what is kept."""
    started = time.perf_counter()
    kept = await asyncio.gather(*(_resume(server, person) for person in crowd))
    took = time.perf_counter() - started
    lost = [
        person.answer.words - len(text.split())
        for person, text in zip(crowd, kept, strict=True)
        if text
    ]
    name = f"{STREAMS} answers killed and resumed"
    return [
        Figure(
            name=f"{name}: ended not once, or not with what is kept",
            value=kept.count(""),
            wanted=0,
        ),
        Figure(
            name=f"{name}: all ended, up to {LEASE.seconds} s of lease included",
            value=took,
            unit="s",
        ),
        Figure(
            name=f"{name}: words heard and lost, at {1000 / TOKEN_MS:g} a second, at most",
            value=max(lost, default=None),
        ),
    ]


async def _resume(server: Served, person: _Person) -> str:
    """Return the text that is kept of an answer; nothing unless it is what the stream told, once."""
    path = f"/v2/messages/{person.answer.run_id}/stream"
    told = await client.request(server.port, "GET", path, token=person.token)
    listed = await client.request(server.port, "GET", "/v2/messages", token=person.token)
    messages = [one for one in json.loads(listed.body) if one["id"] == person.answer.run_id]
    is_kept = [
        (one["text"], one["metadata"].get("outcome")) == (said(told.body), "interrupted")
        for one in messages
    ]
    return said(told.body) if is_kept == [True] and ends(told.body) == 1 else ""


def said(stream: bytes) -> str:
    """Return the words of a UI message stream."""
    told = [chunk for chunk in _chunks(stream) if chunk["type"] == "text-delta"]
    return "".join(chunk["delta"] for chunk in told)


def ends(stream: bytes) -> int:
    """Count how often a UI message stream ends."""
    return sum(chunk["type"] in ENDS for chunk in _chunks(stream))


def _chunks(stream: bytes) -> list[dict[str, Any]]:
    lines = stream.decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]

"""Crowds: eighty people ask at once, with tools; then the process is killed while it answers."""

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from infra.bench import client
from infra.bench.figures import Figure
from infra.bench.processes import (
    ServerProcess,
    build_model_environment,
    open_folder,
    run_keepsake_on,
    run_scripted_model,
)
from infra.progress import draw_progress_bar
from shared.domain.chats.run import LEASE_TTL

STREAMS = 80
TOKENS = 200
TOKEN_MS = 50
CYCLES = 2
WARM_UP = 10
TIMEOUT_S = 60
FLUSH_WAIT_S = 1.0
"""Twice the interval at which a run is flushed."""
END_TYPES = frozenset({"finish", "abort", "error"})


def build_question(*, cycles: int = CYCLES, token_ms: int = 0) -> str:
    """Ask for an answer after so many tool calls, as fast as it comes or paced."""
    calls = [
        {"id": f"call_{n}", "name": "get_memories", "arguments": json.dumps({"limit": n + 1})}
        for n in range(cycles)
    ]
    answer = {"tokens": TOKENS, "token_ms": token_ms}
    script = json.dumps([*({"tool_calls": [call]} for call in calls), answer])
    return f"Tell me. [[script {script}]]"


async def measure_crowds() -> list[Figure]:
    with open_folder() as data, run_scripted_model() as model:
        with run_keepsake_on(data, **build_model_environment(model)) as server:
            tokens = [await client.sign_in(server.port, f"crowd-{n}") for n in range(STREAMS)]
            for token in tokens[:WARM_UP]:
                await client.ask(server.port, build_question(), token=token)
            before_mb = server.memory_mb
            crowd = [_Listener(token) for token in tokens]
            figures = [
                *await _measure_concurrent_answers(server, tokens),
                _build_memory_figure("at the peak", server.peak_mb - before_mb),
                _build_memory_figure(
                    "in mid-answer, before the kill",
                    await _kill_mid_answer(server, crowd) - before_mb,
                ),
            ]
        with run_keepsake_on(data, **build_model_environment(model)) as server:
            return [*figures, *await _measure_resume(server, crowd)]


async def _measure_concurrent_answers(server: ServerProcess, tokens: Sequence[str]) -> list[Figure]:
    started = time.perf_counter()
    requests = (
        client.request(server.port, "POST", "/v2/messages", {"text": build_question()}, token=token)
        for token in tokens
    )
    answers = await asyncio.gather(*requests)
    took = time.perf_counter() - started
    complete_count = sum(answer.status == 200 and answer.words == TOKENS for answer in answers)
    name = f"{STREAMS} streams with {CYCLES} tool cycles each"
    return [
        Figure(f"{name}: not answered in full", STREAMS - complete_count, target=0),
        Figure(f"{name}: all answered", took, "s"),
    ]


@dataclass(slots=True)
class _Listener:
    """A client that reads an answer; `heard` is what came before it broke off."""

    token: str
    received: bytes = field(default=b"")

    async def listen(self, port: int, text: str) -> None:
        body = {"text": text}
        stream = client.stream_bytes(port, "POST", "/v2/messages", body, token=self.token)
        async with aclosing(stream):
            async for piece in stream:
                self.received += piece

    @property
    def answer(self) -> client.TimedResponse:
        return client.parse_response(self.received)


def _build_memory_figure(when: str, megabytes: float) -> Figure:
    value = megabytes / STREAMS * 1024
    return Figure(f"{STREAMS} streams: memory of one, {when}", value, "KB")


async def _kill_mid_answer(server: ServerProcess, crowd: Sequence[_Listener]) -> float:
    """Kill the process when all answers have begun; returns the MB it used then."""
    async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as tasks:
        for person in crowd:
            tasks.create_task(person.listen(server.port, build_question(token_ms=TOKEN_MS)))
        while (begun_count := sum(b"\ndata: " in person.received for person in crowd)) < STREAMS:
            draw_progress_bar("answers begun", begun_count, STREAMS)
            await asyncio.sleep(0.1)
        draw_progress_bar("answers begun", begun_count, STREAMS)
        await asyncio.sleep(FLUSH_WAIT_S)
        memory = server.memory_mb
        server.kill()
    return memory


async def _measure_resume(server: ServerProcess, crowd: Sequence[_Listener]) -> list[Figure]:
    """Let all clients resume at once, and compare what they read with what is stored."""
    started = time.perf_counter()
    texts = await asyncio.gather(*(_resume(server, person) for person in crowd))
    took = time.perf_counter() - started
    lost_words = [
        person.answer.words - len(text.split())
        for person, text in zip(crowd, texts, strict=True)
        if text
    ]
    name = f"{STREAMS} answers killed and resumed"
    return [
        Figure(f"{name}: ended not once, or not with what is kept", texts.count(""), target=0),
        Figure(f"{name}: all ended, up to {LEASE_TTL.seconds} s of lease included", took, "s"),
        Figure(
            f"{name}: words heard and lost, at {1000 / TOKEN_MS:g} a second, at most",
            max(lost_words, default=None),
        ),
    ]


async def _resume(server: ServerProcess, person: _Listener) -> str:
    """Return the stored text of an answer; empty unless it was stored once and as streamed."""
    path = f"/v2/messages/{person.answer.run_id}/stream"
    stream = await client.request(server.port, "GET", path, token=person.token)
    response = await client.request(server.port, "GET", "/v2/messages", token=person.token)
    messages = [message for message in response.json if message["id"] == person.answer.run_id]
    matches = [
        (message["text"], message["metadata"].get("outcome"))
        == (parse_text(stream.body), "interrupted")
        for message in messages
    ]
    return parse_text(stream.body) if matches == [True] and count_ends(stream.body) == 1 else ""


def parse_text(stream: bytes) -> str:
    """Return the words of a UI message stream."""
    deltas = [chunk for chunk in _parse_chunks(stream) if chunk["type"] == "text-delta"]
    return "".join(chunk["delta"] for chunk in deltas)


def count_ends(stream: bytes) -> int:
    """Count the final events of a UI message stream."""
    return sum(chunk["type"] in END_TYPES for chunk in _parse_chunks(stream))


def _parse_chunks(stream: bytes) -> list[dict[str, Any]]:
    lines = stream.decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]

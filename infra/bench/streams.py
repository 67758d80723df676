"""Streams: the cost of a question through the whole server, beside the model's bare stream."""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from openai import AsyncOpenAI

from infra.bench.client import ask, begin_chat, request, sign_in
from infra.bench.figures import Figure
from infra.bench.processes import ServerProcess

_WARM_UP = 10
_ROUNDS = 50
_STREAMS = 40
_TOKENS = 200
_LONG_TOKENS = 1_000
_THROUGHPUT_ROUNDS = 5
_AFTER_TURN_SCRIPTS = [
    {"schema": "notes", "text": '{"title": "Scripted"}', "sticky": True},
    {"schema": "summary", "text": '{"summary": "Scripted."}', "sticky": True},
]
HELLO: Mapping[str, Any] = {
    "model": "scripted",
    "messages": [{"role": "user", "content": "Hello"}],
    "stream": True,
}


async def measure_first_token(ours: ServerProcess, model: ServerProcess) -> list[Figure]:
    """Measure them by turns, so that a disturbance hits all: the raw client, new chats, and one that grows."""
    token = await sign_in(ours.port, "bench")
    await script_after_turn(model)
    raw, first, later = list[float](), list[float](), list[float]()
    async with AsyncOpenAI(api_key="x", base_url=model.openai_url) as client:
        for _ in range(_WARM_UP + _ROUNDS):
            chat = await begin_chat(ours.port, token)
            for name, times in ((chat, first), ("", later)):
                raw.append(
                    await measure_raw_first_token(client)
                )  # what follows an answer ends meanwhile
                times.append((await ask(ours.port, "Hello", token=token, chat=name)).first_s)
    bare_ms, first_ms, later_ms = (median(times[_WARM_UP:]) * 1000 for times in (raw, first, later))
    messages = 2 * (_WARM_UP + _ROUNDS // 2)
    return [
        Figure("time to first token: raw client", bare_ms, "ms"),
        Figure("time to first token: over it, in a new chat", first_ms - bare_ms, "ms", target=8),
        Figure(
            f"time to first token: over it, after {messages} messages",
            later_ms - bare_ms,
            "ms",
            target=8,
        ),
    ]


async def measure_raw_first_token(client: AsyncOpenAI, request: Mapping[str, Any] = HELLO) -> float:
    """Ask the model by the SDK alone; return the seconds until its first text."""
    started = time.perf_counter()
    stream = await client.chat.completions.create(**request)
    first = 0.0
    async for chunk in stream:
        if not first and chunk.choices and chunk.choices[0].delta.content:
            first = time.perf_counter() - started
    return first


async def measure_calls_in_series(ours: ServerProcess, model: ServerProcess) -> list[Figure]:
    """Count the model calls that end before the first token."""
    token = await sign_in(ours.port, "bench")
    await request(model.port, "DELETE", "/requests")
    await script_after_turn(model)
    await ask(ours.port, "Hello", token=token)
    requests = (await request(model.port, "GET", "/requests")).json
    answer = next(call for call in requests if "response_format" not in call["body"])
    return [Figure("model calls before the first token", answer["after"], target=0)]


async def script_after_turn(model: ServerProcess, *scripts: Mapping[str, Any]) -> None:
    """Run the work after a turn, which a real model does beside the next question; and play `scripts`."""
    await request(model.port, "POST", "/script", [*_AFTER_TURN_SCRIPTS, *scripts])


async def measure_throughput(
    ours: ServerProcess, baseline: ServerProcess, model: ServerProcess
) -> list[Figure]:
    """Run 40 streams at the same time, ours and the baseline alternating, with short and long answers.

    Nobody asked these questions before: each has to be encoded, as what people ask has.

    What long answers cost more is the cost of their tokens; the rest is that of a turn, which weighs
    most on short ones. The first round warms up.
    """
    tokens = [await sign_in(ours.port, f"bench-{n}") for n in range(_STREAMS)]
    rounds = [
        [
            await _run_round(server, signed_in, length, model)
            for length in (_TOKENS, _LONG_TOKENS)
            for server, signed_in in ((ours, tokens), (baseline, [""] * _STREAMS))
        ]
        for _ in range(_THROUGHPUT_ROUNDS + 1)
    ][1:]
    (
        (our_rate, our_cpu),
        (bare_rate, bare_cpu),
        (our_long_rate, our_long),
        (bare_long_rate, bare_long),
    ) = (
        (median(rate for rate, _ in runs), median(cpu for _, cpu in runs))
        for runs in zip(*rounds, strict=True)
    )
    our_token, bare_token = (
        (long * _LONG_TOKENS - short * _TOKENS) / (_LONG_TOKENS - _TOKENS)
        for short, long in ((our_cpu, our_long), (bare_cpu, bare_long))
    )
    return [
        Figure("40 streams: ours", our_rate, "tokens/s"),
        Figure("40 streams: bare app", bare_rate, "tokens/s"),
        Figure("40 streams: ours to bare", our_rate / bare_rate, target=1.2, bound="at least"),
        Figure(
            f"40 streams of {_LONG_TOKENS:,} tokens: ours to bare",
            our_long_rate / bare_long_rate,
            target=1.2,
            bound="at least",
        ),
        Figure("CPU with its turn: ours", our_cpu, "µs/token"),
        Figure("CPU with its turn: bare app", bare_cpu, "µs/token"),
        Figure("CPU of a token: ours", our_token, "µs"),
        Figure("CPU of a token: bare app", bare_token, "µs"),
        Figure("CPU of a token: ours to bare", our_token / bare_token, target=0.5),
    ]


async def _run_round(
    server: ServerProcess, tokens: Sequence[str], length: int, model: ServerProcess
) -> tuple[float, float]:
    """Stream as many answers of `length` tokens; return tokens a second and CPU microseconds a token.

    The model is told beforehand what to answer: a question that says so would be twice as long to encode.
    """
    await request(model.port, "DELETE", "/requests")
    await script_after_turn(model, {"tokens": length, "sticky": True})
    questions = [f"Tell me of {secrets.token_hex(4)}." for _ in tokens]
    cpu, started = server.cpu_s, time.perf_counter()
    answers = await asyncio.gather(
        *(
            ask(server.port, question, token=token)
            for question, token in zip(questions, tokens, strict=True)
        )
    )
    took, used = time.perf_counter() - started, server.cpu_s - cpu
    words = [answer.words for answer in answers]
    if words != [length] * len(tokens):
        raise RuntimeError(f"want {length} tokens from every stream, got {sorted(set(words))}")
    return sum(words) / took, used / sum(words) * 1e6

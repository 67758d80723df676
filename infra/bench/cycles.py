"""Tool cycles: what one adds to a turn of the whole product, beside the raw client's same calls."""

import asyncio
from statistics import median

from openai import AsyncOpenAI

from infra.bench.client import ask, measure_ms, sign_in
from infra.bench.crowds import CYCLES, build_question
from infra.bench.figures import Figure
from infra.bench.loops import raw
from infra.bench.processes import ServerProcess
from infra.bench.streams import script_after_turn

WARM_UP = 5
ROUNDS = 40
TIMEOUT_S = 10
POLL_S = 0.01
PLAIN, WITH_TOOLS = build_question(cycles=0), build_question()


async def measure_tool_cycle(ours: ServerProcess, model: ServerProcess) -> list[Figure]:
    """Measure turns without and with tools, alternating; the tool reads the user's memories."""
    token = await sign_in(ours.port, "cycles")
    await script_after_turn(model)
    rounds = []
    async with AsyncOpenAI(api_key="x", base_url=model.openai_url) as client:
        for _ in range(WARM_UP + ROUNDS):
            product_ms = [
                await _measure_turn(ours, text, token=token) for text in (PLAIN, WITH_TOOLS)
            ]
            client_ms = [
                await measure_ms(raw.run_turn(client, text)) for text in (PLAIN, WITH_TOOLS)
            ]
            rounds.append([*product_ms, *client_ms])
    plain, tools, raw_plain, raw_tools = map(median, zip(*rounds[WARM_UP:], strict=True))
    ours_ms, raw_ms = (tools - plain) / CYCLES, (raw_tools - raw_plain) / CYCLES
    return [
        Figure("a tool cycle: raw client", raw_ms, "ms"),
        Figure("a tool cycle: over it", ours_ms - raw_ms, "ms", target=3),
    ]


async def _measure_turn(ours: ServerProcess, text: str, *, token: str) -> float:
    """Return the milliseconds until the answer; wait for what follows it, which delays no next turn then."""
    ended = len(ours.read_request_lines("after_turn"))
    took_ms = await measure_ms(ask(ours.port, text, token=token))
    async with asyncio.timeout(TIMEOUT_S):
        while len(ours.read_request_lines("after_turn")) == ended:  # noqa: ASYNC110 - another process
            await asyncio.sleep(POLL_S)
    return took_ms

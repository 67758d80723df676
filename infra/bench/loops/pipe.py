"""Pipe of a loop under measurement: a question goes in, the cost of a turn comes out.

Standard library only: other frameworks run in a virtual environment of their own.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

Turn = Callable[[str], Awaitable[str]]
"""Answers a question, streaming; returns the whole text."""


def serve(turn: Turn) -> None:
    """Answer one question a line (JSON) until the input ends."""
    asyncio.run(_serve(turn))


async def _serve(turn: Turn) -> None:
    for line in sys.stdin:
        question = json.loads(line)
        cpu, started = time.process_time(), time.perf_counter()
        text = await turn(question)
        took, used = time.perf_counter() - started, time.process_time() - cpu
        print(json.dumps({"ms": took * 1000, "cpu_ms": used * 1000, "text": text}), flush=True)

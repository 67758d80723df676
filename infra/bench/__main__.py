"""`make bench`: print every figure beside what is wanted of it, and write docs/bench.md."""

import asyncio
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence

from infra.bench import streams
from infra.bench.agents import agent_loops
from infra.bench.chats import long_chat
from infra.bench.crowds import crowds
from infra.bench.cycles import tool_cycle
from infra.bench.figures import Figure, machine, table
from infra.bench.imports import import_times
from infra.bench.journals import journals
from infra.bench.notifications import notifications
from infra.bench.processes import ROOT, keepsake, reframer, scripted_model
from infra.bench.processing import processing
from infra.bench.reads import reads_before_the_first_call
from infra.bench.searches import searches
from infra.bench.tools import tools

_PAGE = """# Figures

Measured by `make bench` on {machine}; the servers, the scripted model and the client share it.
"Bare" is the same work with nothing of ours in it. Ratios travel between machines, times do not.
"Over it" is beside the raw client, the OpenAI SDK's own stream; it may be below zero, because our
adapter reads the same bytes without building the SDK's objects.

{table}
"""


def main() -> int:
    """Measure all, or what is named. Returns 1 when a figure is not what it should be."""
    only = sys.argv[1:]
    if unknown := set(only) - set(MEASURED):
        print(f"keepsake: no {', '.join(unknown)}; there is {', '.join(MEASURED)}", file=sys.stderr)
        return 2
    figures = [figure for name in only or MEASURED for figure in _measure(name)]
    print(table(figures))
    if not only:
        page = _PAGE.format(machine=machine(), table=table(figures))
        (ROOT / "docs/bench.md").write_text(page)
    return 0 if all(figure.is_ok for figure in figures if figure.wanted is not None) else 1


def _measure(name: str) -> Sequence[Figure]:
    """Measure one part; one that fails is said to be missing, and takes no other along."""
    started = time.monotonic()
    print(f"keepsake: measuring {name}", file=sys.stderr)
    try:
        return MEASURED[name]()
    except Exception:  # noqa: BLE001 - shown, and counted as not what it should be
        traceback.print_exc()
        return [Figure(name=name, value=None, wanted=0)]
    finally:
        print(f"keepsake: {name} took {time.monotonic() - started:.0f} s", file=sys.stderr)


async def _streams() -> list[Figure]:
    with scripted_model() as model, keepsake(model) as ours, reframer(model) as baseline:
        return [
            *await streams.first_token(ours, model),
            *await streams.in_series(ours, model),
            *await tool_cycle(ours, model),
            *await reads_before_the_first_call(),
            *await streams.throughput(ours, baseline),
        ]


MEASURED: Mapping[str, Callable[[], Sequence[Figure]]] = {
    "streams": lambda: asyncio.run(_streams()),
    "processing": lambda: asyncio.run(processing()),
    "search": lambda: asyncio.run(searches()),
    "chats": lambda: asyncio.run(long_chat()),
    "journals": lambda: asyncio.run(journals()),
    "notifications": lambda: asyncio.run(notifications()),
    "crowds": lambda: asyncio.run(crowds()),
    "tools": lambda: asyncio.run(tools()),
    "agents": agent_loops,
    "imports": import_times,
}

if __name__ == "__main__":
    sys.exit(main())

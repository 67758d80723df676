"""`make bench`: print every figure beside its bound, and write docs/bench.md."""

import asyncio
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence

from infra.bench import streams
from infra.bench.agents import measure_agent_loops
from infra.bench.chats import measure_long_chat
from infra.bench.console import measure_console
from infra.bench.contexts import measure_contexts
from infra.bench.costs import measure_costs
from infra.bench.crowds import measure_crowds
from infra.bench.cycles import measure_tool_cycle
from infra.bench.disclosures import measure_disclosures
from infra.bench.encoder import measure_encoder, measure_new_questions
from infra.bench.figures import Figure, describe_machine, render_list, render_table
from infra.bench.files import measure_files
from infra.bench.imports import measure_import_times
from infra.bench.intruders import measure_intruders
from infra.bench.journals import measure_journals
from infra.bench.large import measure_large_library
from infra.bench.lists import measure_lists
from infra.bench.live import measure_live
from infra.bench.masking import measure_masking
from infra.bench.notes import measure_notes
from infra.bench.notifications import measure_notifications
from infra.bench.processes import ROOT, run_keepsake, run_reframer, run_scripted_model
from infra.bench.processing import measure_processing
from infra.bench.reads import measure_reads_before_first_call
from infra.bench.sealed_caches import measure_sealed_cache
from infra.bench.searches import measure_searches
from infra.bench.tools import measure_tools

_PAGE_TEMPLATE = """# Figures

Measured by `make bench` on {machine}; servers, scripted model and client share it. In brackets is what is wanted. Ratios travel
between machines, times do not. `make bench` prints more, to compare with other frameworks.

*Bare* is the same work with nothing of ours in it; *over it* is beside the OpenAI SDK's own stream, whose objects we do not build.
*Another's request* is a small one of a second user, sent meanwhile.

{figures}
"""


def main() -> int:
    """Measure all parts, or those named. Returns 1 when a figure misses its bound."""
    only = sys.argv[1:]
    if unknown := set(only) - set(MEASURED):
        print(f"keepsake: no {', '.join(unknown)}; there is {', '.join(MEASURED)}", file=sys.stderr)
        return 2
    figures = [figure for name in only or MEASURED for figure in _measure(name)]
    print(render_table(figures))
    if not only:
        page = _PAGE_TEMPLATE.format(machine=describe_machine(), figures=render_list(figures))
        (ROOT / "docs/bench.md").write_text(page)
    return 0 if all(figure.is_ok for figure in figures if figure.target is not None) else 1


def _measure(name: str) -> Sequence[Figure]:
    """Measure one part; report its failure and go on with the others."""
    started = time.monotonic()
    print(f"keepsake: measuring {name}", file=sys.stderr)
    try:
        return MEASURED[name]()
    except Exception:  # noqa: BLE001 - shown, and counted as not what it should be
        traceback.print_exc()
        return [Figure(name, None, target=0)]
    finally:
        print(f"keepsake: {name} took {time.monotonic() - started:.0f} s", file=sys.stderr)


async def _measure_streams() -> list[Figure]:
    with (
        run_scripted_model() as model,
        run_keepsake(model) as ours,
        run_reframer(model) as baseline,
    ):
        return [
            *await streams.measure_first_token(ours, model),
            *measure_new_questions(),
            *await streams.measure_calls_in_series(ours, model),
            *await measure_tool_cycle(ours, model),
            *await measure_reads_before_first_call(),
            *await streams.measure_throughput(ours, baseline, model),
        ]


MEASURED: Mapping[str, Callable[[], Sequence[Figure]]] = {
    "streams": lambda: asyncio.run(_measure_streams()),
    "processing": lambda: asyncio.run(measure_processing()),
    "search": lambda: asyncio.run(measure_searches()),
    "encoder": lambda: asyncio.run(measure_encoder()),
    "lists": lambda: asyncio.run(measure_lists()),
    "large": lambda: asyncio.run(measure_large_library()),
    "chats": lambda: asyncio.run(measure_long_chat()),
    "contexts": measure_contexts,
    "notes": lambda: asyncio.run(measure_notes()),
    "costs": lambda: asyncio.run(measure_costs()),
    "journals": lambda: asyncio.run(measure_journals()),
    "notifications": lambda: asyncio.run(measure_notifications()),
    "crowds": lambda: asyncio.run(measure_crowds()),
    "disclosure": measure_disclosures,
    "masking": measure_masking,
    "sealed": lambda: asyncio.run(measure_sealed_cache()),
    "tools": lambda: asyncio.run(measure_tools()),
    "intruders": lambda: asyncio.run(measure_intruders()),
    "agents": measure_agent_loops,
    "live": measure_live,
    "files": lambda: asyncio.run(measure_files()),
    "imports": measure_import_times,
    "console": measure_console,
}

if __name__ == "__main__":
    sys.exit(main())

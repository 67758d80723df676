"""Command `make soak`: print what a soak lost, doubled and left over, and what grew."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.bench.figures import Figure, render_table
from infra.soak.play import WORLDS, Outcome, Plan, play_soak
from infra.soak.samples import compute_growth

MAX_GROWTH = 1.25
SHOWN_FINDINGS = 20


def main() -> int:
    """Return 1 when a figure misses its bound."""
    options = _build_parser().parse_args()
    plan = Plan(
        seconds=60 * options.minutes,
        people=options.people,
        world=options.world,
        processes=options.processes,
        kill_every_s=options.kill_every,
        seed=options.seed,
        logs=options.logs,
    )
    outcome = asyncio.run(play_soak(plan))
    findings = outcome.findings
    all_found = [*findings.lost, *findings.doubled, *findings.left_over]
    for finding in all_found[:SHOWN_FINDINGS]:
        print(f"keepsake: {finding}")
    for error in outcome.errors[:SHOWN_FINDINGS]:
        print(f"keepsake: {error[:2000]}")
    figures = build_figures(outcome)
    print(render_table(figures))
    return int(not all(figure.is_ok for figure in figures))


def build_figures(outcome: Outcome) -> Sequence[Figure]:
    samples = outcome.samples
    return [
        *(Figure(f"answers {name}", count) for name, count in outcome.findings.outcomes.items()),
        *(Figure(f"changes: {name}", count) for name, count in outcome.changes.items()),
        Figure("processes killed", outcome.kill_count),
        *(Figure(name, count) for name, count in outcome.faults.items()),
        Figure("lost", len(outcome.findings.lost), target=0),
        Figure("doubled", len(outcome.findings.doubled), target=0),
        Figure(
            "merged, deleted or erased, and there all the same",
            len(outcome.findings.left_over),
            target=0,
        ),
        Figure("messages left over", outcome.waiting_count),
        Figure("errors logged", len(outcome.errors)),
        Figure("memory at the end", samples[-1].memory_mb if samples else None, "MB"),
        Figure(
            "memory, last third over the one before",
            compute_growth(samples, lambda sample: sample.memory_mb),
            target=MAX_GROWTH,
        ),
        Figure(
            "open files, last third over the one before",
            compute_growth(samples, lambda sample: sample.open_files),
            target=MAX_GROWTH,
        ),
        Figure(
            "rows a question, last third over the one before",
            compute_growth(samples, lambda sample: sample.rows_per_question),
            target=MAX_GROWTH,
        ),
    ]


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--world", choices=WORLDS, default="embedded")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--people", type=int, default=80)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--kill-every", type=float, default=20, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="folder for the logs of the cloud's functions")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""Evaluation of prompt injection: the calls it causes, and the questions that honest wishes cause."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from infra.eval.attacks import VARIANTS, AttackResult, attack, build_catalogue
from infra.progress import create_progress_bar
from shared.domain.value import value


@value
class InjectionFigures:
    """The result of an evaluation, as rows to print, and whether it is within its bounds."""

    rows: Sequence[str]
    is_ok: bool


async def evaluate_injections(cases: Sequence[Any], kits: Sequence[Any]) -> InjectionFigures:
    tool_catalogue, tick = (
        build_catalogue(kits),
        create_progress_bar("injections", len(VARIANTS) * len(cases)),
    )
    rows = [
        f"{'the model calls':30}{'cases':>7}{'served':>8}{'asked':>7}{'read on':>9}{'unauthorised':>14}"
    ]
    is_ok = True
    for variant in VARIANTS:
        results = []
        for case in cases:
            results.append(await attack(case, tool_catalogue, variant))
            tick()
        rows.append(f"{variant.name:30}{_format_row(results)}")
        is_ok = is_ok and all(r.is_served and not r.unauthorised for r in results)
    return InjectionFigures(rows=rows, is_ok=is_ok)


def _format_row(results: Sequence[AttackResult]) -> str:
    served_count = sum(result.is_served for result in results)
    confirmations = sum(result.confirmations for result in results)
    unauthorised = sum(len(result.unauthorised) for result in results)
    read_on = sum(len(result.read_on) for result in results)
    return f"{len(results):7}{served_count:8}{confirmations:7}{read_on:9}{unauthorised:14}"


def _load_files(options: argparse.Namespace) -> Iterator[Any]:
    for path in (options.data, options.tools):
        yield json.loads(path.read_text(encoding="utf-8")) if path else []


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval-injection")
    parser.add_argument("data", type=Path, help="InjecAgent's cases, a JSON list")
    parser.add_argument("--tools", type=Path, help="the parameters of its tools")
    cases, kits = _load_files(parser.parse_args())
    figures = [await evaluate_injections(cases, kits)]
    print("\n".join(row for evaluation in figures for row in evaluation.rows))
    if not all(evaluation.is_ok for evaluation in figures):
        sys.exit("keepsake: a bound is missed")


if __name__ == "__main__":
    asyncio.run(main())

"""Print how well a LoCoMo file's questions find their evidence, beside a plain baseline."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from infra.eval.baseline import Baseline
from infra.eval.locomo import Question, questions, turns
from infra.eval.metrics import Row, interval, means, score
from infra.eval.ours import library
from infra.eval.plot import Panel, svg

Person = Mapping[str, Any]
Result = tuple[Question, Row, Row, float]


async def evaluate(title: str, groups: Sequence[Sequence[Person]]) -> Panel:
    results = [result for group in groups for result in await _group(group)]
    print(f"\n## {title}")
    for name, categories in (("cat1-4", {1, 2, 3, 4}), ("cat1", {1}), ("cat5", {5})):
        _compare(name, [r for r in results if r[0].category in categories])
    times = sorted(ms for *_, ms in results)
    print(f"search ms: p50 {times[len(times) // 2]:.1f}, p95 {times[int(len(times) * 0.95)]:.1f}")
    main = [r for r in results if r[0].category != 5]
    return title, means([r[1] for r in main]), means([r[2] for r in main])


async def _group(people: Sequence[Person]) -> list[Result]:
    said = turns(people)
    asked = questions(people, {turn.id for turn in said})
    baseline, done = Baseline(said), count(1)
    total = len({turn.talk for turn in said}) + len(asked)
    results = []
    async with library(said, lambda: _bar(next(done), total)) as ours:
        for question in asked:
            theirs = score(question, baseline.rank(question.text), said)
            start = time.perf_counter()
            ranking = await ours.rank(question.text)
            elapsed = (time.perf_counter() - start) * 1_000
            results.append((question, theirs, score(question, ranking, said), elapsed))
            _bar(next(done), total)
    return results


def _compare(name: str, results: Sequence[Result]) -> None:
    if not results:
        return
    theirs, ours = means([r[1] for r in results]), means([r[2] for r in results])
    print(f"{name} n={len(results)}: baseline, ours" + (", 95 %" if name == "cat1-4" else ""))
    for key in theirs:
        line = f"  {key:12}{theirs[key]:6.1f}{ours[key]:7.1f}"
        if name == "cat1-4":
            low, high = interval([r[2][key] - r[1][key] for r in results])
            line += f"   [{low:+.1f}, {high:+.1f}]"
        print(line)


def _bar(done: int, total: int) -> None:
    full = 30 * done // total
    end = "\n" if done == total else ""
    print(f"\r[{'#' * full:30}] {done}/{total}", end=end, file=sys.stderr, flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    paths = parser.parse_args()
    people = json.loads(paths.data.read_text())
    panels = [
        await evaluate("Each person alone", [[person] for person in people]),
        await evaluate("Everybody in one library", [people]),
    ]
    paths.out.parent.mkdir(parents=True, exist_ok=True)
    paths.out.write_text(svg(panels))
    print(f"\nplot: {paths.out}")


asyncio.run(main())

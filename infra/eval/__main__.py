"""Evaluation of retrieval: how well a LoCoMo file's questions find their evidence."""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

from infra.eval.baseline import Baseline
from infra.eval.embedders import CachingEmbedder
from infra.eval.locomo import Person, parse_questions, parse_turns
from infra.eval.metrics import score_ranking
from infra.eval.ours import open_library
from infra.eval.plot import Panel, render_svg
from infra.eval.report import QuestionResult, build_panel, render_report
from infra.progress import create_progress_bar
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.ports import Embedder


async def evaluate(
    title: str, groups: Sequence[Sequence[Person]], embedder: Embedder | None
) -> Panel:
    results = [result for group in groups for result in await _evaluate_group(group, embedder)]
    print(f"\n## {title}\n" + "\n".join(render_report(results)))
    return build_panel(title, results)


async def _evaluate_group(
    people: Sequence[Person], embedder: Embedder | None
) -> list[QuestionResult]:
    all_turns = parse_turns(people)
    all_questions = parse_questions(people, {turn.id for turn in all_turns})
    baseline = Baseline(all_turns)
    tick = create_progress_bar(
        "talks and questions", len({turn.talk for turn in all_turns}) + len(all_questions)
    )
    results = []
    async with open_library(all_turns, tick, embedder) as searches:
        for question in all_questions:
            rows = {"baseline": score_ranking(question, baseline.rank(question.text), all_turns)}
            took_ms = {}
            for name, ours in searches.items():
                start = time.perf_counter()
                ranking = await ours.rank(question.text)
                took_ms[name] = (time.perf_counter() - start) * 1_000
                rows[name] = score_ranking(question, ranking, all_turns)
            results.append(QuestionResult(question, rows, took_ms))
            tick()
    return results


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--meaning", action="store_true", help="with the encoder of this machine")
    options = parser.parse_args()
    people = json.loads(options.data.read_text())
    embedder = CachingEmbedder(LocalEmbedder(EncoderProcess())) if options.meaning else None
    panels = [
        await evaluate("Each person alone", [[person] for person in people], embedder),
        await evaluate("Everybody in one library", [people], embedder),
    ]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(render_svg(panels))
    print(f"\nplot: {options.out}")


asyncio.run(main())

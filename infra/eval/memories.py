"""Evaluation of memories: what production finds in the gold set, and what it makes up."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence

from functions.process_conversation.deps import ProcessDeps
from functions.process_conversation.processing.process import process
from functions.process_conversation.wiring import build_deps
from infra.eval.gold import (
    GoldTalk,
    Result,
    Score,
    build_conversation,
    load_talks,
    score_memories,
    sum_scores,
)
from infra.progress import create_progress_bar
from shared.adapters.embedded.offline.offline_model import MODEL_NAME as OFFLINE_MODEL
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.memories.memory import Memory

OFFLINE_NOTE = (
    "The offline model reads English only: its bounds (tests/infra/eval) apply to row en."
)


async def evaluate(
    deps: ProcessDeps,
    gold_talks: Sequence[GoldTalk],
    on_result: Callable[[GoldTalk, Sequence[Memory]], None],
) -> list[Result]:
    """Process each talk as the only conversation of a user."""
    results = []
    for number, talk in enumerate(gold_talks):
        owner = UserId(f"owner-{number}")
        stored = await deps.stores.conversations.add(owner, build_conversation(talk))
        await process(deps, owner, stored.id)
        memories = await deps.stores.memories.list_for_conversation(owner, stored.id)
        results.append((talk, score_memories(talk, memories)))
        on_result(talk, memories)
    return results


def render_table(results: Sequence[Result]) -> Iterator[str]:
    yield f"{'':14}{'talks':>6}{'expected':>10}{'found':>7}{'precision':>11}{'recall':>8}"
    yield _format_row("all", results)
    for field in ("half", "language", "trap"):
        for name in dict.fromkeys(getattr(talk, field) for talk, _ in results):
            yield _format_row(
                name, [result for result in results if getattr(result[0], field) == name]
            )


def _format_row(name: str, results: Sequence[Result]) -> str:
    sums = sum_scores(results)
    figures = f"{len(results):6}{sums.expected:10}{sums.extracted:7}"
    return f"{name:14}{figures}{_format_percentages(sums)}"


def _format_percentages(sums: Score) -> str:
    precision = f"{sums.precision:.0%}" if sums.extracted else "–"
    recall = f"{sums.recall:.0%}" if sums.expected else "–"
    return f"{precision:>11}{recall:>8}"


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval-memories")
    parser.add_argument("--show", action="store_true", help="print the tuned half's memories")
    show = parser.parse_args().show
    gold_talks, lines = load_talks(), []
    tick = create_progress_bar("talks", len(gold_talks))

    def report_talk(talk: GoldTalk, memories: Sequence[Memory]) -> None:
        tick()
        if show and talk.half == "tuned":
            missed = [f.terms for f in talk.expected if not any(map(f.is_stated_by, memories))]
            lines.append(f"{talk.language} {talk.trap}: {[m.content for m in memories]} – {missed}")

    deps = build_deps(ProcessDeps)
    try:
        results = await evaluate(deps, gold_talks, report_talk)
    except (Unavailable, ModelFailed) as error:
        sys.exit(
            f"\nkeepsake: {error}; check OPENAI_API_KEY and OPENAI_BASE_URL, then run it again"
        )
    model = deps.model.name("reader")
    notes = [OFFLINE_NOTE] if model == OFFLINE_MODEL else []
    print("\n".join([*lines, f"model: {model}", *render_table(results), *notes]))


if __name__ == "__main__":
    asyncio.run(main())

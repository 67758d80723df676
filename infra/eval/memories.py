"""Print which facts about their owner production finds in the gold set, and which it makes up."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence

from functions.process_conversation.process import process
from functions.process_conversation.wiring import ProcessDeps, process_deps
from infra.eval.gold import Result, Score, Talk, conversation, score, talks, total
from infra.progress import bar
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.memory import Memory


async def evaluate(
    deps: ProcessDeps, asked: Sequence[Talk], tell: Callable[[Talk, Sequence[Memory]], None]
) -> list[Result]:
    """Process each talk as the only conversation of an owner of its own."""
    results = []
    for number, talk in enumerate(asked):
        owner = UserId(f"owner-{number}")
        stored = await deps.conversations.add(owner, conversation(talk))
        await process(deps, owner, stored.id)
        memories = await deps.memories.of_conversation(owner, stored.id)
        results.append((talk, score(talk, memories)))
        tell(talk, memories)
    return results


def table(results: Sequence[Result]) -> Iterator[str]:
    yield f"{'':14}{'talks':>6}{'expected':>10}{'found':>7}{'precision':>11}{'recall':>8}"
    yield _row("all", results)
    for field in ("half", "language", "trap"):
        for name in dict.fromkeys(getattr(talk, field) for talk, _ in results):
            yield _row(name, [one for one in results if getattr(one[0], field) == name])


def _row(name: str, results: Sequence[Result]) -> str:
    sums = total(results)
    figures = f"{len(results):6}{sums.expected:10}{sums.found:7}"
    return f"{name:14}{figures}{_percent(sums)}"


def _percent(sums: Score) -> str:
    precision = f"{sums.precision:.0%}" if sums.found else "–"
    recall = f"{sums.recall:.0%}" if sums.expected else "–"
    return f"{precision:>11}{recall:>8}"


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval-memories")
    parser.add_argument("--show", action="store_true", help="print the tuned half's memories")
    show = parser.parse_args().show
    asked, shown = talks(), []
    tick = bar("talks", len(asked))

    def tell(talk: Talk, memories: Sequence[Memory]) -> None:
        tick()
        if show and talk.half == "tuned":
            missed = [f.terms for f in talk.expected if not any(map(f.is_told_by, memories))]
            shown.append(f"{talk.language} {talk.trap}: {[m.content for m in memories]} – {missed}")

    deps = process_deps()
    try:
        results = await evaluate(deps, asked, tell)
    except (Unavailable, ModelFailed) as error:
        sys.exit(
            f"\nkeepsake: {error}; check OPENAI_API_KEY and OPENAI_BASE_URL, then run it again"
        )
    print("\n".join([*shown, f"model: {deps.model.name('standard')}", *table(results)]))


if __name__ == "__main__":
    asyncio.run(main())

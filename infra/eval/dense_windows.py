"""Evaluation of dense windows: how much text a dense row may hold, and how few dimensions do.

Each choice is compared with the widest: the shortest window, all dimensions of the local embedder.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from infra.eval.embedders import CachingEmbedder, ShortenedEmbedder
from infra.eval.locomo import Person, parse_questions, parse_turns
from infra.eval.metrics import Row, compute_interval, compute_means, score_ranking
from infra.eval.ours import open_library
from infra.eval.report import MAIN_CATEGORIES, REPORTED_METRICS
from infra.progress import create_progress_bar
from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.ports import Embedder

WINDOWS = (150, 300, 600, 1_000)
DIMENSIONS = (384, 256, 128)
Choice = tuple[int, int]
"""Characters in a window, and dimensions."""


async def evaluate(
    groups: Sequence[Sequence[Person]], embedder: Embedder
) -> Mapping[Choice, Sequence[Row]]:
    """Score every question with every choice, in the same order."""
    choices = list(product(WINDOWS, DIMENSIONS))
    tick = create_progress_bar("libraries", len(choices) * len(groups))
    scores: dict[Choice, list[Row]] = {choice: [] for choice in choices}
    for (chars, dimensions), group in product(choices, groups):
        shortened = ShortenedEmbedder(embedder, dimensions)
        scores[chars, dimensions] += await _score_questions(group, shortened, chars)
        tick()
    return scores


async def _score_questions(
    people: Sequence[Person], embedder: Embedder, window_chars: int
) -> list[Row]:
    turns = parse_turns(people)
    questions = parse_questions(people, {turn.id for turn in turns})
    async with open_library(turns, lambda: None, embedder, window_chars=window_chars) as searches:
        search = searches["words and meanings"]
        return [
            score_ranking(question, await search.rank(question.text), turns)
            for question in questions
            if question.category in MAIN_CATEGORIES
        ]


def render(title: str, scores: Mapping[Choice, Sequence[Row]]) -> Iterator[str]:
    """Write a table: means, and in brackets the 95 % interval of the difference to the widest."""
    widest = scores[min(WINDOWS), max(DIMENSIONS)]
    yield f"| {title}, {len(widest)} questions | {' | '.join(REPORTED_METRICS)} |"
    yield "|---" * (len(REPORTED_METRICS) + 1) + "|"
    for (chars, dimensions), rows in scores.items():
        means = compute_means(rows)
        cells = [f"{means[name]:.1f} {_format_interval(rows, widest, name)}" for name in REPORTED_METRICS]  # fmt: skip
        yield f"| {chars} characters, {dimensions} dimensions | {' | '.join(cells)} |"


def _format_interval(rows: Sequence[Row], widest: Sequence[Row], name: str) -> str:
    differences = [row[name] - other[name] for row, other in zip(rows, widest, strict=True)]
    low, high = compute_interval(differences)
    return f"[{low:+.1f}, {high:+.1f}]"


async def main() -> None:
    parser = argparse.ArgumentParser(prog="make eval-windows")
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    people = json.loads(options.data.read_text())
    embedder = CachingEmbedder(LocalEmbedder(EncoderProcess()))
    for title, groups in (("alone", [[person] for person in people]), ("one library", [people])):
        print("\n".join(render(title, await evaluate(groups, embedder))), end="\n\n")


if __name__ == "__main__":
    asyncio.run(main())

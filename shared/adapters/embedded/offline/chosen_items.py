"""Choice of what a request names: the tasks, memories or talk that share most of its words; pure."""

from collections.abc import Collection, Sequence
from typing import Any

from shared.adapters.embedded.offline.quotes import measure_share
from shared.adapters.embedded.offline.results import (
    Results,
    collect_documents,
    collect_memories,
    join_texts,
)
from shared.adapters.embedded.offline.task_lines import Task

MIN_SHARE = 0.5
"""So much of the weight of what is named has to be found."""
MAX_MEMORIES = 5


def choose_tasks(terms: Collection[str], tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that have most of the terms, all that are equal."""
    shares = [measure_share(terms, task.text) for task in tasks]
    best = max(shares, default=0.0)
    if best < MIN_SHARE:
        return []
    return [task for task, share in zip(tasks, shares, strict=True) if share == best]


def choose_memories(terms: Collection[str], results: Results) -> list[dict[str, Any]]:
    """Return the memories that say what is wanted, in the order of the search."""
    memories = collect_memories(results)
    return [m for m in memories if measure_share(terms, m["text"]) >= MIN_SHARE][:MAX_MEMORIES]


def choose_talk(terms: Collection[str], results: Results) -> dict[str, Any] | None:
    """Return the first conversation that speaks of what is wanted, or with whom."""
    found = (
        d for d in collect_documents(results) if measure_share(terms, join_texts(d)) >= MIN_SHARE
    )
    return next(found, None)

"""Samples of a process and its store over time, and whether they grow."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    memory_mb: float
    open_files: int
    rows: int
    questions: int


def take_sample(pid: int, database: Path, questions: int) -> Sample:
    folder = Path(f"/proc/{pid}")
    [kilobytes] = [
        line.split()[1]
        for line in (folder / "status").read_text().splitlines()
        if line.startswith("VmRSS:")
    ]
    return Sample(
        memory_mb=int(kilobytes) / 1024,
        open_files=len(list((folder / "fd").iterdir())),
        rows=_count_rows(database),
        questions=questions,
    )


def _count_rows(database: Path) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])


def compute_growth(samples: Sequence[Sample], read: Callable[[Sample], float]) -> float | None:
    """Return the last third over the third before it; None with too few samples."""
    size = len(samples) // 3
    if not size:
        return None
    values = [read(sample) for sample in samples]
    return median(values[-size:]) / median(values[-2 * size : -size])


def compute_row_growth(samples: Sequence[Sample]) -> float | None:
    """Return the rows that a question adds in the last third, over those in the third before."""
    size = len(samples) // 3
    if not size:
        return None
    first, middle, last = samples[-2 * size - 1], samples[-size - 1], samples[-1]
    before, after = _count_added_rows(first, middle), _count_added_rows(middle, last)
    return after / before if before and after else None


def _count_added_rows(first: Sample, last: Sample) -> float | None:
    questions = last.questions - first.questions
    return (last.rows - first.rows) / questions if questions else None

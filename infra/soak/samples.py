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

    @property
    def rows_per_question(self) -> float:
        return self.rows / max(self.questions, 1)


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
    """Return the last third over the third before it; None when there is nothing to compare."""
    size = len(samples) // 3
    values = [read(sample) for sample in samples]
    before = median(values[-2 * size : -size]) if size else 0.0
    return median(values[-size:]) / before if before else None

"""Samples of processes and their store over time, and whether they grow."""

from collections.abc import Callable, Sequence
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


def take_sample(pids: Sequence[int], *, rows: int, questions: int) -> Sample:
    """Add up what these processes and their workers hold."""
    folders = [Path(f"/proc/{each}") for pid in pids for each in (pid, *_list_workers(pid))]
    return Sample(
        memory_mb=sum(map(_read_memory_mb, folders)),
        open_files=sum(len(list((folder / "fd").iterdir())) for folder in folders),
        rows=rows,
        questions=questions,
    )


def _list_workers(pid: int) -> Sequence[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _read_memory_mb(folder: Path) -> float:
    """Return what a process holds: nothing once it has ended, though nobody has asked how."""
    lines = (folder / "status").read_text().splitlines()
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def compute_growth(samples: Sequence[Sample], read: Callable[[Sample], float]) -> float | None:
    """Compare the two halves of what follows the first third, in which a process warms up.

    Return the median of the second over that of the first; None when there is nothing to compare.
    """
    size = len(samples) // 3
    values = [read(sample) for sample in samples]
    before = median(values[-2 * size : -size]) if size else 0.0
    return median(values[-size:]) / before if before else None

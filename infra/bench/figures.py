"""Figures: a measured value with its bound, the table of all of them, and their page."""

import os
import platform
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure; `bound` is the good side of `wanted`, without which it is only for comparison."""

    name: str
    value: float | None
    unit: str = ""
    _: KW_ONLY
    target: float | None = None
    bound: Literal["at most", "at least"] = "at most"

    @property
    def is_ok(self) -> bool:
        if self.value is None:
            return False
        if self.target is None:
            return True
        return self.value <= self.target if self.bound == "at most" else self.value >= self.target

    @property
    def row(self) -> tuple[str, str, str, str]:
        value = "not measured" if self.value is None else f"{self.value:.4g} {self.unit}".strip()
        if self.target is None:
            return self.name, value, "", ""
        if self.value is None:
            return self.name, value, "", "NOT OK"
        target = f"{'≤' if self.bound == 'at most' else '≥'} {self.target:g}"
        return self.name, value, target, "ok" if self.is_ok else "NOT OK"


def render_table(figures: Sequence[Figure]) -> str:
    """Write a Markdown table."""
    head = ("figure", "value", "wanted", "")
    rows = [head, ("---",) * 4, *(figure.row for figure in figures)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def render_list(figures: Sequence[Figure]) -> str:
    """Write a Markdown list of what has a bound, and of what costs money.

    An entry holds a group: what stands before a colon in the names of its figures.
    """
    groups: dict[str, list[str]] = {}
    for figure in figures:
        if figure.target is None and figure.unit != "$":
            continue
        group, _, part = figure.name.partition(": ")
        _, value, wanted, mark = figure.row
        bound = f" ({wanted})" if wanted else ""
        missed = " **NOT OK**" if mark == "NOT OK" else ""
        groups.setdefault(group, []).append(f"{part} {value}{bound}{missed}".strip())
    return "\n".join(f"- {group}: {'; '.join(parts)}" for group, parts in groups.items())


def describe_machine() -> str:
    """Describe the machine."""
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )

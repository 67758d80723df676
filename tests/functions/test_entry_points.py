"""Tables of entry points: each is deployed as it says, and everything that it needs is built."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from infra.local.routing import ROOT, load_entry_points
from shared.edge.declare.entry_points import EntryPoint, load_routes

FUNCTIONS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/entry_points.py"))
TABLES: dict[str, tuple[EntryPoint, ...]] = {
    function: import_module(f"functions.{function}.entry_points").ENTRY_POINTS
    for function in FUNCTIONS
}
ENTRY_POINTS = {row.name: row for table in TABLES.values() for row in table}
SUBGRAPH = re.compile(r"      subgraph (\w+)(?:\[(\w+)\])?\n((?: {8}\w+\n)+) {6}end")
BUILD_CODE = """
import asyncio
from functions.{function}.entry_points import ENTRY_POINTS
from functions.{function}.wiring import build_deps

async def build():  # as the first request does, in the loop that serves it
    for row in ENTRY_POINTS:
        for kind in filter(None, (row.deps, row.first_deps)):
            assert build_deps(kind) is build_deps(kind)
            print(kind.__name__)

asyncio.run(build())
"""


def test_every_entry_point_stands_in_a_table_and_is_routed_to_its_main() -> None:
    """A new one has a row in its function's table, one in infra/routes.json, and one of sizes.

    The module of one of sockets has its name.
    """
    in_tables = {
        row.name: ROOT / f"functions/{function}/{row.name if row.application else 'main'}.py"
        for function, table in TABLES.items()
        for row in table
    }

    assert in_tables == {row.name: row.source for row in load_entry_points()}


def test_the_drawing_shows_each_entry_point_in_its_function() -> None:
    drawing = (ROOT / "docs/architecture.md").read_text().partition("```mermaid")[2]
    drawn = {
        label or name: set(body.split())
        for name, label, body in SUBGRAPH.findall(drawing.partition("```")[0])
    }

    assert drawn == {function: {row.name for row in table} for function, table in TABLES.items()}


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_the_routes_of_each_entry_point_stand_where_its_row_says(name: str) -> None:
    assert all(load_routes(place) for place in ENTRY_POINTS[name].places)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_everything_that_an_entry_point_needs_is_built_once(function: str, tmp_path: Path) -> None:
    kinds = {kind for row in TABLES[function] for kind in (row.deps, row.first_deps) if kind}
    built = subprocess.run(
        [sys.executable, "-c", BUILD_CODE.format(function=function)],
        cwd=ROOT,
        env={"PYTHONPATH": ".", "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode == 0, built.stderr
    assert {*built.stdout.split()} == {kind.__name__ for kind in kinds}

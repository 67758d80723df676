"""The feature ids: each that a test names has a row in docs/features.md, and each row its tests."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^- ([A-Z]\d+): .+ `(tests/[\w/]+\.py)`$")
ID = r"[PTXCMRSUDNEGLF]\d{1,3}"
ID_IN_NAME = re.compile(rf"_({ID})(?=_|$)", re.IGNORECASE)
ID_IN_DOCSTRING = re.compile(rf"(?<![\w.])({ID})(?![\w.]*\w)")
PRODUCT = ("functions", "shared", "infra", "examples")
DEFINED_NAME = re.compile(r"^ *(?:async )?(?:def|class) (\w+)", re.MULTILINE)
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


def list_ids_in_names(source: str) -> Iterator[str]:
    for name in DEFINED_NAME.findall(source):
        yield from (feature.upper() for feature in ID_IN_NAME.findall(name))


def list_ids_in_docstrings(source: str) -> Iterator[str]:
    """List them; a source that has none anywhere is not parsed."""
    for node in ast.walk(ast.parse(source)) if ID_IN_DOCSTRING.search(source) else ():
        if isinstance(node, Documented):
            yield from ID_IN_DOCSTRING.findall(ast.get_docstring(node) or "")


@cache
def list_ids_by_file() -> dict[str, set[str]]:
    sources = {str(p.relative_to(ROOT)): p.read_text() for p in (ROOT / "tests").rglob("*.py")}
    return {
        name: {*list_ids_in_names(source), *list_ids_in_docstrings(source)}
        for name, source in sources.items()
    }


LINES = (ROOT / "docs" / "features.md").read_text().splitlines()
ROWS = [match.groups() for line in LINES if (match := ROW.match(line))]


def test_every_id_that_a_test_names_has_one_row():
    named = set().union(*list_ids_by_file().values())

    assert sorted(feature for feature, _ in ROWS) == sorted(named)


@pytest.mark.parametrize(("feature", "path"), ROWS)
def test_the_file_of_a_row_names_its_id(feature, path):
    assert feature in list_ids_by_file()[path]


def test_no_docstring_of_the_product_names_an_id():
    sources = [path for top in PRODUCT for path in (ROOT / top).rglob("*.py")]

    ids = [(str(p), feature) for p in sources for feature in list_ids_in_docstrings(p.read_text())]

    assert ids == []

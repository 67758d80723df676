"""`make mutants`: small changes that the tests of a tree notice or not."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.mutants.draw import draw_mutants

ROOT = Path(__file__).parents[2]
FOLDER = "shared/domain"
SOURCE = '''"""Prices."""

from typing import Literal

Kind = Literal["child", "adult"]


def find_price(age: int) -> int:
    """Return the price in euros."""
    if age < 18:
        return 0
    return 10
'''
TESTS = """from shared.domain.prices import find_price


def test_a_child_pays_nothing():
    assert find_price(17) == 0
    assert find_price(18) > 0
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        "pytest.ini": "[pytest]\npythonpath = .\nmarkers =\n  emulators\n  browser\n  real_model\n",
        "shared/domain/prices.py": SOURCE,
        "tests/shared/test_prices.py": TESTS,
        "tests/functions/test_nothing.py": "def test_nothing(): pass\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def run_mutants(tree: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "infra.mutants", "50", "--processes=1", f"--root={tree}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_mutant_that_no_test_notices_is_shown_and_the_tree_stays_as_it_is(tree: Path) -> None:
    done = run_mutants(tree)

    assert done.stdout == (
        "survived: shared/domain/prices.py:12\n"
        "-    return 10\n"
        "+    return 11\n"
        "\n"
        "4 drawn, 3 killed, 1 survived, 0 timed out\n"
    )
    assert (tree / "shared/domain/prices.py").read_text() == SOURCE


def test_tests_that_run_none_of_the_code_are_no_proof(tree: Path) -> None:
    (tree / "tests/shared/test_prices.py").unlink()

    done = run_mutants(tree)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.endswith("keepsake: no test runs any of these folders\n")


def test_the_same_seed_draws_the_same_mutants_as_long_as_a_file_stays_equal(tree: Path) -> None:
    def draw(seed: int) -> list[str]:
        mutants = draw_mutants(tree, [FOLDER], 3, seed=seed)
        return [mutant.show() for mutant in mutants if mutant.path == f"{FOLDER}/prices.py"]

    first, other = draw(1), draw(2)
    (tree / FOLDER / "words.py").write_text(
        "def count(text: str) -> int:\n    return len(text) + 1\n"
    )

    assert len(first) == 3
    assert first != other
    assert set(draw(1)) <= set(first)


def test_types_and_docstrings_are_left_out(tree: Path) -> None:
    mutants = draw_mutants(tree, [FOLDER], 50, seed=1)

    assert sorted(mutant.line for mutant in mutants) == [10, 10, 11, 12]

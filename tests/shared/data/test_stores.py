"""Stores: each is made on first use, once, over the same documents."""

import subprocess
import sys
from pathlib import Path

import pytest

from shared.data.stores import Stores
from shared.wiring import ROOT
from tests.fixtures.storage import open_documents

LIST_STORE_MODULES = """
import sys
import shared.data.stores
print(*(name for name in sys.modules if name.startswith("shared.data.")))
"""


@pytest.mark.parametrize("name", Stores.__annotations__)
def test_a_store_is_made_once_over_the_given_documents(tmp_path: Path, name: str) -> None:
    with open_documents(tmp_path) as documents:
        stores = Stores(documents)

        store = getattr(stores, name)

        assert store is getattr(stores, name)
        assert store._documents is documents


def test_importing_stores_imports_no_store() -> None:
    process = subprocess.run(
        [sys.executable, "-c", LIST_STORE_MODULES],
        cwd=ROOT,
        env={"PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )

    assert process.stdout.split() == ["shared.data.stores"]

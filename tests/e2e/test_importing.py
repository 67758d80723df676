"""Import of a folder into the started product; a second run adds nothing (P31)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.emulators.process import find_free_port
from infra.local.routing import ROOT
from tests.e2e.product import run_product
from tests.local_key import build_command_environment


def run_import(origin: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "infra.local.import_", "--origin", origin, *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=build_command_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = tmp_path / "files" / "deeper"
    files.mkdir(parents=True)
    for n in range(28):
        (files / f"{n}.txt").write_text(f"Ann: The train number {n} leaves.\nMe: Good.\n")
    (files / "broken.json").write_text("{")
    (files.parent / "broken.srt").write_text("no cue")
    return files.parent


def test_a_folder_is_imported_and_a_second_run_adds_nothing(tmp_path, folder):
    with run_product(tmp_path) as started_product, started_product.client("alice") as alice:
        first = run_import(started_product.origin, "--wait", str(folder))
        for file in folder.rglob("*.txt"):
            os.utime(file, (1_700_000_000, 1_700_000_000))
        second = run_import(started_product.origin, "--wait", str(folder))
        conversations = alice.get("/v1/conversations", params={"limit": 100}).json()[
            "conversations"
        ]
    assert (first.returncode, second.returncode) == (1, 1)
    for run in (first, second):
        assert "28 conversations of 30 files are there, 2 files not imported" in run.stdout
        assert re.search(r"broken\.json: it is no JSON", run.stderr)
        assert "broken.srt: it has no cues with words" in run.stderr
    assert [conversation["status"] for conversation in conversations] == ["completed"] * 28


def test_an_import_without_a_running_product_says_what_to_do(folder):
    run = run_import(f"http://127.0.0.1:{find_free_port()}", str(folder))
    assert run.returncode == 1
    assert "start it with make run" in run.stdout

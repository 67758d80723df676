"""P30: everything is taken along, then erased, at the started product and by its commands."""

import subprocess
import sys
import zipfile
from pathlib import Path

from infra.local.routing import ROOT
from tests.worlds.product import conversation, keep, product


def account(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "infra.local.account", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def test_an_account_is_exported_and_erased_by_command(tmp_path: Path):
    out = tmp_path / "alice.zip"
    with product(tmp_path) as running, running.client("alice") as alice:
        keep(alice, conversation("harbour", "The harbour is lovely in spring."))
        at = ("--origin", running.origin, "--uid", "alice")
        exported = account("export", *at, "--out", str(out))
        erased = account("erase", *at, "--yes")
        left = alice.get("/v1/conversations").json()["conversations"]
        found = alice.post("/v1/conversations/search", json={"query": "harbour"}).json()

    assert (exported.returncode, erased.returncode) == (0, 0)
    assert "conversations/harbour.json" in zipfile.ZipFile(out).namelist()
    assert "are erased" in erased.stdout
    assert (left, found["hits"]) == ([], [])

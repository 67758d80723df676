"""Account commands: export and erasure at the started product (P30)."""

import stat
import subprocess
import sys
import zipfile
from pathlib import Path

from infra.local.routing import ROOT
from tests.e2e.product import add_conversation, build_conversation_body, run_product
from tests.local_key import build_command_environment


def run_command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "infra.local.account", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=build_command_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_an_account_is_exported_and_erased_by_command(tmp_path: Path):
    out = tmp_path / "alice.zip"
    with run_product(tmp_path) as started_product, started_product.client("alice") as alice:
        add_conversation(
            alice, build_conversation_body("harbour", "The harbour is lovely in spring.")
        )
        at = ("--origin", started_product.origin, "--uid", "alice")
        export = run_command("export", *at, "--out", str(out))
        nobody = ("--origin", started_product.origin, "--uid", "alise")
        empty_export = run_command("export", *nobody, "--out", str(tmp_path / "alise.zip"))
        erasure = run_command("erase", *at, "--yes")
        with started_product.client("alice") as new_alice:
            remaining = new_alice.get("/v1/conversations").json()
            search_result = new_alice.post(
                "/v1/conversations/search", json={"query": "harbour"}
            ).json()

    assert (export.returncode, erasure.returncode) == (0, 0)
    assert export.stdout == f"keepsake: {out} holds everything of alice\n"
    assert empty_export.stdout.endswith("alise has nothing here yet; UID=… names another user\n")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "conversations/harbour.json" in zipfile.ZipFile(out).namelist()
    assert "are erased" in erasure.stdout
    assert (remaining, search_result["items"]) == ([], [])

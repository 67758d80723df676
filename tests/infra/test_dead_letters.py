"""`make dead-letters`: lists, shows and replays, while the product runs and while it does not (P29)."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from infra.local.routing import ROOT
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.conversations.conversations import conversation_path
from shared.data.store.codec import dump
from shared.data.store.dead_letters import DeadLetters
from shared.domain.store.dead_letter import Kind
from shared.domain.store.documents import Set
from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until
from tests.fixtures.processing import (
    ALICE,
    TALK,
    build_test_conversation,
)
from tests.fixtures.storage import INDEXES
from tests.functions.process_conversation.upkeep.test_dead_letters import build_letter

IDS = {"uid": ALICE, "conversation_id": TALK, "content_hash": None}


def run_command(
    data: Path, *arguments: str, module: str = "infra.dead_letters", **settings: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module, *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": ".", "DATA_DIR": str(data), **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def store_dead_letter(data: Path, kind: Kind = "event") -> str:
    """Store a conversation whose message became a dead letter, and return the letter's id."""
    database = SqliteDatabase(data / "keepsake.db")
    documents = SqliteDocuments(database, INDEXES)
    path = conversation_path(ALICE, TALK)
    dead_letter = build_letter(IDS)
    if kind == "trigger":
        changes = {"kind": kind, "name": path, "target": "on_conversation_written"}
        dead_letter = type(dead_letter)(**{**dump(dead_letter), **changes})
    asyncio.run(
        documents.write(
            Set(path, {**dump(build_test_conversation()), "status": "failed", "failure": "x"})
        )
    )
    asyncio.run(DeadLetters(documents).put(dead_letter))
    database.close()
    return dead_letter.id


def is_completed(http: httpx.Client) -> bool | None:
    conversation = http.get(f"/v1/conversations/{TALK}").json()
    return conversation["status"] == "completed" or None


@pytest.mark.parametrize("kind", ["event", "trigger"])
def test_a_dead_letter_is_listed_shown_and_replayed_then_removed(
    tmp_path: Path, kind: Kind
) -> None:
    data = tmp_path / "data"
    name = store_dead_letter(data, kind)

    listing = run_command(data)
    details = run_command(data, "--show", name)
    replay = run_command(data, "--replay", name)
    with run_product(tmp_path) as started_product, started_product.client(ALICE) as http:
        wait_until(lambda: is_completed(http))
        remaining = run_command(data)

    assert name in listing.stdout
    assert "status 503" in listing.stdout
    assert f"'conversation_id': '{TALK}'" in details.stdout
    assert "sent again" in replay.stdout
    assert remaining.stdout == "keepsake: no dead letters\n"


def test_all_dead_letters_are_replayed_while_the_product_runs(tmp_path: Path) -> None:
    data = tmp_path / "data"
    store_dead_letter(data)

    with run_product(tmp_path) as started_product, started_product.client(ALICE) as http:
        before = is_completed(http)
        replay = run_command(data, "--replay", "all")
        wait_until(lambda: is_completed(http))

    assert before is None
    assert replay.returncode == 0


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    without_data = run_command(tmp_path / "nowhere")
    store_dead_letter(tmp_path)
    unknown = run_command(tmp_path, "--replay", "nobody")

    assert without_data.returncode == unknown.returncode == 1
    assert "say where it is with DATA_DIR=" in without_data.stderr
    assert "make dead-letters lists them" in unknown.stderr


def test_data_of_another_version_is_reported_in_one_line(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "keepsake.db")) as older:
        older.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY)")

    result = run_command(tmp_path)

    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "was made by another version of Keepsake" in result.stderr


def test_a_folder_that_others_share_is_reported_in_one_line_s9(tmp_path: Path) -> None:
    store_dead_letter(tmp_path)
    tmp_path.chmod(0o1777)

    letters = run_command(tmp_path)
    reindexing = run_command(tmp_path, ALICE, module="infra.reindex")

    for result in (letters, reindexing):
        assert result.returncode == 1
        assert result.stderr == (
            f"keepsake: {tmp_path}: other accounts can open it: close it with chmod 700, or choose "
            "another folder with DATA_DIR=elsewhere\n"
        )


def test_without_a_login_to_the_cloud_one_line_says_how_to_log_in(tmp_path: Path) -> None:
    settings = {
        "KEEPSAKE_WORLD": "cloud",
        "CLOUDSDK_CONFIG": str(tmp_path),
        "NO_GCE_CHECK": "true",
    }

    refused = run_command(tmp_path, **settings)

    assert refused.returncode == 1
    assert refused.stderr == (
        "keepsake: there is no login to Google Cloud here: gcloud auth application-default login\n"
    )

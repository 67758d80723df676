"""P29: `make dead-letters` lists, shows and sends again, while the product serves and while not."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from infra.local.routing import ROOT
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.codec import dump
from shared.data.conversations import conversation_path
from shared.data.dead_letters import DeadLetters
from shared.domain.dead_letter import Kind
from shared.domain.documents import Set
from tests.functions.process_conversation.test_bury import letter
from tests.functions.process_conversation.world import ALICE, INDEXES, TALK, talk
from tests.worlds.product import product
from tests.worlds.waiting import wait_until

IDS = {"uid": ALICE, "conversation_id": TALK, "content_hash": None}


def dead_letters(data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "infra.dead_letters", *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": ".", "DATA_DIR": str(data)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def given_up(data: Path, kind: Kind = "event") -> str:
    """Store a conversation whose message died, and return the letter's id."""
    database = SqliteDatabase(data / "keepsake.db")
    documents = SqliteDocuments(database, FirestoreIndexes.read(INDEXES))
    path = conversation_path(ALICE, TALK)
    died = letter(IDS)
    if kind == "trigger":
        changes = {"kind": kind, "name": path, "target": "on_conversation_written"}
        died = type(died)(**{**dump(died), **changes})
    asyncio.run(documents.write(Set(path, {**dump(talk()), "status": "failed", "failure": "x"})))
    asyncio.run(DeadLetters(documents).put(died))
    database.close()
    return died.id


def completed(http: httpx.Client) -> bool | None:
    found = http.get(f"/v1/conversations/{TALK}").json()
    return found["status"] == "completed" or None


@pytest.mark.parametrize("kind", ["event", "trigger"])
def test_one_is_listed_shown_and_sent_again_and_then_gone(tmp_path: Path, kind: Kind) -> None:
    data = tmp_path / "data"
    name = given_up(data, kind)

    listed = dead_letters(data)
    shown = dead_letters(data, "--show", name)
    sent = dead_letters(data, "--replay", name)
    with product(tmp_path) as served, served.client(ALICE) as http:
        wait_until(lambda: completed(http))
        left = dead_letters(data)

    assert name in listed.stdout
    assert "status 503" in listed.stdout
    assert f"'conversation_id': '{TALK}'" in shown.stdout
    assert "sent again" in sent.stdout
    assert left.stdout == "keepsake: no dead letters\n"


def test_all_are_sent_again_while_the_product_serves(tmp_path: Path) -> None:
    data = tmp_path / "data"
    given_up(data)

    with product(tmp_path) as served, served.client(ALICE) as http:
        before = completed(http)
        sent = dead_letters(data, "--replay", "all")
        wait_until(lambda: completed(http))

    assert before is None
    assert sent.returncode == 0


def test_errors_say_what_to_do(tmp_path: Path) -> None:
    nowhere = dead_letters(tmp_path / "nowhere")
    given_up(tmp_path)
    unknown = dead_letters(tmp_path, "--replay", "nobody")

    assert nowhere.returncode == unknown.returncode == 1
    assert "say where it is with DATA_DIR=" in nowhere.stderr
    assert "make dead-letters lists them" in unknown.stderr


def test_data_of_another_version_is_one_line_too(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "keepsake.db")) as older:
        older.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY)")

    asked = dead_letters(tmp_path)

    assert (asked.returncode, asked.stderr.count("\n")) == (1, 1)
    assert "was made by another version of Keepsake" in asked.stderr

"""Import of a folder into the started product; a second run adds nothing (P31)."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from infra.emulators.process import find_free_port
from infra.local.routing import ROOT
from tests.e2e.product import run_product
from tests.local_key import build_command_environment
from tests.servers import run_server
from tests.servers.wearables import KEY, WearableServer, build_lifelog

WALK = "We meet at ten at the station and walk over the hill to the lake. " * 5


def run_import(
    origin: str, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "infra.local.import_", "--origin", origin, *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**build_command_environment(), **environment},
        stdin=subprocess.DEVNULL,
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
        conversations = alice.get("/v1/conversations", params={"limit": 100}).json()
    assert (first.returncode, second.returncode) == (1, 1)
    assert "(28 of them were there already)" in second.stdout
    for run in (first, second):
        assert "28 conversations from 28 files" in run.stdout
        assert "2 failures" in run.stdout
        assert re.search(r"broken\.json: its JSON is broken at line 1", run.stderr)
        assert "broken.srt: it has no cues with words" in run.stderr
    assert [conversation["status"] for conversation in conversations] == ["completed"] * 28


def test_a_second_import_leaves_a_title_that_its_owner_changed(tmp_path):
    chat = tmp_path / "WhatsApp Chat with Hikers.txt"
    chat.write_text(
        f"27.01.26, 17:03 - Ann: {WALK}\n27.01.26, 17:04 - Bo: Good, I bring the map.\n"
    )
    with run_product(tmp_path) as started_product, started_product.client("alice") as alice:
        run_import(started_product.origin, "--wait", str(chat))
        [imported] = alice.get("/v1/conversations").json()
        path = f"/v1/conversations/{imported['id']}"
        alice.patch(path, json={"title": "The long walk"}).raise_for_status()
        run_import(started_product.origin, "--wait", str(chat))
        title = alice.get(path).json()["structured"]["title"]

    assert (imported["structured"]["title"], title) == ("Hikers", "The long walk")


def test_names_with_spaces_large_files_and_questions_are_imported(tmp_path):
    folder = tmp_path / "my files"
    folder.mkdir()
    (folder / "two words.txt").write_text("Ann: The train leaves.\nBo: Good.\n")
    (folder / ".hidden.txt").write_text("Ann: Psst.\n")
    (folder / "table.csv").write_text("a;b\n1;2\n")
    large = folder / "large.zip"
    with zipfile.ZipFile(large, "w") as archive:
        said = "Ann: I am in a large file.\nBo: So am I.\nAnn: Good.\n"
        archive.writestr("talk.txt", f"Talk\n\nThe rain goes on today.\n\n{said}")
        archive.writestr("video.mp4", b"\x00\x00\x00\x18ftypmp42" + bytes(26_000_000))
    with run_product(tmp_path) as started_product, started_product.client("alice") as alice:
        one = run_import(started_product.origin, "--wait", "--me", "Ann", f"{folder}/two words.txt")
        several = run_import(started_product.origin, "--wait", "--text", str(folder))
        conversations = alice.get("/v1/conversations", params={"limit": 100}).json()
        profile = alice.get("/v1/users/profile").json()

    assert "1 conversation from 1 file, nothing left out" in one.stdout
    assert "large.zip/video.mp4: it is sound or a film in an archive" in several.stderr
    assert "3 conversations from 3 files (1 of them were there already)" in several.stdout
    assert "1 text not read" in several.stdout
    assert "large.zip/talk.txt: The rain goes on today.: 5 words" in several.stderr
    assert "3 conversations without a date: dated as the file was last changed" in several.stdout
    assert "1 hidden file passed over" in several.stdout
    assert (len(conversations), profile["own_names"]) == (3, ["Ann"])


def test_the_past_months_of_a_wearable_come_by_a_key_that_is_no_argument(tmp_path):
    server = WearableServer(lifelogs=[build_lifelog(n) for n in range(25)])
    with (
        run_server(server.app) as api,
        run_product(tmp_path, LIMITLESS_BASE_URL=api, EGRESS_DEV_ORIGINS=api) as product,
        product.client("alice") as alice,
    ):
        command = product.origin, "--from", "limitless", "--wait"
        first = run_import(*command, LIMITLESS_API_KEY=KEY)
        again = run_import(*command, LIMITLESS_API_KEY=KEY)
        ended = run_import(*command, LIMITLESS_API_KEY="sk-of-last-year")
        conversations = alice.get("/v1/conversations", params={"limit": 100}).json()

    assert "25 conversations from 1 file, nothing left out" in first.stdout
    assert "(25 of them were there already)" in again.stdout
    assert "Limitless refuses the key: it is mistyped or has ended" in ended.stderr
    assert [run.returncode for run in (first, again, ended)] == [0, 0, 1]
    assert len(conversations) == 25


def test_a_wearable_without_a_key_is_not_asked():
    run = run_import("http://127.0.0.1:1", "--from", "bee", BEE_API_KEY="")

    assert (run.returncode, "keepsake: no key was given" in run.stdout) == (1, True)


def test_an_import_without_files_says_what_to_type():
    run = run_import("http://127.0.0.1:1")

    assert (run.returncode, "which files?" in run.stdout) == (1, True)


def test_an_import_without_the_servers_key_says_how_to_find_it(tmp_path, folder):
    with run_product(tmp_path) as started_product:
        run = run_import(started_product.origin, str(folder), LOCAL_KEY="another")

    assert "Start it with the same DATA_DIR" in run.stdout


def test_an_import_without_a_running_product_says_what_to_do(folder):
    run = run_import(f"http://127.0.0.1:{find_free_port()}", str(folder))
    assert run.returncode == 1
    assert "start it with make run" in run.stdout

"""Second worker: many jobs are delivered by two processes, and the second never outlives its use."""

import subprocess
import sys
from pathlib import Path

import httpx

from infra.local.routing import ROOT
from infra.local.second_worker import MANY_JOBS
from tests.e2e.product import run_product
from tests.e2e.waiting import wait_until

COUNT = 50 * MANY_JOBS


def build_files() -> list[tuple[str, tuple[str, bytes]]]:
    lines = [
        f"Ann: Let us meet at gate {number}.\nBen: I will bring map {number}.\n"
        for number in range(COUNT)
    ]
    return [("files", (f"talk-{number}.txt", line.encode())) for number, line in enumerate(lines)]


def list_completed(client: httpx.Client) -> list[str] | None:
    """Return the ids of all conversations once they are completed."""
    listed = client.get("/v1/conversations", params={"limit": 1000}).raise_for_status().json()
    names = [each["id"] for each in listed if each["status"] == "completed"]
    return names if len(names) >= COUNT else None


def test_many_conversations_are_processed_once_by_two_processes(tmp_path: Path) -> None:
    with run_product(tmp_path) as product, product.client("alice") as client:
        assert client.post("/v1/imports", files=build_files()).status_code == 202
        names = wait_until(lambda: list_completed(client), within_s=120)
        tasks = client.get("/v1/action-items", params={"limit": 1000}).json()

    assert len(names) == len(set(names)) == COUNT
    assert product.process.returncode == 0
    log = (tmp_path / "product.log").read_text()
    assert "second_worker_started" in log
    assert '"severity": "ERROR"' not in log
    descriptions = [task["description"] for task in tasks["action_items"]]
    assert len(descriptions) == len(set(descriptions))


def test_the_second_process_ends_when_the_server_is_gone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "infra.local.second_worker"]
    environment = {"PATH": "", "DATA_DIR": str(tmp_path / "data")}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.close()
        assert process.wait(60) == 0


def test_the_second_process_ends_when_there_is_nothing_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "infra.local.second_worker"]
    environment = {"PATH": "", "DATA_DIR": str(tmp_path / "data")}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE) as process:
        assert process.wait(60) == 0

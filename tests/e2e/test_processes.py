"""Entry points as deployed: each in a functions-framework process of its own, over one DATA_DIR."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from infra.emulators.process import find_free_port, run_server
from infra.local.queue_worker import HttpDelivery, QueueWorker
from infra.local.routing import ROOT, EntryPoint, load_entry_points, load_service_calls
from shared.adapters.embedded.local_identity import LocalIdentity, read_secret
from shared.adapters.embedded.local_service_identity import LocalServiceIdentity
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import DEAD_LETTERS_TOPIC, SqliteQueue
from shared.adapters.system_clock import SystemClock
from tests.old_app import parse_as_fixed_app

CONVERSATION = {
    "id": "offsite",
    "started_at": "2026-03-02T09:00:00+01:00",
    "finished_at": "2026-03-02T09:05:00+01:00",
    "source": "phone",
    "language": "en",
    "transcript_segments": [
        {"text": "The Lisbon offsite moves to Friday.", "speaker": "Ann", "is_user": False, "start": 0, "end": 4},
        {"text": "Good, I will book the train.", "speaker": "Me", "is_user": True, "start": 4, "end": 7},
    ],
}  # fmt: skip


@dataclass
class Processes:
    """The address of each entry point."""

    ports: dict[str, int]
    data_dir: Path

    def url(self, function: str, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.ports[function]}{path}"


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    data_dir = tmp_path_factory.mktemp("data")
    ports = {function.name: find_free_port() for function in load_entry_points()}
    with ExitStack() as stack:
        for function in load_entry_points():
            command = [
                *("env", "PYTHONPATH=.", f"DATA_DIR={data_dir}", "HOST=127.0.0.1"),
                f"TOOL_PROXY_URL=http://127.0.0.1:{ports['tool_proxy']}",
                *(sys.executable, "-W", "ignore", "-m", *build_server(function)),
                *("--host", "127.0.0.1", "--port", str(ports[function.name])),
            ]
            log = data_dir / f"{function.name}.log"
            stack.enter_context(run_server(command, port=ports[function.name], log=log, cwd=ROOT))
        yield Processes(ports, data_dir)


def build_server(function: EntryPoint) -> list[str]:
    """Return the module that serves a function, with its arguments."""
    if function.carries_sockets:
        return ["uvicorn", function.application]
    source = str(function.source)
    return ["functions_framework", "--asgi", "--target", function.name, "--source", source]


async def test_every_entry_point_is_healthy(processes: Processes) -> None:
    async with httpx.AsyncClient(timeout=30) as http:
        for name in processes.ports:
            health = await http.get(processes.url(name, "/healthz"))
            assert health.json() == {"status": "ok", "function": name}


async def test_chat_finds_a_conversation_across_processes_p28(processes: Processes) -> None:
    secret = read_secret(processes.data_dir)
    queue = SqliteQueue(SqliteDatabase(processes.data_dir / "keepsake.db"), SystemClock())
    headers = {"Authorization": f"Bearer {LocalIdentity(secret).issue('alice')}"}
    services = LocalServiceIdentity(secret, load_service_calls(), SystemClock())
    async with (
        httpx.AsyncClient(headers=headers, timeout=30) as http,
        httpx.AsyncClient(timeout=30) as inner,
    ):
        worker = QueueWorker(
            queue,
            HttpDelivery(inner, services, url=processes.url, project="local"),
        )
        created = await http.post(processes.url("library", "/v1/conversations"), json=CONVERSATION)
        await worker.drain()
        stored = await http.get(processes.url("library", "/v1/conversations/offsite"))
        answer = await http.post(
            processes.url("chat", "/v2/messages"), json={"text": "When is the Lisbon offsite?"}
        )
        deletion = await http.delete(
            processes.url("library", "/v1/conversations/offsite?cascade=true")
        )
        await worker.drain()
        second_answer = await http.post(
            processes.url("chat", "/v2/messages"), json={"text": "And where is the Lisbon offsite?"}
        )

    assert (created.status_code, created.json()) == (202, {"id": "offsite", "status": "processing"})
    assert stored.json()["status"] == "completed"
    message = parse_as_fixed_app([answer.content]).done
    assert message is not None
    assert message["memories_id"] == ["offsite"]
    assert "Friday" in message["text"]
    assert deletion.is_success
    second_message = parse_as_fixed_app([second_answer.content]).done
    assert second_message is not None
    assert second_message["memories_id"] == []
    assert [job for job in await queue.claim(9) if job.name == DEAD_LETTERS_TOPIC] == []


def test_internal_entry_points_refuse_all_but_their_callers_s8(processes: Processes) -> None:
    now = datetime.now(UTC)
    calls = load_service_calls()
    services = LocalServiceIdentity(read_secret(processes.data_dir), calls, SystemClock())

    def post(function: str, account: str, audience: str, expires_at: datetime) -> int:
        token = services.issue_token(account, audience, expires_at=expires_at)
        headers = {"Authorization": f"Bearer {token}"}
        return http.post(processes.url(function), json={}, headers=headers).status_code

    soon, past = now + timedelta(hours=1), now - timedelta(minutes=6)  # clocks are five apart
    with httpx.Client() as http:
        for row in calls.rows:
            assert http.post(processes.url(row.function), json={}).status_code == 401, row
            assert post(row.function, row.account, row.function, past) == 401, row
            assert post(row.function, row.account, "chat", soon) == 401, row
            assert post(row.function, "fn-library", row.function, soon) == 403, row
            assert post(row.function, row.account, row.function, soon) not in (401, 403), row


def test_an_embedded_function_refuses_to_start_on_cloud_run(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from shared.wiring import settings; settings()"]
    environment = {"PYTHONPATH": ".", "K_SERVICE": "chat", "DATA_DIR": str(tmp_path)}

    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)

    assert process.returncode != 0
    assert b"KEEPSAKE_WORLD=embedded cannot run on Cloud Run" in process.stderr

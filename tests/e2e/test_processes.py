"""Entry points as deployed: those of a talk each in a process of its own, over one DATA_DIR."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from starlette.types import ASGIApp

from infra.emulators.process import find_free_port, run_server
from infra.local.gateway import build_internal_app
from infra.local.queue_worker import HttpDelivery, QueueWorker
from infra.local.routing import ROOT, load_entry_points, load_service_calls
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


class Processes:
    """A process for each entry point that is asked, over one folder."""

    def __init__(self, data_dir: Path, stack: ExitStack) -> None:
        self.data_dir = data_dir
        self.settings = {"PYTHONPATH": ".", "HOST": "127.0.0.1", "DATA_DIR": str(data_dir)}
        self._stack = stack
        self._urls: dict[str, str] = {}

    def url(self, function: str, path: str = "/") -> str:
        """Return an address of an entry point, and start its process with the first one."""
        if function not in self._urls:
            [row] = [each for each in load_entry_points() if each.name == function]
            source = ("--source", str(row.source), "--target", function)
            framework = ("functions_framework", "--asgi", *source, "--host", "127.0.0.1")
            self._urls[function] = self.start(framework)
        return self._urls[function] + path

    def start(self, module: Sequence[str]) -> str:
        """Run a module of Python that takes a port; returns its address."""
        port = find_free_port()
        settings = (f"{name}={value}" for name, value in self.settings.items())
        python = (sys.executable, "-W", "ignore", "-m", *module, "--port", str(port))
        log = self.data_dir / f"{port}.log"
        server = run_server(("env", *settings, *python), port=port, log=log, cwd=ROOT)
        return f"http://{self._stack.enter_context(server)}"


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    with ExitStack() as stack:
        processes = Processes(tmp_path_factory.mktemp("data"), stack)
        processes.settings["TOOL_PROXY_URL"] = processes.url("tool_proxy")
        yield processes


@pytest.fixture(scope="module")
def internal(processes: Processes) -> str:
    """Serve all internal entry points in one process, as `make run` does: each below its name."""
    return processes.start(("uvicorn", "--factory", f"{__name__}:build_internal_functions"))


def build_internal_functions() -> ASGIApp:
    return build_internal_app(load_entry_points())


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


def test_internal_entry_points_are_healthy_and_refuse_all_but_their_callers_s8(
    processes: Processes, internal: str
) -> None:
    now = datetime.now(UTC)
    calls = load_service_calls()
    services = LocalServiceIdentity(read_secret(processes.data_dir), calls, SystemClock())

    def post(function: str, account: str, audience: str, expires_at: datetime) -> int:
        token = services.issue_token(account, audience, expires_at=expires_at)
        headers = {"Authorization": f"Bearer {token}"}
        return http.post(f"{internal}/{function}/", json={}, headers=headers).status_code

    soon, past = now + timedelta(hours=1), now - timedelta(minutes=6)  # clocks are five apart
    with httpx.Client(timeout=30) as http:
        for row in calls.rows:
            health = http.get(f"{internal}/{row.function}/healthz")
            assert health.json() == {"status": "ok", "function": row.function}
            assert http.post(f"{internal}/{row.function}/", json={}).status_code == 401, row
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

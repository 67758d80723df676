"""The product as `make run` starts it, in a process of its own, and the requests of its users."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from infra.emulators.process import Process, attend, find_free_port
from shared.adapters.trust_store import load_trust_store
from tests.e2e.fork_server import ForkedProcess
from tests.e2e.waiting import wait_until
from tests.local_key import KEY_HEADER, LOCAL_KEY
from tests.old_app import RenderedAnswer, parse_as_fixed_app

EXIT_TIMEOUT_S = 30


@dataclass(frozen=True, slots=True)
class Product:
    """A started product."""

    origin: str
    process: Process

    @contextmanager
    def client(self, uid: str) -> Iterator[httpx.Client]:
        """Sign in, and yield a client that is that user."""
        with httpx.Client(base_url=self.origin, verify=load_trust_store(), timeout=30) as client:
            answer = client.post("/local/token", json={"uid": uid}, headers=KEY_HEADER)
            client.headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['token']}"
            yield client


def build_command(**environment: str) -> Sequence[str]:
    """Return how `make run` starts it, without the model key of the environment."""
    settings = [f"{name}={value}" for name, value in build_settings(**environment).items()]
    return ["env", "-u", "OPENAI_API_KEY", *settings, sys.executable, "-m", "infra.local"]


def build_settings(**environment: str) -> Mapping[str, str]:
    """Add what every product of a test is given; an empty LOCAL_KEY lets it make its own."""
    return {"PYTHONPATH": ".", "LOCAL_KEY": LOCAL_KEY, **environment}


def start(log: Path, **environment: str) -> ForkedProcess:
    """Start it as that command does."""
    inherited = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    return ForkedProcess({**inherited, **build_settings(**environment)}, log)


@contextmanager
def run_product(folder: Path, **environment: str) -> Iterator[Product]:
    """Start the product on data in `folder`; a second start finds the data of the first."""
    log = folder / "product.log"
    variables = {"PORT": str(find_free_port()), "DATA_DIR": str(folder / "data"), **environment}
    port = int(variables["PORT"])
    process = start(log, **variables)
    with attend(process, port=port, log=log):
        yield Product(f"http://127.0.0.1:{port}", process)


def run_refused_start(folder: Path, **environment: str) -> tuple[int, str]:
    """Start a product that must refuse to start; return its exit code and its message."""
    variables = {"PORT": str(find_free_port()), "DATA_DIR": str(folder), **environment}
    with TemporaryDirectory() as beside:
        log = Path(beside) / "product.log"
        process = start(log, **variables)
        try:
            return process.wait(EXIT_TIMEOUT_S), log.read_text()
        finally:
            process.kill()


def build_model_environment(url: str) -> dict[str, str]:
    """Return the environment in which answers come from a model at `url`."""
    return {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": url}


def ask(http: httpx.Client, text: str, **query: str) -> RenderedAnswer:
    """Ask a question and read the answer as the app does."""
    answer = http.post("/v2/messages", json={"text": text}, params=query)
    return parse_as_fixed_app([answer.content])


def build_conversation_body(name: str, *lines: str) -> dict[str, Any]:
    """Build the body with which a client adds a conversation."""
    return {
        "id": name,
        "started_at": "2026-03-02T09:00:00+01:00",
        "finished_at": "2026-03-02T09:05:00+01:00",
        "source": "phone",
        "language": "en",
        "transcript_segments": [
            {"text": line, "speaker": "Ann", "is_user": False, "start": n, "end": n + 1}
            for n, line in enumerate(lines)
        ],
    }


def add_conversation(http: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """Add a conversation and return it once it is processed."""
    assert http.post("/v1/conversations", json=body).status_code == 202
    return wait_for_processing(http, body["id"])


def wait_for_processing(http: httpx.Client, name: str, *, within_s: float = 60.0) -> dict[str, Any]:
    """Wait until a conversation is completed or failed, and return it."""

    def load_if_ended() -> dict[str, Any] | None:
        current: dict[str, Any] = http.get(f"/v1/conversations/{name}").json()
        return current if current["status"] != "processing" else None

    return wait_until(load_if_ended, within_s=within_s)


def post_notification(
    http: httpx.Client, app: str, secret: str, message: str, *, key: str = "", uid: str = "alice"
) -> httpx.Response:
    """Post a notification to a user, as an app does."""
    body = {"aid": app, "uid": uid, "message": message}
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": key}
    return http.post("/v1/integrations/notification", json=body, headers=headers)


def wait_for_inbox(http: httpx.Client, count: int) -> list[dict[str, Any]]:
    """Wait until the inbox holds `count` notifications, and return them."""

    def load_if_complete() -> list[dict[str, Any]] | None:
        items: list[dict[str, Any]] = http.get("/v1/inbox").json()["items"]
        return items if len(items) >= count else None

    return wait_until(load_if_complete)

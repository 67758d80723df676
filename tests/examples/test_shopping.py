"""The example that docs/apps.md walks through, as the README's third command starts it (T1–T8)."""

import contextlib
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from standardwebhooks import Webhook
from starlette.testclient import TestClient

from examples.shopping.shop import Lists, Shop
from infra.emulators.process import free_port, started
from infra.local.routing import ROOT
from tests.worlds.product import ask, product
from tests.worlds.waiting import wait_until

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = datetime.now(UTC)


@pytest.fixture
def http() -> Iterator[TestClient]:
    with TestClient(Shop(Lists(":memory:"), SECRET).served) as client:
        yield client


def signed(body: str = "", *, call: str = "msg_1") -> dict[str, str]:
    return {
        "webhook-id": call,
        "webhook-timestamp": str(int(NOW.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(call, NOW, body),
    }


def add(http: TestClient, item: str, *, call: str) -> dict[str, str]:
    body = json.dumps({"uid": "alice", "item": item})
    said: dict[str, str] = http.post("/add", content=body, headers=signed(body, call=call)).json()
    return said


def listed(http: TestClient) -> str:
    shown = http.get("/list", params={"uid": "alice"}, headers=signed())
    return str(shown.json()["result"])


def test_a_call_that_comes_twice_counts_once(http: TestClient) -> None:
    for _ in range(2):
        said = add(http, "oat milk", call="msg_1")
        assert said == {"result": "oat milk is on the shopping list."}
    add(http, "tea", call="msg_2")

    assert listed(http) == "oat milk, tea"


def test_what_was_bought_leaves_the_list_and_what_was_never_there_is_said(http: TestClient) -> None:
    add(http, "Tea", call="msg_1")
    body = json.dumps({"uid": "alice", "item": "tea"})

    first, second = (
        http.post("/tick-off", content=body, headers=signed(body)).json() for _ in range(2)
    )

    assert (first, second) == (
        {"result": "tea is ticked off."},
        {"error": "There is no 'tea' on the list."},
    )
    assert listed(http) == "The shopping list is empty."


@pytest.mark.parametrize("headers", [{}, signed("another body")])
def test_t8_a_call_without_a_signature_that_holds_is_refused(
    http: TestClient, headers: dict[str, str]
) -> None:
    body = json.dumps({"uid": "alice", "item": "poison"})

    assert http.post("/add", content=body, headers=headers).status_code == 401
    assert listed(http) == "The shopping list is empty."


def test_the_command_connects_the_app_and_again_after_a_restart(tmp_path: Path) -> None:
    port = free_port()
    allowed = {"EGRESS_DEV_ORIGINS": f"http://127.0.0.1:{port}"}
    with product(tmp_path, **allowed) as keepsake, keepsake.client("alice") as alice:
        for _ in range(2):
            with example(port, keepsake.origin, tmp_path) as log:
                said = wait_until(partial(_ready, log))
                assert "oat milk is on the shopping list." in said
                assert ask(alice, "What is on the shopping list?").text == "oat milk"
        assert [app["name"] for app in alice.get("/v1/apps").json()] == ["Shopping list"]


@contextlib.contextmanager
def example(port: int, origin: str, folder: Path) -> Iterator[Path]:
    """Run `make example` and yield what it says."""
    command = ["env", "PYTHONPATH=.", sys.executable, "-m", "examples.shopping"]
    arguments = ["--origin", origin, "--port", str(port)]
    log = folder / "example.log"
    log.unlink(missing_ok=True)
    with started([*command, *arguments], port=port, log=log, cwd=ROOT):
        yield log


def _ready(log: Path) -> str | None:
    said = log.read_text()
    return said if "now ask in the console" in said else None

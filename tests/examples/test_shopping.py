"""Shopping example of docs/apps.md, as `make example` starts it (T1–T8)."""

import contextlib
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from examples.shopping.shop import ShoppingLists, ShoppingServer
from infra.emulators.process import find_free_port, run_process
from infra.local.routing import ROOT
from shared.outbound.webhook_signature import sign
from tests.e2e.product import ask, run_product
from tests.e2e.waiting import wait_until
from tests.local_key import LOCAL_KEY

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def http() -> Iterator[TestClient]:
    with TestClient(ShoppingServer(ShoppingLists(":memory:"), SECRET).app) as client:
        yield client


def build_signed_headers(
    method: str, target: str, body: str = "", *, call: str = "msg_1"
) -> dict[str, str]:
    url, now = f"https://list.example.com{target}", datetime.now(UTC)
    return sign([SECRET], call, now, method=method, url=url, body=body.encode())


def add(http: TestClient, item: str, *, call: str) -> dict[str, str]:
    body = json.dumps({"uid": "alice", "item": item})
    result: dict[str, str] = http.post(
        "/add", content=body, headers=build_signed_headers("POST", "/add", body, call=call)
    ).json()
    return result


def read_list(http: TestClient) -> str:
    target = "/list?uid=alice"
    response = http.get(target, headers=build_signed_headers("GET", target))
    return str(response.json()["result"])


def test_a_repeated_call_counts_once(http: TestClient) -> None:
    for _ in range(2):
        result = add(http, "oat milk", call="msg_1")
        assert result == {"result": "oat milk is on the shopping list."}
    add(http, "tea", call="msg_2")

    assert read_list(http) == "oat milk, tea"


def test_ticking_off_removes_an_item_and_reports_a_missing_one(http: TestClient) -> None:
    add(http, "Tea", call="msg_1")
    body = json.dumps({"uid": "alice", "item": "tea"})

    first, second = (
        http.post(
            "/tick-off", content=body, headers=build_signed_headers("POST", "/tick-off", body)
        ).json()
        for _ in range(2)
    )

    assert (first, second) == (
        {"result": "tea is ticked off."},
        {"error": "There is no 'tea' on the list."},
    )
    assert read_list(http) == "The shopping list is empty."


@pytest.mark.parametrize("signed_body", [None, "another body"])
def test_a_call_without_a_valid_signature_is_refused_t8(
    http: TestClient, signed_body: str | None
) -> None:
    body = json.dumps({"uid": "alice", "item": "poison"})
    headers = {} if signed_body is None else build_signed_headers("POST", "/add", signed_body)

    assert http.post("/add", content=body, headers=headers).status_code == 401
    assert read_list(http) == "The shopping list is empty."


@pytest.mark.parametrize(
    ("method", "target"), [("GET", "/list?uid=bob"), ("GET", "/list"), ("POST", "/list?uid=alice")]
)
def test_a_captured_header_opens_no_other_list_s7(
    http: TestClient, method: str, target: str
) -> None:
    headers = build_signed_headers("GET", "/list?uid=alice")

    assert http.request(method, target, headers=headers).status_code == 401


def test_the_command_connects_the_app_also_after_a_restart(tmp_path: Path) -> None:
    port = find_free_port()
    with run_product(tmp_path) as keepsake, keepsake.client("alice") as alice:
        for _ in range(2):
            with run_example(port, keepsake.origin, tmp_path) as log:
                output = wait_until(partial(_read_when_ready, log))
                question, _, answers = output.partition("example: alice replies: yes\n")
                assert "May “Shopping list” (developer alice, id `" in question
                assert "do “add to list” with exactly this?" in question
                assert "oat milk is on the shopping list." not in question
                assert "oat milk is on the shopping list." in answers
                assert ask(alice, "What is on the shopping list?").text == "oat milk"
        assert [app["name"] for app in alice.get("/v1/apps").json()] == ["Shopping list"]


@contextlib.contextmanager
def run_example(port: int, origin: str, folder: Path) -> Iterator[Path]:
    """Run `make example` and yield its output."""
    environment = ("PYTHONPATH=.", f"LOCAL_KEY={LOCAL_KEY}")
    command = ["env", *environment, sys.executable, "-m", "examples.shopping"]
    arguments = ["--origin", origin, "--port", str(port)]
    log = folder / "example.log"
    log.unlink(missing_ok=True)
    with run_process([*command, *arguments], port=port, log=log, cwd=ROOT):
        yield log


def _read_when_ready(log: Path) -> str | None:
    output = log.read_text()
    return output if "now ask in the console" in output else None

"""Traces: one through all functions, read from the logs of the started product (C75)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from shared.telemetry import hash_id
from tests.e2e.product import ask, build_conversation_body, run_product, wait_for_processing
from tests.e2e.test_apps import GardenFixture, GardenServer
from tests.e2e.waiting import wait_until
from tests.servers import run_server

CHAT_TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
LIBRARY_TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def build_trace_headers(trace_id: str) -> dict[str, str]:
    return {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01", "X-Request-Id": "r1"}


@dataclass
class HeaderRecordingGarden(GardenServer):
    """An app's server that records the headers of calls."""

    headers: list[str] = field(default_factory=list)

    async def _water(self, request: Request) -> JSONResponse:
        self.headers += request.headers.keys()
        return await super()._water(request)


@dataclass(frozen=True)
class TraceFixture:
    """Alice, an app's server, and the product's log."""

    alice: httpx.Client
    garden: HeaderRecordingGarden
    log: Path

    def read_requests(self, trace_id: str) -> list[dict[str, Any]]:
        lines = [text for text in self.log.read_text().splitlines() if trace_id in text]
        return [line for line in map(json.loads, lines) if line["message"] == "request"]

    def wait_for_functions(self, trace_id: str, *, awaited: str) -> set[str]:
        """List the functions that worked for a trace, once `until` is among them."""

        def list_if_complete() -> set[str] | None:
            names = {line["function"] for line in self.read_requests(trace_id)}
            return names if awaited in names else None

        return wait_until(list_if_complete)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[TraceFixture]:
    garden = HeaderRecordingGarden()
    with run_server(garden.build_app()) as garden.url:
        environment = {"EGRESS_DEV_ORIGINS": garden.url}
        with (
            run_product(tmp_path, **environment) as started_product,
            started_product.client("alice") as alice,
        ):
            yield TraceFixture(alice, garden, tmp_path / "product.log")


def test_a_question_is_one_trace_that_ends_at_the_tool_proxy_c75(
    world: TraceFixture,
) -> None:
    GardenFixture(world.alice, world.garden, None).install()
    ask(world.alice, "Please water the plants in the garden.")

    answer = world.alice.post(
        "/v2/messages",
        json={"text": "yes"},
        headers=build_trace_headers(CHAT_TRACE_ID),
    )

    assert answer.headers["x-request-id"] == "r1"
    assert world.wait_for_functions(CHAT_TRACE_ID, awaited="chat") >= {"chat", "tool_proxy"}
    assert {line["request_id"] for line in world.read_requests(CHAT_TRACE_ID)} == {"r1"}
    assert {line["uid"] for line in world.read_requests(CHAT_TRACE_ID) if "uid" in line} == {
        hash_id("alice")
    }
    assert all(
        "uid" in line
        for line in world.read_requests(CHAT_TRACE_ID)
        if line["function"] == "tool_proxy"
    )
    assert world.garden.calls
    assert not {"traceparent", "tracestate", "x-request-id"} & set(world.garden.headers)


def test_a_conversation_is_one_trace_from_the_library_to_its_processing_c75(
    world: TraceFixture,
) -> None:
    body = build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")

    response = world.alice.post(
        "/v1/conversations", json=body, headers=build_trace_headers(LIBRARY_TRACE_ID)
    )
    wait_for_processing(world.alice, "offsite")

    assert response.status_code == 202
    assert world.wait_for_functions(LIBRARY_TRACE_ID, awaited="process_conversation") >= {
        "library",
        "on_conversation_written",
        "process_conversation",
    }
    assert {line["request_id"] for line in world.read_requests(LIBRARY_TRACE_ID)} == {"r1"}

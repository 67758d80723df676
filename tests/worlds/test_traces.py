"""One trace through all functions, read from what the started product logs (C75)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from shared.telemetry import opaque
from tests.servers import running
from tests.worlds.product import conversation, processed, product
from tests.worlds.test_apps import Garden
from tests.worlds.test_apps import World as Apps
from tests.worlds.waiting import wait_until

ASKING = "4bf92f3577b34da6a3ce929d0e0e4736"
KEEPING = "0af7651916cd43dd8448eb211c80319c"


def carried(trace_id: str) -> dict[str, str]:
    return {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01", "X-Request-Id": "r1"}


@dataclass
class WatchedGarden(Garden):
    """Remembers what else a call brought."""

    headers: list[str] = field(default_factory=list)

    async def _water(self, request: Request) -> JSONResponse:
        self.headers += request.headers.keys()
        return await super()._water(request)


@dataclass(frozen=True)
class World:
    """Alice, an app's server, and the product's log."""

    alice: httpx.Client
    garden: WatchedGarden
    log: Path

    def requests(self, trace_id: str) -> list[dict[str, Any]]:
        lines = [text for text in self.log.read_text().splitlines() if trace_id in text]
        return [line for line in map(json.loads, lines) if line["message"] == "request"]

    def functions(self, trace_id: str, *, until: str) -> set[str]:
        """Name the functions that worked for a trace, once `until` has."""

        def there() -> set[str] | None:
            seen = {line["function"] for line in self.requests(trace_id)}
            return seen if until in seen else None

        return wait_until(there)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    garden = WatchedGarden()
    with running(garden.app()) as garden.url:
        environment = {"EGRESS_DEV_ORIGINS": garden.url}
        with product(tmp_path, **environment) as started, started.client("alice") as alice:
            yield World(alice, garden, tmp_path / "product.log")


def test_c75_a_question_is_one_trace_from_the_chat_to_the_proxy_and_ends_there(
    world: World,
) -> None:
    Apps(world.alice, world.garden, None).install()

    answer = world.alice.post(
        "/v2/messages",
        json={"text": "Please water the plants in the garden"},
        headers=carried(ASKING),
    )

    assert answer.headers["x-request-id"] == "r1"
    assert world.functions(ASKING, until="chat") >= {"chat", "tool_proxy"}
    assert {line["request_id"] for line in world.requests(ASKING)} == {"r1"}
    assert {line["uid"] for line in world.requests(ASKING) if "uid" in line} == {opaque("alice")}
    assert all("uid" in line for line in world.requests(ASKING) if line["function"] == "tool_proxy")
    assert world.garden.calls
    assert not {"traceparent", "x-request-id"} & set(world.garden.headers)


def test_c75_a_conversation_is_one_trace_from_the_library_to_its_processing(world: World) -> None:
    said = conversation("offsite", "The Lisbon offsite moves to Friday.")

    taken = world.alice.post("/v1/conversations", json=said, headers=carried(KEEPING))
    processed(world.alice, "offsite")

    assert taken.status_code == 202
    assert world.functions(KEEPING, until="process_conversation") >= {
        "library",
        "on_conversation_written",
        "process_conversation",
    }
    assert {line["request_id"] for line in world.requests(KEEPING)} == {"r1"}

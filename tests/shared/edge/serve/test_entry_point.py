"""Deployed entry points as functions-framework finds and serves them."""

from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from functions_framework.aio import create_asgi_app

from tests.fakes import FixedClock

pytestmark = pytest.mark.anyio
SOURCE = """
from shared.edge.declare.entry_points import EntryPoint
from shared.edge.serve.entry_point import serve
from tests.shared.edge.serve.test_entry_point import FakeDeps, build_deps

shop = EntryPoint(
    name="shop", deps=FakeDeps, routes=("tests.shared.edge.serve.orders:FIRST",), serves_pages=True
)
globals().update(serve((shop,), build_deps, cors_origins=lambda: ["https://ours.example"]))
"""
built: list["FakeDeps"] = []


@dataclass
class FakeDeps:
    identity = None
    service_identity = None
    clock = FixedClock()


def build_deps(_: type) -> FakeDeps:
    built.append(FakeDeps())
    return built[-1]


async def test_an_entry_point_serves_its_routes_and_builds_its_deps_with_the_first_request(
    tmp_path: Path,
):
    source = tmp_path / "main.py"
    source.write_text(SOURCE)
    built.clear()
    app = create_asgi_app("shop", str(source), "http")
    assert built == []

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        answers = [
            await client.get("/orders", headers={"Origin": "https://ours.example"})
            for _ in range(2)
        ]

    assert [answer.json() for answer in answers] == [{"status": "ok"}] * 2
    assert answers[0].headers["access-control-allow-origin"] == "https://ours.example"
    assert len(built) == 1


LATE_SOURCE = """
from shared.edge.declare.entry_points import EntryPoint
from shared.edge.serve.entry_point import serve
from tests.shared.edge.serve.test_entry_point import FakeDeps, build_deps

def point(name, *groups, first="FIRST"):
    places = [f"tests.shared.edge.serve.orders:{group}" for group in (first, *groups)]
    return EntryPoint(name=name, deps=FakeDeps, first=places[0], routes=tuple(places[1:]))

archive = EntryPoint(name="archive", deps=FakeDeps, routes=("tests.shared.edge.serve.orders:all_orders",))
table = (point("shop", "deletion", "all_orders"), point("booth", "nothing"), point("stall", "failing"), archive)
globals().update(serve(table, build_deps))
"""
loads: list[str] = []


def open_late_client(tmp_path: Path, function: str) -> httpx.AsyncClient:
    source = tmp_path / "main.py"
    source.write_text(LATE_SOURCE)
    loads.clear()
    transport = httpx.ASGITransport(create_asgi_app(function, str(source), "http"))
    return httpx.AsyncClient(transport=transport, base_url="http://shop")


async def test_late_routes_are_loaded_with_the_first_request_that_none_before_serves(
    tmp_path: Path,
):
    async with open_late_client(tmp_path, "shop") as client:
        first = [await client.get("/orders"), await client.get("/healthz")]
        loaded = [[*loads]]
        late = [await client.delete("/orders") for _ in range(2)]
        loaded += [[*loads]]
        last = [await client.patch("/orders") for _ in range(2)]
        refused = [await client.put("/orders"), await client.get("/carts")]

    assert [answer.status_code for answer in first] == [200, 200]
    assert [answer.status_code for answer in late] == [200, 200]
    assert [answer.status_code for answer in last] == [200, 200]
    assert [answer.status_code for answer in refused] == [405, 404]
    assert refused[1].headers["content-type"] == "application/problem+json"
    assert [answer.json()["detail"] for answer in refused] == [
        "This route does not take PUT. docs/openapi.json says what it takes.",
        "There is no such route. docs/openapi.json describes all of them.",
    ]
    assert [*loaded, loads] == [[], ["deletion"], ["deletion", "all_orders"]]


async def test_paths_of_the_first_routes_are_refused_and_redirected_as_without_late_ones(
    tmp_path: Path,
):
    async with open_late_client(tmp_path, "booth") as client:
        wrong_method = await client.put("/orders")
        slash = await client.get("/orders/")

    assert wrong_method.status_code == 405
    assert sorted(wrong_method.headers["allow"].split(", ")) == ["GET", "HEAD"]
    assert (slash.status_code, slash.headers["location"]) == (307, "http://shop/orders")


async def test_late_routes_whose_load_fails_are_loaded_with_the_next_request(tmp_path: Path):
    async with open_late_client(tmp_path, "stall") as client:
        failed = await client.delete("/orders")
        others = await client.get("/orders")
        again = await client.delete("/orders")

    assert failed.status_code == 500
    assert failed.headers["content-type"] == "application/problem+json"
    assert (others.status_code, again.status_code) == (200, 200)


async def test_an_entry_point_of_a_shared_file_loads_its_routes_with_its_first_request(
    tmp_path: Path,
):
    async with open_late_client(tmp_path, "archive") as client:
        loaded = [*loads]
        answers = [await client.get("/orders"), await client.delete("/orders")]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert (loaded, loads) == ([], ["all_orders"])

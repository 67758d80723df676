"""Load balancer: a request and its answer have the size and the time that Cloud Run allows (D8)."""

from collections.abc import AsyncIterator, Iterator

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from infra.local.routing import load_entry_points
from tests.cloud_local.load_balancer import MAX_BYTES, build_load_balancer
from tests.servers import run_server

CHAT, LIBRARY = "/v2/messages", "/v1/conversations"
TIMEOUTS_S = {"chat": 0.2}
LARGE = MAX_BYTES + 1


async def answer(request: Request) -> Response:
    """Answer as the query asks for: with its length, in pieces, or never whole."""

    async def stall() -> AsyncIterator[bytes]:
        yield b"begun"
        await anyio.sleep_forever()

    async def stream() -> AsyncIterator[bytes]:
        for _ in range(0, LARGE, MAX_BYTES // 4):
            yield bytes(MAX_BYTES // 4)

    await request.body()
    match request.url.query:
        case "announced":
            return Response(bytes(LARGE))
        case "in-pieces":
            return StreamingResponse(stream())
        case "stalling":
            return StreamingResponse(stall())
        case "silent":
            await request.receive()  # until the load balancer gives up
    return Response("well")


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    routes = [Route("/{path:path}", answer, methods=["GET", "POST"])]
    names = [function.name for function in load_entry_points()]
    with run_server(Starlette(routes=routes)) as function:
        timeouts_s = {**dict.fromkeys(names, 60.0), **TIMEOUTS_S}
        cloud = build_load_balancer(dict.fromkeys(names, function), timeouts_s, {})
        with run_server(cloud) as url, httpx.Client(base_url=url, timeout=60) as client:
            yield client


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (LIBRARY, 200),
        (f"{LIBRARY}?announced", 500),
        (f"{LIBRARY}?in-pieces", 200),
        (f"{CHAT}?silent", 504),
    ],
)
def test_an_answer_is_refused_for_its_announced_size_or_its_time_d8(
    http: httpx.Client, address: str, status: int
) -> None:
    assert http.get(address).status_code == status


def test_a_request_of_more_than_32_mib_is_refused_d8(http: httpx.Client) -> None:
    assert http.post(LIBRARY, content=bytes(LARGE)).status_code == 413


def test_an_answer_that_has_begun_ends_after_its_functions_time_d8(http: httpx.Client) -> None:
    assert http.get(f"{CHAT}?stalling").content == b"begun"

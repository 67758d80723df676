"""The guard on the way out, against real servers on loopback and a recorded seam."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from shared.adapters.guarded_egress import GuardedEgress, resolve_with_system
from shared.domain.errors import NotAllowed, TimedOut, TooLarge, Unavailable
from shared.ports import EgressRequest
from tests.servers import run_server

PUBLIC = "93.184.215.14"
visits: list[str] = []


async def hello(request: Request) -> Response:
    visits.append(request.url.path)
    return PlainTextResponse(f"{request.headers['host']} {(await request.body()).decode()}")


async def redirect(request: Request) -> Response:
    return RedirectResponse(str(request.url_for("hello")))


async def silence(_: Request) -> Response:
    await anyio.sleep(3)
    return Response()


async def trickle(_: Request) -> Response:
    async def drops():
        for _ in range(60):
            yield b"."
            await anyio.sleep(0.05)

    return StreamingResponse(drops())


async def flood(_: Request) -> Response:
    return Response(bytes(200_000))


def bomb(_: Request) -> Response:
    packed = gzip.compress(bytes(50_000_000))
    return Response(packed, headers={"content-encoding": "gzip"})


def packed(request: Request) -> Response:
    assert request.headers["accept-encoding"] == "gzip"
    return Response(gzip.compress(b"unpacked"), headers={"content-encoding": "gzip"})


def broken(_: Request) -> Response:
    return Response(b"not gzip", headers={"content-encoding": "gzip"})


def exotic(_: Request) -> Response:
    return Response(b"?", headers={"content-encoding": "br"})


def cookie(request: Request) -> Response:
    answer = PlainTextResponse(request.headers.get("cookie", "no cookie"))
    answer.set_cookie("seen", "yes")
    return answer


ROUTES = (hello, redirect, silence, trickle, flood, bomb, packed, broken, exotic, cookie)
APP = Starlette(
    routes=[Route(f"/{f.__name__}", f, methods=["GET", "POST"], name=f.__name__) for f in ROUTES]
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with run_server(APP) as url:
        yield url


@pytest.fixture
def egress(server: str) -> GuardedEgress:
    visits.clear()
    return GuardedEgress(dev_origins=[server])


def build_get(url: str, *, timeout_s: float = 5, max_bytes: int = 100_000) -> EgressRequest:
    return EgressRequest(
        method="GET", url=url, headers={}, timeout_s=timeout_s, max_bytes=max_bytes
    )


async def test_an_answer_comes_back_with_its_status_and_type(egress, server):
    request = EgressRequest(method="POST", url=f"{server}/hello", headers={}, body=b"said")

    response = await egress.send(request)

    assert (response.status, response.content_type) == (200, "text/plain; charset=utf-8")
    assert response.body.decode() == f"{server.removeprefix('http://')} said"


async def test_the_host_header_cannot_be_chosen(egress, server):
    request = EgressRequest(method="GET", url=f"{server}/hello", headers={"Host": "evil"})

    response = await egress.send(request)

    assert response.body.decode().startswith("127.0.0.1:")


async def test_a_redirect_is_returned_and_not_followed_t10(egress, server):
    response = await egress.send(build_get(f"{server}/redirect"))

    assert response.status == 307
    assert visits == []


async def test_an_answer_keeps_its_headers_by_lower_case_names(egress, server):
    response = await egress.send(build_get(f"{server}/redirect"))

    assert response.headers["location"] == f"{server}/hello"


@pytest.mark.parametrize("path", ["silence", "trickle"])
async def test_the_deadline_holds_for_the_whole_call(egress, server, path):
    with pytest.raises(TimedOut):
        await egress.send(build_get(f"{server}/{path}", timeout_s=0.2))


async def test_a_body_over_the_limit_is_refused(egress, server):
    with pytest.raises(TooLarge):
        await egress.send(build_get(f"{server}/flood"))


async def test_a_gzip_bomb_is_not_unpacked(egress, server):
    with pytest.raises(TooLarge):
        await egress.send(build_get(f"{server}/bomb"))


async def test_a_gzip_answer_is_decompressed(egress, server):
    response = await egress.send(build_get(f"{server}/packed"))

    assert response.body == b"unpacked"


@pytest.mark.parametrize("path", ["broken", "exotic"])
async def test_an_answer_that_cannot_be_unpacked_is_refused(egress, server, path):
    with pytest.raises(Unavailable):
        await egress.send(build_get(f"{server}/{path}"))


@pytest.mark.parametrize("path", ["flood", "bomb", "broken", "exotic", "trickle"])
async def test_only_the_status_counts_where_nobody_needs_the_body(egress, server, path):
    request = build_get(f"{server}/{path}", timeout_s=1.3)

    response = await egress.send(replace(request, is_body_needed=False))

    assert (response.status, response.body) == (200, b"")


async def test_a_body_that_nobody_needs_is_read_where_that_is_easy(egress, server):
    response = await egress.send(replace(build_get(f"{server}/packed"), is_body_needed=False))

    assert response.body == b"unpacked"


async def test_cookies_are_not_stored(egress, server):
    await egress.send(build_get(f"{server}/cookie"))

    second_response = await egress.send(build_get(f"{server}/cookie"))

    assert second_response.body == b"no cookie"


async def test_proxies_of_the_environment_are_ignored(egress, server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    response = await egress.send(build_get(f"{server}/hello"))

    assert response.status == 200


async def test_a_closed_port_is_unavailable(unused_url):
    with pytest.raises(Unavailable):
        await GuardedEgress(dev_origins=[unused_url]).send(build_get(unused_url))


@pytest.fixture
def unused_url() -> str:
    with run_server(APP) as url:
        return url


@dataclass
class RebindingResolver:
    """A name server that answers with the next list each time it is asked."""

    answers: list[list[str]]
    queries: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> list[str]:
        self.queries.append(host)
        return self.answers[min(len(self.queries), len(self.answers)) - 1]


@dataclass
class ConnectionRecorder:
    """Records what would have been connected to; addresses in `dead` do not answer."""

    dead_addresses: tuple[str, ...] = ()
    requests: list[httpx.Request] = field(default_factory=list)

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.host in self.dead_addresses:
            raise httpx.ConnectError("refused")
        return httpx.Response(200, stream=httpx.ByteStream(b"ok"))


def build_egress(resolve: RebindingResolver, wire: ConnectionRecorder) -> GuardedEgress:
    return GuardedEgress(resolve=resolve, transport=httpx.MockTransport(wire))


async def test_a_rebinding_name_is_connected_by_the_address_that_was_checked_t10():
    resolve, wire = RebindingResolver([[PUBLIC], ["127.0.0.1"]]), ConnectionRecorder()

    await build_egress(resolve, wire).send(build_get("https://app.example.com/tool"))

    assert resolve.queries == ["app.example.com"]
    assert [str(request.url) for request in wire.requests] == [f"https://{PUBLIC}/tool"]
    assert wire.requests[0].headers["host"] == "app.example.com"
    assert wire.requests[0].extensions["sni_hostname"] == "app.example.com"


async def test_every_call_checks_the_name_again_t10():
    resolve, wire = RebindingResolver([[PUBLIC], ["127.0.0.1"]]), ConnectionRecorder()
    egress = build_egress(resolve, wire)
    await egress.send(build_get("https://app.example.com/"))

    with pytest.raises(NotAllowed):
        await egress.send(build_get("https://app.example.com/"))

    assert len(wire.requests) == 1


@pytest.mark.parametrize("private", ["10.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::a00:1"])
async def test_one_private_address_among_public_ones_refuses_them_all_t10(private):
    wire = ConnectionRecorder()

    with pytest.raises(NotAllowed):
        await build_egress(RebindingResolver([[PUBLIC, private]]), wire).send(
            build_get("https://app.example.com/")
        )

    assert wire.requests == []


async def test_the_next_address_is_tried_when_one_does_not_answer():
    ipv6_address = "2606:4700::1"
    wire = ConnectionRecorder(dead_addresses=(ipv6_address,))

    response = await build_egress(RebindingResolver([[ipv6_address, PUBLIC]]), wire).send(
        build_get("https://a.example.com/")
    )

    assert response.status == 200
    assert [request.url.host for request in wire.requests] == [ipv6_address, PUBLIC]


async def test_the_system_resolver_returns_each_address_once():
    assert "127.0.0.1" in await resolve_with_system("localhost", 443)
    assert await resolve_with_system("127.0.0.1", 443) == ["127.0.0.1"]


async def test_a_name_that_does_not_resolve_is_unavailable():
    async def fail_to_resolve(*_: object) -> list[str]:
        raise OSError(-2, "Name or service not known")

    with pytest.raises(Unavailable):
        await GuardedEgress(resolve=fail_to_resolve).send(build_get("https://app.example.com/"))

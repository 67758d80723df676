"""Link checks: servers are asked through the guard, at once, and a page counts as gone by its status alone (M123)."""

from collections.abc import AsyncIterator, Collection
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from functions.tool_proxy.calls.call_routes import ROUTES as CALL_ROUTES
from functions.tool_proxy.calls.link_checks import find_broken_links
from functions.tool_proxy.calls.service_routes import ROUTES as SERVICE_ROUTES
from shared.adapters.guarded_egress import GuardedEgress
from shared.adapters.http_link_checker import HttpLinkChecker
from shared.domain.errors import TimedOut, TooLarge, Unavailable, Unreadable
from shared.edge.serve.http import build_application
from shared.ports import EgressRequest, EgressResponse
from tests.fakes import FixedClock
from tests.fixtures.callers import SERVICE_IDENTITY, build_service_headers, open_client
from tests.fixtures.storage import open_documents
from tests.fixtures.tool_proxy import build_deps
from tests.servers import run_server
from tests.servers.raw import build_routed_transport, run_raw_server, script_bytes

PRIVATE = "127.0.0.1"
GONE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
METHODS = ["GET", "HEAD"]


class Site:
    """A site of the web; `requests` are what it got."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.app = Starlette(routes=[Route("/{path:path}", self._answer, methods=METHODS)])

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(request.method, request.url.path) for request in self.requests]

    async def _answer(self, request: Request) -> Response:
        self.requests.append(request)
        match request.path_params["path"].split("/"):
            case ["status", status]:
                return Response(status_code=int(status))
            case ["only-get", status]:
                return Response(status_code=int(status) if request.method == "GET" else 404)
            case ["to", *path]:
                return RedirectResponse("/" + "/".join(path))
            case ["private"]:
                return RedirectResponse("https://127.0.0.1/secret")
            case ["loop"]:
                return RedirectResponse("/loop")
        return Response(b"x" * 5_000_000)


class CheckedSite:
    """A site and the way to ask for its pages through the tool proxy."""

    def __init__(self, site: Site, origin: str, checker: HttpLinkChecker) -> None:
        self.site = site
        self.origin = origin
        self.checker = checker

    async def find_broken(self, *paths: str) -> set[str]:
        broken = await self.checker.find_broken([self.origin + path for path in paths])
        return {url.removeprefix(self.origin) for url in broken}


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[CheckedSite]:
    site = Site()
    with open_documents(tmp_path) as documents, run_server(site.app) as origin:
        deps = build_deps(documents, FixedClock(), origins=[origin])
        with run_server(
            build_application("tool_proxy", (*CALL_ROUTES, *SERVICE_ROUTES), deps)
        ) as url:
            checker = HttpLinkChecker(url, SERVICE_IDENTITY, caller="after_turn")
            yield CheckedSite(site, origin, checker)


async def test_a_page_is_gone_by_404_and_410_alone_m123(web: CheckedSite) -> None:
    paths = [f"/status/{status}" for status in (200, 204, 401, 403, 404, 410, 429, 500, 503)]

    assert await web.find_broken(*paths) == {"/status/404", "/status/410"}


async def test_a_server_that_knows_no_head_is_asked_for_the_page_m123(web: CheckedSite) -> None:
    assert await web.find_broken("/only-get/200", "/only-get/404") == {"/only-get/404"}
    assert ("GET", "/only-get/200") in web.site.calls


async def test_a_page_that_is_there_is_asked_for_once_and_not_read_m123(web: CheckedSite) -> None:
    assert await web.find_broken("/large") == set()
    assert web.site.calls == [("HEAD", "/large")]


async def test_redirects_are_followed_within_the_guard_m123(web: CheckedSite) -> None:
    broken = await web.find_broken("/to/status/404", "/to/status/200", "/private", "/loop")

    assert broken == {"/to/status/404"}


async def test_nothing_in_a_check_names_a_user_m123(web: CheckedSite) -> None:
    await web.find_broken("/status/404")

    assert web.site.requests
    for request in web.site.requests:
        assert set(request.headers) == {"host", "user-agent", "accept", "accept-encoding", "connection"}  # fmt: skip
        assert request.headers["user-agent"] == "Keepsake/1.0"
        assert "content-length" not in request.headers


@pytest.mark.parametrize(
    "url",
    [
        "https://intern.example.com/x",
        "https://both.example.com/x",
        "https://127.0.0.1/x",
        "https://169.254.169.254/latest",
        "https://[::1]/",
        "https://localhost/",
        "https://metadata.goog/",
        "http://intern.example.com/",
        "https://user@intern.example.com/",
        "file:///etc/passwd",
        "https://intern\u2100.example.com/",
        "nonsense",
        "",
    ],
)
async def test_a_private_address_is_never_requested_m123(url: str) -> None:
    public = "93.184.215.14"
    addresses = {"intern.example.com": [PRIVATE], "both.example.com": [public, PRIVATE]}

    async def resolve(host: str, _: int) -> list[str]:
        return addresses.get(host, [PRIVATE])

    with run_raw_server(script_bytes(GONE)) as inside:
        transport = build_routed_transport({PRIVATE: inside, public: inside})
        egress = GuardedEgress(resolve=resolve, transport=transport)

        assert await find_broken_links(egress, [url]) == []
        assert inside.requests == []


@pytest.mark.parametrize(
    "failure", [TimedOut("slow"), Unavailable("down"), TooLarge("big"), Unreadable("odd")]
)
async def test_what_fails_may_work_again_m123(failure: Exception) -> None:
    class FailingEgress:
        def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None: ...

        async def send(self, _: EgressRequest) -> EgressResponse:
            raise failure

    assert await find_broken_links(FailingEgress(), ["https://slow.example.com/"]) == []


async def test_more_links_than_an_answer_has_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with open_documents(tmp_path) as documents:
        deps = build_deps(documents, FixedClock())
        headers = await build_service_headers("tool_proxy")
        async with open_client(
            "tool_proxy", (*CALL_ROUTES, *SERVICE_ROUTES), deps, headers
        ) as client:
            refusals = [
                await client.post("/links", json={"urls": urls})
                for urls in (["https://a.example"] * 11, ["x" * 3_000], "https://a.example", None)
            ]

    assert [response.status_code for response in refusals] == [413, 422, 422, 422]


async def test_a_proxy_that_does_not_answer_is_said_so() -> None:
    checker = HttpLinkChecker("http://127.0.0.1:9", SERVICE_IDENTITY, caller="after_turn")

    with pytest.raises(Unavailable, match=r"^The tool proxy does not answer.$"):
        await checker.find_broken(["https://a.example/"])

"""Gateway of the embedded world: requests from web pages of other origins are refused."""

from collections.abc import AsyncIterator

import httpx
import pytest

from infra.local.gateway import build_public_app
from shared.adapters.embedded.local_identity import LocalIdentity

pytestmark = pytest.mark.anyio
TOKEN = "/local/token"


@pytest.fixture
def identity() -> LocalIdentity:
    return LocalIdentity(b"secret")


@pytest.fixture
async def http(identity: LocalIdentity) -> AsyncIterator[httpx.AsyncClient]:
    hosts = ["127.0.0.1", "[::1]"]
    transport = httpx.ASGITransport(build_public_app([], identity, hosts=hosts))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
        yield client


async def test_a_token_is_for_the_requested_user(http, identity):
    answer = await http.post(TOKEN, json={"uid": "alice"})

    assert await identity.verify(answer.json()["token"]) == "alice"
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("body", [b"", b"[", b'{"uid": 7}', b'{"uid": "a/b"}', b'{"uid": ""}'])
async def test_a_token_request_without_a_valid_user_is_refused(http, body):
    assert (await http.post(TOKEN, content=body)).status_code == 422


async def test_an_oversized_token_request_is_not_read_to_its_end(http):
    async def endless() -> AsyncIterator[bytes]:
        yield b"x" * 2_000
        raise AssertionError("read on")

    large = await http.post(TOKEN, content=b"x" * 2_000)
    unmeasured = await http.post(TOKEN, content=endless())

    assert (large.status_code, unmeasured.status_code) == (413, 413)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""]
)
async def test_a_rebound_host_name_is_not_served(http, host):
    for path in ("/", TOKEN, "/healthz"):
        assert (await http.post(path, headers={"Host": host})).status_code == 421


async def test_the_console_allows_no_foreign_scripts_and_no_framing(http):
    page = await http.get("/", headers={"Host": "[::1]:8080"})

    policy = page.headers["content-security-policy"]
    assert page.status_code == 200
    assert {"default-src 'self'", "frame-ancestors 'none'", "form-action 'self'"} <= set(
        policy.split("; ")
    )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v9/nothing", 404),
        ("POST", "/v9/nothing", 405),
        ("DELETE", "/v1/apps/%0A/keys/k", 404),
    ],
)
async def test_an_unserved_path_is_answered_with_a_problem(http, method, path, status):
    answer = await http.request(method, path)

    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["status"]) == (status, status)

"""Gateway of the embedded world: requests from web pages of other origins are refused."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest

from infra.local.attempts import MAX_OF_AN_ADDRESS
from infra.local.gateway import build_public_app
from infra.local.local_key import LocalKey, LocalKeyCheck
from infra.local.token_endpoint import TokenEndpoint
from shared.adapters.embedded.local_identity import LocalIdentity
from tests.local_key import KEY_HEADER, LOCAL_KEY

pytestmark = pytest.mark.anyio
TOKEN = "/local/token"


@pytest.fixture
def identity() -> LocalIdentity:
    return LocalIdentity(b"secret")


@pytest.fixture
async def http(identity: LocalIdentity) -> AsyncIterator[httpx.AsyncClient]:
    """Reach a gateway for its own account, as one who knows its key."""
    key = LocalKey(secret=LOCAL_KEY, place="the note in the drawer")
    tokens = TokenEndpoint(identity, LocalKeyCheck(key))
    app = build_public_app([], tokens, hosts=["127.0.0.1", "[::1]"])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8080", headers=KEY_HEADER
    ) as client:
        yield client


async def test_a_token_is_for_the_requested_user(http, identity):
    answer = await http.post(TOKEN, json={"uid": "alice"})

    assert (await identity.verify(answer.json()["token"])).uid == "alice"
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("key", ["", " ", "wrong", LOCAL_KEY[:-1], f"{LOCAL_KEY}x", "é"])
async def test_without_the_key_there_is_no_token_but_a_sentence_s9(http, key):
    headers = {"X-Local-Key": key.encode()}

    answer = await http.post(TOKEN, json={"uid": "alice"}, headers=headers)

    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert (
        "It is the note in the drawer; programs send it in the header X-Local-Key."
        in answer.json()["detail"]
    )


async def test_the_body_of_a_request_without_the_key_is_not_read_s9(http):
    async def unread() -> AsyncIterator[bytes]:
        raise AssertionError("read")
        yield b""

    answer = await http.post(TOKEN, content=unread(), headers={"X-Local-Key": "wrong"})

    assert answer.status_code == 401


async def test_nobody_is_locked_out_by_guesses_at_a_key_s9(http):
    for _ in range(MAX_OF_AN_ADDRESS + 1):
        await http.post(TOKEN, json={"uid": "alice"}, headers={"X-Local-Key": "wrong"})

    assert (await http.post(TOKEN, json={"uid": "alice"})).status_code == 200


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


async def test_the_console_allows_no_foreign_scripts_no_framing_and_no_foreign_hold_on_its_window(
    http,
):
    page = await http.get("/", headers={"Host": "[::1]:8080"})

    policy = page.headers["content-security-policy"]
    assert page.status_code == 200
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert {"default-src 'self'", "frame-ancestors 'none'", "form-action 'self'"} <= set(
        policy.split("; ")
    )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v9/nothing", 404),
        ("POST", "/v9/nothing", 404),
        ("DELETE", "/v9/nothing", 404),
        ("POST", "/app.js", 405),
        ("POST", "/healthz", 405),
        ("GET", "/v9/nothing/", 404),
        ("DELETE", "/v1/apps/%0A/keys/k", 404),
    ],
)
async def test_an_unserved_path_is_answered_with_a_problem(http, method, path, status):
    answer = await http.request(method, path)

    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["status"]) == (status, status)


async def test_files_of_the_console_are_sent_compressed(http):
    answer = await http.get("/app.js", headers={"Accept-Encoding": "gzip"})

    assert answer.headers["content-encoding"] == "gzip"
    assert 'from "./api.js"' in answer.text


async def test_a_second_visit_asks_for_the_page_alone(http):
    page = await http.get("/")
    loaded = re.findall(r'(?:href|src)="(/at/[^"]+)"', page.text)

    files = [await http.get(path) for path in loaded]
    again = await http.get("/", headers={"If-None-Match": page.headers["etag"]})

    names = {path.split("/", maxsplit=3)[3] for path in loaded}
    assert names >= {"app.js", "style/base.css", "dom.js", "views/chat.js", "vendor/marked.esm.js"}
    assert {file.status_code for file in files} == {200}
    assert {file.headers["cache-control"] for file in files} == {
        "public, max-age=31536000, immutable"
    }
    assert page.headers["cache-control"] == "no-cache"
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["/app.js", f"/at/{'0' * 16}/app.js"])
async def test_a_file_that_is_not_asked_for_by_this_release_is_asked_for_anew(http, path):
    answer = await http.get(path)

    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")


@pytest.mark.parametrize(
    "path", ["/at/app.js", "/at/xyz/app.js", f"/at/{'0' * 16}/../../pyproject.toml"]
)
async def test_no_other_address_of_a_release_finds_a_file(http, path):
    assert (await http.get(path)).status_code == 404

"""Settings of the model on the local server: tested at entry, kept private, never sent back (U5)."""

import json
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import Message

from infra.local.gateway import build_public_app
from infra.local.local_key import LocalKey, LocalKeyCheck
from infra.local.model_endpoint import ModelEndpoint
from infra.local.token_endpoint import TokenEndpoint
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.adapters.embedded.model_file import NAME, ModelFile
from shared.models.model_notes import STEP_NOTES
from shared.settings import Settings
from tests.e2e.waiting import wait_until_async
from tests.local_key import KEY_HEADER, LOCAL_KEY
from tests.servers import run_server
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

pytestmark = pytest.mark.anyio
PATH = "/local/model"
SECRET = "sk-of-the-owner"


@pytest.fixture
def server() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as running:
        yield running


def connect(folder: Path, settings: Settings) -> httpx.AsyncClient:
    check = LocalKeyCheck(LocalKey(secret=LOCAL_KEY, place="the note"))
    tokens = TokenEndpoint(LocalIdentity(b"secret"), check)
    models = ModelEndpoint(settings, ModelFile(folder), check)
    app = build_public_app([], tokens, models, hosts=["127.0.0.1"])
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8080", headers=KEY_HEADER
    )


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with connect(tmp_path, Settings()) as client:
        yield client


def build_request(url: str, **fields: str) -> dict[str, str]:
    return {"kind": "compatible", "base_url": url, "api_key": SECRET, "model": "large", **fields}


async def test_a_model_that_answers_is_stored_in_a_private_file(http, server, tmp_path):
    answer = await http.put(PATH, json=build_request(server.url))

    assert (
        answer.json().items()
        >= {
            "source": "console",
            "kind": "compatible",
            "base_url": server.url,
            "model": "large",
            "small_model": "large",
        }.items()
    )
    assert server.requests[0].authorization == f"Bearer {SECRET}"
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert SECRET not in (await http.get(PATH)).text


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (Script(status=401, sticky=True), "refused the key"),
        (Script(status=404, sticky=True), "does not know the model"),
        (Script(status=429, error_code="insufficient_quota", sticky=True), "no quota left"),
    ],
)
async def test_a_model_that_fails_is_refused_with_the_cause(http, server, script, told, tmp_path):
    server.play(script)

    answer = await http.put(PATH, json=build_request(server.url))

    assert answer.status_code == 422
    assert told in answer.json()["detail"]
    assert SECRET not in answer.text
    assert not (tmp_path / NAME).exists()


async def test_a_model_that_takes_no_tools_is_stored_and_that_is_said(http, server):
    names = {"model": "gpt-6.1-sol", "small_model": "gpt-6-luna"}

    answer = await http.put(PATH, json=build_request(server.url, **names))

    assert STEP_NOTES["no_tools"] in answer.json()["notes"]
    assert answer.json()["facts"]["takes_tools"] is False


async def test_an_address_where_nothing_answers_is_refused(http):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    answer = await http.put(PATH, json=build_request(f"http://127.0.0.1:{port}/v1"))

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("There is no connection to the language model.")


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url": "file:///etc/passwd"},
        {"base_url": "http://name:word@127.0.0.1/v1"},
        {"base_url": "http://[::1"},
        {"api_key": "with space"},
        {"api_key": SECRET * 40},
        {"kind": "other"},
        {"model": ""},
        {"colour": "red"},
    ],
    ids=str,
)
async def test_settings_that_make_no_sense_are_refused_without_quoting_them(http, server, fields):
    answer = await http.put(PATH, json=build_request(server.url, **fields))

    assert answer.status_code == 422
    assert not server.requests
    assert SECRET not in answer.text


async def test_without_the_local_key_nothing_is_read_or_changed(http, server):
    for method, path in [("GET", PATH), ("PUT", PATH), ("DELETE", PATH), ("POST", f"{PATH}/names")]:
        answer = await http.request(
            method, path, json=build_request(server.url), headers={"X-Local-Key": "wrong"}
        )
        assert answer.status_code == 401
    assert not server.requests


async def test_the_stored_key_counts_at_its_own_address_alone(http, server):
    await http.put(PATH, json=build_request(server.url))
    with scripted_openai() as other:
        await http.put(PATH, json=build_request(server.url, api_key="", model="larger"))
        await http.put(PATH, json=build_request(other.url, api_key=""))

        assert server.requests[-1].authorization == f"Bearer {SECRET}"
        assert SECRET not in other.requests[-1].authorization


async def test_a_server_lists_its_models(http, server):
    answer = await http.post(f"{PATH}/names", json={"base_url": server.url})

    assert "gpt-6-sol" in answer.json()["models"]


async def test_a_server_that_lists_nothing_is_said_to(http):
    with run_server(Starlette()) as origin:
        answer = await http.post(f"{PATH}/names", json={"base_url": f"{origin}/v1"})

    assert answer.json()["detail"] == "This server does not list its models. Enter the name of one."


async def test_who_leaves_during_a_test_wants_neither_it_nor_the_model(tmp_path, server):
    server.play(Script(schema="extraction", stall_after=0))
    body = json.dumps(build_request(server.url)).encode()
    messages = iter([{"type": "http.request", "body": body}])

    async def receive() -> Message:
        if message := next(messages, None):
            return message
        await wait_until_async(find_request, within_s=30)
        return {"type": "http.disconnect"}

    async def find_request() -> object:
        return server.requests[0] if server.requests else None

    check = LocalKeyCheck(LocalKey(secret=LOCAL_KEY, place="the note"))
    endpoint = ModelEndpoint(Settings(), ModelFile(tmp_path), check)
    headers = [(b"x-local-key", LOCAL_KEY.encode()), (b"content-length", b"%d" % len(body))]
    scope = {"type": "http", "method": "PUT", "path": PATH, "headers": headers}
    response = await endpoint.handle(Request({**scope, "client": ("127.0.0.1", 1)}, receive))

    assert response.status_code == 409
    assert await anyio.to_thread.run_sync(server.requests[0].ended.wait, 30)
    assert server.requests[0].closed_early
    assert not (tmp_path / NAME).exists()


async def test_what_is_removed_is_gone(http, server, tmp_path):
    await http.put(PATH, json=build_request(server.url))

    answer = await http.delete(PATH)

    assert answer.json() == {"source": "offline"}
    assert not (tmp_path / NAME).exists()


async def test_what_the_environment_sets_is_shown_and_not_changed_here(tmp_path, server):
    async with connect(tmp_path, Settings(openai_api_key=SECRET)) as http:
        shown = await http.get(PATH)
        refused = await http.put(PATH, json=build_request(server.url))

    assert (shown.json()["source"], refused.status_code) == ("environment", 409)
    assert SECRET not in shown.text
    assert "OPENAI_API_KEY" in refused.json()["detail"]

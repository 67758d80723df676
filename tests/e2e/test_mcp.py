"""MCP in both directions at the started product: its library as a server, servers as apps (T19)."""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from mcp_types import TextContent
from pydantic import AnyUrl

from tests.e2e.product import (
    add_conversation,
    ask,
    build_conversation_body,
    build_model_environment,
    run_product,
)
from tests.servers import run_server_with_url
from tests.servers.mcp_authorization import FakeMcpProvider, build_guarded_app
from tests.servers.mcp_server import NotesMcp
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_editor_searches_with_a_key_until_the_key_is_revoked_t19(tmp_path, mode):
    with run_product(tmp_path) as started_product, started_product.client("alice") as alice:
        add_conversation(
            alice, build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")
        )
        key = alice.post("/v1/mcp/keys", json={"name": "Editor"}).json()
        headers = {"Authorization": f"Bearer {key['key']}"}
        url = f"{started_product.origin}/v1/mcp"

        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as editor,
        ):
            result = await editor.call_tool("search_conversations", {"query": "Lisbon"})
        alice.delete(f"/v1/mcp/keys/{key['id']}")
        refused = alice.post("/v1/mcp", headers=headers, json={})

    (content,) = result.content
    assert isinstance(content, TextContent)
    (conversation,) = json.loads(content.text)["conversations"]
    assert conversation["id"] == "offsite"
    assert refused.status_code == 401


@dataclass
class Owner:
    """A user's browser: it opens the page that a program sends it to, and allows what is asked there.

    `asked` lists the scopes. It is the storage of the official client's tokens, too.
    """

    http: httpx.Client
    asked: list[str] = field(default_factory=list)
    answer: dict[str, str] = field(default_factory=dict)
    tokens: list[OAuthToken] = field(default_factory=list)
    client_info: OAuthClientInformationFull | None = None

    async def open(self, url: str) -> None:
        page = self.http.get(url, follow_redirects=False)
        _, _, query = page.headers["location"].partition("/#/connect/")
        request = dict(parse_qsl(unquote(query)))
        shown = self.http.post("/v1/mcp/authorizations/preview", json=request).json()
        assert (shown["name"], shown["host"], shown["refusal"]) == ("Editor", "127.0.0.1", None)
        self.asked.append(request["scope"])
        body = {"request": request, "allows": "write"}
        answer = self.http.post("/v1/mcp/authorizations", json=body).json()
        self.answer = dict(parse_qsl(urlsplit(answer["return_url"]).query))

    async def come_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self.answer)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client_info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client_info = client_info


async def test_the_official_client_is_let_in_reads_asks_to_write_refreshes_and_ends_r8(tmp_path):
    with run_product(tmp_path) as started_product, started_product.client("alice") as alice:
        owner = Owner(alice)
        url = f"{started_product.origin}/v1/mcp"
        metadata = OAuthClientMetadata(
            client_name="Editor", redirect_uris=[AnyUrl("http://127.0.0.1:4711/callback")]
        )
        login = OAuthClientProvider(url, metadata, owner, owner.open, owner.come_back)
        async with (
            httpx2.AsyncClient(auth=login, timeout=30) as http,
            Client(streamable_http_client(url, http_client=http)) as editor,
        ):
            await editor.call_tool("get_memories", {})
            asked_to_read = list(owner.asked)
            await editor.call_tool("create_memory", {"content": "Likes trains."})
            login.context.token_expiry_time = 1  # long ago: it refreshes before its next request
            memories = await editor.call_tool("get_memories", {})
        programs = alice.get("/v1/mcp/programs").json()
        *_, last = owner.tokens
        assert owner.client_info
        form = {"token": last.refresh_token, "client_id": owner.client_info.client_id}
        alice.post("/v1/mcp/revoke", data=form)
        headers = {"Authorization": f"Bearer {last.access_token}"}
        refused = alice.post("/v1/mcp", headers=headers, json={})
        left = alice.get("/v1/mcp/programs").json()

    assert (asked_to_read, owner.asked) == (["read"], ["read", "read write"])
    assert [token.scope for token in owner.tokens] == ["read", "read write", "read write"]
    (content,) = memories.content
    assert isinstance(content, TextContent)
    assert [memory["content"] for memory in json.loads(content.text)["memories"]] == [
        "Likes trains."
    ]
    assert [program["scope"] for program in programs] == ["write"]
    assert (refused.status_code, left) == (401, [])


@pytest.mark.parametrize("wants_a_token", [False, True])
def test_a_question_calls_an_mcp_server_and_its_result_is_in_the_answer_t19(
    tmp_path, wants_a_token
):
    notes = NotesMcp()
    app = (
        partial(build_guarded_app, notes, FakeMcpProvider())
        if wants_a_token
        else lambda _: notes.build_app()
    )
    with (
        run_server_with_url(app) as origin,
        scripted_openai() as model,
        run_product(
            tmp_path, EGRESS_DEV_ORIGINS=origin, **build_model_environment(model.url)
        ) as started_product,
        started_product.client("alice") as alice,
    ):
        body = {"name": "Notes", "mcp_server_url": f"{origin}/mcp"}
        app_body = alice.post("/v1/apps/mcp", json=body).json()
        if wants_a_token:
            authorize(app_body["auth_url"], alice)
        alice.post("/v1/apps/enable", params={"app_id": app_body["app_id"]})
        ask(alice, "Which notes are there?")
        tool = next(name for name in list_offered_tools(model) if name.startswith("find"))
        model.play(
            Script(tool_calls=(ScriptedCall(name=tool, arguments='{"q": "milk"}'),)),
            Script(text="It says: milk, eggs."),
        )
        answer = ask(alice, "What does the note about milk say?")

    assert notes.calls == [("find", {"q": "milk"})]
    assert "milk, eggs" in answer.text
    result = list_answers(model)[-1]["messages"][-1]["content"]
    assert result == '<data from="app Notes">\nMilk, eggs.\n</data>'


def authorize(auth_url: str, alice: httpx.Client) -> None:
    """Follow the redirects as the owner's browser, which is not signed in."""
    with httpx.Client(cookies=alice.cookies, trust_env=False, timeout=30) as browser:
        page = browser.get(auth_url, follow_redirects=True)
    assert "Notes is connected" in page.text


def list_offered_tools(model: ScriptedOpenai) -> list[str]:
    return [tool["function"]["name"] for tool in list_answers(model)[-1]["tools"]]


def list_answers(model: ScriptedOpenai) -> list[dict[str, Any]]:
    """Return the requests for answers, without those that come beside and after them."""
    return [each.body for each in model.requests if "tools" in each.body]

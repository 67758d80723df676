"""MCP in both directions at the started product: its library as a server, servers as apps (T19)."""

import json
from functools import partial

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from tests.servers import running_at
from tests.servers.mcp_authorization import Provider, guarded_app
from tests.servers.mcp_server import NotesMcp
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai
from tests.worlds.product import ask, conversation, keep, product, with_model


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_t19_an_editor_with_a_key_finds_what_was_said_until_the_key_is_revoked(
    tmp_path, mode
):
    with product(tmp_path) as started, started.client("alice") as alice:
        keep(alice, conversation("offsite", "The Lisbon offsite moves to Friday."))
        key = alice.post("/v1/mcp/keys", json={"name": "Editor"}).json()
        headers = {"Authorization": f"Bearer {key['key']}"}
        url = f"{started.origin}/v1/mcp"

        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as editor,
        ):
            found = await editor.call_tool("search_conversations", {"query": "Lisbon"})
        alice.delete(f"/v1/mcp/keys/{key['id']}")
        refused = alice.post("/v1/mcp", headers=headers, json={})

    (content,) = found.content
    assert isinstance(content, TextContent)
    (hit,) = json.loads(content.text)["hits"]
    assert hit["conversation_id"] == "offsite"
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("wants_a_token", [False, True])
def test_t19_a_question_leads_to_a_call_of_an_mcp_server_and_its_answer_into_the_chat(
    tmp_path, wants_a_token
):
    notes = NotesMcp()
    app = partial(guarded_app, notes, Provider()) if wants_a_token else lambda _: notes.app()
    with (
        running_at(app) as origin,
        scripted_openai() as model,
        product(tmp_path, EGRESS_DEV_ORIGINS=origin, **with_model(model.url)) as started,
        started.client("alice") as alice,
    ):
        body = {"name": "Notes", "mcp_server_url": f"{origin}/mcp"}
        added = alice.post("/v1/apps/mcp", json=body).json()
        if wants_a_token:
            allow(added["auth_url"], alice)
        alice.post("/v1/apps/enable", params={"app_id": added["app_id"]})
        ask(alice, "Which notes are there?")
        tool = next(name for name in offered(model) if name.startswith("find"))
        model.play(
            Script(tool_calls=(ScriptedCall(name=tool, arguments='{"q": "milk"}'),)),
            Script(text="It says: milk, eggs."),
        )
        shown = ask(alice, "What does the note about milk say?")

    assert notes.calls == [("find", {"q": "milk"})]
    assert "milk, eggs" in shown.text
    told = model.requests[-1].body["messages"][-1]["content"]
    assert told == '<data from="app Notes">\nMilk, eggs.\n</data>'


def allow(auth_url: str, alice: httpx.Client) -> None:
    """Be the owner's browser, which asked and is sent back; it is not signed in."""
    with httpx.Client(cookies=alice.cookies, trust_env=False) as browser:
        page = browser.get(auth_url, follow_redirects=True)
    assert "Notes is connected" in page.text


def offered(model: ScriptedOpenai) -> list[str]:
    return [tool["function"]["name"] for tool in model.requests[-1].body["tools"]]

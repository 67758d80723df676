"""The library for MCP clients at the started product, asked by the official client (T19)."""

import json

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from tests.worlds.product import conversation, keep, product


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

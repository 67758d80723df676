"""Hosted MCP streams: how long they last, how many there may be, and what they leave (R7)."""

from datetime import timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from functions.library.programs.mcp_server.hosted_routes import (
    HEARTBEAT,
    MAX_STREAM,
    MAX_STREAMS_PER_HOUR,
    PING_PAUSE_S,
    SSE_PATH,
)
from functions.library.programs.mcp_server.messages import MAX_BATCH
from functions.library.programs.mcp_server.routes import MCP_ROUTES
from shared.resilience.key_rate_limiter import MAX_PER_MINUTE
from tests.fakes import AutoAdvanceClock, ScriptedModel
from tests.fixtures.callers import open_client
from tests.fixtures.library import build_client, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def world(database) -> ProcessingFixture:
    """A world whose clock goes on while somebody waits."""
    return build_processing_fixture(database, ScriptedModel(answers={}), clock=AutoAdvanceClock())


@pytest.fixture
async def client(world: ProcessingFixture) -> Any:
    async with build_client(world, ALICE) as owner:
        key = (await owner.post("/v1/mcp/keys", json={"name": "Editor"})).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    async with open_client("mcp", MCP_ROUTES, build_library_deps(world), headers) as client:
        yield client


async def begin_session(client: AsyncClient) -> dict[str, str]:
    answer = await client.post(SSE_PATH, json={**PING, "method": "initialize"})
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"]}


async def test_a_stream_ends_in_time_and_takes_no_messages_afterwards_r7(world, client):
    began_at = world.clock.now()

    stream = await client.get(SSE_PATH)

    event, data = stream.text.strip().split("\n")
    lasted = world.clock.now() - began_at
    assert event == "event: endpoint"
    assert MAX_STREAM <= lasted < MAX_STREAM + timedelta(seconds=5)
    assert (await client.post(data.removeprefix("data: "), json=PING)).status_code == 404
    assert not [path for path in await list_paths(world) if "/mcp_sessions/" in path]


async def test_a_session_has_a_stream_of_pings_r7(client):
    stream = await client.get(SSE_PATH, headers=await begin_session(client))

    assert stream.content == HEARTBEAT * int(MAX_STREAM.total_seconds() / PING_PAUSE_S)


async def test_a_user_opens_a_bounded_number_of_streams_an_hour_r7(world, client):
    session = await begin_session(client)
    began_at = world.clock.now()

    statuses = []
    for _ in range(MAX_STREAMS_PER_HOUR + 1):
        world.clock.time = began_at
        statuses.append((await client.get(SSE_PATH, headers=session)).status_code)

    assert statuses == [200] * MAX_STREAMS_PER_HOUR + [429]


async def test_every_message_of_a_list_counts_towards_the_limit_of_its_key_r7(client):
    batches = MAX_PER_MINUTE // MAX_BATCH

    statuses = [
        (await client.post(SSE_PATH, json=[PING] * MAX_BATCH)).status_code
        for _ in range(batches + 1)
    ]

    assert statuses == [200] * batches + [429]


async def test_a_stream_without_a_key_is_refused_r7(client):
    answer = await client.get(SSE_PATH, headers={"Authorization": "Bearer ks_mcp_alice.guessed"})

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_a_page_of_another_origin_reaches_no_hosted_route_r7(client):
    headers = {"origin": "https://evil.example"}

    for method in ("POST", "GET", "DELETE"):
        assert (await client.request(method, SSE_PATH, headers=headers)).status_code == 403


async def list_paths(world: ProcessingFixture) -> list[str]:
    return list((await world.load_everything())["documents"])

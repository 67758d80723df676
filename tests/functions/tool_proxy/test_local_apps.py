"""Apps on this machine: called once their developer allows it, where Keepsake serves this machine alone (T21)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.guarded_egress import GuardedEgress
from shared.ports import Documents
from tests.fakes import FixedClock, RecordingTasks
from tests.fixtures.notes_app import FIND_TOOL, NotesFixture, NotesServer, list_tool_names
from tests.fixtures.tool_proxy import ALICE, build_deps, replace_egress, serve_tool_proxy


@pytest.fixture
async def world(
    notes: NotesServer, notes_url: str, documents: Documents
) -> AsyncIterator[NotesFixture]:
    async with serve_world(notes, notes_url, documents, allows_local=True) as served:
        yield served


@asynccontextmanager
async def serve_world(
    notes: NotesServer, notes_url: str, documents: Documents, *, allows_local: bool
) -> AsyncIterator[NotesFixture]:
    clock, tasks = FixedClock(datetime.now(UTC)), RecordingTasks()
    egress = GuardedEgress(allows_local=allows_local)
    deps = replace_egress(build_deps(documents, clock, tasks=tasks), egress)
    async with serve_tool_proxy(deps) as (proxy_url, toolbox):
        yield NotesFixture(
            documents=documents, clock=clock, tasks=tasks, deps=deps, notes=notes,
            notes_url=notes_url, proxy_url=proxy_url, toolbox=toolbox,
        )  # fmt: skip


async def register(world: NotesFixture, *, allow_local: bool = False, **addresses: str) -> Any:
    integration = {"app_home_url": world.notes_url, **addresses}
    return await world.register(external_integration=integration, allow_local=allow_local)


async def test_a_server_on_this_machine_is_asked_about_once_and_then_works_t21(
    world: NotesFixture,
) -> None:
    question = await register(world)
    app = (await register(world, allow_local=True)).json()
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": app["id"]})
    renamed = await world.request("PATCH", f"/v1/apps/{app['id']}", json={"name": "Notes 2"})

    assert question.status_code == 422
    assert question.json()["code"] == "local_address"
    assert question.json()["origins"] == [world.notes_url]
    assert question.json()["detail"].startswith(f"{world.notes_url} is on this machine")
    assert (list_tool_names(app), app["refused_tools"]) == (["find"], [])
    assert (renamed.status_code, list_tool_names(renamed.json())) == (200, ["find"])
    assert await world.call(app["id"], q="x") == "Milk, eggs."


async def test_another_port_is_asked_about_again_t21(world: NotesFixture) -> None:
    app = (await register(world, allow_local=True)).json()
    path = f"/v1/apps/{app['id']}"
    changes = {"external_integration": {"webhook_url": "http://127.0.0.1:3000/hook"}}

    question = await world.request("PATCH", path, json=changes)
    allowed = await world.request("PATCH", path, json={**changes, "allow_local": True})

    assert question.json()["origins"] == [world.notes_url, "http://127.0.0.1:3000"]
    assert allowed.status_code == 200


async def test_a_port_that_no_address_of_the_app_names_is_never_called_t10(
    world: NotesFixture,
) -> None:
    world.notes.redirects = ["http://127.0.0.1:3000/"]

    app = (await register(world, allow_local=True)).json()

    assert app["chat_tools"] == []
    assert "must start with https" in app["refused_tools"][0]


async def test_a_deployment_calls_no_server_of_its_own_machine_t10(
    notes: NotesServer, notes_url: str, documents: Documents
) -> None:
    async with serve_world(notes, notes_url, documents, allows_local=False) as deployed:
        app = (await register(deployed, allow_local=True)).json()
        hook = await register(deployed, allow_local=True, webhook_url=f"{notes_url}/hook")
        server = await deployed.request(
            "POST",
            "/v1/apps/mcp",
            json={"name": "M", "mcp_server_url": notes_url, "allow_local": True},
        )

    assert app["chat_tools"] == []
    assert "must start with https" in app["refused_tools"][0]
    assert (hook.status_code, server.status_code) == (422, 400)


async def test_an_mcp_server_on_this_machine_is_asked_about_t21(world: NotesFixture) -> None:
    body = {"name": "M", "mcp_server_url": "http://localhost:3000/mcp"}

    question = await world.request("POST", "/v1/apps/mcp", json=body)
    allowed = await world.request("POST", "/v1/apps/mcp", json={**body, "allow_local": True})

    assert question.json()["origins"] == ["http://localhost:3000"]
    assert allowed.json()["detail"].startswith("The MCP server could not be asked: ")


async def test_a_registration_names_every_address_that_is_never_called_t20(
    world: NotesFixture,
) -> None:
    refused = await register(
        world,
        allow_local=True,
        webhook_url="http://notes.example.com/hook",
        setup_completed_url="https://10.0.0.7/setup",
    )

    assert refused.status_code == 422
    assert refused.json()["detail"] == (
        "`webhook_url` is refused: The address must start with https://. `setup_completed_url` is refused: "
        "The host must be a public DNS name, not an IP address or a local name."
    )


async def test_a_tool_whose_endpoint_is_never_called_is_refused_at_once_t20(
    world: NotesFixture,
) -> None:
    world.notes.tools = [
        FIND_TOOL,
        {**FIND_TOOL, "name": "far", "endpoint": "https://far.example.com:8443/"},
    ]

    app = (await register(world, allow_local=True)).json()

    assert list_tool_names(app) == ["find"]
    assert app["refused_tools"] == ["far: `endpoint` is refused: Port 8443 is not allowed."]

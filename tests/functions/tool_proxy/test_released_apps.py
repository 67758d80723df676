"""Released apps: manifests in the shapes of theirs are accepted whole, and their tools can be called (R3)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.domain.errors import ToolFailed
from tests.fixtures.notes_app import NotesFixture, list_tool_names
from tests.fixtures.tool_proxy import ALICE
from tests.servers import run_server

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
LIST = {"type": "array", "items": {"type": "string"}}
UNIT = {"type": "string", "enum": ["day", "week", "month"]}
TOOLS: dict[str, dict[str, dict[str, Any]]] = {
    "restaurants": {
        "search_places": {"query": TEXT, "area": TEXT},
        "show_menu": {"place_id": TEXT},
        "add_dish": {"dish_id": TEXT, "amount": NUMBER},
        "show_basket": {},
        "order_basket": {"address": TEXT},
    },
    "calendar": {
        "list_events": {"days": NUMBER, "calendar": TEXT},
        "create_event": {"title": TEXT, "start": TEXT, "guests": LIST, "all_day": FLAG},
        "delete_event": {"event_id": TEXT},
    },
    "sleep": {"read_sleep": {"span": UNIT}, "read_strain": {"span": UNIT}, "read_profile": {}},
    "issues": {
        "list_issues": {"project": TEXT, "state": {**UNIT, "enum": ["open", "closed"]}},
        "create_issue": {"title": TEXT, "body": TEXT, "labels": LIST},
        "comment_issue": {"issue": NUMBER, "text": TEXT},
    },
}
"""Apps by their subject, with the arguments of each tool; the first argument is required."""


def build_tool(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    properties = {key: {**kind, "description": f"The {key}"} for key, kind in arguments.items()}
    return {
        "name": name,
        "description": f"Use this to {name.replace('_', ' ')}.",
        "endpoint": f"/tools/{name}",
        "method": "POST",
        "parameters": {"properties": properties, "required": list(arguments)[:1]},
        "auth_required": True,
        "status_message": f"{name.replace('_', ' ').capitalize()}…",
    }


async def serve_manifest(request: Request) -> Response:
    tools = TOOLS[request.path_params["app"]]
    return JSONResponse({"tools": [build_tool(name, tools[name]) for name in tools]})


async def answer_call(request: Request) -> Response:
    """Answer as released apps do: a result, an error beside 200, or a link to sign in with 401."""
    body, name = await request.json(), request.path_params["name"]
    if name.startswith("delete"):
        return JSONResponse({"error": "There is no such event."})
    if name.startswith("order"):
        return JSONResponse({"error": "Please connect your account first."}, status_code=401)
    assert (body["uid"], body["tool_name"]) == (ALICE, name)
    return JSONResponse({"result": f"{name} is done: {body.get('query', '')}"})


@pytest.fixture
def notes_url() -> Iterator[str]:
    """Serve these apps instead of Notes."""
    routes = [
        Route("/{app}/tools.json", serve_manifest),
        Route("/tools/{name}", answer_call, methods=["POST"]),
    ]
    with run_server(Starlette(routes=routes)) as url:
        yield url


async def submit(world: NotesFixture, name: str) -> dict[str, Any]:
    """Submit an app as the form of the released app does."""
    integration: dict[str, Any] = {
        "app_home_url": world.notes_url,
        "chat_tools_manifest_url": f"{world.notes_url}/{name}/tools.json",
        "webhook_url": "",
        "triggers_on": None,
        "actions": [],
    }
    form = {
        "name": name.capitalize(),
        "capabilities": ["external_integration", "chat"],
        "external_integration": integration,
        "private": False,
    }
    parts = {"app_data": (None, json.dumps(form))}
    answer = await world.request("POST", "/v1/apps", files=parts)
    assert answer.status_code == 200, answer.text
    app: dict[str, Any] = answer.json()
    return app


@pytest.mark.parametrize("name", TOOLS)
async def test_an_app_is_accepted_with_all_its_tools_r3(world: NotesFixture, name: str):

    app = await submit(world, name)

    assert (list_tool_names(app), app["refused_tools"]) == (list(TOOLS[name]), [])
    assert {tool["auth_required"] for tool in app["chat_tools"]} == {True}


async def test_the_calls_of_an_app_are_answered_as_it_answers_r3(world: NotesFixture):
    ids = {}
    for name in ("restaurants", "calendar"):
        ids[name] = (await submit(world, name))["id"]
        query = {"app_id": ids[name]}
        await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    found = await world.call(ids["restaurants"], "search_places", query="soup")
    refused = await world.call(ids["calendar"], "delete_event", event_id="e1")
    with pytest.raises(ToolFailed, match="connect your account"):
        await world.call(ids["restaurants"], "order_basket", address="Main street")

    assert "There is no such event." in refused
    assert found == "search_places is done: soup"

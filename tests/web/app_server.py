"""Servers of third-party apps for the console's tests: one address, a manifest for each test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import BrowserContext
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.servers import run_server
from tests.web.console import Console

LOOK_TOOL = {
    "name": "look_up",
    "description": "Look something up",
    "endpoint": "/look",
    "method": "POST",
    "read_only": True,
    "auth_required": False,
    "parameters": {"properties": {"q": {"type": "string"}}, "required": ["q"]},
}
ADD_TOOL = {
    **LOOK_TOOL,
    "name": "add_to_basket",
    "description": "Add it to the basket",
    "read_only": False,
}
ORDER_TOOL = {**ADD_TOOL, "name": "order", "description": "Order it"}


@dataclass
class AppServer:
    """`declare(name, tools)` serves a manifest; an app that was not declared answers 404, a failing one 500."""

    url: str = ""
    tools_by_app: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failing_apps: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    result: Any = "It is done."

    def declare(self, name: str, *tools: dict[str, Any]) -> str:
        """Return the address of the manifest."""
        self.tools_by_app[name] = [{**tool, "endpoint": "/call"} for tool in tools]
        return f"{self.url}/{name}/tools.json"

    async def manifest(self, request: Request) -> JSONResponse:
        tools = self.tools_by_app.get(request.path_params["name"])
        return JSONResponse({"tools": tools}, status_code=404 if tools is None else 200)

    async def call(self, request: Request) -> JSONResponse:
        name = request.path_params["name"]
        self.calls.append(name)
        status = 500 if name in self.failing_apps else 200
        return JSONResponse({"result": self.result}, status_code=status)


@contextmanager
def run_app_server() -> Iterator[AppServer]:
    server = AppServer()
    routes = [
        Route("/{name}/tools.json", server.manifest),
        Route("/{name}/call", server.call, methods=["GET", "POST"]),
    ]
    with run_server(Starlette(routes=routes)) as server.url:
        yield server


def register_app(
    console: Console, context: BrowserContext, uid: str, manifest: str, **more: Any
) -> dict[str, Any]:
    """Register an app for `uid` over HTTP; returns it as its developer sees it."""
    integration = {
        "app_home_url": manifest.removesuffix("/tools.json"),
        "chat_tools_manifest_url": manifest,
        **more.pop("integration", {}),
    }
    app = {"capabilities": ["external_integration"], "external_integration": integration, **more}
    owner = console.sign_in_beside(context, uid)
    response = context.request.post(f"{console.origin}/v1/apps", data=app, headers=owner)
    assert response.ok, response.text()
    registered: dict[str, Any] = response.json()
    return registered

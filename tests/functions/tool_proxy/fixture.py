"""Test fixture of the tool proxy: an app's server, and the functions in front of it."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

from httpx import ASGITransport, AsyncClient, Response
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.responses import Response as Served
from starlette.routing import Route

from functions.tool_proxy.calls.http_transport import HttpTransport
from functions.tool_proxy.deps import McpDeps, ToolProxyDeps
from functions.tool_proxy.mcp_servers.mcp_manifest_source import McpManifestSource
from functions.tool_proxy.mcp_servers.mcp_transport import McpTransport
from functions.tool_proxy.ports import ManifestSource, Transport, TransportName
from functions.tool_proxy.registry.http_manifest_source import HttpManifestSource
from functions.tool_proxy.routes import ROUTES
from shared.adapters.embedded.local_identity import LocalIdentity, LocalServiceIdentity
from shared.adapters.guarded_egress import GuardedEgress
from shared.adapters.http_toolbox import HttpToolbox
from shared.data.stores import Stores
from shared.domain.ids import UserId
from shared.edge.http import build_application
from shared.outbound.app_limiter import AppLimiters
from shared.ports import Clock, Documents, Egress
from tests.fakes import CountingIds, FixedClock, RecordingTasks
from tests.functions.tool_proxy.services import build_mcp_deps, build_services_deps

SECRET = b"a secret of the tests, and of nobody else"
INDEXES = Path(__file__).parents[3] / "infra/firestore.indexes.json"
ALICE = UserId("alice")
FIND_TOOL = {
    "name": "find",
    "description": "Find a note",
    "endpoint": "/find",
    "parameters": {
        "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["q"],
    },
}


def build_tool(name: str, method: str) -> dict[str, Any]:
    return {**FIND_TOOL, "name": name, "method": method, "parameters": {"properties": {}}}


@dataclass
class NotesServer:
    """An app's server; remembers each call as it came.

    An app answers with its status in `statuses`; one in `slow` says so in `waiting`, and answers
    once it may `go_on`. Who does not wait so long is named in `left`.
    """

    tools: list[Any] = field(default_factory=lambda: [FIND_TOOL])
    chat_messages: Any = None
    manifest_status: int = 200
    redirects: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, bytes, dict[str, str]]] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    waiting: SimpleQueue[str] = field(default_factory=SimpleQueue)
    disconnected: SimpleQueue[str] = field(default_factory=SimpleQueue)
    go_on: Event = field(default_factory=Event)

    async def manifest(self, _: Request) -> Served:
        if self.redirects:
            return RedirectResponse(self.redirects.pop(0))
        content = {"tools": self.tools, "chat_messages": self.chat_messages}
        return JSONResponse(content, status_code=self.manifest_status)

    async def find(self, request: Request) -> JSONResponse:
        query, body = request.url.query, await request.body()
        self.calls.append((request.method, query, body, dict(request.headers)))
        app_id = json.loads(body)["app_id"] if body else ""
        if app_id in self.slow:
            await self._wait_until_resumed(request, app_id)
        status = self.statuses.get(app_id, 200)
        return JSONResponse({"result": "Milk, eggs."}, status_code=status)

    async def _wait_until_resumed(self, request: Request, app_id: str) -> None:
        """Answer when told to, or when the caller has left."""
        self.waiting.put(app_id)
        while not self.go_on.is_set():
            if await request.is_disconnected():
                self.disconnected.put(app_id)
                return
            await asyncio.sleep(0.01)

    def app(self) -> Starlette:
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return Starlette(
            routes=[
                Route("/.well-known/omi-tools.json", self.manifest),
                Route("/find", self.find, methods=methods),
            ]
        )


@dataclass
class ToolProxyFixture:
    documents: Documents
    clock: FixedClock
    tasks: RecordingTasks
    deps: ToolProxyDeps
    notes: NotesServer
    notes_url: str
    proxy_url: str
    toolbox: HttpToolbox

    async def request(
        self, method: str, path: str, *, uid: str = "dev", **options: Any
    ) -> Response:
        headers = {"Authorization": f"Bearer {LocalIdentity(SECRET).issue(uid)}"}
        transport = ASGITransport(build_application("apps", ROUTES, self.deps))
        async with AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, headers=headers, **options)

    async def register(self, **changes: Any) -> Response:
        url = f"{self.notes_url}/.well-known/omi-tools.json"
        integration = {"chat_tools_manifest_url": url, "webhook_url": "https://a.example.com/hook"}
        body = {"name": "Notes", "external_integration": integration, **changes}
        return await self.request("POST", "/v1/apps", json=body)

    async def install(self, uid: str = ALICE) -> dict[str, Any]:
        app: dict[str, Any] = (await self.register()).json()
        await self.request("POST", "/v1/apps/enable", uid=uid, params={"app_id": app["id"]})
        return app

    async def call(self, app_id: str, name: str = "find", /, **arguments: Any) -> str:
        call_id = self.deps.new_id()
        return await self.toolbox.call(ALICE, app_id, name, arguments, call_id=call_id)


def build_deps(
    documents: Documents,
    clock: FixedClock,
    *,
    origins: Sequence[str],
    tasks: RecordingTasks | None = None,
) -> ToolProxyDeps:
    """Wire the tool proxy over a store; its egress rules allow `origins`."""
    new_id, egress = CountingIds(), GuardedEgress(dev_origins=origins)
    mcp = build_mcp_deps(documents, clock=clock, new_id=new_id, egress=egress)
    return ToolProxyDeps(
        identity=LocalIdentity(SECRET),
        service_identity=LocalServiceIdentity(SECRET),
        clock=clock,
        new_id=new_id,
        egress=egress,
        stores=Stores(documents),
        services=build_services_deps(documents),
        mcp=mcp,
        tasks=tasks or RecordingTasks(),
        choose_transport=_build_transports(clock, egress, mcp),
        choose_manifest_source=_build_manifest_sources(egress, mcp),
        app_limiters=AppLimiters(),
    )


def replace_egress(deps: ToolProxyDeps, egress: Egress) -> ToolProxyDeps:
    mcp = replace(deps.mcp, egress=egress)
    return replace(
        deps,
        egress=egress,
        mcp=mcp,
        choose_transport=_build_transports(deps.clock, egress, mcp),
        choose_manifest_source=_build_manifest_sources(egress, mcp),
    )


def _build_transports(
    clock: Clock, egress: Egress, mcp: McpDeps
) -> Callable[[TransportName], Transport]:
    http, over_mcp = HttpTransport(egress=egress, clock=clock), McpTransport(deps=mcp)
    return lambda name: http if name == "http" else over_mcp


def _build_manifest_sources(
    egress: Egress, mcp: McpDeps
) -> Callable[[TransportName], ManifestSource]:
    http, over_mcp = HttpManifestSource(egress=egress), McpManifestSource(deps=mcp)
    return lambda name: http if name == "http" else over_mcp

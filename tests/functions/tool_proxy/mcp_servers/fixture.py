"""Apps that are MCP servers: the functions that serve them, on a database of their own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

from httpx import ASGITransport, AsyncClient, Response

from functions.tool_proxy.calls.call import call_tool
from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.routes import ROUTES
from shared.adapters.embedded.local_identity import LocalIdentity
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.domain.ids import AppId, UserId
from shared.edge.http import build_application
from shared.ports import Documents
from tests.fakes import InstantSleepClock
from tests.functions.tool_proxy.fixture import build_deps

SECRET = b"a secret of the tests, and of nobody else"
INDEXES = Path(__file__).parents[4] / "infra/firestore.indexes.json"
ALICE = UserId("alice")


@dataclass
class McpServersFixture:
    deps: ToolProxyDeps
    clock: InstantSleepClock
    documents: Documents
    cookies: dict[str, str] = field(default_factory=dict)

    async def request(
        self, method: str, path: str, *, uid: str = ALICE, **options: Any
    ) -> Response:
        headers = {"Authorization": f"Bearer {LocalIdentity(SECRET).issue(UserId(uid))}"}
        transport = ASGITransport(build_application("apps", ROUTES, self.deps))
        async with AsyncClient(transport=transport, base_url="http://test") as client:
            answer = await client.request(method, path, headers=headers, **options)
        cookies = SimpleCookie(answer.headers.get("set-cookie", ""))
        self.cookies |= {name: morsel.value for name, morsel in cookies.items()}
        return answer

    async def add(self, url: str, *, uid: str = ALICE) -> Response:
        body = {"name": "Notes", "mcp_server_url": url}
        return await self.request("POST", "/v1/apps/mcp", uid=uid, json=body)

    async def add_and_install(self, url: str) -> str:
        """Add a server and install it; returns the app's id."""
        response = await self.add(url)
        assert response.status_code == 200, response.text
        app_id: str = response.json()["app_id"]
        await self.request("POST", "/v1/apps/enable", params={"app_id": app_id})
        return app_id

    async def call(self, app_id: str, name: str = "find", /, **arguments: Any) -> str:
        return await call_tool(self.deps, ALICE, AppId(app_id), name, arguments)

    async def come_back(self, address: str) -> Response:
        """Be the browser that asked, and that an authorization server sends back."""
        transport = ASGITransport(build_application("apps", ROUTES, self.deps))
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        async with AsyncClient(transport=transport) as browser:
            return await browser.get(address, headers={"Cookie": cookie})

    async def get_app(self, app_id: str) -> Any:
        return await self.deps.stores.apps.get(AppId(app_id))


@contextmanager
def open_mcp_servers_fixture(folder: Path, origins: Sequence[str]) -> Iterator[McpServersFixture]:
    """Yield a world whose guard lets `origins` through."""
    database = SqliteDatabase(folder / "keepsake.db")
    documents = SqliteDocuments(database, FirestoreIndexes.read(INDEXES))
    clock = InstantSleepClock()
    yield McpServersFixture(
        clock=clock, documents=documents, deps=build_deps(documents, clock, origins=origins)
    )
    database.close()

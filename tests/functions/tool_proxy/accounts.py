"""A user with connected accounts in tests: a proxy over HTTP, and a provider that is a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from functions.tool_proxy.calls.call_routes import ROUTES
from functions.tool_proxy.deps import ServicesDeps
from shared.adapters.embedded.local_identity import LocalIdentity, LocalServiceIdentity
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.guarded_egress import GuardedEgress
from shared.adapters.http_toolbox import HttpToolbox
from shared.adapters.system_clock import RandomIds
from shared.domain.connection import Connection, OauthClient, Service, Tokens
from shared.domain.ids import UserId
from shared.edge.http import build_application
from shared.ports import Clock, Documents, Identity, ServiceIdentity
from shared.wiring import ROOT
from tests.fakes import FixedClock
from tests.functions.tool_proxy.services import build_services_deps
from tests.servers import run_server
from tests.servers.provider import CLIENT_ID, CLIENT_SECRET, FakeProvider

ADA = UserId("ada")
SECRET = b"0" * 32
PROVIDERS = ("google", "whoop", "notion", "x", "github", "perplexity")


@dataclass(frozen=True)
class AccountRouteDeps:
    """What the routes of connected accounts ask for."""

    services: ServicesDeps
    identity: Identity
    service_identity: ServiceIdentity


@dataclass
class AccountsFixture:
    """Ada may connect any service; all of them are `provider`."""

    documents: Documents
    clock: Clock
    provider: FakeProvider
    services: ServicesDeps
    toolbox: HttpToolbox
    app: ASGIApp

    async def connect(
        self,
        service: Service,
        *,
        uid: UserId = ADA,
        lifetime: Any = None,
        account: str = "ada@example.com",
    ) -> None:
        issued = self.provider.issue()
        connection = Connection(
            id=service, account=account, scopes=(), connected_at=self.clock.now()
        )
        tokens = Tokens(
            access_token=issued["access_token"],
            refresh_token=issued["refresh_token"],
            expires_at=None if lifetime is None else self.clock.now() + lifetime,
        )
        await self.services.tokens.connect(uid, connection, tokens)

    async def call(self, service: Service, tool: str, /, **arguments: Any) -> str:
        call_id = self.services.new_id()
        return await self.toolbox.call_service(ADA, service, tool, arguments, call_id=call_id)

    @property
    def requests(self) -> list[tuple[str, str]]:
        return [(request.method, request.path) for request in self.provider.requests]


@asynccontextmanager
async def open_accounts_fixture(
    folder: Path, provider: FakeProvider, *, clock: Clock | None = None
) -> AsyncIterator[AccountsFixture]:
    database = SqliteDatabase(folder / "keepsake.db")
    indexes = FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json")
    with run_server(provider.app) as url:
        async with open_accounts_fixture_on(
            SqliteDocuments(database, indexes), provider, url, clock
        ) as world:
            yield world
    database.close()


@asynccontextmanager
async def open_accounts_fixture_on(
    documents: Documents, provider: FakeProvider, url: str, clock: Clock | None = None
) -> AsyncIterator[AccountsFixture]:
    clock = clock or FixedClock()
    client = OauthClient(id=CLIENT_ID, secret=CLIENT_SECRET, base_url=url)
    services = build_services_deps(
        documents,
        clients=dict.fromkeys(PROVIDERS, client),
        clock=clock,
        egress=GuardedEgress(dev_origins=[url]),
        new_id=RandomIds(),
    )
    identity = LocalServiceIdentity(SECRET)
    deps: Any = AccountRouteDeps(services, LocalIdentity(SECRET), identity)
    app = build_application("tool_proxy", ROUTES, deps)
    with run_server(app) as proxy:
        toolbox = HttpToolbox(proxy, identity, clock)
        yield AccountsFixture(documents, clock, provider, services, toolbox, app)
        await toolbox.aclose()

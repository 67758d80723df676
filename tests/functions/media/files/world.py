"""Files in tests: the routes and the task that reads, over embedded storage."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from httpx import AsyncClient

from functions.media.deps import FileDeps
from functions.media.files.file_routes import ROUTES
from shared.data.account.quotas import Quotas
from shared.data.search.file_index import FileIndex
from shared.data.stores import Stores
from shared.domain.account.quota import EMBEDDED_LIMITS, QuotaName
from tests.fakes import CountingIds
from tests.fault_injection import FaultInjector, WatchedPort
from tests.fixtures.callers import (
    IDENTITY,
    SERVICE_IDENTITY,
    build_auth_headers,
    open_client,
)
from tests.fixtures.processing import ALICE, ProcessingFixture

FILES = "/v2/files"


def build_deps(
    world: ProcessingFixture, limits: Mapping[QuotaName, int] = EMBEDDED_LIMITS
) -> FileDeps:
    return FileDeps(
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        new_id=CountingIds(),
        stores=Stores(world.documents),
        quotas=Quotas(world.documents, limits),
        blobs=world.blobs,
        tasks=world.tasks,
        file_index=FileIndex(world.vectors),
        public_url="https://keepsake.example",
    )


def build_watched(world: ProcessingFixture, injector: FaultInjector) -> FileDeps:
    """Return dependencies whose every call may be cut off."""
    documents = WatchedPort(world.documents, injector)
    return replace(
        build_deps(world),
        stores=Stores(documents),
        quotas=Quotas(documents, EMBEDDED_LIMITS),
        blobs=WatchedPort(world.blobs, injector),
        tasks=WatchedPort(world.tasks, injector),
        file_index=FileIndex(WatchedPort(world.vectors, injector)),
    )


def open_files(deps: FileDeps, uid: str = ALICE) -> AsyncClient:
    return open_client("files", ROUTES, deps, build_auth_headers(uid))


async def send(client: AsyncClient, **contents: bytes) -> list[dict[str, Any]]:
    """Send files, named with `_` for the dot; return what the answer says of each."""
    form = [("files", (name.replace("_", "."), data)) for name, data in contents.items()]
    answer = await client.post(FILES, files=form)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found

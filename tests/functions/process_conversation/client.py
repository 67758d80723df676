"""The library over HTTP, as one of its owners."""

from typing import Any

from httpx import ASGITransport, AsyncClient

from functions.process_conversation.deps import LibraryDeps
from functions.process_conversation.routes import LIBRARY_ROUTES
from shared.data.search import Search
from shared.data.stores import Stores
from shared.domain.ids import UserId
from shared.edge.http import build_application
from shared.resilience.key_rate_limiter import KeyRateLimiter
from tests.fakes import CountingIds
from tests.functions.process_conversation.fixture import ProcessingFixture

BODY: dict[str, Any] = {
    "id": "talk",
    "started_at": "2026-03-02T10:00:00+01:00",
    "finished_at": "2026-03-02T10:30:00+01:00",
    "source": "phone",
    "language": "en",
    "transcript_segments": [
        {
            "text": "I'm allergic to peanuts, and the launch moved. " + "well " * 101,
            "speaker": "SPEAKER_00",
            "is_user": True,
            "start": 0,
            "end": 4.5,
        }
    ],
}
SEGMENT = BODY["transcript_segments"][0]
CONVERSATIONS = "/v1/conversations"


def build_library_deps(world: ProcessingFixture) -> LibraryDeps:
    return LibraryDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=world.clock,
        new_id=CountingIds(),
        stores=Stores(world.documents),
        index=world.deps.index,
        events=world.events,
        search=Search(world.documents, world.vectors),
        tasks=world.tasks,
        mcp_rate_limiter=KeyRateLimiter(),
    )


def build_client(world: ProcessingFixture, uid: str) -> AsyncClient:
    identity = world.deps.identity
    return AsyncClient(
        transport=ASGITransport(
            build_application("library", LIBRARY_ROUTES, build_library_deps(world))
        ),
        base_url="http://test",
        headers={"authorization": f"Bearer {identity.issue(UserId(uid))}"},  # type: ignore[attr-defined]
    )

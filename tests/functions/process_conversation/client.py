"""The library over HTTP, as one of its owners."""

from typing import Any

from httpx import ASGITransport, AsyncClient

from functions.process_conversation.processing.processing_routes import LIBRARY
from functions.process_conversation.wiring import LibraryDeps
from shared.data.accounts import Accounts, Erasures
from shared.data.mcp_keys import McpKeys
from shared.data.people import People
from shared.data.search import Search
from shared.domain.ids import UserId
from shared.edge.http import build_application
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
        conversations=world.deps.conversations,
        memories=world.deps.memories,
        action_items=world.deps.action_items,
        people=People(world.documents),
        index=world.deps.index,
        events=world.events,
        search=Search(world.documents, world.vectors),
        accounts=Accounts(world.documents),
        erasures=Erasures(world.documents),
        tasks=world.tasks,
        mcp_keys=McpKeys(world.documents),
    )


def build_client(world: ProcessingFixture, uid: str) -> AsyncClient:
    identity = world.deps.identity
    return AsyncClient(
        transport=ASGITransport(build_application("library", LIBRARY, build_library_deps(world))),
        base_url="http://test",
        headers={"authorization": f"Bearer {identity.issue(UserId(uid))}"},  # type: ignore[attr-defined]
    )

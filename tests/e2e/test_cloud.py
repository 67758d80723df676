"""The cloud's shape: a Firestore client writes, the trigger fires, Pub/Sub delivers, chat finds (P28).

Firestore, Pub/Sub and Auth are the real emulators; Pinecone is a local server that speaks its wire
format, reached through its real client.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import AsyncClient, Client
from starlette.applications import Starlette
from starlette.routing import Mount

from functions.chat.api.internal_routes import AFTER_TURN_ROUTES
from functions.chat.api.routes import ROUTES as CHAT
from functions.chat.deps import AfterTurnDeps, ChatDeps, Limits
from functions.chat.runs.incognito_chats import IncognitoChats
from functions.chat.runs.run_registry import RunRegistry
from functions.process_conversation.deps import ProcessDeps, TriggerDeps
from functions.process_conversation.processing.claims import Claims
from functions.process_conversation.processing.processing_routes import (
    PROCESS_ROUTES,
    TRIGGER_ROUTES,
)
from infra.emulators.eventarc import Eventarc, add_topic, add_trigger
from infra.emulators.firestore import run_firestore
from infra.emulators.pubsub import run_pubsub
from shared.adapters.cloud.firebase_identity import FirebaseIdentity
from shared.adapters.cloud.firestore_documents import FirestoreDocuments
from shared.adapters.cloud.pinecone_vectors import PineconeVectors
from shared.adapters.cloud.pubsub_events import PubsubEvents
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.missing_realtime import MissingRealtime
from shared.adapters.missing_transcriber import MissingTranscriber
from shared.adapters.silent_moderator import SilentModerator
from shared.adapters.store_clock import StoreClock
from shared.adapters.system_clock import RandomIds, SystemClock
from shared.data.account.quotas import Quotas
from shared.data.apps.cached_apps import CachedApps
from shared.data.chats.crisis_log import CrisisLog
from shared.data.search.file_index import FileIndex
from shared.data.search.library_index import LibraryIndex
from shared.data.search.question_meaning import QuestionMeanings
from shared.data.search.search import Search
from shared.data.store.omi_form import OmiForm
from shared.data.stores import Stores
from shared.domain.account.quota import CLOUD_LIMITS
from shared.edge.serve.http import build_application
from shared.security.pseudonyms import Pseudonyms
from tests.conftest import ROOT, run_or_skip
from tests.e2e.waiting import wait_until_async
from tests.fakes import MemoryBlobs, RecordingTasks, RecordingToolbox, UnmaskedModels
from tests.fixtures.callers import SERVICE_IDENTITY
from tests.fixtures.sealed import build_data_keys
from tests.old_app import parse_as_fixed_app
from tests.servers import run_server
from tests.servers.pinecone import API_KEY, FakePinecone

pytestmark = pytest.mark.emulators

PROJECT = "demo-keepsake"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def build_client_fields(*lines: str) -> dict[str, Any]:
    """Build the fields that a client may write."""
    return {
        "created_at": NOW,
        "started_at": NOW,
        "finished_at": NOW,
        "source": "phone",
        "language": "en",
        "transcript_segments": [
            {"text": line, "speaker": "Ann", "is_user": False, "start": n, "end": n + 1}
            for n, line in enumerate(lines)
        ],
    }


@dataclass(frozen=True)
class CloudFixture:
    """The addresses of the functions, and the client's documents."""

    chat: str
    token: str


def build_chat_app(vectors: PineconeVectors) -> Starlette:
    stores = Stores(create_documents())
    deps = ChatDeps(
        identity=FirebaseIdentity(project=PROJECT),
        service_identity=SERVICE_IDENTITY,
        clock=SystemClock(),
        new_id=RandomIds(),
        model=UnmaskedModels(model=OfflineModel()),
        moderator=SilentModerator(),
        build_transcriber=MissingTranscriber,
        build_realtime=MissingRealtime,
        events=PubsubEvents(project=PROJECT),
        tasks=RecordingTasks(),
        toolbox=RecordingToolbox(),
        stores=stores,
        data_keys=build_data_keys(stores.documents, SystemClock()),
        meanings=QuestionMeanings(),
        search=Search(stores.documents, vectors),
        crisis_log=CrisisLog(stores.documents, Pseudonyms(b"a key for tests")),
        index=LibraryIndex(vectors),
        file_index=FileIndex(vectors),
        blobs=MemoryBlobs(),
        offered_apps=CachedApps(stores.apps, SystemClock()),
        active_runs=RunRegistry(),
        incognito_chats=IncognitoChats(),
        quotas=Quotas(stores.documents, CLOUD_LIMITS),
        limits=Limits(),
    )
    return build_application("chat", CHAT, deps)


def build_after_turn_app(_: PineconeVectors) -> Starlette:
    deps = AfterTurnDeps(
        tasks=RecordingTasks(),
        identity=FirebaseIdentity(project=PROJECT),
        service_identity=SERVICE_IDENTITY,
        clock=SystemClock(),
        model=UnmaskedModels(model=OfflineModel()),
        stores=Stores(create_documents()),
        meanings=QuestionMeanings(),
        quotas=Quotas(create_documents(), CLOUD_LIMITS),
    )
    return build_application("after_turn", AFTER_TURN_ROUTES, deps)


def build_process_app(vectors: PineconeVectors) -> Starlette:
    documents = create_documents()
    deps = ProcessDeps(
        identity=FirebaseIdentity(project=PROJECT),
        service_identity=SERVICE_IDENTITY,
        clock=SystemClock(),
        model=UnmaskedModels(model=OfflineModel()),
        events=PubsubEvents(project=PROJECT),
        tasks=RecordingTasks(),
        stores=Stores(documents),
        quotas=Quotas(documents, CLOUD_LIMITS),
        blobs=MemoryBlobs(),
        claims=Claims(documents, SystemClock(), RandomIds()),
        index=LibraryIndex(vectors),
        search=Search(documents, vectors),
        meanings=QuestionMeanings(),
    )
    return build_application("process_conversation", PROCESS_ROUTES, deps)


def build_trigger_app(_: PineconeVectors) -> Starlette:
    deps = TriggerDeps(
        identity=FirebaseIdentity(project=PROJECT),
        service_identity=SERVICE_IDENTITY,
        clock=SystemClock(),
        events=PubsubEvents(project=PROJECT),
        omi_form=OmiForm(),
    )
    return build_application("on_conversation_written", TRIGGER_ROUTES, deps)


APP_BUILDERS: dict[str, Callable[[PineconeVectors], Starlette]] = {
    "chat": build_chat_app,
    "after_turn": build_after_turn_app,
    "process_conversation": build_process_app,
    "on_conversation_written": build_trigger_app,
}


def build_functions_app(url: str) -> Starlette:
    vectors = PineconeVectors(api_key=API_KEY, sparse_host=url)

    @asynccontextmanager
    async def closing(_: Starlette) -> AsyncIterator[None]:
        yield
        await vectors.aclose()

    routes = [Mount(f"/{name}", build(vectors)) for name, build in APP_BUILDERS.items()]
    return Starlette(routes=routes, lifespan=closing)


def create_documents() -> FirestoreDocuments:
    client = AsyncClient(project=PROJECT, credentials=AnonymousCredentials())
    return FirestoreDocuments(client, StoreClock(SystemClock()))


@pytest.fixture(scope="module")
def pubsub_emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run Pub/Sub for these tests: its subscriptions push to their functions."""
    log = tmp_path_factory.mktemp("cloud") / "pubsub.log"
    with run_or_skip(lambda: run_pubsub(log)) as address:
        yield address


@pytest.fixture(scope="module")
def chat(
    pubsub_emulator: str, auth_emulator: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Start Firestore with its triggers and every function; yields the chat's address."""
    with pytest.MonkeyPatch.context() as monkeypatch, ExitStack() as stack:
        monkeypatch.setenv("PUBSUB_EMULATOR_HOST", pubsub_emulator)
        monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", auth_emulator)
        urls: dict[str, str] = {}
        eventarc = Eventarc(service_identity=SERVICE_IDENTITY, url=lambda name: urls[name])
        relay_url = stack.enter_context(run_server(eventarc.build_application()))
        emulator = stack.enter_context(
            run_or_skip(
                lambda: run_firestore(
                    tmp_path_factory.mktemp("cloud") / "firestore.log",
                    rules=ROOT / "infra/firestore.rules",
                    functions=relay_url.removeprefix("http://"),
                )
            )
        )
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", emulator)
        vectors = stack.enter_context(run_server(FakePinecone().build_app()))
        # One server for all: gRPC's asyncio client serves one event loop in a process.
        functions = stack.enter_context(run_server(build_functions_app(vectors)))
        urls.update({name: f"{functions}/{name}/" for name in APP_BUILDERS})
        asyncio.run(connect_functions(emulator, pubsub_emulator, relay_url))
        yield f"{functions}/chat"


async def connect_functions(emulator: str, pubsub_emulator: str, relay_url: str) -> None:
    await add_trigger(
        emulator,
        project=PROJECT,
        pattern="users/{uid}/conversations/{id}",
        target="on_conversation_written",
    )
    for topic, targets in {
        "conversation.changed": ["process_conversation"],
        "conversation.processed": [],
        "turn.ended": ["after_turn"],
    }.items():
        await add_topic(
            pubsub_emulator, project=PROJECT, topic=topic, targets=targets, relay=relay_url
        )


@pytest.fixture
async def cloud(chat: str, auth_emulator: str) -> CloudFixture:
    return CloudFixture(chat=chat, token=await sign_up(auth_emulator))


async def sign_up(auth_emulator: str) -> str:
    url = f"http://{auth_emulator}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any"
    user = {"email": f"{uuid4().hex}@example.com", "password": "of a test"}
    async with httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(url, json={"returnSecureToken": True, **user})
    token: str = answer.json()["idToken"]
    return token


async def ask_for_citations(cloud: CloudFixture, question: str) -> list[str]:
    async with httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(
            f"{cloud.chat}/v2/messages",
            json={"text": question},
            headers={"Authorization": f"Bearer {cloud.token}"},
        )
    done = parse_as_fixed_app([answer.content]).done
    assert done is not None
    ids: list[str] = done["memories_id"]
    return ids


async def test_search_finds_created_and_edited_but_not_deleted_conversations_p28(
    cloud: CloudFixture,
) -> None:
    uid = (await FirebaseIdentity(project=PROJECT).verify(cloud.token)).uid
    client = Client(project=PROJECT, credentials=AnonymousCredentials())
    document = client.document(f"users/{uid}/conversations/offsite")

    async def is_completed_with(word: str) -> bool | None:
        fields = document.get().to_dict() or {}
        text = str(fields.get("transcript_segments"))
        return True if fields.get("status") == "completed" and word in text else None

    document.set(build_client_fields("The offsite in Lisbon moves to Friday."))
    await wait_until_async(lambda: is_completed_with("Lisbon"))
    cited_after_create = await ask_for_citations(cloud, "Where is the Lisbon offsite?")

    document.update(
        {
            "transcript_segments": build_client_fields("The offsite in Porto is on Monday.")[
                "transcript_segments"
            ]
        }
    )
    cited_by_old_text = await ask_for_citations(cloud, "What about Lisbon?")

    async def cite_by_new_text() -> list[str] | None:
        return await ask_for_citations(cloud, "What about Porto?") or None

    cited_by_new_text = await wait_until_async(cite_by_new_text)

    document.delete()
    cited_after_delete = await ask_for_citations(cloud, "And what about Porto now?")
    client.close()

    assert (cited_after_create, cited_by_old_text, cited_by_new_text, cited_after_delete) == (
        ["offsite"],
        [],
        ["offsite"],
        [],
    )


async def test_a_chat_gets_its_title_after_a_pubsub_event_p16(cloud: CloudFixture) -> None:
    await ask_for_citations(cloud, "When is the Lisbon offsite?")

    async def load_title() -> str | None:
        async with httpx.AsyncClient(timeout=30) as http:
            response = await http.get(
                f"{cloud.chat}/v2/chat-sessions/main",
                headers={"Authorization": f"Bearer {cloud.token}"},
            )
        title: str = response.json()["title"]
        return title if title != "New Chat" else None

    assert await wait_until_async(load_title) == "When is the Lisbon offsite?"

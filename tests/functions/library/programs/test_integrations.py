"""Integrations: apps read and write a user's library by key, installation and action (T17)."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from httpx import AsyncClient, Response
from jsonschema import Draft202012Validator

from functions.library.deps import AppRequestDeps
from functions.library.programs.integrations.authorization import MAX_REQUESTS_PER_HOUR
from functions.library.programs.integrations.library_writer import (
    store_conversation,
)
from functions.library.routes import INTEGRATION_ROUTES
from infra.local.routing import ROOT
from shared.data.account.quotas import Quotas
from shared.data.apps.apps import hash_key
from shared.data.apps.cached_apps import CallingApps
from shared.data.conversations.conversations import Conversations
from shared.data.search.search import Search
from shared.data.stores import Stores
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.apps.app import ApiKey, App, ExternalIntegration, InstalledApp
from shared.domain.conversations.conversation import Conversation
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import AppId, ConversationId, UserId
from shared.domain.store.documents import Update
from shared.ports import Documents
from shared.security.pairwise_id import create_pairwise_id
from tests.fakes import CountingIds, ScriptedModel, UnmaskedModels, replace_stores
from tests.fixtures.callers import open_client
from tests.fixtures.library import build_client
from tests.fixtures.processing import (
    ALICE,
    START,
    TALK,
    ProcessingFixture,
    build_memory_output,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)

BOB = UserId("bob")
NOTES = AppId("01NOTES")
KEY = "sk_0123456789abcdef0123456789abcdef"
ALL_ACTIONS = (
    "create_conversation",
    "create_facts",
    "read_memories",
    "read_conversations",
    "read_tasks",
)
ROUTES = [
    ("POST", "user/conversations", {"text": "Hello"}, "create_conversation"),
    ("POST", "user/memories", {"memories": [{"content": "Likes tea"}]}, "create_facts"),
    ("GET", "memories", None, "read_memories"),
    ("GET", "conversations", None, "read_conversations"),
    ("POST", "search/conversations", {"query": "launch"}, "read_conversations"),
    ("GET", "tasks", None, "read_tasks"),
]
REQUESTS = [row[:3] for row in ROUTES]
ACTION_NAMES = {
    "create_conversation": "create conversations",
    "create_facts": "create memories",
    "read_memories": "read memories",
    "read_conversations": "read conversations",
    "read_tasks": "read tasks",
}
PREFIX = f"/v2/integrations/{NOTES}"


@dataclass
class IntegrationFixture:
    """A world in which Alice installed Notes."""

    world: ProcessingFixture
    deps: AppRequestDeps
    client: AsyncClient

    async def install(self) -> None:
        app = await self.deps.stores.apps.get(NOTES)
        await self.deps.stores.installed_apps.add(ALICE, InstalledApp.of(app, START))

    async def redeclare(self, *actions: str) -> None:
        integration = ExternalIntegration(actions=tuple({"action": action} for action in actions))
        await self.deps.stores.apps.update_app(
            NOTES, lambda app: replace(app, external_integration=integration)
        )

    async def declare(self, *actions: str) -> None:
        app = App(
            id=NOTES,
            owner=UserId("dev"),
            name="Notes",
            created_at=START,
            private=False,
            capabilities=("external_integration",),
        )
        await self.deps.stores.apps.create(app)
        await self.redeclare(*actions)
        await self.deps.stores.apps.add_key(
            NOTES, ApiKey(id="k1", hashed=hash_key(KEY), label="", created_at=START)
        )
        await self.install()

    async def request(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **query: Any
    ) -> Response:
        headers = {"idempotency-key": key} if key else {}
        query = {"uid": ALICE, **query}
        return await self.client.request(
            method, f"{PREFIX}/{path}", params=query, json=body, headers=headers
        )


@pytest.fixture
async def app_fixture(database) -> AsyncIterator[IntegrationFixture]:
    round_ = build_outputs()
    world = build_processing_fixture(database, ScriptedModel(answers=build_script(round_, round_)))
    deps = AppRequestDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=world.clock,
        new_id=CountingIds(),
        stores=Stores(world.documents),
        quotas=Quotas(world.documents, EMBEDDED_LIMITS),
        index=world.deps.index,
        search=Search(world.documents, world.vectors),
        model=world.deps.model,
        calling_apps=CallingApps(Stores(world.documents).apps, world.clock),
    )
    async with open_app_client(deps) as client:
        yield IntegrationFixture(world, deps, client)


def open_app_client(deps: AppRequestDeps) -> AsyncClient:
    headers = {"authorization": f"Bearer {KEY}"}
    return open_client("integrations", INTEGRATION_ROUTES, deps, headers)


async def send_text(fixture: IntegrationFixture, *answers: object) -> list[Response]:
    """Send one text under one key, once for each answer of the model and once more."""
    model = ScriptedModel(answers={"process_conversation/text_facts": answers})
    deps = replace(fixture.deps, model=UnmaskedModels(model=model))
    body = {"text": TEXT, "text_source": "email"}
    async with open_app_client(deps) as client:
        app = replace(fixture, client=client)
        sent = [
            await app.request("POST", "user/memories", body, key="mail-1")
            for _ in range(len(answers) + 1)
        ]
    model.verify()
    return sent


async def test_a_text_beyond_what_models_may_read_in_a_day_is_refused_unread(app_fixture):
    await app_fixture.declare("create_facts")
    quotas = Quotas(app_fixture.world.documents, {"reading_tokens": 1})
    fixture = replace(app_fixture, deps=replace(app_fixture.deps, quotas=quotas))

    (answer,) = await send_text(fixture)

    assert answer.status_code == 429


def parse_refusal(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["detail"]


@pytest.mark.parametrize(("method", "path", "body", "action"), ROUTES)
async def test_an_action_that_was_not_declared_is_403_and_named_t17(
    app_fixture, method, path, body, action
):
    await app_fixture.declare(*(other for other in ALL_ACTIONS if other != action))

    answer = await app_fixture.request(method, path, body)

    assert parse_refusal(answer) == (
        403,
        f"App does not have the capability to {ACTION_NAMES[action]}",
    )


@pytest.mark.parametrize(("method", "path", "body", "action"), ROUTES)
async def test_a_declared_action_is_allowed_t17(app_fixture, method, path, body, action):
    await app_fixture.declare(action)

    assert (await app_fixture.request(method, path, body)).status_code == 200


@pytest.mark.parametrize(("method", "path", "body", "action"), ROUTES)
async def test_an_action_declared_later_needs_the_users_consent_t17(
    app_fixture, method, path, body, action
):
    await app_fixture.declare(*(other for other in ALL_ACTIONS if other != action))
    await app_fixture.redeclare(*ALL_ACTIONS)
    refused_response = await app_fixture.request(method, path, body)
    await app_fixture.install()
    allowed_response = await app_fixture.request(method, path, body)
    await app_fixture.redeclare(*(other for other in ALL_ACTIONS if other != action))
    app_fixture.world.clock.advance(seconds=30)  # the app is cached, what its user granted is not

    assert parse_refusal(refused_response) == (
        403,
        f"App may not {ACTION_NAMES[action]} until this user enables it again",
    )
    assert allowed_response.status_code == 200
    assert (await app_fixture.request(method, path, body)).status_code == 403


async def test_an_app_reads_and_writes_by_the_id_that_it_knows_t17(app_fixture):
    await app_fixture.declare("create_facts", "read_memories")
    user_key = "ab" * 32
    app = await app_fixture.deps.stores.apps.update_app(
        NOTES, lambda app: replace(app, user_key=user_key)
    )
    pairwise_id = create_pairwise_id(user_key, ALICE)
    installation = replace(InstalledApp.of(app, START), pairwise_id=pairwise_id)
    await app_fixture.deps.stores.installed_apps.add(ALICE, installation)
    body = {"memories": [{"content": "Likes trains"}]}

    written = await app_fixture.request("POST", "user/memories", body, uid=pairwise_id)
    read = await app_fixture.request("GET", "memories", uid=pairwise_id)
    foreign = create_pairwise_id("cd" * 32, ALICE)
    refused = await app_fixture.request("GET", "memories", uid=foreign)

    assert written.status_code == 200
    assert [memory["content"] for memory in read.json()["memories"]] == ["Likes trains"]
    assert ALICE not in read.text
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "App is not enabled for this user",
    )


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_an_app_cannot_reach_a_user_who_did_not_install_it_t17(
    app_fixture, method, path, body
):
    await app_fixture.declare(*ALL_ACTIONS)

    answer = await app_fixture.request(method, path, body, uid=BOB)

    assert parse_refusal(answer) == (403, "App is not enabled for this user")
    assert (await app_fixture.world.load_everything(BOB))["documents"] == {}


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_a_request_without_a_valid_app_key_is_refused_t17(app_fixture, method, path, body):
    await app_fixture.declare(*ALL_ACTIONS)
    app_fixture.client.headers["authorization"] = "Bearer sk_wrong"
    with_wrong_key = await app_fixture.request(method, path, body)
    del app_fixture.client.headers["authorization"]

    without_key = await app_fixture.request(method, path, body)

    assert parse_refusal(with_wrong_key) == (403, "Invalid API key")
    assert parse_refusal(without_key) == (
        401,
        "Missing or invalid Authorization header. Must be 'Bearer API_KEY'",
    )


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_a_request_over_the_hourly_limit_is_429_t17(app_fixture, method, path, body):
    await app_fixture.declare(*ALL_ACTIONS)
    for remaining in reversed(range(MAX_REQUESTS_PER_HOUR)):
        answer = await app_fixture.request(method, path, body)
        assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (
            200,
            str(remaining),
        )

    refused_response = await app_fixture.request(method, path, body)
    app_fixture.world.clock.advance(hours=1)

    assert parse_refusal(refused_response) == (
        429,
        "Rate limit exceeded. Maximum 60 requests per hour.",
    )
    assert (refused_response.headers["retry-after"], refused_response.headers["ratelimit"]) == (
        "3600",
        '"app";r=0;t=3600',
    )
    assert (await app_fixture.request(method, path, body)).status_code == 200


async def test_a_conversation_is_answered_at_once_and_processed_afterwards_t17(app_fixture):
    await app_fixture.declare("create_conversation")
    text = "The launch moved to May,\n and I'm allergic to peanuts.\u200b\n\n" + "well " * 101

    answer = await app_fixture.request(
        "POST", "user/conversations", {"text": text, "language": "de"}
    )

    assert answer.json() == {}
    [stored_conversation] = (
        await app_fixture.deps.stores.conversations.list_page(ALICE, limit=9)
    ).items
    assert (stored_conversation.status, stored_conversation.source, stored_conversation.app_id) == (
        "processing",
        "external_integration",
        NOTES,
    )
    full_conversation = await app_fixture.deps.stores.conversations.get(
        ALICE, stored_conversation.id
    )
    segments = [
        (segment.speaker, segment.text, segment.is_user)
        for segment in full_conversation.named_segments
    ]
    assert segments[:2] == [
        ("Notes (app)", "The launch moved to May,", False),
        ("Notes (app)", "and I'm allergic to peanuts.", False),
    ]
    assert full_conversation.finished_at - full_conversation.started_at == timedelta(minutes=5)

    await app_fixture.world.deliver_all()

    processed_conversation = await app_fixture.deps.stores.conversations.get(
        ALICE, stored_conversation.id
    )
    assert (processed_conversation.status, processed_conversation.structured.title) == (
        "completed",
        "Berlin launch in May",
    )
    facts = await app_fixture.deps.stores.memories.list_newest(ALICE, limit=9)
    assert facts == []  # the model took "User is allergic …" from words that are not the owner's


async def test_a_repeated_idempotency_key_stores_one_conversation_t17(app_fixture):
    await app_fixture.declare("create_conversation")
    body = {"text": "Hello"}

    first = await app_fixture.request("POST", "user/conversations", body, key="one")
    second = await app_fixture.request("POST", "user/conversations", body, key="one")
    other = await app_fixture.request("POST", "user/conversations", {"text": "Bye"}, key="one")

    assert (first.json(), second.json(), other.status_code) == ({}, {}, 422)
    assert second.headers["idempotency-replayed"] == "true"
    assert len((await app_fixture.deps.stores.conversations.list_page(ALICE, limit=9)).items) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": ""}, 422),
        ({"text": " \n\u200b "}, 422),
        ({"text": "x" * 100_001}, 413),
        ({"text": "x\n" * 20_001}, 413),
        ({"text": "x", "started_at": "2999-01-01T00:00:00Z"}, 422),
        (
            {"text": "x", "started_at": "2026-03-02T10:00:00", "finished_at": "2026-03-01T10:00"},
            422,
        ),
        ({"text": "x", "text_source": "smell"}, 422),
    ],
)
async def test_an_invalid_text_is_refused_and_does_not_count_t17(app_fixture, body, status):
    await app_fixture.declare("create_conversation")

    answer = await app_fixture.request("POST", "user/conversations", body)

    assert answer.status_code == status
    assert list((await app_fixture.world.load_everything())["documents"]) == [
        f"users/{ALICE}/installed_apps/all"
    ]


async def test_a_repeated_fact_is_stored_once_under_its_app_and_found_t17(app_fixture):
    await app_fixture.declare("create_facts")
    body = {"memories": [{"content": " Likes  green tea "}], "text_source": "email"}

    for _ in range(2):
        assert (await app_fixture.request("POST", "user/memories", body)).json() == {}

    [fact] = await app_fixture.deps.stores.memories.list_newest(ALICE, limit=9)
    assert (fact.content, fact.app_id, fact.is_user_owned) == ("Likes green tea", NOTES, False)
    assert await app_fixture.deps.search.search_memories(ALICE, "green tea", limit=3) == [fact]


async def test_a_fact_the_user_edited_or_deleted_is_not_restored_t17(app_fixture):
    await app_fixture.declare("create_facts")
    body = {"memories": [{"content": "Likes green tea"}, {"content": "Lives in Rome"}]}
    await app_fixture.request("POST", "user/memories", body)
    tea, rome = sorted(
        await app_fixture.deps.stores.memories.list_newest(ALICE, limit=9), key=lambda m: m.content
    )
    async with build_client(app_fixture.world, ALICE) as alice:
        await alice.patch(f"/v3/memories/{tea.id}", params={"value": "Likes black tea"})
        await alice.delete(f"/v3/memories/{rome.id}")

    await app_fixture.request("POST", "user/memories", body)

    [remaining_memory] = await app_fixture.deps.stores.memories.list_newest(ALICE, limit=9)
    assert remaining_memory.content == "Likes black tea"


async def test_a_user_edit_between_two_attempts_is_kept_t17(app_fixture):
    """An attempt that crashed after everything was stored is repeated under the same ids."""
    await app_fixture.declare("create_conversation")
    conversation = build_test_conversation("Call the printer.")
    await store_conversation(app_fixture.deps, ALICE, conversation)
    await app_fixture.world.write(build_test_conversation("Call the baker."))

    await store_conversation(app_fixture.deps, ALICE, conversation)

    stored_conversation = await app_fixture.deps.stores.conversations.get(ALICE, TALK)
    assert stored_conversation.transcript_segments[0].text == "Call the baker."


TEXT = "Hello! As of May I live in Oslo, and I'm allergic to peanuts. Best, Alice"
FOUND = [
    {"evidence": "i'm allergic to peanuts", "content": "User is allergic to peanuts"},
    {"evidence": "I live in Oslo.", "content": "User lives in Oslo"},
    {"evidence": "I work at a bank", "content": "User works at a bank"},
    {"evidence": "Hello", "content": "word " * 16},
    {"evidence": " ", "content": "User likes nothing"},
    {"evidence": "Hello", "content": "x" * 1_001},
    {"evidence": "Hello", "content": " "},
]


async def test_a_text_becomes_the_facts_that_its_words_prove_and_no_conversation_t17(app_fixture):
    await app_fixture.declare("create_facts")

    first, second = await send_text(app_fixture, {"facts": FOUND})

    assert (first.json(), second.json()) == ({}, {})
    facts = await app_fixture.deps.stores.memories.list_newest(ALICE, limit=9)
    assert sorted(fact.content for fact in facts) == [
        "User is allergic to peanuts",
        "User lives in Oslo",
    ]
    assert {(fact.app_id, fact.read_kinds) for fact in facts} == {(NOTES, ("app",))}
    assert (await app_fixture.deps.stores.conversations.list_page(ALICE, limit=9)).items == []
    assert app_fixture.world.events.list_by_topic("conversation.processed") == []


async def test_a_text_that_no_model_reads_is_sent_again_under_its_key_t17(app_fixture):
    await app_fixture.declare("create_facts")

    first, second, third = await send_text(
        app_fixture, Unavailable("down"), ModelFailed("nonsense")
    )

    assert [first.status_code, second.status_code, third.status_code] == [503, 200, 200]
    assert await app_fixture.deps.stores.memories.list_newest(ALICE, limit=9) == []


async def test_facts_keep_the_tags_of_their_app_t17(app_fixture):
    await app_fixture.declare("create_facts", "read_memories")
    fact = {"content": "Likes green tea", "tags": ["food", "drinks"]}

    await app_fixture.request("POST", "user/memories", {"memories": [fact]})

    [read] = (await app_fixture.request("GET", "memories")).json()["memories"]
    assert (read["content"], read["tags"]) == ("Likes green tea", ["food", "drinks"])


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": " ", "memories": []}])
async def test_a_request_without_text_or_facts_is_422_t17(app_fixture, body):
    await app_fixture.declare("create_facts")

    status, detail = parse_refusal(await app_fixture.request("POST", "user/memories", body))

    assert status == 422
    assert "Either text or explicit memories(facts) are required and cannot be empty" in detail


@pytest.mark.parametrize("content", ["", " ", "\u200b", "x" * 1_001, "x" * 5_000 + "\u200b"])
async def test_an_empty_or_too_long_fact_is_refused_t17(app_fixture, content):
    await app_fixture.declare("create_facts")

    answer = await app_fixture.request(
        "POST", "user/memories", {"memories": [{"content": content}]}
    )

    assert answer.status_code in (413, 422)
    assert await app_fixture.deps.stores.memories.list_newest(ALICE, limit=9) == []


async def fill_library(app_fixture: IntegrationFixture) -> None:
    """Store a processed conversation of Alice with a fact and a task."""
    await app_fixture.declare(*ALL_ACTIONS)
    await app_fixture.world.write(build_test_conversation())
    await app_fixture.world.deliver_all()


async def test_memories_are_listed_without_their_evidence_t17(app_fixture):
    await fill_library(app_fixture)

    [item] = (await app_fixture.request("GET", "memories")).json()["memories"]

    assert item["content"] == build_memory_output()["content"]
    assert item["uid"] == ALICE
    assert item.keys() & {"evidence", "segment"} == set()
    assert None not in item.values()


async def test_conversations_are_read_with_the_beginning_of_their_transcript_t17(app_fixture):
    await fill_library(app_fixture)

    answer = await app_fixture.request("GET", "conversations", max_transcript_segments=1)
    [item] = answer.json()["conversations"]

    assert (item["id"], item["status"], item["structured"]["title"]) == (
        TALK,
        "completed",
        "Berlin launch in May",
    )
    assert [segment["start"] for segment in item["transcript_segments"]] == [0.0]
    assert "null" not in answer.text
    for max_segments, segment_count in ((-1, 3), (0, 0), (2, 2), (1000, 3)):
        response = await app_fixture.request(
            "GET", "conversations", max_transcript_segments=max_segments
        )
        [item] = response.json()["conversations"]
        assert len(item["transcript_segments"]) == segment_count


class RecordingConversations(Conversations):
    """Records the conversations whose transcripts were read."""

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self.read_ids: list[ConversationId] = []

    async def get(self, uid: UserId, conversation_id: ConversationId) -> Conversation:
        self.read_ids.append(conversation_id)
        return await super().get(uid, conversation_id)


async def test_only_transcripts_that_fit_the_response_are_read_t17(app_fixture):
    await app_fixture.declare("read_conversations")
    for n in range(25):
        await app_fixture.world.deps.stores.conversations.add(
            ALICE, build_test_conversation(*["x" * 90_000] * 5, id=ConversationId(f"talk{n}"))
        )
    recording_conversations = RecordingConversations(app_fixture.world.documents)
    deps = replace(
        app_fixture.deps,
        stores=replace_stores(app_fixture.deps.stores, conversations=recording_conversations),
    )
    async with open_client(
        "integrations", INTEGRATION_ROUTES, deps, app_fixture.client.headers
    ) as client:
        query = f"uid={ALICE}&max_transcript_segments=-1"
        answer = await client.get(f"{PREFIX}/conversations?{query}")

    items = answer.json()["conversations"]
    assert len(items) == 25
    assert len(recording_conversations.read_ids) == 20
    assert [bool(item["transcript_segments"]) for item in items] == [True] * 18 + [False] * 7


@pytest.mark.parametrize(
    ("query", "match_count"),
    [
        ({}, 1),
        ({"start_date": "2026-03-02"}, 1),
        ({"end_date": "2026-03-02"}, 1),
        ({"start_date": "2026-03-03"}, 0),
        ({"end_date": "2026-03-01"}, 0),
        ({"start_date": "2026-03-02T09:00:00Z", "end_date": "2026-03-02T09:00:00Z"}, 1),
        ({"end_date": "2026-03-02T08:59:59.999Z"}, 0),
        ({"statuses": "completed"}, 1),
        ({"statuses": ["failed", "completed"]}, 1),
        ({"statuses": ["completed", "failed"]}, 1),
        ({"statuses": ["failed", "processing"]}, 0),
        ({"offset": 1}, 0),
    ],
)
async def test_conversations_are_filtered_by_day_and_status_t17(app_fixture, query, match_count):
    await fill_library(app_fixture)

    answer = await app_fixture.request("GET", "conversations", **query)

    assert len(answer.json()["conversations"]) == match_count


async def test_discarded_conversations_are_listed_only_on_request_t17(app_fixture):
    await app_fixture.declare("read_conversations")
    await app_fixture.world.write(build_test_conversation("Hm."))
    path = f"users/{ALICE}/conversations/{TALK}"
    await app_fixture.world.documents.write(Update(path, {"discarded": True}))

    without_discarded = await app_fixture.request("GET", "conversations")
    with_discarded = await app_fixture.request("GET", "conversations", include_discarded=True)

    assert (
        without_discarded.json()["conversations"],
        len(with_discarded.json()["conversations"]),
    ) == ([], 1)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("conversations", "start_date"),
        ("conversations", "end_date"),
        ("tasks", "due_start_date"),
        ("tasks", "due_end_date"),
    ],
)
async def test_an_invalid_date_is_400_with_its_name_t17(app_fixture, path, name):
    await app_fixture.declare(*ALL_ACTIONS)

    status, detail = parse_refusal(await app_fixture.request("GET", path, **{name: "yesterday"}))

    assert status == 400
    assert detail.startswith(f"Invalid {name} format. Use ISO format")


async def test_a_search_returns_matching_conversations_in_pages_t17(app_fixture):
    await fill_library(app_fixture)

    first = (await app_fixture.request("POST", "search/conversations", {"query": "peanuts"})).json()
    second = (
        await app_fixture.request("POST", "search/conversations", {"query": "peanuts", "page": 2})
    ).json()

    assert [item["id"] for item in first["conversations"]] == [TALK]
    assert (first["total_pages"], first["current_page"], first["per_page"]) == (1, 1, 10)
    assert (second["conversations"], second["current_page"]) == ([], 2)


@pytest.mark.parametrize(
    ("query", "match_count"),
    [
        ({}, 1),
        ({"completed": False}, 1),
        ({"completed": True}, 0),
        ({"conversation_id": TALK}, 1),
        ({"conversation_id": "other"}, 0),
        ({"due_start_date": "2026-03-02"}, 0),
        ({"start_date": "2026-03-02", "end_date": "2026-03-02"}, 1),
    ],
)
async def test_tasks_are_filtered_t17(app_fixture, query, match_count):
    await fill_library(app_fixture)

    answer = await app_fixture.request("GET", "tasks", **query)

    assert len(answer.json()["tasks"]) == match_count
    assert json.dumps(None) not in answer.text


@pytest.mark.parametrize(
    ("path", "model"),
    [("memories", "MemoriesOut"), ("conversations", "ConversationsOut"), ("tasks", "TasksOut")],
)
async def test_a_response_without_nulls_matches_the_openapi_schema_t17(app_fixture, path, model):
    await fill_library(app_fixture)
    schemas = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["schemas"]
    schema = {"$ref": f"#/components/schemas/{model}", "components": {"schemas": schemas}}

    answer = await app_fixture.request("GET", path)

    assert answer.json()[path]
    assert list(Draft202012Validator(schema).iter_errors(answer.json())) == []


@pytest.mark.parametrize(
    "path", [f"/v2/integrations/{NOTES}/user/facts", f"/v1/integrations/{NOTES}/memories"]
)
async def test_memories_are_written_and_read_by_their_older_names_r4(app_fixture, path):
    await app_fixture.declare("create_facts", "read_memories")
    body, query = {"memories": [{"content": "Likes tea"}]}, {"uid": ALICE}

    written = await app_fixture.client.post(path, params=query, json=body)
    read = await app_fixture.client.get(f"/v1/integrations/{NOTES}/memories", params=query)

    assert (written.status_code, written.json()) == (200, {})
    assert [memory["content"] for memory in read.json()["memories"]] == ["Likes tea"]

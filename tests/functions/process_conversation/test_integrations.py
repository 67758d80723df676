"""T17: what apps write into a user's library and read of it, by key, installation and action."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient, Response
from jsonschema import Draft202012Validator

from functions.process_conversation.endpoints import INTEGRATIONS
from functions.process_conversation.integrations.access import PER_HOUR
from functions.process_conversation.integrations.writing import Addition, add
from functions.process_conversation.wiring import IntegrationDeps
from infra.local.routing import ROOT
from shared.data.apps import Apps, InstalledApps, hash_key
from shared.data.conversations import Conversations
from shared.data.hourly_limits import HourlyLimits
from shared.data.operations import Operations
from shared.data.search import Search
from shared.domain.app import ApiKey, App, ExternalIntegration, InstalledApp
from shared.domain.conversation import Conversation
from shared.domain.documents import Update
from shared.domain.ids import AppId, ConversationId, UserId
from shared.edge.http import application
from shared.ports import Documents
from tests.doubles import CountingIds, ScriptedModel
from tests.functions.process_conversation.client import client_of
from tests.functions.process_conversation.world import (
    ALICE,
    START,
    TALK,
    World,
    answers,
    memory,
    script,
    talk,
    world_on,
)

BOB = UserId("bob")
NOTES = AppId("01NOTES")
KEY = "sk_0123456789abcdef0123456789abcdef"
EVERY = ("create_conversation", "create_facts", "read_memories", "read_conversations", "read_tasks")
ROUTES = [
    ("POST", "user/conversations", {"text": "Hello"}, "create_conversation"),
    ("POST", "user/memories", {"memories": [{"content": "Likes tea"}]}, "create_facts"),
    ("GET", "memories", None, "read_memories"),
    ("GET", "conversations", None, "read_conversations"),
    ("POST", "search/conversations", {"query": "launch"}, "read_conversations"),
    ("GET", "tasks", None, "read_tasks"),
]
REQUESTS = [row[:3] for row in ROUTES]
ABILITY = {
    "create_conversation": "create conversations",
    "create_facts": "create memories",
    "read_memories": "read memories",
    "read_conversations": "read conversations",
    "read_tasks": "read tasks",
}
PREFIX = f"/v2/integrations/{NOTES}"


@dataclass
class Apped:
    """A world in which Alice installed Notes."""

    world: World
    deps: IntegrationDeps
    client: AsyncClient

    async def install(self) -> None:
        app = await self.deps.apps.get(NOTES)
        await self.deps.installed_apps.add(ALICE, InstalledApp.of(app, START))

    async def redeclare(self, *actions: str) -> None:
        integration = ExternalIntegration(actions=tuple({"action": one} for one in actions))
        await self.deps.apps.revise(
            NOTES, lambda app: replace(app, external_integration=integration)
        )

    async def declare(self, *actions: str) -> None:
        app = App(
            id=NOTES,
            owner=UserId("dev"),
            name="Notes",
            created_at=START,
            private=False,
        )
        await self.deps.apps.create(app)
        await self.redeclare(*actions)
        await self.deps.apps.add_key(
            NOTES, ApiKey(id="k1", hashed=hash_key(KEY), label="", created_at=START)
        )
        await self.install()

    async def ask(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **query: Any
    ) -> Response:
        headers = {"idempotency-key": key} if key else {}
        query = {"uid": ALICE, **query}
        return await self.client.request(
            method, f"{PREFIX}/{path}", params=query, json=body, headers=headers
        )


@pytest.fixture
async def apped(database) -> AsyncIterator[Apped]:
    round_ = answers()
    world = world_on(database, ScriptedModel(answers=script(round_, round_)))
    deps = IntegrationDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=world.clock,
        new_id=CountingIds(),
        apps=Apps(world.documents),
        installed_apps=InstalledApps(world.documents),
        limits=HourlyLimits(world.documents),
        operations=Operations(world.documents),
        conversations=world.deps.conversations,
        memories=world.deps.memories,
        action_items=world.deps.action_items,
        index=world.deps.index,
        search=Search(world.documents, world.vectors),
    )
    async with AsyncClient(
        transport=ASGITransport(application("integrations", INTEGRATIONS, deps)),
        base_url="http://test",
        headers={"authorization": f"Bearer {KEY}"},
    ) as client:
        yield Apped(world, deps, client)


def refusal(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["detail"]


@pytest.mark.parametrize(("method", "path", "body", "action"), ROUTES)
async def test_t17_an_action_that_was_not_declared_is_403_and_named(
    apped, method, path, body, action
):
    await apped.declare(*(one for one in EVERY if one != action))

    answer = await apped.ask(method, path, body)

    assert refusal(answer) == (
        403,
        f"App does not have the capability to {ABILITY[action]}",
    )


@pytest.mark.parametrize(("method", "path", "body", "action"), ROUTES)
async def test_t17_an_action_that_was_declared_is_enough(apped, method, path, body, action):
    await apped.declare(action)

    assert (await apped.ask(method, path, body)).status_code == 200


@pytest.mark.parametrize(("method", "path", "body", "action"), ROUTES)
async def test_t17_what_an_app_asks_for_later_waits_for_its_users_consent(
    apped, method, path, body, action
):
    await apped.declare(*(one for one in EVERY if one != action))
    await apped.redeclare(*EVERY)
    early = await apped.ask(method, path, body)
    await apped.install()
    allowed = await apped.ask(method, path, body)
    await apped.redeclare(*(one for one in EVERY if one != action))

    assert refusal(early) == (
        403,
        f"App may not {ABILITY[action]} before this user enables it once more",
    )
    assert allowed.status_code == 200
    assert (await apped.ask(method, path, body)).status_code == 403


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_t17_a_user_who_did_not_install_the_app_is_out_of_reach(apped, method, path, body):
    await apped.declare(*EVERY)

    answer = await apped.ask(method, path, body, uid=BOB)

    assert refusal(answer) == (403, "App is not enabled for this user")
    assert (await apped.world.everything(BOB))["documents"] == {}


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_t17_who_does_not_prove_to_be_the_app_is_refused(apped, method, path, body):
    await apped.declare(*EVERY)
    apped.client.headers["authorization"] = "Bearer sk_wrong"
    wrong = await apped.ask(method, path, body)
    del apped.client.headers["authorization"]

    nothing = await apped.ask(method, path, body)

    assert refusal(wrong) == (403, "Invalid API key")
    assert refusal(nothing) == (
        401,
        "Missing or invalid Authorization header. Must be 'Bearer API_KEY'",
    )


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
async def test_t17_an_hour_holds_so_many_requests_and_the_next_is_429(apped, method, path, body):
    await apped.declare(*EVERY)
    for left in reversed(range(PER_HOUR)):
        answer = await apped.ask(method, path, body)
        assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (200, str(left))

    over = await apped.ask(method, path, body)
    apped.world.clock.pass_(hours=1)

    assert refusal(over) == (429, "Rate limit exceeded. Maximum 60 requests per hour.")
    assert (over.headers["retry-after"], over.headers["ratelimit"]) == ("3600", '"app";r=0;t=3600')
    assert (await apped.ask(method, path, body)).status_code == 200


async def test_t17_a_conversation_is_answered_at_once_and_processed_afterwards(apped):
    await apped.declare("create_conversation")
    text = "The launch moved to May,\n and I'm allergic to peanuts.\u200b\n\n" + "well " * 101

    answer = await apped.ask("POST", "user/conversations", {"text": text, "language": "de"})

    assert answer.json() == {}
    [stored] = (await apped.deps.conversations.page(ALICE, limit=9)).items
    assert (stored.status, stored.source, stored.app_id) == (
        "processing",
        "external_integration",
        NOTES,
    )
    whole = await apped.deps.conversations.get(ALICE, stored.id)
    said = [(segment.speaker, segment.text, segment.is_user) for segment in whole.spoken]
    assert said[:2] == [
        ("Notes (app)", "The launch moved to May,", False),
        ("Notes (app)", "and I'm allergic to peanuts.", False),
    ]
    assert whole.finished_at - whole.started_at == timedelta(minutes=5)

    await apped.world.settle()

    processed = await apped.deps.conversations.get(ALICE, stored.id)
    assert (processed.status, processed.structured.title) == ("completed", "Berlin launch in May")
    facts = await apped.deps.memories.newest(ALICE, limit=9)
    assert facts == []  # the model took "User is allergic …" from words that are not the owner's


async def test_t17_the_same_key_makes_one_conversation(apped):
    await apped.declare("create_conversation")
    body = {"text": "Hello"}

    first = await apped.ask("POST", "user/conversations", body, key="one")
    again = await apped.ask("POST", "user/conversations", body, key="one")
    other = await apped.ask("POST", "user/conversations", {"text": "Bye"}, key="one")

    assert (first.json(), again.json(), other.status_code) == ({}, {}, 422)
    assert again.headers["idempotency-replayed"] == "true"
    assert len((await apped.deps.conversations.page(ALICE, limit=9)).items) == 1


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
async def test_t17_a_text_that_cannot_be_kept_is_refused_and_does_not_count(apped, body, status):
    await apped.declare("create_conversation")

    answer = await apped.ask("POST", "user/conversations", body)

    assert answer.status_code == status
    assert list((await apped.world.everything())["documents"]) == [
        f"users/{ALICE}/installed_apps/all"
    ]


async def test_t17_a_fact_is_stored_once_as_the_apps_and_can_be_found(apped):
    await apped.declare("create_facts")
    body = {"memories": [{"content": " Likes  green tea "}], "text_source": "email"}

    for _ in range(2):
        assert (await apped.ask("POST", "user/memories", body)).json() == {}

    [fact] = await apped.deps.memories.newest(ALICE, limit=9)
    assert (fact.content, fact.app_id, fact.is_owners) == ("Likes green tea", NOTES, False)
    assert await apped.deps.search.memories(ALICE, "green tea", limit=3) == [fact]


async def test_t17_what_the_owner_changed_or_deleted_stays_so(apped):
    await apped.declare("create_facts")
    body = {"memories": [{"content": "Likes green tea"}, {"content": "Lives in Rome"}]}
    await apped.ask("POST", "user/memories", body)
    tea, rome = sorted(await apped.deps.memories.newest(ALICE, limit=9), key=lambda m: m.content)
    async with client_of(apped.world, ALICE) as alice:
        await alice.patch(f"/v3/memories/{tea.id}", params={"value": "Likes black tea"})
        await alice.delete(f"/v3/memories/{rome.id}")

    await apped.ask("POST", "user/memories", body)

    [left] = await apped.deps.memories.newest(ALICE, limit=9)
    assert left.content == "Likes black tea"


async def test_t17_what_the_owner_changed_between_two_attempts_stays_so(apped):
    """An attempt that crashed once all was stored is made again, under the same names."""
    await apped.declare("create_conversation")
    [app] = await apped.deps.apps.get_many([NOTES])
    new = Addition(conversation=talk("Call the printer."))
    await add(apped.deps, ALICE, app, new, START)
    await apped.world.write(talk("Call the baker."))

    await add(apped.deps, ALICE, app, new, START)

    stored = await apped.deps.conversations.get(ALICE, TALK)
    assert stored.transcript_segments[0].text == "Call the baker."


async def test_t17_a_text_for_memories_is_read_as_a_conversation_is(apped):
    await apped.declare("create_facts")

    await apped.ask("POST", "user/memories", {"text": "Ann moved to Oslo."})

    [stored] = (await apped.deps.conversations.page(ALICE, limit=9)).items
    assert (stored.app_id, stored.status) == (NOTES, "processing")


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": " ", "memories": []}])
async def test_t17_neither_text_nor_facts_is_422_in_the_words_apps_know(apped, body):
    await apped.declare("create_facts")

    status, detail = refusal(await apped.ask("POST", "user/memories", body))

    assert status == 422
    assert "Either text or explicit memories(facts) are required and cannot be empty" in detail


@pytest.mark.parametrize("content", ["", " ", "\u200b", "x" * 1_001, "x" * 5_000 + "\u200b"])
async def test_t17_a_fact_that_says_nothing_or_too_much_is_422(apped, content):
    await apped.declare("create_facts")

    answer = await apped.ask("POST", "user/memories", {"memories": [{"content": content}]})

    assert answer.status_code in (413, 422)
    assert await apped.deps.memories.newest(ALICE, limit=9) == []


async def filled(apped: Apped) -> None:
    """Let Alice have had a conversation, of which a fact and a task were made."""
    await apped.declare(*EVERY)
    await apped.world.write(talk())
    await apped.world.settle()


async def test_t17_memories_are_read_without_the_words_they_rest_on(apped):
    await filled(apped)

    [item] = (await apped.ask("GET", "memories")).json()["memories"]

    assert item["content"] == memory()["content"]
    assert item["uid"] == ALICE
    assert item.keys() & {"evidence", "segment"} == set()
    assert None not in item.values()


async def test_t17_conversations_are_read_with_the_beginning_of_their_transcript(apped):
    await filled(apped)

    answer = await apped.ask("GET", "conversations", max_transcript_segments=1)
    [item] = answer.json()["conversations"]

    assert (item["id"], item["status"], item["structured"]["title"]) == (
        TALK,
        "completed",
        "Berlin launch in May",
    )
    assert [segment["start"] for segment in item["transcript_segments"]] == [0.0]
    assert "null" not in answer.text
    for asked, told in ((-1, 3), (0, 0), (2, 2), (1000, 3)):
        more = await apped.ask("GET", "conversations", max_transcript_segments=asked)
        [item] = more.json()["conversations"]
        assert len(item["transcript_segments"]) == told


class Watched(Conversations):
    """Remembers whose transcripts were read."""

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self.read: list[ConversationId] = []

    async def get(self, uid: UserId, conversation_id: ConversationId) -> Conversation:
        self.read.append(conversation_id)
        return await super().get(uid, conversation_id)


async def test_t17_no_more_transcripts_are_read_than_an_answer_holds(apped):
    await apped.declare("read_conversations")
    for n in range(25):
        await apped.world.deps.conversations.add(
            ALICE, talk(*["x" * 90_000] * 5, id=ConversationId(f"talk{n}"))
        )
    watched = Watched(apped.world.documents)
    deps = replace(apped.deps, conversations=watched)
    app = application("integrations", INTEGRATIONS, deps)
    async with AsyncClient(
        transport=ASGITransport(app), base_url="http://test", headers=apped.client.headers
    ) as client:
        query = f"uid={ALICE}&max_transcript_segments=-1"
        answer = await client.get(f"{PREFIX}/conversations?{query}")

    items = answer.json()["conversations"]
    assert len(items) == 25
    assert len(watched.read) == 20
    assert [bool(item["transcript_segments"]) for item in items] == [True] * 18 + [False] * 7


@pytest.mark.parametrize(
    ("query", "found"),
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
async def test_t17_conversations_are_filtered_by_day_and_status(apped, query, found):
    await filled(apped)

    answer = await apped.ask("GET", "conversations", **query)

    assert len(answer.json()["conversations"]) == found


async def test_t17_what_was_discarded_is_shown_only_where_asked_for(apped):
    await apped.declare("read_conversations")
    await apped.world.write(talk("Hm."))
    path = f"users/{ALICE}/conversations/{TALK}"
    await apped.world.documents.write(Update(path, {"discarded": True}))

    hidden = await apped.ask("GET", "conversations")
    shown = await apped.ask("GET", "conversations", include_discarded=True)

    assert (hidden.json()["conversations"], len(shown.json()["conversations"])) == ([], 1)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("conversations", "start_date"),
        ("conversations", "end_date"),
        ("tasks", "due_start_date"),
        ("tasks", "due_end_date"),
    ],
)
async def test_t17_a_date_that_cannot_be_read_is_named(apped, path, name):
    await apped.declare(*EVERY)

    status, detail = refusal(await apped.ask("GET", path, **{name: "yesterday"}))

    assert status == 400
    assert detail.startswith(f"Invalid {name} format. Use ISO format")


async def test_t17_search_finds_by_what_was_said_in_pages(apped):
    await filled(apped)

    first = (await apped.ask("POST", "search/conversations", {"query": "peanuts"})).json()
    second = (
        await apped.ask("POST", "search/conversations", {"query": "peanuts", "page": 2})
    ).json()

    assert [item["id"] for item in first["conversations"]] == [TALK]
    assert (first["total_pages"], first["current_page"], first["per_page"]) == (1, 1, 10)
    assert (second["conversations"], second["current_page"]) == ([], 2)


@pytest.mark.parametrize(
    ("query", "found"),
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
async def test_t17_tasks_are_filtered(apped, query, found):
    await filled(apped)

    answer = await apped.ask("GET", "tasks", **query)

    assert len(answer.json()["tasks"]) == found
    assert json.dumps(None) not in answer.text


@pytest.mark.parametrize(
    ("path", "model"),
    [("memories", "MemoriesOut"), ("conversations", "ConversationsOut"), ("tasks", "TasksOut")],
)
async def test_t17_an_answer_without_nulls_is_what_the_document_describes(apped, path, model):
    await filled(apped)
    schemas = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["schemas"]
    whole = {"$ref": f"#/components/schemas/{model}", "components": {"schemas": schemas}}

    answer = await apped.ask("GET", path)

    Draft202012Validator(whole).validate(answer.json())

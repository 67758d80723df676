"""Restoring: an import of our own export is its inverse in both stores, and what a file says decides nothing."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from functions.imports.formats.restored_records import (
    NOT_TAKEN,
    NOT_TAKEN_SETTINGS,
    RESTORED_KINDS,
    TAKEN_SETTINGS,
)
from functions.imports.plan.keep_items import continue_import
from functions.library.account.export import EXPORTED_COLLECTIONS
from functions.library.routes import LIBRARY_ROUTES
from functions.media.files.read_file import read_file
from functions.process_conversation.processing.process import process
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.chats.alternatives import build_alternative_writes
from shared.data.store.codec import type_adapter
from shared.domain.account.profile import Profile
from shared.domain.chats.chart import Chart, DataPoint, Dataset
from shared.domain.chats.chat import ROOT, Card, Fork, Message, build_session
from shared.domain.chats.custom_agent import CustomAgent
from shared.domain.chats.project import Project
from shared.domain.chats.steps import CallStep, ReasoningStep
from shared.domain.conversations.daily_summary import DailySummary, Highlight
from shared.domain.ids import (
    AgentId,
    BranchId,
    ConversationId,
    MessageId,
    ProjectId,
    SessionId,
    UserId,
)
from shared.domain.provenance import LIBRARY
from shared.library.deps import LibraryDeps
from shared.library.files import start_file
from shared.library.uploads import store_file
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.imports import list_due, post_files
from tests.fixtures.library import CONVERSATIONS, build_library_deps
from tests.fixtures.merging import FIRST, IDS, SECOND, EchoModel, build_body
from tests.fixtures.processing import (
    ALICE,
    START,
    ProcessingFixture,
    build_processing_fixture,
)
from tests.functions.media.files.world import build_deps as build_file_deps

BOB = UserId("bob")
EXPORT = "/v1/users/export"
CHAT = SessionId("kitchen-chat")
MORE = ("third", "fourth", "fifth")


@pytest.fixture(params=["sqlite", pytest.param("firestore", marks=pytest.mark.emulators)])
def world(request: pytest.FixtureRequest, database: SqliteDatabase) -> ProcessingFixture:
    is_local = request.param == "sqlite"
    documents = None if is_local else request.getfixturevalue("firestore_documents")
    return build_processing_fixture(database, EchoModel(), external_documents=documents)


def open_library(deps: LibraryDeps, uid: UserId) -> AsyncClient:
    return open_client("library", LIBRARY_ROUTES, deps, build_auth_headers(uid))


async def process_all(world: ProcessingFixture, uid: UserId) -> None:
    """Process as the trigger has it done, in whichever store."""
    accounts = world.deps.stores.accounts
    names = [document.id async for document in accounts.iter_documents(uid, "conversations")]
    for name in names:
        await process(world.deps, uid, ConversationId(name), message_hash="")


async def fill(world: ProcessingFixture, deps: LibraryDeps, client: AsyncClient) -> None:
    """Fill a library with something of everything, by the routes of its owner."""
    bodies = [FIRST, SECOND, *(build_body(n, f"1{i}:00", f"Call {n}.") for i, n in enumerate(MORE))]
    for body in bodies:
        assert (await client.post(CONVERSATIONS, json=body)).status_code == 202
    await process_all(world, ALICE)
    merge = await client.post(f"{CONVERSATIONS}/merge", json={"conversation_ids": IDS})
    assert merge.status_code in (200, 202), merge.text
    await process_all(world, ALICE)
    await fill_people_and_edits(client)
    await process_all(world, ALICE)
    await fill_records(client)
    await fill_chat(deps)
    await process_all(world, ALICE)
    await hand_in_file(world, deps)


async def fill_people_and_edits(client: AsyncClient) -> None:
    await client.post("/v1/users/people", json={"id": "ann", "name": "Ann", "role": "my boss"})
    third = (await client.get(f"{CONVERSATIONS}/third")).json()
    segment_ids = [third["transcript_segments"][1]["id"]]
    body = {"segment_ids": segment_ids, "assign_type": "person_id", "value": "ann"}
    await client.patch(f"{CONVERSATIONS}/third/segments/assign-bulk", json=body)
    await client.patch(f"{CONVERSATIONS}/third", json={"title": "The kitchen", "starred": True})
    folder = (await client.post("/v1/folders", json={"name": "Home", "color": "#112233"})).json()
    await client.post("/v1/folders/reorder", json={"folder_ids": [folder["id"], "social"]})
    await client.patch(f"{CONVERSATIONS}/third/folder", json={"folder_id": folder["id"]})
    await client.patch(f"{CONVERSATIONS}/fourth", json={"discarded": True})
    rating: dict[str, Any] = {"memory_id": "third", "value": 1, "reason": "clear"}
    await client.post("/v1/users/analytics/memory_summary", params=rating)


async def fill_records(client: AsyncClient) -> None:
    memories = (await client.get("/v3/memories")).json()
    await client.delete(f"/v3/memories/{memories[0]['id']}")
    await client.patch(f"/v3/memories/{memories[1]['id']}", params={"value": "User likes tea"})
    await client.post("/v3/memories", json={"id": "hand", "content": "User lives in Bonn"})
    tasks = (await client.get("/v1/action-items")).json()["action_items"]
    await client.patch(f"/v1/action-items/{tasks[0]['id']}", json={"completed": True})
    await client.delete(f"/v1/action-items/{tasks[1]['id']}")
    task = {"id": "own", "description": "Water the plants", "due_at": "2026-04-01T09:00:00Z"}
    await client.post("/v1/action-items", json=task)
    goal = (await client.post("/v1/goals", json={"title": "Read", "target_value": 12})).json()
    await client.patch(f"/v1/goals/{goal['id']}/progress", params={"current_value": 3.5})
    await client.patch("/v1/users/language", json={"language": "de"})
    await client.patch("/v1/users/onboarding", json={"completed": True})


async def fill_chat(deps: LibraryDeps) -> None:
    """Fill what other functions write: a chat with versions and a citation, a day, and settings."""
    stores = deps.stores
    session = build_session(CHAT, app_id=None, now=START, title="Kitchen")
    await stores.sessions.add(ALICE, session)
    card = Card(id=ConversationId("third"), created_at=START, title="The kitchen", emoji="🍳")
    question = build_message("q1", "Where is the ladder?")
    steps = (
        ReasoningStep(text="Let me look."),
        CallStep(
            call_id="c1", tool="search", arguments="{}", cycle=1, state="done", source=LIBRARY
        ),
    )
    rungs = Dataset(label="Rungs", data_points=(DataPoint(label="Kitchen", value=7.5),))
    chart = Chart(chart_type="bar", title="Ladders", datasets=(rungs,), y_label="Rungs")
    answer = build_message(
        "q1-a", "In the kitchen.", sender="ai", cards=(card,), steps=steps, chart=chart
    )
    await stores.messages.add(ALICE, session, question, answer)
    branch = BranchId("v2")
    fork = Fork(
        id=branch,
        parent=ROOT,
        question=question.position,
        keeps_question=True,
        original=answer.id,
        head=MessageId("q1-b"),
    )
    again = build_message("q1-b", "In the hall.", sender="ai", branch=branch, rating=1)
    await stores.messages.add_version(ALICE, CHAT, fork, again)
    models = ("large", "small")
    compared = build_message("q1-ab", "Both?", sender="ai", branch=branch, voices=models)
    other = build_message("q1-ab", "Neither.", sender="ai", branch=branch, voices=models, voice=1)
    also = build_alternative_writes(ALICE, compared.id, {1: other})
    await stores.messages.add(ALICE, session, compared, also=also)
    highlight = Highlight(topic="Tea", summary="It was green.", conversation_ids=(card.id,))
    day = DailySummary(
        id="2026-03-02", created_at=START, headline="A day", overview="It was long.",
        highlights=(highlight,), is_scheduled=True,
    )  # fmt: skip
    await stores.daily_summaries.restore(ALICE, day)
    await stores.profiles.change(
        ALICE,
        name="Alice",
        time_zone="Europe/Berlin",
        retention_days=30,
        interests=("chess", "maps"),
    )
    agent = CustomAgent(
        id=AgentId("coach"), name="Coach", instructions="Be strict.", tools=("remember",),
        created_at=START, updated_at=START,
    )  # fmt: skip
    await stores.custom_agents.create(ALICE, agent)
    project = Project(id=ProjectId("boat"), name="Boat", created_at=START, updated_at=START)
    await stores.projects.create(ALICE, project)
    await stores.sessions.change(ALICE, CHAT, project_id=project.id)


async def hand_in_file(world: ProcessingFixture, deps: LibraryDeps) -> None:
    """Store a text that would become a conversation if an import took it for one."""
    content = b"Ann: The keel is of oak.\nBo: Of ash."
    upload = await store_file(deps, ALICE, content, name="talk.txt", media_type="")
    file = await start_file(deps, ALICE, upload.id)
    await read_file(build_file_deps(world), ALICE, file.id)


def build_message(name: str, text: str, **fields: Any) -> Message:
    at = START + timedelta(minutes=len(name))
    values = {"sender": "human", "created_at": at, "session_id": CHAT, **fields}
    return Message(id=MessageId(name), text=text, **values)


async def export(client: AsyncClient) -> dict[str, Any]:
    exported: dict[str, Any] = (await client.get(EXPORT)).json()
    return exported


async def restore(
    world: ProcessingFixture, deps: LibraryDeps, client: AsyncClient, exported: bytes, uid: UserId
) -> Any:
    """Import an export and do everything that follows; return what became of it."""
    delivered = len(list_due(world))
    answer = await post_files(client, {"keepsake": exported})
    while tasks := list_due(world)[delivered:]:
        for task in tasks:
            await continue_import(deps, uid, task.body["id"])
        delivered += len(tasks)
    await process_all(world, uid)
    return (await client.get(f"/v1/imports/{answer['id']}")).json()


def normalise(exported: Mapping[str, Any]) -> dict[str, Any]:
    """Return an export in an order, without what docs/import.md says is not brought back."""
    profile = {name: exported["profile"].get(name) for name in TAKEN_SETTINGS}
    lists = {
        name: sorted(json.dumps(item, sort_keys=True) for item in found)
        for name, found in exported.items()
        if name not in ("profile", "folders", *NOT_TAKEN)
    }
    folders = [listed["folders"] for listed in exported["folders"]]
    return {"profile": profile, **lists, "folders": folders}


async def erase(world: ProcessingFixture, uid: UserId) -> None:
    await world.deps.stores.accounts.delete(uid)
    await world.vectors.delete_namespace(uid)


@pytest.mark.parametrize(
    ("world", "media_type"),
    [
        ("sqlite", "application/json"),
        ("sqlite", "application/zip"),
        pytest.param("firestore", "application/zip", marks=pytest.mark.emulators),
    ],
    indirect=["world"],
)
async def test_what_was_exported_and_erased_comes_back_equal(world, media_type):
    deps = build_library_deps(world)
    async with open_library(deps, ALICE) as alice:
        await fill(world, deps, alice)
        before = await export(alice)
        found_before = await world.search_ids("kitchen")
        file = (await alice.get(EXPORT, headers={"Accept": media_type})).content
        await erase(world, ALICE)
        await restore(world, deps, alice, file, ALICE)
        after = await export(alice)

    assert normalise(after) == normalise(before)
    assert [name for name in normalise(before) if not before[name]] == ["health"]
    assert await world.search_ids("kitchen") == found_before
    assert after["profile"]["retention_days"] == 0


async def test_a_merge_of_many_photos_over_half_a_year_comes_back_equal(world):
    deps = build_library_deps(world)
    photos = [{"id": f"p{n}", "base64": "aGVsbG8="} for n in range(20)]
    times = {"started_at": "2025-09-02T09:00:00Z", "finished_at": "2025-09-02T09:10:00Z"}
    async with open_library(deps, ALICE) as alice:
        for body in ({**FIRST, **times}, SECOND):
            await alice.post(CONVERSATIONS, json={**body, "photos": photos})
        merge = await alice.post(f"{CONVERSATIONS}/merge", json={"conversation_ids": IDS})
        assert merge.status_code == 200, merge.text
        await process_all(world, ALICE)
        before = await export(alice)
        file = (await alice.get(EXPORT)).content
        await erase(world, ALICE)
        result = await restore(world, deps, alice, file, ALICE)
        after = await export(alice)

    assert normalise(after) == normalise(before), result
    assert [len(c["photos"]) for c in before["conversations"]] == [40]


def test_everything_that_an_export_holds_comes_back_or_is_named_with_a_reason():
    others = {"memories", "action_items", "people"}

    assert {*RESTORED_KINDS, *NOT_TAKEN, *others} == {"profile", *EXPORTED_COLLECTIONS}
    assert {*TAKEN_SETTINGS, *NOT_TAKEN_SETTINGS} == set(
        type_adapter(Profile).dump_python(Profile())
    )

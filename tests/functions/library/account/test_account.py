"""Account: an export holds everything, and an erasure leaves nothing (P30)."""

import ast
import base64
import io
import json
import math
import random
import re
import string
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from functions.imports.formats.restored_conversations import parse_restored
from functions.library.account.erase_account import SWEEP_DELAY, erase
from functions.library.account.export import EXPORTED_COLLECTIONS, export_json, export_zip
from functions.library.deps import EraseDeps
from shared.adapters.embedded.local_keys import LocalKeys
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.adapters.embedded.sqlite_queue import SqliteQueue
from shared.adapters.embedded.sqlite_residual_data import SqliteResidualData
from shared.adapters.system_clock import RandomIds
from shared.data.account.accounts import Accounts
from shared.data.account.erasures import RETRY_WINDOW
from shared.data.account.profiles import Devices
from shared.data.apps.apps import Apps, InstalledApps
from shared.data.apps.token_store import AccountTokenStore
from shared.data.chats.crisis_log import CrisisLog
from shared.data.chats.messages import Messages
from shared.data.chats.sealed_chats import NewCiphertext
from shared.data.store.codec import dump
from shared.data.store.dead_letters import DeadLetters
from shared.data.stores import Stores
from shared.domain.account.account import ERASURE_LEASE, Erasure
from shared.domain.account.profile import Device, Profile
from shared.domain.apps.app import App, InstalledApp
from shared.domain.apps.connection import Connection, Tokens
from shared.domain.apps.tool_data import ToolData
from shared.domain.chats.chat import Message, Session
from shared.domain.chats.sealed_chat import SealedMessage
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, MessageId, SessionId, UserId
from shared.domain.store.documents import Query, Set
from shared.ports import ToolBox
from tests.fakes import FixedClock, ScriptedModel
from tests.fault_injection import Crash
from tests.fixtures.chat import PSEUDONYMS
from tests.fixtures.library import (
    BODY,
    CONVERSATIONS,
    SEGMENT,
    build_client,
    build_erasures,
    build_library_deps,
)
from tests.fixtures.processing import (
    START,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.fixtures.sealed import seal
from tests.functions.imports.test_readers import parse_file
from tests.functions.process_conversation.test_interruptions import Interruption, raise_crash
from tests.functions.process_conversation.upkeep.test_dead_letters import build_letter

ZAPHOD = UserId("zaphod-4711")
MAX_CALLS = 47
GRACE = timedelta(seconds=5)
TOKEN = "ya29.token-of-zaphod"


async def fill_account(world: ProcessingFixture, uid: UserId = ZAPHOD) -> None:
    """Store something of every kind for a user."""
    await world.documents.write(Set(f"users/{uid}", dump(Profile(name="Zaphod"))))
    async with build_client(world, uid) as client:
        await client.post(CONVERSATIONS, json=BODY)
        await client.post("/v3/memories", json={"id": "m1", "content": "Two heads"})
        await client.post("/v1/action-items", json={"id": "a1", "description": "Steal a ship"})
        await client.post("/v1/users/people", json={"id": "ford", "name": "Ford"})
        await client.post("/v1/goals", json={"id": "g1", "title": "Find the answer"})
        await client.post("/v1/folders", json={"name": "Travel by improbability"})
        await client.post("/v1/action-items/share", json={"task_ids": ["a1"]})
        await client.put("/v1/task-integrations/apple_reminders", json={"list": "Ships"})
    await world.deliver_all()
    session = Session(id=SessionId("main"), created_at=START, updated_at=START)
    message = Message(
        id=MessageId("q1"), session_id=session.id, text="Hi", sender="human", created_at=START
    )
    await Messages(world.documents).add(uid, session, message)
    app = App(id=AppId(f"babel-of-{uid}"), owner=uid, name="Babel", created_at=START)
    await Apps(world.documents).create(app)
    await connect(world, uid)


async def connect(world: ProcessingFixture, uid: UserId) -> None:
    connection = Connection(id="gmail", account="z@galaxy.example", scopes=(), connected_at=START)
    tokens = Tokens(access_token=TOKEN)
    await AccountTokenStore(world.documents, LocalKeys(b"k" * 32)).connect(uid, connection, tokens)


@dataclass
class DisconnectingToolBox:
    """Revokes tokens as the tool proxy does: those that are still stored."""

    world: ProcessingFixture
    revoked_ids: list[str] = field(default_factory=list)

    async def disconnect_all(self, uid: UserId) -> None:
        documents = await self.world.documents.query(Query(collection=f"users/{uid}/integrations"))
        self.revoked_ids += [document.id for document in documents]

    async def call(
        self,
        uid: UserId,
        app_id: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str,
        pin: str = "",
    ) -> ToolData:
        raise AssertionError("an erasure calls no tools")

    call_service = call


@dataclass
class PatientClock:
    """The clock of an erasure: it stands still but while the erasure waits."""

    clock: FixedClock

    def now(self) -> datetime:
        return self.clock.now()

    async def sleep(self, seconds: float) -> None:
        self.clock.advance(seconds=seconds)


def build_erase_deps(
    world: ProcessingFixture,
    interruption: Interruption | None = None,
    toolbox: ToolBox | None = None,
) -> EraseDeps:
    def wrap(name: str, port: Any) -> Any:
        return interruption.wrap(name, port) if interruption else port

    documents = wrap("documents", world.documents)
    clock = PatientClock(world.clock)
    queue = SqliteQueue(world.database, clock)
    return EraseDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=clock,
        new_id=RandomIds(),
        stores=Stores(documents),
        erasures=build_erasures(documents),
        toolbox=wrap("toolbox", toolbox or DisconnectingToolBox(world)),
        vectors=wrap("vectors", world.vectors),
        blobs=wrap("blobs", world.blobs),
        residual_data=wrap("residual_data", SqliteResidualData(queue, clock)),
        crisis_log=CrisisLog(documents, PSEUDONYMS),
        grace=GRACE,
    )


async def request(world: ProcessingFixture, uid: UserId = ZAPHOD) -> Erasure:
    return await build_erasures(world.documents).begin(uid, world.clock.now())


async def find_erasure(world: ProcessingFixture) -> Erasure:
    erasure = await build_erasures(world.documents).get(ZAPHOD)
    assert erasure is not None
    return erasure


async def erase_user(world: ProcessingFixture, deps: EraseDeps | None = None) -> Erasure:
    """Request an erasure and deliver its first task."""
    erasure = await request(world, ZAPHOD)
    await erase(deps or build_erase_deps(world), erasure.id, is_sweep=False)
    return erasure


async def find_traces(database: SqliteDatabase, uid: str) -> list[str]:
    """List the tables that contain the uid."""

    def scan(connection: Any) -> list[str]:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [
            name
            for (name,) in tables.fetchall()
            if any(uid in repr(row) for row in connection.execute(f"SELECT * FROM {name}"))  # noqa: S608 - our tables
        ]

    return await database.read(scan)


async def export_account(world: ProcessingFixture) -> dict[str, Any]:
    async with build_client(world, ZAPHOD) as client:
        answer = await client.get("/v1/users/export", params={"format": "zip"})
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    return {name: json.loads(archive.read(name)) for name in archive.namelist()}


async def test_an_export_holds_everything_the_owner_has(world):
    await fill_account(world)

    files = await export_account(world)

    assert files["profile.json"]["name"] == "Zaphod"
    conversation = files["conversations/talk.json"]
    assert conversation["transcript_segments"][0]["text"] == SEGMENT["text"]
    assert conversation["structured"]["title"] == "Berlin launch in May"
    assert {memory["content"] for memory in files["memories.json"]} == {
        "Two heads",
        "User is allergic to peanuts",
    }
    assert {item["description"] for item in files["action_items.json"]} == {
        "Steal a ship",
        "Call the printer",
    }
    assert [person["name"] for person in files["people.json"]] == ["Ford"]
    (folder_list,) = files["folders.json"]
    assert folder_list["folders"][-1]["name"] == "Travel by improbability"
    (integrations,) = files["task_integrations.json"]
    assert integrations["apps"][0]["app"] == "apple_reminders"
    assert [message["text"] for message in files["messages.json"]] == ["Hi"]
    assert [session["id"] for session in files["chat_sessions.json"]] == ["main"]


async def test_sealed_chats_are_exported_as_their_clients_encrypted_them_m82(world):
    chat_id, at = SessionId("sealed-c1"), world.clock.now()
    message = SealedMessage(
        id=MessageId(f"{chat_id}-m1"), created_at=at, version=1, ciphertext=b"\x01message"
    )
    await world.deps.stores.sealed_chats.create(ZAPHOD, chat_id, at)
    title = NewCiphertext(version=1, ciphertext=b"\x01title")
    await world.deps.stores.sealed_chats.put(ZAPHOD, chat_id, title, [message], at)

    files = await export_account(world)

    assert files["sealed_chats.json"][0]["ciphertext"] == base64.b64encode(b"\x01title").decode()
    [exported] = files["ciphertexts.json"]
    assert exported["ciphertext"] == base64.b64encode(b"\x01message").decode()


async def test_without_its_data_key_a_copy_of_the_cache_cannot_be_read_m91(world):
    path = f"users/{ZAPHOD}/messages/sealed-c1-m1"
    stored_path = f"users/{ZAPHOD}/sealed_messages/sealed-c1-m1"
    await seal(world.documents, world.clock).write(Set(path, {"text": "secret"}))
    copy = await world.documents.get(stored_path)

    await world.deps.stores.accounts.delete(ZAPHOD)
    await world.documents.write(Set(stored_path, copy.fields))

    assert await seal(world.documents, world.clock).get(path) is None


async def test_an_export_is_one_json_object_unless_a_zip_is_asked_for(world):
    await fill_account(world)
    odd = {"created_at": math.nan, "voice": [math.inf]}
    await world.documents.write(Set(f"users/{ZAPHOD}/conversations/odd", odd))

    async with build_client(world, ZAPHOD) as client:
        answer = await client.get("/v1/users/export")
        by_header = await client.get("/v1/users/export", headers={"Accept": "application/zip"})
    exported = answer.json()
    files = await export_account(world)

    assert answer.headers["content-type"] == "application/json"
    assert by_header.headers["content-type"] == "application/zip"
    assert exported.pop("profile") == files.pop("profile.json")
    conversations = {document["id"]: document for document in exported.pop("conversations")}
    assert conversations.pop("odd") == {"id": "odd", "created_at": None, "voice": [None]}
    assert conversations == {"talk": files["conversations/talk.json"]}
    exported["messages"] = exported.pop("chat_messages")
    assert exported == {name: files[f"{name}.json"] for name in EXPORTED_COLLECTIONS}


async def test_an_export_of_an_empty_account_is_json(world):
    async with build_client(world, ZAPHOD) as client:
        exported = (await client.get("/v1/users/export")).json()

    assert (exported["profile"], exported["conversations"], exported["memories"]) == ({}, [], [])


@pytest.mark.parametrize("export", [export_json, export_zip])
async def test_an_export_holds_a_few_documents_at_a_time_in_memory(world, export):
    """The pieces of forty conversations of 100 KB each, which no compression makes small."""
    noise = random.Random(4711)  # noqa: S311 - no secret
    for n in range(40):
        text = "".join(noise.choices(string.ascii_letters, k=100_000))
        document = dump(build_test_conversation(text))
        await world.documents.write(Set(f"users/{ZAPHOD}/conversations/c{n}", document))

    sizes = [len(piece) async for piece in export(build_library_deps(world), ZAPHOD)]

    assert sum(sizes) > 40 * 70_000
    assert max(sizes) < 250_000


async def test_an_export_says_which_accounts_are_connected_and_holds_no_token_p6(world):
    await fill_account(world)

    files = await export_account(world)

    assert [connection["account"] for connection in files["connections.json"]] == [
        "z@galaxy.example"
    ]
    assert "tokens" not in repr(files)
    assert TOKEN not in repr(files)


async def test_an_erasure_revokes_tokens_before_it_deletes_them_p6(world, database):
    await fill_account(world)
    toolbox = DisconnectingToolBox(world)

    erasure = await request(world)
    for is_sweep in (False, False, True):
        await erase(build_erase_deps(world, toolbox=toolbox), erasure.id, is_sweep=is_sweep)

    assert toolbox.revoked_ids == ["gmail"]
    assert await find_traces(database, ZAPHOD) == []


async def test_an_erasure_deletes_the_files_of_the_user_and_of_nobody_else(world):
    for uid in (ZAPHOD, "arthur"):
        await world.blobs.write(f"users/{uid}/uploads/u1/0", b"sound", media_type="audio/mpeg")

    await erase_user(world)

    assert [*world.blobs.files] == ["users/arthur/uploads/u1/0"]


async def test_an_unreadable_document_does_not_end_an_export(world):
    await fill_account(world)
    odd = {"created_at": "once", "voice": b"\x00"}
    await world.documents.write(Set(f"users/{ZAPHOD}/conversations/odd", odd))

    files = await export_account(world)

    assert files["conversations/odd.json"] == {"id": "odd", **odd, "voice": "AA=="}
    assert files["conversations/talk.json"]["id"] == "talk"


async def test_an_exported_conversation_can_be_imported_again(world):
    await fill_account(world)

    exported_conversation = (await export_account(world))["conversations/talk.json"]
    (item,) = parse_file(
        "talk.json", json.dumps(exported_conversation).encode(), modified=START
    ).restored
    conversation = parse_restored(item, START).conversation

    assert [segment.text for segment in conversation.transcript_segments] == [SEGMENT["text"]]
    assert (conversation.id, conversation.started_at) == ("talk", START)


async def test_an_export_as_json_can_be_imported_again(world):
    await fill_account(world)

    async with build_client(world, ZAPHOD) as client:
        exported = (await client.get("/v1/users/export")).content
    contents = parse_file("omi-export.json", exported, modified=START)

    assert [item["id"] for item in contents.restored] == ["talk"]
    assert len(contents.memories) == 2
    assert [person["name"] for person in contents.people] == ["Ford"]


async def test_an_export_holds_no_secret_of_ours(world):
    await fill_account(world)
    webhooks = {"signing_secret": "wrapped-4711", "webhooks": {}}
    await world.documents.write(Set(f"users/{ZAPHOD}/developer_webhooks/own", webhooks))

    files = await export_account(world)

    assert files["developer_webhooks.json"] == [{"id": "own", "webhooks": {}}]


async def test_an_export_holds_nothing_of_another_user(world):
    await fill_account(world)

    async with build_client(world, "mallory") as mallory:
        answer = await mallory.get("/v1/users/export", params={"format": "zip"})

    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert not [name for name in archive.namelist() if name.startswith("conversations/")]
    assert json.loads(archive.read("memories.json")) == []


async def test_after_an_erasure_no_store_holds_a_trace(database):
    world = build_processing_fixture(
        database, ScriptedModel(answers=build_script(build_outputs(), build_outputs()))
    )
    await fill_account(world)
    await fill_account(world, UserId("arthur"))
    await DeadLetters(world.documents).put(build_letter({"uid": ZAPHOD}))
    assert await find_traces(database, ZAPHOD)
    other_user_before = await world.load_everything(UserId("arthur"))

    async with build_client(world, ZAPHOD) as client:
        response = await client.delete("/v1/users/delete-account")
        for task in world.tasks.list_by_target("erase_account"):
            await erase(build_erase_deps(world), **task.body)
        await world.deliver_all()
        status = await client.get("/v1/users/delete-account")

    assert (response.status_code, response.json()["status"]) == (200, "running")
    assert status.json()["status"] == "done"
    assert status.json()["documents"] > 5
    assert await find_traces(database, ZAPHOD) == []
    assert await world.load_everything(UserId("arthur")) == other_user_before


NAMING_COLLECTIONS: Mapping[str, Mapping[str, Any]] = {
    "users": {},
    "apps": {"owner": ZAPHOD},
    "shared_conversations": {"uid": ZAPHOD},
    "shared_chats": {"uid": ZAPHOD},
    "shared_agents": {"uid": ZAPHOD},
    "task_shares": {"uid": ZAPHOD},
    "safety_reviews": {"uid": ZAPHOD},
    "dead_letters": {"ids": {"uid": ZAPHOD}},
    "crisis_log": {"user": PSEUDONYMS.hash(ZAPHOD)},
}
"""The collections beside all users whose documents name one, each with how."""
NAMELESS_COLLECTIONS = {
    "deleted_apps": "hashes of an app's keys",
    "erasures": "a keyed hash, by which old tokens are known",
    "feedback": "thumbs of incognito chats, which know nobody",
    "leases": "tokens of models that instances share",
    "reindexings": "how far a reindexing is",
}


def list_top_collections() -> set[str]:
    """List the collections whose paths the stores build, but for counts a day, which know no persons."""
    texts = [
        part.value
        for file in Path("shared/data").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for part in (node.values[:1] if isinstance(node, ast.JoinedStr) else [node])
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    found = (re.match(r"([a-z_]+)/(?:[a-z_-]+/?)?$", text) for text in texts)
    return {match[1] for match in found if match}


def test_of_every_collection_it_is_known_whether_its_documents_name_a_user_s6():
    assert list_top_collections() == {*NAMING_COLLECTIONS, *NAMELESS_COLLECTIONS}


async def test_an_erasure_leaves_nothing_in_any_collection_that_names_a_user_s6(world, database):
    for name, fields in NAMING_COLLECTIONS.items():
        document_id = ZAPHOD if name == "users" else "d1"
        await world.documents.write(Set(f"{name}/{document_id}", fields))

    await erase_user(world)

    assert await find_traces(database, ZAPHOD) == []
    (event,) = await world.documents.query(Query(collection="crisis_log"))
    assert event.fields == {"user": None}


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, MAX_CALLS))
async def test_an_erasure_interrupted_at_any_call_is_finished_by_the_next_attempt(
    world, database, at, after
):
    await fill_account(world)
    interruption = Interruption(at, raise_crash, after)

    erasure = await request(world)
    try:
        await erase(build_erase_deps(world, interruption), erasure.id, is_sweep=False)
    except Crash:
        world.clock.advance(seconds=ERASURE_LEASE.total_seconds())
        await erase(build_erase_deps(world), erasure.id, is_sweep=False)

    assert (await find_erasure(world)).status == "done"
    assert await find_traces(database, ZAPHOD) == []
    assert interruption.done or interruption.calls < at


async def test_the_interruptions_cover_every_call_of_an_erasure(world):
    await fill_account(world)
    interruption = Interruption(0, raise_crash, after=False)

    await erase_user(world, deps=build_erase_deps(world, interruption))

    assert 10 <= interruption.calls < MAX_CALLS


@pytest.mark.parametrize("at", range(1, 12))
async def test_what_is_processed_during_an_erasure_is_erased_too(database, at):
    """The processor has claimed the conversation while its owner is erased."""

    async def erase_owner() -> None:
        await erase_user(world)

    interruption = Interruption(at, erase_owner, after=True)
    world = build_processing_fixture(
        database, ScriptedModel(answers=build_script(build_outputs())), interruption.wrap
    )
    await world.write(build_test_conversation(), ZAPHOD)
    with suppress(Unavailable):  # the attempt that lost its claim asks to be called again
        await world.deliver_all()
    await erase(build_erase_deps(world), (await find_erasure(world)).id, is_sweep=True)

    assert interruption.done
    assert await find_traces(database, ZAPHOD) == []


async def start_with_a_profile(world: ProcessingFixture) -> None:
    await world.documents.write(Set(f"users/{ZAPHOD}", dump(Profile(name="Zaphod II"))))


async def start_with_a_conversation(world: ProcessingFixture) -> None:
    await world.write(build_test_conversation(), ZAPHOD)


async def start_with_a_memory(world: ProcessingFixture) -> None:
    async with build_client(world, ZAPHOD) as client:
        await client.post("/v3/memories", json={"content": "One head"})


async def start_with_a_chat(world: ProcessingFixture, at: datetime | None = None) -> None:
    now = at or world.clock.now()
    session = Session(id=SessionId("main"), created_at=now, updated_at=now)
    message = Message(
        id=MessageId("q2"), session_id=session.id, text="?", sender="human", created_at=now
    )
    await Messages(world.documents).add(ZAPHOD, session, message)


async def start_with_a_device(world: ProcessingFixture) -> None:
    now = world.clock.now()
    phone = Device(id="ios_1", fcm_token="t", time_zone="UTC", updated_at=now)
    await Devices(world.documents).save(ZAPHOD, phone)


async def start_with_an_account(world: ProcessingFixture) -> None:
    now = world.clock.now()
    connection = Connection(id="gmail", account="", scopes=(), connected_at=now)
    tokens = Tokens(access_token=TOKEN)
    await AccountTokenStore(world.documents, LocalKeys(b"k" * 32)).connect(
        ZAPHOD, connection, tokens
    )


async def start_with_an_app(world: ProcessingFixture) -> None:
    now = world.clock.now()
    installed_app = InstalledApp(app_id=AppId("babel"), installed_at=now)
    await InstalledApps(world.documents).add(ZAPHOD, installed_app)


@pytest.mark.parametrize(
    "begins",
    [
        start_with_a_profile,
        start_with_a_conversation,
        start_with_a_memory,
        start_with_a_chat,
        start_with_a_device,
        start_with_an_app,
        start_with_an_account,
    ],
)
async def test_a_user_who_starts_again_is_not_erased_by_the_sweep_or_a_repeated_delivery(
    world, begins
):
    await fill_account(world)
    erasure = await erase_user(world)
    world.clock.advance(seconds=60)
    await begins(world)
    before = await world.load_everything(ZAPHOD)

    for is_sweep in (False, True, True):
        await erase(build_erase_deps(world), erasure.id, is_sweep=is_sweep)

    assert await world.load_everything(ZAPHOD) == before
    assert await Accounts(world.documents).is_in_use(ZAPHOD, since=START)


async def test_what_is_written_after_an_erasure_is_removed_by_the_sweep(world, database):
    await fill_account(world)
    before = world.clock.now()
    erasure = await erase_user(world)
    await start_with_a_chat(world, before)
    world.clock.advance(seconds=300)

    await erase(build_erase_deps(world), erasure.id, is_sweep=True)

    assert await find_traces(database, ZAPHOD) == []


async def test_two_erasure_requests_start_one_erasure(world, alice):
    await alice.delete("/v1/users/delete-account")
    world.clock.advance(seconds=30)
    await alice.delete("/v1/users/delete-account")

    assert len(world.tasks.list_by_target("erase_account")) == 2
    assert SWEEP_DELAY.total_seconds() > 120


async def test_a_request_after_a_finished_erasure_starts_another(world, alice):
    """Even at once, though a task name is accepted only once."""
    await alice.delete("/v1/users/delete-account")
    await erase(build_erase_deps(world), **world.tasks.list_by_target("erase_account")[0].body)
    world.clock.time += timedelta(milliseconds=1)

    response = await alice.delete("/v1/users/delete-account")

    assert response.json()["status"] == "running"
    assert len(world.tasks.list_by_target("erase_account")) == 4


async def test_an_abandoned_erasure_can_be_requested_again(world, alice):
    await alice.delete("/v1/users/delete-account")
    world.clock.time += RETRY_WINDOW

    await alice.delete("/v1/users/delete-account")

    assert len(world.tasks.list_by_target("erase_account")) == 4


@pytest.mark.emulators
async def test_an_erasure_leaves_no_trace_in_firestore(database, firestore_documents):
    with ScriptedModel() as model:
        world = build_processing_fixture(database, model, external_documents=firestore_documents)
        await fill_account(world)
        await erase_user(world)

    accounts = Accounts(firestore_documents)
    names = ("conversations", "memories", "people", "messages")
    remaining_documents = [
        document for name in names async for document in accounts.iter_documents(ZAPHOD, name)
    ]
    assert remaining_documents == []
    assert await firestore_documents.get(f"users/{ZAPHOD}") is None
    assert await firestore_documents.query(Query(collection="apps", limit=9)) == []

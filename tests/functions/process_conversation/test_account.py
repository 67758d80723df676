"""Everything is handed over, and everything is erased (P30)."""

import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.process_conversation.erase import GIVEN_UP_AFTER, SWEEP_AFTER, erase
from functions.process_conversation.wiring import EraseDeps
from infra.local.importers.files import read
from shared.adapters.local_keys import LocalKeys
from shared.adapters.sqlite_database import SqliteDatabase
from shared.data.accounts import Accounts, Erasures
from shared.data.apps import Apps, InstalledApps
from shared.data.codec import dump
from shared.data.connections import Connections
from shared.data.dead_letters import DeadLetters
from shared.data.grants import Grants
from shared.data.messages import Messages
from shared.data.profiles import Devices
from shared.domain.app import App, InstalledApp
from shared.domain.chat import Message, Session
from shared.domain.connection import Connection, Tokens
from shared.domain.documents import Query, Set
from shared.domain.errors import Unavailable
from shared.domain.ids import AppId, MessageId, SessionId, UserId
from shared.domain.profile import Device, Profile
from shared.ports import ToolBox
from tests.contracts.test_documents import firestore_documents
from tests.doubles import ScriptedModel
from tests.functions.process_conversation.client import BODY, CONVERSATIONS, SEGMENT, client_of
from tests.functions.process_conversation.test_bury import letter
from tests.functions.process_conversation.test_interruptions import Crash, Interruption, crash
from tests.functions.process_conversation.world import (
    ALICE,
    START,
    World,
    answers,
    script,
    talk,
    world_on,
)

ZAPHOD = UserId("zaphod-4711")
MOST_CALLS = 24
TOKEN = "ya29.token-of-zaphod"


async def lived_in(world: World, uid: UserId = ZAPHOD) -> None:
    """Give a user something of everything."""
    await world.documents.write(Set(f"users/{uid}", dump(Profile(name="Zaphod"))))
    async with client_of(world, uid) as client:
        await client.post(CONVERSATIONS, json=BODY)
        await client.post("/v3/memories", json={"id": "m1", "content": "Two heads"})
        await client.post("/v1/action-items", json={"id": "a1", "description": "Steal a ship"})
        await client.post("/v1/users/people", json={"id": "ford", "name": "Ford"})
    await world.settle()
    session = Session(id=SessionId("main"), created_at=START, updated_at=START)
    said = Message(
        id=MessageId("q1"), session_id=session.id, text="Hi", sender="human", created_at=START
    )
    await Messages(world.documents).add(uid, session, said)
    app = App(id=AppId(f"babel-of-{uid}"), owner=uid, name="Babel", created_at=START)
    await Apps(world.documents).create(app)
    await connect(world, uid)


async def connect(world: World, uid: UserId) -> None:
    connection = Connection(id="gmail", account="z@galaxy.example", scopes=(), connected_at=START)
    tokens = Tokens(access_token=TOKEN)
    await Grants(world.documents, LocalKeys(b"k" * 32)).put(uid, connection, tokens)


@dataclass
class Disconnecting:
    """Gives tokens back as the tool proxy does: from what is still stored."""

    world: World
    given_back: list[str] = field(default_factory=list)

    async def disconnect_all(self, uid: UserId) -> None:
        held = await self.world.documents.query(Query(collection=f"users/{uid}/integrations"))
        self.given_back += [document.id for document in held]

    async def call(self, uid: UserId, app_id: str, tool: str, arguments: Mapping[str, Any]) -> str:
        raise AssertionError("an erasure calls no tools")

    call_service = call


def deps_of(
    world: World, interruption: Interruption | None = None, toolbox: ToolBox | None = None
) -> EraseDeps:
    def near(name: str, port: Any) -> Any:
        return interruption.wrap(name, port) if interruption else port

    documents = near("documents", world.documents)
    return EraseDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=world.clock,
        accounts=Accounts(documents),
        connections=Connections(documents),
        erasures=Erasures(documents),
        toolbox=near("toolbox", toolbox or Disconnecting(world)),
        vectors=near("vectors", world.vectors),
    )


async def traces(database: SqliteDatabase, uid: str) -> list[str]:
    """Name every table that holds the uid anywhere."""

    def scan(connection: Any) -> list[str]:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [
            name
            for (name,) in tables.fetchall()
            if any(uid in repr(row) for row in connection.execute(f"SELECT * FROM {name}"))  # noqa: S608 - our tables
        ]

    return await database.read(scan)


async def everything_of(world: World) -> dict[str, Any]:
    async with client_of(world, ZAPHOD) as client:
        answer = await client.get("/v1/users/export")
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    return {name: json.loads(archive.read(name)) for name in archive.namelist()}


async def test_an_export_holds_everything_the_owner_has(world):
    await lived_in(world)

    files = await everything_of(world)

    assert files["profile.json"]["name"] == "Zaphod"
    held = files["conversations/talk.json"]
    assert held["transcript_segments"][0]["text"] == SEGMENT["text"]
    assert held["structured"]["title"] == "Berlin launch in May"
    assert {memory["content"] for memory in files["memories.json"]} == {
        "Two heads",
        "User is allergic to peanuts",
    }
    assert {item["description"] for item in files["action_items.json"]} == {
        "Steal a ship",
        "Call the printer",
    }
    assert [person["name"] for person in files["people.json"]] == ["Ford"]
    assert [message["text"] for message in files["messages.json"]] == ["Hi"]
    assert [session["id"] for session in files["chat_sessions.json"]] == ["main"]


async def test_an_export_says_which_accounts_are_connected_and_holds_no_token_p6(world):
    await lived_in(world)

    files = await everything_of(world)

    assert [connection["account"] for connection in files["connections.json"]] == [
        "z@galaxy.example"
    ]
    assert "tokens" not in repr(files)
    assert TOKEN not in repr(files)


async def test_an_erasure_gives_tokens_back_before_it_forgets_them_p6(world, database):
    await lived_in(world)
    toolbox = Disconnecting(world)

    for _ in range(2):
        await erase(deps_of(world, toolbox=toolbox), ZAPHOD)

    assert toolbox.given_back == ["gmail"]
    assert await traces(database, ZAPHOD) == []


async def test_what_a_client_stored_and_nobody_can_read_does_not_end_an_export(world):
    await lived_in(world)
    odd = {"created_at": "once", "voice": b"\x00"}
    await world.documents.write(Set(f"users/{ZAPHOD}/conversations/odd", odd))

    files = await everything_of(world)

    assert files["conversations/odd.json"] == {"created_at": "once", "voice": repr(b"\x00")}
    assert files["conversations/talk.json"]["id"] == "talk"


async def test_an_exported_conversation_can_be_imported_again(world):
    await lived_in(world)

    held = (await everything_of(world))["conversations/talk.json"]
    (again,) = read("talk.json", json.dumps(held).encode(), modified=START)

    assert [segment.text for segment in again.transcript_segments] == [SEGMENT["text"]]
    assert (again.id, again.started_at) == ("talk", START)


async def test_nobody_exports_what_belongs_to_another(world):
    await lived_in(world)

    async with client_of(world, "mallory") as mallory:
        answer = await mallory.get("/v1/users/export")

    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert not [name for name in archive.namelist() if name.startswith("conversations/")]
    assert json.loads(archive.read("memories.json")) == []


async def test_after_an_erasure_no_store_holds_a_trace(database):
    world = world_on(database, ScriptedModel(answers=script(answers(), answers())))
    await lived_in(world)
    await lived_in(world, UserId("arthur"))
    await DeadLetters(world.documents).put(letter({"uid": ZAPHOD}))
    assert await traces(database, ZAPHOD)
    kept = await world.everything(UserId("arthur"))

    async with client_of(world, ZAPHOD) as client:
        asked = await client.delete("/v1/users/delete-account")
        for _, body in world.tasks.created.values():
            await erase(deps_of(world), UserId(body["uid"]))
        await world.settle()
        told = await client.get("/v1/users/delete-account")

    assert (asked.status_code, asked.json()["status"]) == (202, "running")
    assert told.json()["status"] == "done"
    assert told.json()["documents"] > 5
    assert await traces(database, ZAPHOD) == []
    assert await world.everything(UserId("arthur")) == kept


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, MOST_CALLS))
async def test_cut_at_any_call_the_next_attempt_erases_the_rest(world, database, at, after):
    await lived_in(world)
    cut = Interruption(at, crash, after)

    try:
        await erase(deps_of(world, cut), ZAPHOD)
    except Crash:
        await erase(deps_of(world), ZAPHOD)
    await world.settle()

    assert await traces(database, ZAPHOD) == []
    assert cut.done or cut.calls < at


async def test_it_was_cut_at_every_call(world):
    await lived_in(world)
    counting = Interruption(0, crash, after=False)

    await erase(deps_of(world, counting), ZAPHOD)

    assert 3 <= counting.calls < MOST_CALLS


@pytest.mark.parametrize("at", range(1, 12))
async def test_what_was_processed_meanwhile_goes_too(database, at):
    """The processor holds the conversation while its owner is erased."""

    async def erased() -> None:
        await erase(deps_of(world), ZAPHOD)

    interruption = Interruption(at, erased, after=True)
    world = world_on(database, ScriptedModel(answers=script(answers())), interruption.wrap)
    await world.write(talk(), ZAPHOD)
    with suppress(Unavailable):  # who is overtaken asks to be called again
        await world.settle()
    await erase(deps_of(world), ZAPHOD)

    assert interruption.done
    assert await traces(database, ZAPHOD) == []


async def begins_with_a_profile(world: World) -> None:
    await world.documents.write(Set(f"users/{ZAPHOD}", dump(Profile(name="Zaphod II"))))


async def begins_with_a_conversation(world: World) -> None:
    await world.write(talk(), ZAPHOD)


async def begins_with_a_memory(world: World) -> None:
    async with client_of(world, ZAPHOD) as client:
        await client.post("/v3/memories", json={"content": "One head"})


async def begins_with_a_chat(world: World, at: datetime | None = None) -> None:
    now = at or world.clock.now()
    session = Session(id=SessionId("main"), created_at=now, updated_at=now)
    said = Message(
        id=MessageId("q2"), session_id=session.id, text="?", sender="human", created_at=now
    )
    await Messages(world.documents).add(ZAPHOD, session, said)


async def begins_with_a_device(world: World) -> None:
    now = world.clock.now()
    phone = Device(id="ios_1", fcm_token="t", time_zone="UTC", updated_at=now)
    await Devices(world.documents).save(ZAPHOD, phone)


async def begins_with_an_account(world: World) -> None:
    now = world.clock.now()
    connection = Connection(id="gmail", account="", scopes=(), connected_at=now)
    tokens = Tokens(access_token=TOKEN)
    await Grants(world.documents, LocalKeys(b"k" * 32)).put(ZAPHOD, connection, tokens)


async def begins_with_an_app(world: World) -> None:
    now = world.clock.now()
    installed = InstalledApp(app_id=AppId("babel"), installed_at=now)
    await InstalledApps(world.documents).add(ZAPHOD, installed)


@pytest.mark.parametrize(
    "begins",
    [
        begins_with_a_profile,
        begins_with_a_conversation,
        begins_with_a_memory,
        begins_with_a_chat,
        begins_with_a_device,
        begins_with_an_app,
        begins_with_an_account,
    ],
)
async def test_a_user_who_began_anew_is_spared_by_the_sweep_and_by_a_repeated_delivery(
    world, begins
):
    await lived_in(world)
    await erase(deps_of(world), ZAPHOD)
    world.clock.pass_(seconds=60)
    await begins(world)
    anew = await world.everything(ZAPHOD)

    await erase(deps_of(world), ZAPHOD)

    assert await world.everything(ZAPHOD) == anew
    assert await Accounts(world.documents).is_in_use(ZAPHOD, since=START)


async def test_what_came_too_late_is_swept(world, database):
    await lived_in(world)
    before = world.clock.now()
    await erase(deps_of(world), ZAPHOD)
    await begins_with_a_chat(world, before)
    world.clock.pass_(seconds=300)

    await erase(deps_of(world), ZAPHOD)

    assert await traces(database, ZAPHOD) == []


async def test_asked_twice_it_is_one_erasure(world, alice):
    await alice.delete("/v1/users/delete-account")
    world.clock.pass_(seconds=30)
    await alice.delete("/v1/users/delete-account")

    assert len(world.tasks.created) == 2
    assert SWEEP_AFTER.total_seconds() > 120


async def test_asked_again_when_it_is_done_it_is_another_one(world, alice):
    """However soon: a name of a task is taken once."""
    await alice.delete("/v1/users/delete-account")
    await erase(deps_of(world), ALICE)
    world.clock.time += timedelta(milliseconds=1)

    again = await alice.delete("/v1/users/delete-account")

    assert again.json()["status"] == "running"
    assert len(world.tasks.created) == 4


async def test_an_erasure_whose_tasks_were_given_up_can_be_asked_for_again(world, alice):
    await alice.delete("/v1/users/delete-account")
    world.clock.time += GIVEN_UP_AFTER

    await alice.delete("/v1/users/delete-account")

    assert len(world.tasks.created) == 4


@pytest.mark.emulators
async def test_firestore_holds_no_trace_either(database, firestore_emulator, monkeypatch):
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    documents = firestore_documents()
    with ScriptedModel() as model:
        world = world_on(database, model, stored_in=documents)
        await lived_in(world)
        await erase(deps_of(world), ZAPHOD)

    accounts = Accounts(documents)
    names = ("conversations", "memories", "people", "messages")
    left = [document for name in names async for document in accounts.all(ZAPHOD, name)]
    assert left == []
    assert await documents.get(f"users/{ZAPHOD}") is None
    assert await documents.query(Query(collection="apps", limit=9)) == []

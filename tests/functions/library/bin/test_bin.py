"""The bin: what is moved there leaves every reader at once, comes back whole, and goes for good after thirty days."""

from datetime import datetime, timedelta

import pytest

from functions.library.routes import LIBRARY_ROUTES
from functions.process_conversation.upkeep.sweep import sweep
from shared.adapters.firestore_limits import MAX_DOCUMENT_BYTES, check_fields
from shared.data.conversations.conversations import conversation_path
from shared.data.store.codec import dump
from shared.domain.account.profile import Profile
from shared.domain.conversations.recording import Recording
from shared.domain.files.upload import BlobPart
from shared.domain.ids import ConversationId
from shared.domain.store.documents import Set
from tests.fixtures.callers import open_client
from tests.fixtures.library import BODY, CONVERSATIONS, build_library_deps
from tests.fixtures.processing import ALICE, TALK, build_test_conversation
from tests.functions.library.programs.test_developer_api import SCOPES
from tests.functions.library.programs.test_mcp_server import call_tool, create_key, open_library
from tests.functions.process_conversation.upkeep.test_sweep import build_deps as build_sweep_deps

BIN = "/v1/bin"
TALK_IN_BIN = f"{BIN}/conversations/talk"
NEW = ConversationId("new")
BYTES = len(BODY["transcript_segments"][0]["text"]) + len(b"sound")
CANARY = "peanuts"
"""Stands in the transcript and in the memory."""


@pytest.fixture(autouse=True)
async def _talk(world, alice):
    """A conversation with a memory and a task."""
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()


async def read_everywhere(world, alice) -> dict[str, str]:
    """Return what each reader shows: lists, search, the chat's tools, programs and exports."""
    query, search = {"include_discarded": True}, {"query": CANARY}
    owner = {
        "list": await alice.get(CONVERSATIONS, params=query),
        "memories": await alice.get("/v3/memories"),
        "search": await alice.post(f"{CONVERSATIONS}/search", json=search),
        "search of memories": await alice.post("/v3/memories/search", json=search),
        "export": await alice.get("/v1/users/export"),
    }
    key = (await alice.post("/v1/dev/keys", json={"name": "S", "scopes": SCOPES})).json()["key"]
    headers = {"Authorization": f"Bearer {key}"}
    async with open_client("library", LIBRARY_ROUTES, build_library_deps(world), headers) as script:
        programs = {
            name: await script.get(f"/v1/dev/user/{name}", params={"include_transcript": True})
            for name in ("conversations", "memories")
        }
    async with open_library(world, (await create_key(world))["key"]) as client:
        found = await call_tool(client, "search", query=CANARY)
    texts = {name: answer.text for name, answer in (owner | programs).items()}
    hits = await world.deps.search.search_conversations(ALICE, CANARY, limit=5)
    return {**texts, "MCP": str(found.content), "chat": str([hit.conversation for hit in hits])}


async def list_bin(alice) -> list[tuple[str, str]]:
    return [(entry["kind"], entry["id"]) for entry in (await alice.get(BIN)).json()]


async def test_what_is_in_the_bin_leaves_every_reader_at_once_and_stays_away_u14(world, alice):
    before = await read_everywhere(world, alice)
    assert [name for name, text in before.items() if CANARY not in text] == []

    assert (await alice.post(TALK_IN_BIN)).json()["title"] == "Berlin launch in May"

    at_once = await read_everywhere(world, alice)
    await world.deliver_all()
    later = await read_everywhere(world, alice)
    for texts in (at_once, later):
        assert [name for name, text in texts.items() if CANARY in text] == []
    assert (await alice.get(f"{CONVERSATIONS}/talk")).status_code == 404
    assert (await alice.get("/v1/action-items")).json()["action_items"] == []
    assert await list_bin(alice) == [("conversations", "talk")]
    assert await world.list_row_ids() == []


@pytest.mark.parametrize("is_processed", [True, False])
async def test_what_is_restored_is_as_it_was_without_asking_a_model_again(
    world, alice, is_processed
):
    before = await world.load_everything()
    await alice.post(TALK_IN_BIN)
    if is_processed:
        await world.deliver_all()

    assert (await alice.post(f"{TALK_IN_BIN}/restore")).status_code == 204
    await world.deliver_all()

    after = await world.load_everything()
    assert after["rows"] == before["rows"]
    assert after["documents"] == before["documents"]
    assert await list_bin(alice) == []
    assert (await alice.post(f"{TALK_IN_BIN}/restore")).status_code == 404


@pytest.mark.parametrize("room", [0, 20, 400])
async def test_a_conversation_that_fills_its_document_goes_to_the_bin_and_comes_back(
    world, alice, room
):
    """A client may write it so; the bin's entry says more than its record, under a longer path."""
    full = dump(build_test_conversation(id=NEW, status="completed"))
    full["transcript_segments"] = [{"text": "x"}]
    path = conversation_path(ALICE, NEW)
    missing = MAX_DOCUMENT_BYTES - room - check_fields(path, full)
    full["transcript_segments"] = [{"text": "x" * (1 + missing)}]
    await world.documents.write(Set(path, full))

    moved = await alice.post(f"{BIN}/conversations/new")
    gone = await world.documents.get(path)
    restored = await alice.post(f"{BIN}/conversations/new/restore")
    back = await world.documents.get(path)
    await alice.post(f"{BIN}/conversations/new")
    deleted = await alice.delete(f"{BIN}/conversations/new")

    assert [each.status_code for each in (moved, restored, deleted)] == [200, 204, 204]
    assert gone is None
    assert back.fields["transcript_segments"] == full["transcript_segments"]
    assert not [name for name in (await world.load_everything())["documents"] if "/bin/" in name]


async def test_what_its_owner_deleted_of_it_does_not_come_back_with_it(world, alice):
    [memory] = (await alice.get("/v3/memories")).json()
    await alice.delete(f"/v3/memories/{memory['id']}")
    await alice.post(TALK_IN_BIN)
    await world.deliver_all()

    await alice.post(f"{TALK_IN_BIN}/restore")
    await world.deliver_all()

    assert (await alice.get("/v3/memories")).json() == []
    assert (await alice.get(f"{CONVERSATIONS}/talk")).json()["status"] == "completed"


async def test_a_wipe_of_all_memories_reaches_the_bin(world, alice):
    await alice.post(TALK_IN_BIN)
    await alice.delete("/v3/memories")
    await world.deliver_all()

    await alice.post(f"{TALK_IN_BIN}/restore")
    await world.deliver_all()

    assert (await alice.get("/v3/memories")).json() == []


async def test_a_memory_and_a_task_come_back_each_by_itself(world, alice):
    before = await world.load_everything()
    [memory] = (await alice.get("/v3/memories")).json()
    [task] = (await alice.get("/v1/action-items")).json()["action_items"]
    names = [f"{BIN}/memories/{memory['id']}", f"{BIN}/action_items/{task['id']}"]

    moved = [(await alice.post(name)).json()["title"] for name in names]

    assert moved == ["You are allergic to peanuts", "Call the printer"]
    assert (await alice.get("/v3/memories")).json() == []
    assert (await alice.get("/v1/action-items")).json()["action_items"] == []
    shown = (await alice.get(f"{CONVERSATIONS}/talk")).json()
    assert shown["structured"]["action_items"] == []
    for name in names:
        assert (await alice.post(f"{name}/restore")).status_code == 204
    after = await world.load_everything()
    assert after == before


async def test_after_thirty_days_nothing_is_left_of_it(world, alice):
    await store_sound(world)
    await alice.post(TALK_IN_BIN)
    await world.deliver_all()
    stored = await count_stored(world)
    assert await world.deps.stores.bin_entries.count_bytes(ALICE) == BYTES

    world.clock.advance(days=30, seconds=1)
    assert await list_bin(alice) == []
    assert (await alice.post(f"{TALK_IN_BIN}/restore")).status_code == 404
    await sweep(build_sweep_deps(world))
    for event in world.events.list_by_topic("conversation.changed")[-1:]:
        await world.deliver(event)

    left = (await world.load_everything())["documents"]
    assert [path for path in left if "talk" in path] == []
    assert world.blobs.files == {}
    assert stored - await count_stored(world) == BYTES


async def test_deleting_stays_final_also_from_the_bin(alice):
    await alice.post(TALK_IN_BIN)

    assert (await alice.delete(f"{CONVERSATIONS}/talk?cascade=true")).status_code == 204

    assert await list_bin(alice) == []
    assert (await alice.post(f"{TALK_IN_BIN}/restore")).status_code == 404
    await alice.post(CONVERSATIONS, json={**BODY, "id": "other"})
    await alice.post(f"{BIN}/conversations/other")
    assert [(await alice.delete(f"{BIN}/conversations/other")).status_code for _ in range(2)] == [
        204,
        404,
    ]


async def test_sound_goes_along_and_comes_back(world, alice):
    await store_sound(world)

    await alice.post(TALK_IN_BIN)
    await world.deliver_all()

    assert (await alice.get("/v1/audio")).json()["items"] == []
    assert (await alice.get(f"{CONVERSATIONS}/talk/audio")).status_code == 404
    await alice.post(f"{TALK_IN_BIN}/restore")
    assert (await alice.get(f"{CONVERSATIONS}/talk/audio")).content == b"sound"


async def test_what_was_handed_in_again_meanwhile_is_not_doubled(world, alice):
    await alice.post(TALK_IN_BIN)
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()

    assert (await alice.post(f"{TALK_IN_BIN}/restore")).status_code == 204
    await world.deliver_all()

    assert len((await alice.get(CONVERSATIONS)).json()) == 1
    assert len((await alice.get("/v3/memories")).json()) == 1
    assert await list_bin(alice) == []


async def test_a_repeated_move_and_an_unknown_record(alice):
    moves = [await alice.post(TALK_IN_BIN) for _ in range(2)]

    assert [move.status_code for move in moves] == [200, 200]
    assert moves[0].json() == moves[1].json()
    for path in ("conversations/none", "memories/none", "action_items/none", "people/ann"):
        assert (await alice.post(f"{BIN}/{path}")).status_code == 404


async def test_nothing_is_kept_beyond_the_days_its_owner_keeps_transcripts(world, alice):
    profile = Profile(retention_days=10, retention_set_at=world.clock.now())
    await world.documents.write(Set("users/alice", dump(profile)))
    await alice.post(CONVERSATIONS, json={**BODY, "id": "new"})
    created_at = (await world.deps.stores.conversations.get_stored(ALICE, NEW)).created_at

    entry = (await alice.post(f"{BIN}/conversations/new")).json()

    latest = max(created_at + timedelta(days=10), world.clock.now() + timedelta(days=1))
    assert datetime.fromisoformat(entry["due_at"]) == latest


async def store_sound(world) -> None:
    path = "users/alice/uploads/talk/0"
    await world.blobs.write(path, b"sound", media_type="audio/mpeg")
    recording = Recording(
        id=TALK,
        created_at=world.clock.now(),
        size=5,
        media_type="audio/mpeg",
        parts=(BlobPart(path=path, size=5),),
        status="done",
    )
    await world.documents.write(Set("users/alice/recordings/talk", dump(recording)))


async def count_stored(world) -> int:
    document = await world.documents.get("users/alice/usage/stored")
    return int(document.fields["stored_bytes"]) if document else 0

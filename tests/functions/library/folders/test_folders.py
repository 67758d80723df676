"""Folders over HTTP: their order and counts, moves, and deletions that are interrupted."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from functions.library.folders.folder_schemas import MAX_MOVED
from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.folders import Folders
from shared.data.store.codec import dump
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, FolderId, UserId
from shared.domain.store.documents import Set, Update
from tests.fakes import CountingDocuments
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.library import build_client
from tests.fixtures.processing import ALICE, START, build_test_conversation

FOLDERS = "/v1/folders"
NOW = START + timedelta(hours=1)
TRAVEL = FolderId("travel")
HOME = FolderId("home")


@pytest.fixture
async def bob(world) -> AsyncIterator[AsyncClient]:
    async with build_client(world, UserId("bob")) as client:
        yield client


async def store_conversations(documents: Any, count: int, **fields: Any) -> list[ConversationId]:
    """Store processed conversations c0, c1, …"""
    conversations = [
        build_test_conversation(
            id=ConversationId(f"c{n}"),
            created_at=START + timedelta(minutes=n),
            status="completed",
            listed_at=START,
            **fields,
        )
        for n in range(count)
    ]
    writes = [Set(conversation_path(ALICE, c.id), dump(c)) for c in conversations]
    for n in range(0, count, 400):
        await documents.write(*writes[n : n + 400])
    return [conversation.id for conversation in conversations]


async def add_folder(client: AsyncClient, name: str, **fields: Any) -> str:
    answer = await client.post(FOLDERS, json={"name": name, **fields})
    assert answer.status_code == 200, answer.text
    folder_id: str = answer.json()["id"]
    return folder_id


async def list_folders(client: AsyncClient) -> dict[str, dict[str, Any]]:
    return {folder["name"]: folder for folder in (await client.get(FOLDERS)).json()}


async def count(client: AsyncClient) -> dict[str, int]:
    folders = await list_folders(client)
    counts = {name: folder["conversation_count"] for name, folder in folders.items()}
    return {name: n for name, n in counts.items() if n}


def read_refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["detail"]


async def test_everybody_has_folders_and_asking_stores_none(world, alice):
    folders = (await alice.get(FOLDERS)).json()

    assert [folder["name"] for folder in folders] == ["Personal", "Work", "Social"]
    assert [folder["order"] for folder in folders] == [0, 1, 2]
    assert {folder["conversation_count"] for folder in folders} == {0}
    assert (await world.load_everything())["documents"] == {}


async def test_a_folder_keeps_what_was_sent_and_is_changed_field_by_field(alice):
    sent = {"description": "Offsites", "color": "#3B82F6", "icon": "💼"}
    folder_id = await add_folder(alice, "Travel", **sent)

    changed = await alice.patch(f"{FOLDERS}/{folder_id}", json={"name": "Trips", "icon": None})

    stored = (await list_folders(alice))["Trips"]
    assert changed.json() == stored
    assert {name: stored[name] for name in sent} == sent
    assert (stored["order"], stored["is_system"], stored["is_default"]) == (3, False, False)


async def test_a_folder_that_is_sent_again_is_the_same(alice):
    first = await add_folder(alice, "Home", color="#111111")

    assert await add_folder(alice, "Home", color="#111111") == first
    assert await add_folder(alice, "Home") != first


async def test_moves_change_the_counts_and_the_conversation(world, alice):
    ids = await store_conversations(world.documents, 4)
    travel, home = await add_folder(alice, "Travel"), await add_folder(alice, "Home")

    await alice.patch("/v1/conversations/c0/folder", json={"folder_id": home})
    bulk = await alice.post(
        f"{FOLDERS}/{travel}/conversations/bulk-move", json={"conversation_ids": [*ids, "gone"]}
    )
    await alice.patch("/v1/conversations/c3/folder", json={"folder_id": None})

    assert bulk.json() == {"moved_count": 4}
    assert await count(alice) == {"Travel": 3}
    moved = (await alice.get("/v1/conversations/c0")).json()
    out = (await alice.get("/v1/conversations/c3")).json()
    assert (moved["folder_id"], out["folder_id"]) == (travel, None)


async def test_a_repeated_move_says_the_same(world, alice):
    ids = await store_conversations(world.documents, 2)
    travel = await add_folder(alice, "Travel")
    path = f"{FOLDERS}/{travel}/conversations/bulk-move"

    answers = [await alice.post(path, json={"conversation_ids": [*ids, *ids]}) for _ in range(2)]

    assert [answer.json()["moved_count"] for answer in answers] == [2, 2]
    assert await count(alice) == {"Travel": 2}


async def test_counts_leave_out_what_lists_leave_out(world, alice):
    await store_conversations(world.documents, 3, folder_id="work")
    changes: tuple[dict[str, Any], ...] = ({"discarded": True}, {"status": "merging"})
    for n, change in enumerate(changes):
        await world.documents.write(Update(f"users/{ALICE}/conversations/c{n}", change))

    assert await count(alice) == {"Work": 1}


async def test_a_deleted_conversation_counts_no_more(world, alice):
    await store_conversations(world.documents, 2, folder_id="work")
    assert await count(alice) == {"Work": 2}

    await alice.delete("/v1/conversations/c0")

    assert await count(alice) == {"Work": 1}


async def test_counting_2000_conversations_reads_three_documents(world):
    """The folders, the keys, and a query for what changed since."""
    await store_conversations(world.documents, 2_000, folder_id=TRAVEL)
    await count_by_folder(world.documents)
    counting = CountingDocuments(world.documents)

    counts = await count_by_folder(counting)

    assert counts == {TRAVEL: 2_000}
    assert counting.documents == 3


async def test_folders_are_put_in_order(alice):
    travel = await add_folder(alice, "Travel")

    await alice.post(f"{FOLDERS}/reorder", json={"folder_ids": [travel, "social"]})

    folders = (await alice.get(FOLDERS)).json()
    assert [folder["name"] for folder in folders] == ["Travel", "Social", "Personal", "Work"]
    assert [folder["order"] for folder in folders] == [0, 1, 2, 3]


@pytest.mark.parametrize(("to", "expected"), [("work", "Work"), (None, "Personal")])
async def test_conversations_of_a_deleted_folder_move_on(world, alice, to, expected):
    ids = await store_conversations(world.documents, 3)
    travel = await add_folder(alice, "Travel")
    path = f"{FOLDERS}/{travel}"
    await alice.post(f"{path}/conversations/bulk-move", json={"conversation_ids": ids})

    answers = [
        await alice.delete(path, params={"move_to_folder_id": to} if to else {}) for _ in range(2)
    ]

    assert [answer.status_code for answer in answers] == [204, 204]
    assert await count(alice) == {expected: 3}
    assert "Travel" not in await list_folders(alice)


async def test_a_folder_of_2000_conversations_is_deleted_in_bounded_batches(world):
    await store_conversations(world.documents, 2_000, folder_id=TRAVEL)
    await make_folders(world.documents)
    counting = CountingDocuments(world.documents)

    await Folders(counting).delete(ALICE, TRAVEL, HOME, now=NOW)

    counts = await count_by_folder(world.documents)
    assert counts == {HOME: 2_000}
    assert counting.documents == 2_000 + 1 + 20 + 2  # one query more than batches, two for the list


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 8))
async def test_a_deletion_that_crashes_at_any_call_is_completed_by_the_next_list(
    world, alice, at, after
):
    await store_conversations(world.documents, 150, folder_id=TRAVEL)
    await make_folders(world.documents)
    crashing: Any = WatchedPort(
        world.documents, FaultInjector(fail_at_call=at, fails_after_effect=after)
    )

    with pytest.raises(Crash):
        await Folders(crashing).delete(ALICE, TRAVEL, HOME, now=NOW)
    names = await list_folders(alice)

    if "Travel" in names:  # it died before anything was stored
        await Folders(world.documents).delete(ALICE, TRAVEL, HOME, now=NOW)
    assert await count(alice) == {"Home": 150}
    folders = await Folders(world.documents).load(ALICE)
    assert folders.list_unemptied() == []
    assert await count_by_folder(world.documents) == {HOME: 150}


async def test_between_the_steps_of_a_deletion_counts_are_of_where_conversations_go(world):
    await store_conversations(world.documents, 2, folder_id=TRAVEL)
    await make_folders(world.documents)

    folders = await Folders(world.documents).change(
        ALICE, lambda stored: stored.delete(TRAVEL, HOME, NOW), now=NOW
    )

    counts = await Folders(world.documents).count_conversations(ALICE, folders, now=NOW)
    assert counts == {HOME: 2}


async def test_nothing_is_moved_into_a_folder_that_is_being_deleted(world):
    await store_conversations(world.documents, 1)
    folders = Folders(world.documents)
    await make_folders(world.documents)
    await folders.change(ALICE, lambda stored: stored.delete(TRAVEL, HOME, NOW), now=NOW)

    with pytest.raises(NotFound, match="Folder not found"):
        await folders.move(ALICE, [ConversationId("c0")], TRAVEL, now=NOW)


async def test_a_target_that_is_deleted_meanwhile_passes_its_conversations_on(world):
    """Both deletions are marked before either moves anything."""
    await store_conversations(world.documents, 3, folder_id=TRAVEL)
    folders = Folders(world.documents)
    await make_folders(world.documents)
    await folders.change(ALICE, lambda stored: stored.delete(TRAVEL, HOME, NOW), now=NOW)

    await folders.delete(ALICE, HOME, "work", now=NOW)

    assert await count_by_folder(world.documents) == {"work": 3}


async def make_folders(documents: Any) -> None:
    """Give Alice the folders travel and home."""
    folders = Folders(documents)
    template = (await folders.load(ALICE)).folders[1]
    for folder_id in (TRAVEL, HOME):
        new = replace(template, id=folder_id, name=folder_id.title(), is_system=False)
        await folders.add(ALICE, new, now=START)


async def count_by_folder(documents: Any) -> Mapping[FolderId | None, int]:
    folders = Folders(documents)
    return await folders.count_conversations(ALICE, await folders.load(ALICE), now=NOW)


@pytest.mark.parametrize(
    ("method", "path", "body", "refusal"),
    [
        ("PATCH", f"{FOLDERS}/unknown", {"name": "x"}, (404, "Folder not found")),
        ("DELETE", f"{FOLDERS}/unknown", None, (404, "Folder not found")),
        ("DELETE", f"{FOLDERS}/personal", None, (409, "The default folder cannot be deleted")),
        ("DELETE", f"{FOLDERS}/work?move_to_folder_id=x", None, (404, "Folder not found")),
        ("DELETE", f"{FOLDERS}/work?move_to_folder_id=work", None,
         (422, "The conversations must move to another folder.")),
        ("PATCH", "/v1/conversations/c0/folder", {"folder_id": "x"}, (404, "Folder not found")),
        ("PATCH", "/v1/conversations/c9/folder", {"folder_id": "work"},
         (404, "Conversation not found")),
        ("PATCH", "/v1/conversations/__proto__/folder", {"folder_id": None},
         (404, "Conversation not found")),
        ("PATCH", "/v1/conversations/c0/folder", {}, (422, "The folder id must be given.")),
        ("POST", f"{FOLDERS}/x/conversations/bulk-move", {"conversation_ids": ["c0"]},
         (404, "Folder not found")),
        ("POST", f"{FOLDERS}/x/conversations/bulk-move", {"conversation_ids": []},
         (404, "Folder not found")),
        ("POST", f"{FOLDERS}/work/conversations/bulk-move", {"conversation_ids": ["c9"]},
         (404, "Conversation not found")),
        ("POST", f"{FOLDERS}/reorder", {"folder_ids": ["work", "x"]}, (404, "Folder not found")),
    ],
)  # fmt: skip
async def test_an_impossible_request_is_refused(world, alice, method, path, body, refusal):
    await store_conversations(world.documents, 1)

    answer = await alice.request(method, path, json=body)

    assert read_refusal(answer) == refusal


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"name": " "}, 422, "The name must not be empty"),
        ({"name": "x" * 101}, 422, "The name must be at most 100"),
        ({"name": "x", "description": "x" * 501}, 422, "The description must be at most"),
        ({"name": "x", "color": "red"}, 422, "The color must be a colour with six digits"),
        ({"name": "x", "icon": "x" * 65}, 422, "The icon must be at most"),
    ],
)
async def test_an_impossible_folder_is_refused(alice, body, status, detail):
    answer = await alice.post(FOLDERS, json=body)

    assert (answer.status_code, answer.json()["detail"][: len(detail)]) == (status, detail)


async def test_folders_and_moves_are_bounded(alice):
    for n in range(47):
        await add_folder(alice, f"Folder {n}")

    too_many = await alice.post(FOLDERS, json={"name": "One more"})
    ids = [f"c{n}" for n in range(MAX_MOVED + 1)]
    moved = await alice.post(
        f"{FOLDERS}/work/conversations/bulk-move", json={"conversation_ids": ids}
    )

    assert read_refusal(too_many) == (409, "You may have 50 folders; delete one first.")
    assert moved.status_code == 413


async def test_folders_of_another_user_are_not_found(world, alice, bob):
    await store_conversations(world.documents, 1)
    travel = await add_folder(alice, "Travel")

    changed = await bob.patch(f"{FOLDERS}/{travel}", json={"name": "Mine"})
    deleted = await bob.delete(f"{FOLDERS}/{travel}")
    moved = await bob.patch("/v1/conversations/c0/folder", json={"folder_id": "work"})

    assert read_refusal(changed) == read_refusal(deleted) == (404, "Folder not found")
    assert read_refusal(moved) == (404, "Conversation not found")
    assert list(await list_folders(bob)) == ["Personal", "Work", "Social"]


async def test_moving_wakes_no_processing(world, alice):
    """The folder is none of what a conversation is processed for."""
    await store_conversations(world.documents, 1)
    await world.run_trigger()

    await alice.patch("/v1/conversations/c0/folder", json={"folder_id": "work"})

    assert await world.run_trigger() == []

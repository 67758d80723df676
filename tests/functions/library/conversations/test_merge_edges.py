"""Edges of a merge: its end and its undoing at once, and what its owner deletes or changes between."""

import pytest

from functions.process_conversation.upkeep.retention import apply_retention
from shared.data.conversations.conversations import conversation_path, tombstone_path
from shared.data.stores import Stores
from shared.domain.conversations.conversation import transcript_hash
from shared.domain.ids import ConversationId
from shared.domain.store.documents import Set, Update
from tests.fault_injection import WatchedPort
from tests.fixtures.library import CONVERSATIONS
from tests.fixtures.merging import IDS, build_body
from tests.fixtures.processing import ALICE
from tests.fixtures.storage import MemoryDatabase
from tests.functions.library.conversations.test_attachments import read_stored_bytes
from tests.functions.library.conversations.test_merge_interruptions import (
    MAX_STEPS,
    MERGE,
    build_world,
    list_visible,
    open_library,
)
from tests.functions.library.conversations.test_merging import (
    TASKS,
    list_memories,
    list_tasks,
    merge,
)
from tests.functions.process_conversation.test_interruptions import Interruption
from tests.functions.process_conversation.upkeep.test_retention import (
    build_retention_deps,
    choose_retention,
)


async def find_task(alice, description):
    tasks = (await alice.get(TASKS)).json()["action_items"]
    return next(t["id"] for t in tasks if t["description"] == description)


async def find_memory(alice, content):
    return next(
        m["id"] for m in (await alice.get("/v3/memories")).json() if m["content"] == content
    )


async def undo(world, alice, merged_id):
    answer = await alice.post(f"{CONVERSATIONS}/{merged_id}/undo-merge")
    await world.deliver_all()
    return answer.status_code


async def test_what_its_owner_deletes_of_a_merge_does_not_come_back_with_its_undoing(two, alice):
    merged_id = await merge(two, alice)
    await alice.delete(f"{TASKS}/{await find_task(alice, 'Call Ann.')}")
    await alice.delete(f"/v3/memories/{await find_memory(alice, 'User will call bob.')}")

    assert await undo(two, alice, merged_id) == 200

    assert await list_tasks(alice) == [("Call Bob.", False)]
    assert await list_memories(alice) == ["User will call ann."]


async def test_what_moved_and_was_deleted_does_not_come_back_with_the_undoing(two, alice):
    task, memory = (
        await find_task(alice, "Call Ann."),
        await find_memory(alice, "User will call bob."),
    )
    await alice.patch(f"{TASKS}/{task}", json={"description": "Write to Ann"})
    await alice.patch(f"/v3/memories/{memory}", params={"value": "My own words"})
    merged_id = await merge(two, alice)
    await alice.delete(f"{TASKS}/{task}")
    await alice.delete(f"/v3/memories/{memory}")

    assert await undo(two, alice, merged_id) == 200

    assert await list_tasks(alice) == [("Call Bob.", False)]
    assert await list_memories(alice) == ["User will call ann."]


async def test_what_its_owner_changes_in_a_merge_outlives_its_undoing(two, alice):
    merged_id = await merge(two, alice)
    await alice.patch(f"{TASKS}/{await find_task(alice, 'Call Ann.')}", json={"completed": True})
    memory = await find_memory(alice, "User will call bob.")
    await alice.patch(f"/v3/memories/{memory}", params={"value": "My own words"})

    assert await undo(two, alice, merged_id) == 200

    assert await list_tasks(alice) == [("Call Ann.", True), ("Call Bob.", False)]
    assert await list_memories(alice) == ["My own words", "User will call ann."]


async def test_what_its_owner_deletes_before_a_merge_is_processed_does_not_come_back(two, alice):
    task = await find_task(alice, "Call Ann.")
    memory = await find_memory(alice, "User will call bob.")
    await alice.post(f"{CONVERSATIONS}/merge", json={"conversation_ids": IDS})

    await alice.delete(f"{TASKS}/{task}")
    await alice.delete(f"/v3/memories/{memory}")
    await two.deliver_all()

    assert await list_tasks(alice) == [("Call Bob.", False)]
    assert await list_memories(alice) == ["User will call ann."]


async def test_the_memories_and_tasks_of_restored_conversations_come_back_too(two, alice):
    for name in IDS:
        conversation = await two.deps.stores.conversations.get(ALICE, name)
        change = {"restored_hash": transcript_hash(conversation)}
        await two.documents.write(Update(conversation_path(ALICE, ConversationId(name)), change))
    before = await list_tasks(alice), await list_memories(alice)
    merged_id = await merge(two, alice)

    assert await undo(two, alice, merged_id) == 200

    assert (await list_tasks(alice), await list_memories(alice)) == before
    assert await two.search_ids("harbour") == ["first"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_undoing_during_its_end_keeps_one_side_whole(after):
    for at in range(1, MAX_STEPS):
        database = MemoryDatabase()
        world = await build_world(database)
        async with open_library(world) as alice:
            merged_id = (await alice.post(f"{CONVERSATIONS}/merge", json=MERGE)).json()[
                "merged_conversation_id"
            ]
            await world.deliver_all()
            statuses: list[int] = []

            async def undo_now(world=world, alice=alice, name=merged_id, statuses=statuses) -> None:
                statuses.append(await undo(world, alice, name))

            interruption = Interruption(at, undo_now, after)
            merges = Stores(WatchedPort(world.documents, interruption)).merges
            for _ in range(2):  # the queue delivers it twice
                await merges.finish(ALICE, merged_id)
                await world.deliver_all()
            tasks, memories = await list_tasks(alice), await list_memories(alice)
            visible = await list_visible(world)
            stored = await world.load_everything()
        database.close()
        if not interruption.done:
            break
        assert visible == ({*IDS} if statuses == [200] else {"merged"}), f"undone at call {at}"
        assert tasks == [("Call Ann.", False), ("Call Bob.", False)]
        assert memories == ["User will call ann.", "User will call bob."]
        assert not [path for path in stored["documents"] if "/merges/" in path]

    assert 3 < at < MAX_STEPS


async def test_what_its_owner_deletes_of_a_merge_stays_deleted_through_later_merges(two, alice):
    await alice.post(CONVERSATIONS, json=build_body("third", "09:20", "Call Eve."))
    await two.deliver_all()
    await alice.delete(f"{TASKS}/{await find_task(alice, 'Call Bob.')}")
    inner_id = await merge(two, alice)
    await alice.delete(f"{TASKS}/{await find_task(alice, 'Call Ann.')}")
    body = {"conversation_ids": [inner_id, "third"]}
    outer_id = (await alice.post(f"{CONVERSATIONS}/merge", json=body)).json()[
        "merged_conversation_id"
    ]
    await two.deliver_all()
    assert await list_tasks(alice) == [("Call Eve.", False)]

    for name in (outer_id, inner_id):  # their tasks come in any order
        await two.deps.stores.merges.finish(ALICE, name)
        await two.deliver_all()
    await alice.patch(f"{CONVERSATIONS}/{outer_id}", json={"title": "Calls"})
    await two.deliver_all()

    assert await list_tasks(alice) == [("Call Eve.", False)]
    stored = (await two.load_everything())["documents"]
    assert not [path for path in stored if any(f"/{name}" in path for name in (*IDS, "third"))]


async def test_conversations_with_many_deletions_can_be_merged_and_nothing_comes_back(two, alice):
    for name in IDS:
        path = conversation_path(ALICE, ConversationId(name))
        for start in range(0, 600, 300):
            marks = [
                Set(tombstone_path(path, f"{name}{n}"), {"of": "action_items"})
                for n in range(start, start + 300)
            ]
            await two.documents.write(*marks)
    await alice.delete(f"{TASKS}/{await find_task(alice, 'Call Ann.')}")

    merged_id = await merge(two, alice)
    assert await list_tasks(alice) == [("Call Bob.", False)]
    await two.deps.stores.merges.finish(ALICE, merged_id)
    await two.deliver_all()

    assert await list_tasks(alice) == [("Call Bob.", False)]
    assert len(await two.deps.stores.merges.read_tombstones(ALICE, merged_id)) == 1_201
    await alice.delete(f"{CONVERSATIONS}/{merged_id}?cascade=true")
    await two.deliver_all()
    stored = (await two.load_everything())["documents"]
    assert not [path for path in stored if "/conversations/" in path]


async def test_a_deleted_conversation_with_many_tasks_leaves_none_behind(two, alice):
    for n in range(250):
        task = {"id": f"-{n:03}", "description": f"Own {n}", "conversation_id": "first"}
        await alice.post(TASKS, json=task)
    await alice.delete(f"{CONVERSATIONS}/first?cascade=true")
    await two.deliver_all()

    stored = [d async for d in two.deps.stores.accounts.iter_documents(ALICE, "action_items")]
    assert len(stored) == 251
    assert "Call Ann." not in [d.fields["description"] for d in stored]


@pytest.mark.parametrize("inner_again", [False, True], ids=["at once", "processed"])
@pytest.mark.parametrize("outer_first", [False, True], ids=["unprocessed", "processed"])
async def test_what_its_owner_deletes_and_changes_of_a_merge_of_merges_outlives_both_undoings(
    two, alice, outer_first, inner_again
):
    await alice.post(CONVERSATIONS, json=build_body("third", "09:20", "Call Eve."))
    await two.deliver_all()
    inner_id = await merge(two, alice)
    body = {"conversation_ids": [inner_id, "third"]}
    outer_id = (await alice.post(f"{CONVERSATIONS}/merge", json=body)).json()[
        "merged_conversation_id"
    ]
    if outer_first:
        await two.deliver_all()
    await alice.delete(f"{TASKS}/{await find_task(alice, 'Call Ann.')}")
    await alice.patch(f"{TASKS}/{await find_task(alice, 'Call Bob.')}", json={"completed": True})
    await alice.delete(f"/v3/memories/{await find_memory(alice, 'User will call bob.')}")

    assert (await alice.post(f"{CONVERSATIONS}/{outer_id}/undo-merge")).status_code == 200
    if inner_again:
        await two.deliver_all()
    assert await undo(two, alice, inner_id) == 200

    assert await list_tasks(alice) == [("Call Bob.", True), ("Call Eve.", False)]
    assert await list_memories(alice) == ["User will call ann.", "User will call eve."]


async def test_what_its_owner_deletes_of_an_undone_merge_does_not_come_back_in_the_next(two, alice):
    first_id = await merge(two, alice)
    await alice.delete(f"{TASKS}/{await find_task(alice, 'Call Ann.')}")
    await alice.patch(f"{TASKS}/{await find_task(alice, 'Call Bob.')}", json={"completed": True})

    assert (await alice.post(f"{CONVERSATIONS}/{first_id}/undo-merge")).status_code == 200
    second_id = await merge(two, alice)
    merged_tasks = await list_tasks(alice)
    assert await undo(two, alice, second_id) == 200

    assert merged_tasks == await list_tasks(alice) == [("Call Bob.", True)]


async def test_a_merge_whose_text_was_deleted_with_age_can_be_undone(two, alice):
    set_at = await choose_retention(two, 1)
    two.clock.advance(days=8)
    before = await read_stored_bytes(two), await list_tasks(alice), await list_memories(alice)
    merged_id = await merge(two, alice)
    await apply_retention(build_retention_deps(two), ALICE, set_at=set_at)
    assert await read_stored_bytes(two) == 0

    assert await undo(two, alice, merged_id) == 200

    after = await read_stored_bytes(two), await list_tasks(alice), await list_memories(alice)
    assert after == before
    await apply_retention(build_retention_deps(two), ALICE, set_at=set_at)
    await two.deliver_all()
    assert await read_stored_bytes(two) == 0
    assert "She is at the harbour." not in str(await two.load_everything())

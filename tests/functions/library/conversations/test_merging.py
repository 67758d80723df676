"""Merging: one conversation takes the place of several, and for an hour the several can come back."""

import pytest

from functions.process_conversation.upkeep.upkeep_routes import FINISH_ROUTES
from tests.fixtures.callers import build_service_headers, open_client
from tests.fixtures.library import CONVERSATIONS, build_client
from tests.fixtures.merging import (
    FILLER,
    FIRST,
    IDS,
    build_body,
    strip_bookkeeping,
)
from tests.fixtures.processing import (
    ALICE,
)

MERGE = f"{CONVERSATIONS}/merge"
TASKS = "/v1/action-items"


BODY_OF_MERGE = {"conversation_ids": IDS, "reprocess": True}


async def merge(world, alice):
    answer = await alice.post(MERGE, json=BODY_OF_MERGE)
    assert answer.status_code == 200, answer.text
    await world.deliver_all()
    return answer.json()["merged_conversation_id"]


async def list_tasks(alice):
    tasks = (await alice.get(TASKS)).json()["action_items"]
    return sorted((task["description"], task["completed"]) for task in tasks)


async def list_memories(alice):
    return sorted(memory["content"] for memory in (await alice.get("/v3/memories")).json())


async def test_a_merged_conversation_takes_the_place_of_its_sources_r5(two, alice):
    answer = await alice.post(MERGE, json=BODY_OF_MERGE)
    await two.deliver_all()

    assert answer.json()["conversation_ids"] == IDS
    merged_id = answer.json()["merged_conversation_id"]
    merged = (await alice.get(f"{CONVERSATIONS}/{merged_id}")).json()
    times = [(s["text"][:10], s["start"]) for s in merged["transcript_segments"]]
    assert times == [
        ("Call Ann.", 0.0),
        ("She is at ", 1.0),
        (FILLER[:10], 2.0),
        ("Call Bob.", 600.0),
        ("He is at t", 601.0),
        (FILLER[:10], 602.0),
    ]
    assert (merged["status"], merged["structured"]["title"]) == ("completed", "About 2 calls")
    for source in IDS:
        assert (await alice.get(f"{CONVERSATIONS}/{source}")).status_code == 404
    assert await two.search_ids("harbour") == [merged_id]


async def test_memories_and_tasks_are_not_doubled(two, alice):
    await merge(two, alice)

    assert await list_tasks(alice) == [("Call Ann.", False), ("Call Bob.", False)]
    assert await list_memories(alice) == ["User will call ann.", "User will call bob."]


async def test_what_the_owner_changed_comes_along(two, alice):
    tasks = {t["description"]: t["id"] for t in (await alice.get(TASKS)).json()["action_items"]}
    await alice.patch(f"{TASKS}/{tasks['Call Ann.']}", json={"description": "Write to Ann"})
    await alice.delete(f"{TASKS}/{tasks['Call Bob.']}")
    memory = (await alice.get("/v3/memories")).json()[0]
    await alice.patch(f"/v3/memories/{memory['id']}", params={"value": "My own words"})

    merged_id = await merge(two, alice)

    (task,) = (await alice.get(TASKS)).json()["action_items"]
    assert (task["description"], task["conversation_id"]) == ("Write to Ann", merged_id)
    merged = (await alice.get(f"{CONVERSATIONS}/{merged_id}")).json()
    assert [i["description"] for i in merged["structured"]["action_items"]] == ["Write to Ann"]
    assert len(await list_memories(alice)) == 2
    assert "My own words" in await list_memories(alice)


async def test_a_repeated_merge_is_the_same_merge(two, alice):
    merged_id = await merge(two, alice)

    assert await merge(two, alice) == merged_id

    in_other_order = {"conversation_ids": ["first", "second"]}
    answer = await alice.post(MERGE, json=in_other_order)
    assert answer.json()["merged_conversation_id"] == merged_id


async def test_an_undone_merge_brings_everything_back(two, alice):
    before = await two.load_everything()
    usage = await two.documents.get("users/alice/usage/stored")
    prompts_before = await list_tasks(alice)

    merged_id = await merge(two, alice)
    for _ in range(2):  # the client repeats a request whose answer was lost
        answer = await alice.post(f"{CONVERSATIONS}/{merged_id}/undo-merge")
        assert answer.json()["conversation_ids"] == IDS
        await two.deliver_all()

    assert await list_tasks(alice) == prompts_before
    assert await list_memories(alice) == ["User will call ann.", "User will call bob."]
    assert (await alice.get(f"{CONVERSATIONS}/{merged_id}")).status_code == 404
    assert (await alice.get(f"{CONVERSATIONS}/first")).json()["status"] == "completed"
    assert await two.search_ids("harbour") == ["first"]
    assert await two.documents.get("users/alice/usage/stored") == usage or usage is None
    assert strip_bookkeeping(await two.load_everything()) == strip_bookkeeping(before)


async def test_a_merge_is_final_after_its_hour(two, alice):
    merged_id = await merge(two, alice)
    (task,) = [t for t in two.tasks.created if t.target == "finish_merge"]
    assert (task.at - two.clock.now()).total_seconds() == 3_600

    async with open_client(
        "finish_merge", FINISH_ROUTES, two.deps, await build_service_headers("finish_merge")
    ) as queue:
        assert (await queue.post("/", json=task.body)).status_code == 204
    await two.deliver_all()

    answer = await alice.post(f"{CONVERSATIONS}/{merged_id}/undo-merge")
    assert answer.status_code == 404
    stored = await two.load_everything()
    assert not [path for path in stored["documents"] if "/conversations/first" in path]
    assert not [path for path in stored["documents"] if "/merges/" in path]
    assert await list_tasks(alice) == [("Call Ann.", False), ("Call Bob.", False)]


async def test_merges_are_listed_while_they_can_be_undone(two, alice):
    merged_id = await merge(two, alice)

    listed = (await alice.get(f"{CONVERSATIONS}/merges")).json()
    two.clock.advance(seconds=3_600)
    later = (await alice.get(f"{CONVERSATIONS}/merges")).json()

    assert [one["merged_conversation_id"] for one in listed] == [merged_id]
    assert listed[0]["conversation_ids"] == IDS
    assert later == []


async def test_a_merge_cannot_be_undone_late(two, alice):
    merged_id = await merge(two, alice)

    two.clock.advance(seconds=3_600)

    answer = await alice.post(f"{CONVERSATIONS}/{merged_id}/undo-merge")
    assert answer.status_code == 404


async def test_a_deleted_merge_leaves_nothing_of_its_sources(two, alice):
    merged_id = await merge(two, alice)

    assert (await alice.delete(f"{CONVERSATIONS}/{merged_id}?cascade=true")).status_code == 204
    await two.deliver_all()

    stored = await two.load_everything()
    assert not [path for path in stored["documents"] if "/conversations/" in path]
    assert (await list_tasks(alice), await list_memories(alice)) == ([], [])


async def test_phones_are_told_once_when_the_merged_conversation_can_be_shown(two, alice):
    merged_id = await merge(two, alice)
    await alice.patch(f"{CONVERSATIONS}/{merged_id}", json={"title": "Calls"})
    await two.deliver_all()

    notification = await two.deps.stores.inbox.get(ALICE, f"merge-{merged_id}")
    assert notification.data == {
        "type": "merge_completed",
        "merged_conversation_id": merged_id,
        "removed_conversation_ids": "second,first",
    }
    names = {t.name for t in two.deps.tasks.created if t.target == "deliver_notification"}
    assert len(names) == 1


async def test_a_merged_conversation_can_be_merged_and_both_undone(two, alice):
    await alice.post(CONVERSATIONS, json=build_body("third", "09:20", "Call Eve."))
    await two.deliver_all()
    inner_id = await merge(two, alice)
    body = {"conversation_ids": [inner_id, "third"]}
    outer_id = (await alice.post(MERGE, json=body)).json()["merged_conversation_id"]
    await two.deliver_all()

    assert len(await list_tasks(alice)) == 3
    assert (await alice.post(f"{CONVERSATIONS}/{inner_id}/undo-merge")).status_code == 404
    listed = (await alice.get(f"{CONVERSATIONS}/merges")).json()
    assert [one["merged_conversation_id"] for one in listed] == [outer_id]
    assert (await alice.post(f"{CONVERSATIONS}/{outer_id}/undo-merge")).status_code == 200
    assert (await alice.post(f"{CONVERSATIONS}/{inner_id}/undo-merge")).status_code == 200
    await two.deliver_all()
    assert len(await list_tasks(alice)) == 3
    assert (await alice.get(f"{CONVERSATIONS}/first")).status_code == 200


@pytest.mark.parametrize(
    ("ids", "status", "detail"),
    [
        (["first"], 422, "at least 2 entries; there is 1"),
        (["first", "first"], 422, "must name each conversation once"),
        (["first", "unknown"], 404, "Conversation not found"),
        (["first", "__proto__"], 404, "Conversation not found"),
        ([f"c{n}" for n in range(21)], 413, "at most 20 entries; there are 21"),
    ],
)
async def test_an_invalid_merge_is_refused_and_changes_nothing(two, alice, ids, status, detail):
    before = await two.load_everything()

    answer = await alice.post(MERGE, json={"conversation_ids": ids})

    assert (answer.status_code, detail in answer.json()["detail"]) == (status, True), answer.text
    assert await two.load_everything() == before


async def test_conversations_of_two_users_are_not_merged(two):
    async with build_client(two, "mallory") as mallory:
        await mallory.post(CONVERSATIONS, json={**FIRST, "id": "hers"})

        answer = await mallory.post(MERGE, json={"conversation_ids": ["hers", "first"]})

    assert answer.status_code == 404


async def test_a_source_of_a_merge_is_in_no_other(two, alice):
    await alice.post(CONVERSATIONS, json=build_body("third", "09:20", "Call Eve."))
    await merge(two, alice)

    answer = await alice.post(MERGE, json={"conversation_ids": ["first", "third"]})

    assert answer.status_code == 404

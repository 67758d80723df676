"""Deletion of a conversation: its memories and tasks go with it, or stay without it, as the client asks."""

from typing import Any

import pytest

from tests.fixtures.library import BODY, CONVERSATIONS

TALK = f"{CONVERSATIONS}/talk"


async def list_derived(alice) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    tasks = (await alice.get("/v1/action-items")).json()["action_items"]
    return (await alice.get("/v3/memories")).json(), tasks


@pytest.mark.parametrize(
    ("query", "memory_count", "task_count"),
    [
        ("", 1, 1),
        ("?delete_memories=true", 0, 1),
        ("?delete_action_items=true", 1, 0),
        ("?delete_memories=true&delete_action_items=true", 0, 0),
        ("?cascade=true", 0, 0),
        ("?cascade=false", 1, 1),
    ],
)
async def test_each_flag_takes_its_own_kind_along_and_the_rest_stays_without_a_source_r1(
    world, alice, query: str, memory_count: int, task_count: int
):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    known = await list_derived(alice)
    assert tuple(map(len, known)) == (1, 1)

    assert (await alice.delete(f"{TALK}{query}")).status_code == 204
    await world.deliver_all()

    memories, tasks = await list_derived(alice)
    assert (len(memories), len(tasks)) == (memory_count, task_count)
    assert [(m["conversation_id"], m["evidence"]) for m in memories] == [(None, "")] * memory_count
    assert [task["conversation_id"] for task in tasks] == [None] * task_count
    found = (await alice.post("/v3/memories/search", json={"query": "peanuts"})).json()
    assert len(found) == memory_count

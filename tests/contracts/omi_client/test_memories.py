"""Memory calls of the released app (R1)."""

from typing import Any

import pytest

from tests.contracts.omi_client.objects import MEMORY
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each

MEMORIES = "/v3/memories"


def list_memories(phone: Phone, limit: int = 100, offset: int = 0) -> dict[str, dict[str, Any]]:
    memories = phone.get(MEMORIES, each(MEMORY), limit=limit, offset=offset)
    return {memory["id"]: memory for memory in memories}


def add_memory(phone: Phone, content: str, category: str = "manual") -> dict[str, Any]:
    body = {"content": content, "visibility": "private", "category": category}
    memory: dict[str, Any] = phone.send("POST", MEMORIES, MEMORY, json=body)
    return memory


@pytest.mark.client_call("getMemories", "createMemoryServer")
@pytest.mark.parametrize(
    ("category", "shown_category"),
    [
        ("manual", "manual"),
        ("interesting", "interesting"),
        ("system", "system"),
        ("work", "system"),
    ],
)
def test_a_memory_keeps_what_was_sent_r1(phone, category, shown_category):
    added = add_memory(phone, "I prefer oat milk", category)

    shown = list_memories(phone)[added["id"]]
    assert shown == added
    assert (shown["content"], shown["visibility"]) == ("I prefer oat milk", "private")
    assert (shown["category"], shown["uid"]) == (shown_category, phone.uid)
    assert shown["manually_added"]


@pytest.mark.client_call("getMemories")
def test_a_memory_that_is_sent_again_is_the_same_r1(phone):
    first = add_memory(phone, "I collect stamps")

    assert add_memory(phone, "I collect stamps") == first
    assert list(list_memories(phone)) == [first["id"]]


@pytest.mark.client_call("getMemories")
def test_all_memories_come_at_once_whatever_the_limit_r1(phone):
    ids = [add_memory(phone, f"Shelf {n} holds tin {n}")["id"] for n in range(102)]

    for limit in (100, 500, 5_000):
        assert list(list_memories(phone, limit)) == ids[::-1]
    assert list(list_memories(phone, 10, offset=100)) == [ids[1], ids[0]]


@pytest.mark.client_call("getMemories")
@pytest.mark.parametrize("offset", [1, 5_000, 9_999])
def test_past_the_end_are_no_memories_r1(phone, offset):
    add_memory(phone, "I collect stamps")

    assert list_memories(phone, offset=offset) == {}


@pytest.mark.client_call(
    "editMemoryServer", "updateMemoryVisibilityServer", "reviewMemory", "getMemories"
)
def test_changes_of_a_memory_are_kept_r1(phone):
    path = f"{MEMORIES}/{add_memory(phone, 'I prefer oat milk')['id']}"

    phone.send("PATCH", path, params={"value": "I prefer soy milk"})
    phone.send("PATCH", f"{path}/visibility", params={"value": "public"})
    phone.send("POST", f"{path}/review", params={"value": "true"})

    [shown] = list_memories(phone).values()
    assert (shown["content"], shown["visibility"]) == ("I prefer soy milk", "public")
    assert (shown["reviewed"], shown["user_review"], shown["edited"]) == (True, True, True)


@pytest.mark.client_call("deleteMemoryServer", "getMemories", "deleteAllMemoriesServer")
def test_deleted_memories_are_gone_r1(phone):
    first, *_ = [add_memory(phone, text)["id"] for text in ("One", "Two", "Three")]

    phone.send("DELETE", f"{MEMORIES}/{first}")
    assert len(list_memories(phone)) == 2

    phone.send("DELETE", MEMORIES)
    assert list_memories(phone) == {}

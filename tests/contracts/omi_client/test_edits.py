"""Calls with which the released app changes a conversation (R1, R5)."""

from typing import Any

import httpx
import pytest

from tests.contracts.omi_client.objects import ACTION_ITEM_PAGE, CONVERSATION, MEMORY, PERSON
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each, optional, shape, some, text
from tests.e2e.product import Product, wait_for_processing
from tests.e2e.waiting import wait_until

CONVERSATIONS = "/v1/conversations"
MERGE = shape(
    status=optional(text),
    message=optional(text),
    warning=optional(text),
    conversation_ids=some(text),
)
TASKS = "/v1/action-items"
FILLER = "The harbour was quiet and we talked for a long while about boats and weather. " * 3


def build_line(name: str, words: str, number: int, *, is_user: bool = False) -> dict[str, Any]:
    return {
        "id": name,
        "text": words,
        "speaker": f"SPEAKER_0{number}",
        "is_user": is_user,
        "start": float(number),
        "end": number + 0.5,
    }


LINES = [
    build_line("s0", f"{FILLER} I will book the train to Porto.", 0, is_user=True),
    build_line("s1", "The rooms are paid until Sunday.", 1),
    build_line("s2", "Good. I need to call the hotel on Monday.", 2, is_user=True),
]


@pytest.fixture
def talk(phone: Phone) -> str:
    """Hand in a conversation with two tasks; return its id."""
    conversation = phone.add_conversation(transcript_segments=LINES)
    assert len(conversation["structured"]["action_items"]) >= 2
    name: str = conversation["id"]
    return name


def read(phone: Phone, name: str) -> dict[str, Any]:
    conversation: dict[str, Any] = phone.get(f"{CONVERSATIONS}/{name}", CONVERSATION)
    return conversation


def list_tasks(phone: Phone, name: str) -> dict[str, bool]:
    query = {"limit": 50, "offset": 0, "conversation_id": name}
    page = phone.get(TASKS, ACTION_ITEM_PAGE, **query)
    return {task["description"]: task["completed"] for task in page["action_items"]}


def list_items(phone: Phone, name: str) -> list[tuple[str, bool]]:
    items = read(phone, name)["structured"]["action_items"]
    return [(item["description"], item["completed"]) for item in items]


@pytest.mark.client_call("setConversationVisibility")
def test_a_conversation_is_shared_and_private_again_r1(phone, talk):
    for value in ("shared", "private"):
        phone.send("PATCH", f"{CONVERSATIONS}/{talk}/visibility?value={value}")
        assert read(phone, talk)["visibility"] == value


@pytest.mark.client_call("setConversationVisibility")
def test_whoever_has_the_link_reads_one_conversation_until_it_is_private_again(
    phone, talk, product: Product
):
    url = phone.send("PATCH", f"{CONVERSATIONS}/{talk}/visibility?value=shared")["url"]
    page = url.removeprefix(product.origin)

    with httpx.Client(base_url=product.origin, timeout=30) as anyone:
        shown = anyone.get(page)
        phone.send("PATCH", f"{CONVERSATIONS}/{talk}/visibility?value=private")
        gone = anyone.get(page)
        guessed = anyone.get(page[:-4] + "AAAA")

    assert "book the train to Porto" in shown.text
    assert phone.uid not in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert (gone.status_code, gone.text) == (guessed.status_code, guessed.text)
    assert gone.status_code == 404


@pytest.mark.client_call("updateConversationSegmentText")
def test_the_words_of_a_segment_are_corrected_r1(phone, talk):
    body = {"segment_id": "s2", "text": "I need to call the inn on Monday."}

    phone.send("PATCH", f"{CONVERSATIONS}/{talk}/segments/text", json=body)

    segments = read(phone, talk)["transcript_segments"]
    assert [segment["id"] for segment in segments] == ["s0", "s1", "s2"]
    assert segments[2]["text"] == body["text"]
    assert wait_for_processing(phone.http, talk)["status"] == "completed"


@pytest.mark.client_call("assignBulkConversationTranscriptSegments")
def test_segments_are_given_to_a_person_to_the_owner_and_to_nobody_r1(phone, talk):
    person = phone.send("POST", "/v1/users/people", PERSON, json={"name": "Marta"})
    path = f"{CONVERSATIONS}/{talk}/segments/assign-bulk"
    steps = [
        ("person_id", person["id"], (person["id"], False)),
        ("is_user", "true", (None, True)),
        ("person_id", None, (None, False)),
    ]

    for assign_type, value, shown in steps:
        body = {"segment_ids": ["s1"], "assign_type": assign_type, "value": value}
        answer = phone.send("PATCH", path, CONVERSATION, json=body)
        for segments in (answer["transcript_segments"], read(phone, talk)["transcript_segments"]):
            assert (segments[1]["person_id"], segments[1]["is_user"]) == shown
            assert [s["speaker"] for s in segments] == ["SPEAKER_00", "SPEAKER_01", "SPEAKER_02"]
            assert segments[2]["person_id"] is None


@pytest.mark.client_call("setConversationActionItemState")
def test_a_task_is_completed_in_the_conversation_and_on_the_page_of_tasks_r1(phone, talk):
    (first, _), *others = list_items(phone, talk)

    body = {"items_idx": [0], "values": [True]}
    phone.send("PATCH", f"{CONVERSATIONS}/{talk}/action-items", json=body)

    assert list_items(phone, talk) == [(first, True), *others]
    assert list_tasks(phone, talk)[first] is True


@pytest.mark.client_call("updateActionItemDescription")
def test_a_task_gets_other_words_in_both_places_r1(phone, talk):
    (old, _), *others = list_items(phone, talk)

    body = {"old_description": old, "description": "Book the night train"}
    phone.send("PATCH", f"{CONVERSATIONS}/{talk}/action-items/0", json=body)

    assert list_items(phone, talk) == [("Book the night train", False), *others]
    assert old not in list_tasks(phone, talk)
    assert "Book the night train" in list_tasks(phone, talk)


@pytest.mark.client_call("deleteConversationActionItem")
def test_one_task_is_deleted_by_its_words_r1(phone, talk):
    *left, (last, completed) = list_items(phone, talk)

    body = {"completed": completed, "description": last}
    phone.send("DELETE", f"{CONVERSATIONS}/{talk}/action-items", status=204, json=body)

    assert list_items(phone, talk) == left
    assert last not in list_tasks(phone, talk)


@pytest.mark.client_call("processInProgressConversation", "getConversationById")
def test_what_a_task_says_on_the_page_of_tasks_stands_in_the_conversation(phone, talk):
    page = phone.get(TASKS, ACTION_ITEM_PAGE, limit=50, offset=0, conversation_id=talk)
    task = page["action_items"][0]

    phone.send("PATCH", f"{TASKS}/{task['id']}", json={"completed": True})

    assert dict(list_items(phone, talk))[task["description"]] is True


@pytest.mark.client_call("mergeConversations", "getConversations")
def test_two_conversations_become_one_r1(phone, talk):
    later = {"started_at": "2026-03-02T09:30:00Z", "finished_at": "2026-03-02T09:35:00Z"}
    other = phone.add_conversation(**later)["id"]

    body = {"conversation_ids": [talk, other], "reprocess": True}
    merge = phone.send("POST", f"{CONVERSATIONS}/merge", MERGE, json=body)

    assert merge["conversation_ids"] == [talk, other]
    listed = phone.get(CONVERSATIONS, each(CONVERSATION), limit=50, offset=0, statuses="")
    (merged,) = listed
    segments = merged["transcript_segments"]
    assert [s["start"] for s in segments] == [0.0, 1.0, 2.0, 1_800.0]
    assert len({s["id"] for s in segments}) == 4
    for source in (talk, other):
        assert phone.refuse("GET", f"{CONVERSATIONS}/{source}") == (404, "Conversation not found")


@pytest.mark.client_call("mergeConversations", "getConversations")
def test_a_merge_is_undone(phone, talk):
    other = phone.add_conversation()["id"]
    body = {"conversation_ids": [talk, other], "reprocess": True}
    merged = phone.send("POST", f"{CONVERSATIONS}/merge", json=body)["merged_conversation_id"]

    phone.send("POST", f"{CONVERSATIONS}/{merged}/undo-merge", MERGE)

    listed = phone.get(CONVERSATIONS, each(CONVERSATION), limit=50, offset=0, statuses="")
    assert {conversation["id"] for conversation in listed} == {talk, other}


@pytest.mark.client_call("deleteConversationServer")
def test_a_deleted_conversation_takes_its_memories_and_tasks_along_r1(phone, talk):
    phone.send("DELETE", f"{CONVERSATIONS}/{talk}?cascade=true", status=204)

    def check_forgotten() -> bool | None:
        memories = phone.get("/v3/memories", each(MEMORY), limit=100, offset=0)
        origins = {memory["conversation_id"] for memory in memories}
        return True if talk not in origins and not list_tasks(phone, talk) else None

    assert wait_until(check_forgotten)
    assert phone.refuse("GET", f"{CONVERSATIONS}/{talk}") == (404, "Conversation not found")

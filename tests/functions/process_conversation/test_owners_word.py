"""What the owner writes, deletes and names outlives every processing (P30, P33, C50)."""

import pytest

from functions.process_conversation.library.conversations import MAX_PEOPLE
from shared.data.codec import dump
from shared.domain.documents import Set
from shared.domain.ids import PersonId
from shared.domain.person import Person
from tests.functions.process_conversation.client import BODY, CONVERSATIONS, SEGMENT, client_of
from tests.functions.process_conversation.world import (
    ALICE,
    MEMORIES,
    START,
    STRUCTURE,
    answers,
)

TALK = f"{CONVERSATIONS}/talk"
WORDS = "well " * 101
SAID = answers()


@pytest.fixture
async def processed(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.settle()
    return world


async def reprocess(world, alice, **said):
    """Have the models read the conversation again; by default they say what they said before."""
    scripted = world.deps.model
    for name in (STRUCTURE, MEMORIES):
        scripted._answers[name].append(said.get(name) or SAID[name])
    assert (await alice.post(f"{TALK}/reprocess")).status_code == 202
    (message,) = world.events.of("conversation.changed")[-1:]
    await world.deliver(message)


async def test_a_title_of_the_owners_is_shown_found_and_kept(processed, alice):
    edited = await alice.patch(TALK, json={"title": "Zanzibar plan", "category": "travel"})
    await processed.settle()
    await reprocess(processed, alice)

    assert edited.json()["structured"]["title"] == "Zanzibar plan"
    structured = (await alice.get(TALK)).json()["structured"]
    assert (structured["title"], structured["category"]) == ("Zanzibar plan", "travel")
    assert structured["overview"] == "The launch moved to May."
    assert await processed.found("Zanzibar") == ["talk"]


async def test_an_edit_asks_no_model_again(processed, alice):
    asked = len(processed.deps.model.prompts)

    await alice.patch(TALK, json={"title": "Zanzibar plan"})
    await processed.settle()

    assert len(processed.deps.model.prompts) == asked
    assert (await alice.get(TALK)).json()["status"] == "completed"


async def test_a_star_is_no_change_of_content(processed, alice):
    assert (await alice.patch(f"{TALK}/starred", params={"starred": True})).status_code == 200

    assert (await alice.get(TALK)).json()["starred"] is True
    assert await processed.tell() == []


@pytest.mark.parametrize(
    "body",
    [{"title": ""}, {"title": " "}, {"title": "x" * 201}, {"category": "nonsense"}, {"emoji": ""}],
)
async def test_an_edit_that_cannot_be_taken_is_422(processed, alice, body):
    before = await processed.everything()

    assert (await alice.patch(TALK, json=body)).status_code == 422
    assert await processed.everything() == before


async def test_a_deleted_memory_stays_deleted_when_the_conversation_is_processed_again(
    processed, alice
):
    """C50: it goes from the documents and from the vectors, for good."""
    ((memory),) = (await alice.get("/v3/memories")).json()

    await alice.delete(f"/v3/memories/{memory['id']}")
    await reprocess(processed, alice)

    assert (await alice.get("/v3/memories")).json() == []
    assert not [row for row in await processed.row_ids() if row.endswith("#m")]
    assert (await alice.delete(f"/v3/memories/{memory['id']}")).status_code == 404


async def test_an_edited_memory_stays_as_the_owner_wrote_it(processed, alice):
    (memory,) = (await alice.get("/v3/memories")).json()

    await alice.patch(f"/v3/memories/{memory['id']}", params={"value": "Loves peanuts, now"})
    await reprocess(processed, alice)

    (kept,) = (await alice.get("/v3/memories")).json()
    assert (kept["content"], kept["edited"]) == ("Loves peanuts, now", True)
    (found,) = (await alice.post("/v3/memories/search", json={"query": "loves"})).json()
    assert found["id"] == memory["id"]


async def test_a_confirmed_memory_outlives_other_words_of_the_model(processed, alice):
    (memory,) = (await alice.get("/v3/memories")).json()

    await alice.post(f"/v3/memories/{memory['id']}/review", params={"value": True})
    await reprocess(processed, alice, **{MEMORIES: {"memories": []}})

    (kept,) = (await alice.get("/v3/memories")).json()
    assert (kept["id"], kept["user_review"]) == (memory["id"], True)


@pytest.mark.usefixtures("processed")
async def test_a_memory_called_wrong_is_gone(alice):
    (memory,) = (await alice.get("/v3/memories")).json()

    await alice.post(f"/v3/memories/{memory['id']}/review", params={"value": False})

    assert (await alice.get("/v3/memories")).json() == []


async def test_a_deleted_task_stays_deleted(processed, alice):
    (item,) = (await alice.get("/v1/action-items")).json()["action_items"]

    assert (await alice.delete(f"/v1/action-items/{item['id']}")).status_code == 204
    await reprocess(processed, alice)

    assert (await alice.get("/v1/action-items")).json()["action_items"] == []


async def test_a_task_of_the_owners_is_written_changed_completed_and_found(alice):
    """P5, over HTTP."""
    said = {"id": "call", "description": "Call Ann", "due_at": "2026-03-09T10:00:00+01:00"}
    made = await alice.post("/v1/action-items", json=said)
    again = await alice.post("/v1/action-items", json=said)
    other = await alice.post("/v1/action-items", json={**said, "description": "Call Bob"})
    assert (made.json()["due_at"], again.json()) == ("2026-03-09T09:00:00Z", made.json())
    assert other.status_code == 409

    await alice.patch("/v1/action-items/call", json={"description": "Call Ann Lee", "due_at": None})
    await alice.patch("/v1/action-items/call/completed", params={"completed": True})

    item = (await alice.get("/v1/action-items/call")).json()
    assert (item["description"], item["due_at"], item["completed"]) == ("Call Ann Lee", None, True)
    assert item["completed_at"] is not None
    found = (await alice.post("/v1/action-items/search", json={"query": "ann"})).json()
    assert [hit["id"] for hit in found["action_items"]] == ["call"]


async def test_pages_follow_their_cursor_to_the_end(alice):
    for n in range(5):
        await alice.post("/v3/memories", json={"id": f"m{n}", "content": f"Fact {n}"})
    seen, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = await alice.get("/v3/memories", params=params)
        seen += [memory["id"] for memory in page.json()]
        cursor = page.headers.get("x-next-cursor")
        if cursor is None:
            break
    assert sorted(seen) == [f"m{n}" for n in range(5)]
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v3/memories/mine"),
        ("PATCH", "/v3/memories/mine?value=x"),
        ("DELETE", "/v3/memories/mine"),
        ("POST", "/v3/memories/mine/review?value=true"),
        ("GET", "/v1/action-items/mine"),
        ("PATCH", "/v1/action-items/mine/completed?completed=true"),
        ("DELETE", "/v1/action-items/mine"),
        ("GET", "/v1/users/people/mine"),
        ("PATCH", "/v1/users/people/mine/name?value=x"),
        ("DELETE", "/v1/users/people/mine"),
        ("PATCH", "/v1/conversations/talk/title?title=x"),
        ("POST", "/v1/conversations/talk/reprocess"),
        ("PATCH", "/v1/conversations/talk/assign-speaker/0?assign_type=is_user&value=true"),
    ],
)
async def test_what_belongs_to_another_owner_is_not_there(processed, alice, method, path):
    await alice.post("/v3/memories", json={"id": "mine", "content": "Mine"})
    await alice.post("/v1/action-items", json={"id": "mine", "description": "Mine"})
    await alice.post("/v1/users/people", json={"id": "mine", "name": "Mine"})
    before = await processed.everything()

    async with client_of(processed, "mallory") as mallory:
        assert (await mallory.request(method, path)).status_code == 404
    assert await processed.everything() == before


async def named_talk(world, alice, **person):
    """Two speak; the second is named Ann."""
    segments = [
        {**SEGMENT, "text": f"I booked the train. {WORDS}", "speaker": "SPEAKER_00"},
        {**SEGMENT, "text": "The harbour is lovely.", "speaker": "SPEAKER_01", "is_user": False},
    ]
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": segments})
    await world.settle()
    await alice.post("/v1/users/people", json={"id": "ann", "name": "Ann", **person})
    query = {"assign_type": "person_id", "value": "ann"}
    done = await alice.patch(f"{TALK}/assign-speaker/1", params=query)
    await world.settle()
    return done


async def speakers(alice):
    return [s["speaker"] for s in (await alice.get(TALK)).json()["transcript_segments"]]


async def test_a_named_speaker_is_found_by_name(world, alice):
    """P33."""
    assert (await named_talk(world, alice)).status_code == 200

    assert await speakers(alice) == ["SPEAKER_00", "Ann"]
    assert await world.found("Ann") == ["talk"]


async def test_naming_is_undone(world, alice):
    await named_talk(world, alice)

    await alice.patch(f"{TALK}/assign-speaker/SPEAKER_01", params={"assign_type": "person_id"})
    await world.settle()

    assert await speakers(alice) == ["SPEAKER_00", "SPEAKER_01"]
    assert await world.found("Ann") == []


async def test_a_renamed_person_has_the_new_name_everywhere(world, alice):
    await named_talk(world, alice)

    renamed = await alice.patch("/v1/users/people/ann/name", params={"value": "Anneliese"})
    await world.settle()

    assert renamed.json()["name"] == "Anneliese"
    assert await speakers(alice) == ["SPEAKER_00", "Anneliese"]
    assert await world.found("Anneliese") == ["talk"]


async def test_a_deleted_person_leaves_the_speaker_unnamed(world, alice):
    await named_talk(world, alice)

    assert (await alice.delete("/v1/users/people/ann")).status_code == 204
    await world.settle()

    assert await speakers(alice) == ["SPEAKER_00", "SPEAKER_01"]
    assert (await alice.get("/v1/users/people")).json() == []


async def test_a_person_the_recorder_knows_is_named_in_later_conversations(world, alice):
    """P33: kept for later conversations."""
    await alice.post("/v1/users/people", json={"id": "ann", "name": "Ann"})

    said = [{**SEGMENT, "speaker": "SPEAKER_07", "person_id": "ann", "is_user": False}]
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": said})
    await world.settle()

    assert await speakers(alice) == ["Ann"]
    assert await world.found("Ann") == ["talk"]


async def test_people_are_looked_up_for_so_many_speakers_and_no_more(world, alice):
    """P33: a recorder that names thousands must not cost thousands of reads."""
    ids = [f"p{n:03}" for n in range(MAX_PEOPLE + 2)]
    people = [
        Person(id=PersonId(i), name=f"Name {i}", created_at=START, updated_at=START) for i in ids
    ]
    for person in people:
        await world.documents.write(Set(f"users/{ALICE}/people/{person.id}", dump(person)))
    said = [{**SEGMENT, "speaker": f"S{i}", "person_id": i, "is_user": False} for i in ids]

    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": said})

    assert await speakers(alice) == [f"Name {i}" for i in ids[:MAX_PEOPLE]] + [
        f"S{i}" for i in ids[-2:]
    ]


@pytest.mark.usefixtures("processed")
async def test_a_speaker_nobody_heard_is_404(alice):
    query = {"assign_type": "is_user", "value": "true"}

    answer = await alice.patch(f"{TALK}/assign-speaker/SPEAKER_42", params=query)

    assert answer.status_code == 404


async def test_merged_memories_become_the_history_of_one(alice, world):
    for n, content in enumerate(["Has a cat", "The cat is called Miso"]):
        await alice.post("/v3/memories", json={"id": f"m{n}", "content": content})
    asked = {"ids": ["m0", "m1"], "content": "Has a cat called Miso"}

    merged = (await alice.post("/v3/memories/merge", json=asked)).json()
    again = (await alice.post("/v3/memories/merge", json=asked)).json()

    assert merged["id"] == again["id"]
    assert [one["content"] for one in (await alice.get("/v3/memories")).json()] == [
        "Has a cat called Miso"
    ]
    history = (await alice.get(f"/v3/memories/{merged['id']}/history")).json()
    assert {one["id"] for one in history} == {"m0", "m1"}
    assert [row for row in await world.row_ids() if row.endswith("#m")] == [
        f"alice-{merged['id']}#m"
    ]


async def test_what_is_anothers_cannot_be_merged(alice, world):
    await alice.post("/v3/memories", json={"id": "mine", "content": "Mine"})

    async with client_of(world, "mallory") as mallory:
        await mallory.post("/v3/memories", json={"id": "hers", "content": "Hers"})
        asked = {"ids": ["mine", "hers"], "content": "Ours"}
        assert (await mallory.post("/v3/memories/merge", json=asked)).status_code == 404
    assert len((await alice.get("/v3/memories")).json()) == 1

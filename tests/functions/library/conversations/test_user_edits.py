"""User edits: what its owner writes, deletes and names survives every processing (P30, P33, C50)."""

import pytest

from shared.data.store.codec import dump
from shared.domain.ids import ConversationId, PersonId
from shared.domain.people.person import Person
from shared.domain.store.documents import Set
from shared.library.hand_in import MAX_PEOPLE_LOOKUPS
from tests.fixtures.library import BODY, CONVERSATIONS, SEGMENT, build_client, reprocess
from tests.fixtures.processing import ALICE, EXTRACTION, START, build_outputs

TALK = f"{CONVERSATIONS}/talk"
FILLER = "well " * 101
DEFAULT_OUTPUTS = build_outputs()


@pytest.fixture
async def processed_world(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    return world


async def process_again(world, alice, **changes):
    """Process the conversation again; by default the model answers as before."""
    world.model._answers[EXTRACTION].append({**DEFAULT_OUTPUTS, **changes})
    answer = await reprocess(world, alice)
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")


async def test_what_a_person_is_to_the_owner_is_kept_changed_and_taken_back_p33(world, alice):
    path = "/v1/users/people"
    await alice.post(path, json={"id": "kim", "name": "Kim", "role": " my sister "})
    first = (await alice.get(f"{path}/kim")).json()["role"]
    found = await world.deps.stores.people.list_with_roles(ALICE, limit=9)

    changed = await alice.patch(f"{path}/kim/role", json={"value": "my step-sister"})
    renamed = await alice.patch(f"{path}/kim/name", params={"value": "Kimberly"})
    too_long = await alice.patch(f"{path}/kim/role", json={"value": "x" * 65})
    cleared = await alice.patch(f"{path}/kim/role", json={"value": ""})

    assert (first, [person.id for person in found]) == ("my sister", ["kim"])
    assert changed.json()["role"] == renamed.json()["role"] == "my step-sister"
    assert (too_long.status_code, cleared.json()["role"]) == (422, "")
    assert await world.deps.stores.people.list_with_roles(ALICE, limit=9) == []


async def test_a_title_written_by_the_user_is_shown_found_and_kept(processed_world, alice):
    response = await alice.patch(TALK, json={"title": "Zanzibar plan", "category": "travel"})
    await processed_world.deliver_all()
    await process_again(processed_world, alice)

    assert response.json()["structured"]["title"] == "Zanzibar plan"
    structured = (await alice.get(TALK)).json()["structured"]
    assert (structured["title"], structured["category"]) == ("Zanzibar plan", "travel")
    assert structured["overview"] == "The launch moved to May."
    assert await processed_world.search_ids("Zanzibar") == ["talk"]


async def test_an_edit_calls_no_model(processed_world, alice):
    prompt_count = len(processed_world.model.prompts)

    await alice.patch(TALK, json={"title": "Zanzibar plan"})
    await processed_world.deliver_all()

    assert len(processed_world.model.prompts) == prompt_count
    assert (await alice.get(TALK)).json()["status"] == "completed"


async def test_a_star_is_no_change_of_content(processed_world, alice):
    assert (await alice.patch(f"{TALK}/starred", params={"starred": True})).status_code == 200

    assert (await alice.get(TALK)).json()["starred"] is True
    assert await processed_world.run_trigger() == []


@pytest.mark.parametrize(
    "body",
    [{"title": ""}, {"title": " "}, {"title": "x" * 201}, {"category": "nonsense"}, {"emoji": ""}],
)
async def test_an_invalid_edit_is_422_and_changes_nothing(processed_world, alice, body):
    before = await processed_world.load_everything()

    assert (await alice.patch(TALK, json=body)).status_code == 422
    assert await processed_world.load_everything() == before


async def test_a_deleted_memory_stays_deleted_when_the_conversation_is_processed_again(
    processed_world, alice
):
    """C50: it leaves documents and vectors for good."""
    ((memory),) = (await alice.get("/v3/memories")).json()

    await alice.delete(f"/v3/memories/{memory['id']}")
    await process_again(processed_world, alice)

    assert (await alice.get("/v3/memories")).json() == []
    assert not [row for row in await processed_world.list_row_ids() if row.endswith("#m")]
    assert (await alice.delete(f"/v3/memories/{memory['id']}")).status_code == 404


async def test_an_edited_memory_stays_as_the_owner_wrote_it(processed_world, alice):
    (memory,) = (await alice.get("/v3/memories")).json()

    await alice.patch(f"/v3/memories/{memory['id']}", params={"value": "Loves peanuts, now"})
    await process_again(processed_world, alice)

    (stored_memory,) = (await alice.get("/v3/memories")).json()
    assert (stored_memory["content"], stored_memory["edited"]) == ("Loves peanuts, now", True)
    (hit,) = (await alice.post("/v3/memories/search", json={"query": "loves"})).json()
    assert hit["id"] == memory["id"]


async def test_a_confirmed_memory_is_kept_when_the_model_omits_it(processed_world, alice):
    (memory,) = (await alice.get("/v3/memories")).json()

    await alice.post(f"/v3/memories/{memory['id']}/review", params={"value": True})
    await process_again(processed_world, alice, memories=[])

    (stored_memory,) = (await alice.get("/v3/memories")).json()
    assert (stored_memory["id"], stored_memory["user_review"]) == (memory["id"], True)


@pytest.mark.usefixtures("processed_world")
async def test_a_memory_reviewed_as_wrong_is_deleted(alice):
    (memory,) = (await alice.get("/v3/memories")).json()

    await alice.post(f"/v3/memories/{memory['id']}/review", params={"value": False})

    assert (await alice.get("/v3/memories")).json() == []


async def test_a_deleted_task_stays_deleted(processed_world, alice):
    (item,) = (await alice.get("/v1/action-items")).json()["action_items"]

    assert (await alice.delete(f"/v1/action-items/{item['id']}")).status_code == 204
    await process_again(processed_world, alice)

    assert (await alice.get("/v1/action-items")).json()["action_items"] == []


async def test_a_task_of_the_user_is_created_changed_completed_and_found(alice):
    """P5, over HTTP."""
    body = {"id": "call", "description": "Call Ann", "due_at": "2026-03-09T10:00:00+01:00"}
    first = await alice.post("/v1/action-items", json=body)
    second = await alice.post("/v1/action-items", json=body)
    conflict = await alice.post("/v1/action-items", json={**body, "description": "Call Bob"})
    assert (first.json()["due_at"], second.json()) == ("2026-03-09T09:00:00Z", first.json())
    assert conflict.status_code == 409

    await alice.patch("/v1/action-items/call", json={"description": "Call Ann Lee", "due_at": None})
    await alice.patch("/v1/action-items/call/completed", params={"completed": True})

    item = (await alice.get("/v1/action-items/call")).json()
    assert (item["description"], item["due_at"], item["completed"]) == ("Call Ann Lee", None, True)
    assert item["completed_at"] is not None
    result = (await alice.post("/v1/action-items/search", json={"query": "ann"})).json()
    assert [hit["id"] for hit in result["action_items"]] == ["call"]


async def test_memories_by_offset_say_where_they_go_on_e2(alice):
    for n in range(4):
        await alice.post("/v3/memories", json={"id": f"m{n}", "content": f"Fact {n}"})

    by_offset = await alice.get("/v3/memories", params={"offset": 1, "limit": 2})
    cursor = by_offset.headers["x-next-cursor"]
    rest = await alice.get("/v3/memories", params={"cursor": cursor})
    whole = await alice.get("/v3/memories", params={"offset": 0})

    ids = {page: [memory["id"] for memory in page.json()] for page in (by_offset, rest, whole)}
    assert ids[by_offset] + ids[rest] == ids[whole][1:]
    assert "x-next-cursor" not in {*rest.headers, *whole.headers}


async def test_pages_follow_their_cursor_to_the_end(alice):
    for n in range(5):
        await alice.post("/v3/memories", json={"id": f"m{n}", "content": f"Fact {n}"})
    seen_ids, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = await alice.get("/v3/memories", params=params)
        seen_ids += [memory["id"] for memory in page.json()]
        cursor = page.headers.get("x-next-cursor")
        if cursor is None:
            break
    assert sorted(seen_ids) == [f"m{n}" for n in range(5)]
    assert len(seen_ids) == 5


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
async def test_records_of_another_user_are_404(processed_world, alice, method, path):
    await alice.post("/v3/memories", json={"id": "mine", "content": "Mine"})
    await alice.post("/v1/action-items", json={"id": "mine", "description": "Mine"})
    await alice.post("/v1/users/people", json={"id": "mine", "name": "Mine"})
    before = await processed_world.load_everything()

    async with build_client(processed_world, "mallory") as mallory:
        assert (await mallory.request(method, path)).status_code == 404
    assert await processed_world.load_everything() == before


async def add_named_conversation(world, alice, **person):
    """Store a conversation of two speakers; the second is named Ann."""
    segments = [
        {**SEGMENT, "text": f"I booked the train. {FILLER}", "speaker": "SPEAKER_00"},
        {**SEGMENT, "text": "The harbour is lovely.", "speaker": "SPEAKER_01", "is_user": False},
    ]
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": segments})
    await world.deliver_all()
    await alice.post("/v1/users/people", json={"id": "ann", "name": "Ann", **person})
    query = {"assign_type": "person_id", "value": "ann"}
    response = await alice.patch(f"{TALK}/assign-speaker/1", params=query)
    await world.deliver_all()
    return response


async def list_speakers(alice):
    segments = (await alice.get(TALK)).json()["transcript_segments"]
    return [(segment["speaker"], segment["speaker_name"]) for segment in segments]


async def test_a_named_speaker_is_found_by_name(world, alice):
    """P33."""
    assert (await add_named_conversation(world, alice)).status_code == 200

    assert await list_speakers(alice) == [("SPEAKER_00", None), ("SPEAKER_01", "Ann")]
    assert await world.search_ids("Ann") == ["talk"]


async def test_the_name_of_a_speaker_can_be_removed(world, alice):
    await add_named_conversation(world, alice)

    await alice.patch(f"{TALK}/assign-speaker/SPEAKER_01", params={"assign_type": "person_id"})
    await world.deliver_all()

    assert await list_speakers(alice) == [("SPEAKER_00", None), ("SPEAKER_01", None)]
    assert await world.search_ids("Ann") == []


async def test_a_renamed_person_has_the_new_name_everywhere(world, alice):
    await add_named_conversation(world, alice)

    response = await alice.patch("/v1/users/people/ann/name", params={"value": "Anneliese"})

    assert response.json()["name"] == "Anneliese"
    assert await list_speakers(alice) == [("SPEAKER_00", None), ("SPEAKER_01", "Anneliese")]
    assert await world.search_ids("Anneliese") == ["talk"]
    assert await world.search_ids("Ann") == []
    assert await world.run_trigger() == []


async def test_a_deleted_person_leaves_the_speaker_unnamed(world, alice):
    await add_named_conversation(world, alice)

    assert (await alice.delete("/v1/users/people/ann")).status_code == 204
    await world.deliver_all()

    assert await list_speakers(alice) == [("SPEAKER_00", None), ("SPEAKER_01", None)]
    assert (await alice.get("/v1/users/people")).json() == []


async def test_a_person_the_recorder_knows_is_named_in_later_conversations(world, alice):
    """P33: kept for later conversations."""
    await alice.post("/v1/users/people", json={"id": "ann", "name": "Ann"})

    segments = [{**SEGMENT, "speaker": "SPEAKER_07", "person_id": "ann", "is_user": False}]
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": segments})
    await world.deliver_all()

    assert await list_speakers(alice) == [("SPEAKER_07", "Ann")]
    assert await world.search_ids("Ann") == ["talk"]


async def test_speakers_are_resolved_up_to_a_limit(world, alice):
    """P33: a recorder that names thousands of people must not cost thousands of reads."""
    ids = [f"p{n:03}" for n in range(MAX_PEOPLE_LOOKUPS + 2)]
    people = [
        Person(id=PersonId(i), name=f"Name {i}", created_at=START, updated_at=START) for i in ids
    ]
    for person in people:
        await world.documents.write(Set(f"users/{ALICE}/people/{person.id}", dump(person)))
    segments = [{**SEGMENT, "speaker": f"S{i}", "person_id": i, "is_user": False} for i in ids]

    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": segments})

    names = [name for _, name in await list_speakers(alice)]
    assert names == [
        *(f"Name {i}" for i in ids[:MAX_PEOPLE_LOOKUPS]),
        *(f"S{i}" for i in ids[MAX_PEOPLE_LOOKUPS:]),
    ]


@pytest.mark.usefixtures("processed_world")
async def test_an_unknown_speaker_is_404(alice):
    query = {"assign_type": "is_user", "value": "true"}

    answer = await alice.patch(f"{TALK}/assign-speaker/SPEAKER_42", params=query)

    assert answer.status_code == 404


async def test_merged_memories_become_the_history_of_the_new_memory(alice, world):
    for n, content in enumerate(["Has a cat", "The cat is called Miso"]):
        await alice.post("/v3/memories", json={"id": f"m{n}", "content": content})
    body = {"ids": ["m0", "m1"], "content": "Has a cat called Miso"}

    merged_memory = (await alice.post("/v3/memories/merge", json=body)).json()
    repeated_merge = (await alice.post("/v3/memories/merge", json=body)).json()

    assert merged_memory["id"] == repeated_merge["id"]
    assert [memory["content"] for memory in (await alice.get("/v3/memories")).json()] == [
        "Has a cat called Miso"
    ]
    history = (await alice.get(f"/v3/memories/{merged_memory['id']}/history")).json()
    assert {memory["id"] for memory in history} == {"m0", "m1"}
    assert [row for row in await world.list_row_ids() if row.endswith("#m")] == [
        f"alice-{merged_memory['id']}#m"
    ]


async def test_a_memory_of_another_user_cannot_be_merged(alice, world):
    await alice.post("/v3/memories", json={"id": "mine", "content": "Mine"})

    async with build_client(world, "mallory") as mallory:
        await mallory.post("/v3/memories", json={"id": "hers", "content": "Hers"})
        body = {"ids": ["mine", "hers"], "content": "Ours"}
        assert (await mallory.post("/v3/memories/merge", json=body)).status_code == 404
    assert len((await alice.get("/v3/memories")).json()) == 1


async def test_a_conversation_that_its_owner_discards_leaves_nothing_and_can_come_back_r7(
    processed_world,
):
    before = await processed_world.load_everything()
    row_ids = await processed_world.list_row_ids()
    prompt_count = len(processed_world.model.prompts)
    conversations = processed_world.deps.stores.conversations
    now = processed_world.clock.now()

    await conversations.discard(ALICE, ConversationId("talk"), discarded=True, now=now)
    await processed_world.deliver_all()
    memories_meanwhile = await processed_world.deps.stores.memories.list_newest(ALICE, limit=9)
    rows_meanwhile = await processed_world.list_row_ids()
    await conversations.discard(ALICE, ConversationId("talk"), discarded=False, now=now)
    await processed_world.deliver_all()

    after = await processed_world.load_everything()
    assert (memories_meanwhile, rows_meanwhile) == ([], [])
    assert await processed_world.list_row_ids() == row_ids
    assert after["documents"].keys() == before["documents"].keys()
    assert (await processed_world.load_conversation()).structured.title == "Berlin launch in May"
    assert len(processed_world.model.prompts) == prompt_count

"""The library over HTTP: what is taken, what is refused and with which answer."""

import json
from datetime import timedelta

import pytest

from shared.data.codec import dump
from shared.domain.documents import Set
from shared.domain.ids import ActionItemId, MemoryId
from shared.domain.memory import Memory
from shared.domain.task import ActionItem
from tests.functions.process_conversation.client import BODY, CONVERSATIONS, SEGMENT, client_of
from tests.functions.process_conversation.world import ALICE, START


async def test_a_conversation_is_taken_processed_read_and_found(world, alice):
    taken = await alice.post(CONVERSATIONS, json=BODY)
    assert (taken.status_code, taken.json()) == (202, {"id": "talk", "status": "processing"})

    await world.settle()

    document = (await alice.get(f"{CONVERSATIONS}/talk")).json()
    assert document == {
        "id": "talk",
        "created_at": "2026-03-02T09:00:00Z",
        "started_at": "2026-03-02T09:00:00Z",
        "finished_at": "2026-03-02T09:30:00Z",
        "source": "phone",
        "language": "en",
        "status": "completed",
        "discarded": False,
        "failure": None,
        "starred": False,
        "app_id": None,
        "structured": {
            "title": "Berlin launch in May",
            "overview": "The launch moved to May.",
            "emoji": "🚀",
            "category": "work",
            "action_items": [
                {"description": "Call the printer", "completed": False, "due_at": None}
            ],
            "events": [],
        },
        "transcript_segments": [
            {**SEGMENT, "label": "SPEAKER_00", "start": 0.0, "person_id": None}
        ],
    }
    found = (await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts"})).json()
    (hit,) = found["hits"]
    assert hit["conversation_id"] == "talk"
    assert hit["score"] > 0
    assert "allergic to peanuts" in hit["passages"][0]["text"]
    assert (hit["passages"][0]["first_segment"], hit["passages"][0]["last_segment"]) == (0, 0)


async def test_without_an_id_one_is_given(alice):
    body = {name: value for name, value in BODY.items() if name != "id"}

    taken = await alice.post(CONVERSATIONS, json=body)

    assert taken.json() == {"id": "id0001", "status": "processing"}


async def test_the_same_content_again_is_accepted_and_written_once(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    writes = len(world.changes)

    again = await alice.post(CONVERSATIONS, json={**BODY, "started_at": "2026-03-02T09:00:00Z"})

    assert (again.status_code, again.json()["id"]) == (202, "talk")
    assert len(world.changes) == writes


async def test_other_content_under_the_same_id_is_a_conflict(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    before = await world.everything()

    other = await alice.post(CONVERSATIONS, json={**BODY, "language": "de"})

    assert other.status_code == 409
    assert other.json()["detail"] == "Another conversation is stored under this id"
    assert await world.everything() == before


async def test_a_long_transcript_is_kept_whole_and_again_is_the_same(alice):
    segments = [{**SEGMENT, "text": f"{n} " + "ä" * 300} for n in range(3_000)]
    long = {**BODY, "transcript_segments": segments}

    taken = await alice.post(CONVERSATIONS, json=long)
    again = await alice.post(CONVERSATIONS, json=long)

    assert (taken.status_code, again.status_code) == (202, 202)
    read = (await alice.get(f"{CONVERSATIONS}/talk")).json()["transcript_segments"]
    assert [segment["text"] for segment in read] == [segment["text"] for segment in segments]
    (listed,) = (await alice.get(CONVERSATIONS)).json()["conversations"]
    assert "transcript_segments" not in listed


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"started_at": "2026-03-02T10:00:00"}, 422, "started_at: Input should have timezone info"),
        ({"started_at": "yesterday"}, 422, "started_at: Input should be a valid datetime"),
        ({"started_at": "2026-03-03T12:00:01Z", "finished_at": "2026-03-04T00:00:00Z"}, 422,
         "started_at: lies in the future"),
        ({"finished_at": "2026-03-02T08:59:59Z"}, 422, "finished_at: lies before started_at"),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, 422, "started_at: Value error, a year from 1900"),
        ({"transcript_segments": []}, 422, "transcript_segments: a conversation has at least one"),
        ({"transcript_segments": None}, 422, "transcript_segments: Input should be a valid array"),
        ({"transcript_segments": [{**SEGMENT, "text": 7}]}, 422, "transcript_segments.0.text: "),
        ({"transcript_segments": [{**SEGMENT, "start": -1}]}, 422, "transcript_segments.0.start: "),
        ({"transcript_segments": [{**SEGMENT, "text": "x" * 100_001}]}, 413,
         "transcript_segments: at most 100000 bytes a segment"),
        ({"transcript_segments": [{**SEGMENT, "text": "ä" * 49_999}] * 42}, 413,
         "transcript_segments: at most 4194304 bytes of text"),
        ({"transcript_segments": [{"text": "x"}] * 20_001}, 413,
         "transcript_segments: List should have at most 20000 items"),
        ({"transcript_segments": [{**SEGMENT, "text": "word"}] * 50_000}, 413,
         "transcript_segments: List should have at most 20000 items"),
        ({"transcript_segments": [7] * 100_000}, 413,
         "transcript_segments: List should have at most 20000 items"),
        ({"transcript_segments": [{**SEGMENT, "text": "word " * 30}] * 100_000}, 413,
         "The request body is over 8388608 bytes."),
        ({"id": "a/b"}, 422, "id: Value error, an id is 1 to 64"),
        ({"id": ""}, 422, "id: Value error, an id is 1 to 64"),
        ({"id": "x" * 65}, 422, "id: Value error, an id is 1 to 64"),
        ({"language": ""}, 422, "language: "),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
async def test_what_cannot_be_taken_is_refused_and_leaves_nothing(
    world, alice, changes, status, detail
):
    refused = await alice.post(CONVERSATIONS, json={**BODY, **changes})

    assert (refused.status_code, refused.json()["detail"][: len(detail)]) == (status, detail)
    assert (await world.everything())["documents"] == {}


@pytest.mark.parametrize("changes", [
    {"started_at": "2026-03-03T12:00:00Z", "finished_at": "2026-03-03T12:00:00Z"},
    {"transcript_segments": [{"text": "x"}] * 20_000},
    {"transcript_segments": [{"text": ""}]},
    {"source": "toaster"},
    {"unknown_field": 1},
])  # fmt: skip
async def test_what_lies_on_the_limit_is_taken(alice, changes):
    taken = await alice.post(CONVERSATIONS, json={**BODY, **changes})

    assert taken.status_code == 202


async def test_an_unknown_source_is_unknown(alice):
    await alice.post(CONVERSATIONS, json={**BODY, "source": "toaster"})

    assert (await alice.get(f"{CONVERSATIONS}/talk")).json()["source"] == "unknown"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b'{"started_at": ',
        json.dumps(BODY).encode()[:-1],
        json.dumps(BODY).encode().replace(b"launch", b"la\xffnch"),
        json.dumps(BODY).encode().replace(b"launch", b"la\\ud800nch"),
    ],
)
async def test_a_body_that_is_no_json_is_400(world, alice, body):
    refused = await alice.post(
        CONVERSATIONS, content=body, headers={"content-type": "application/json"}
    )

    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("The body is not valid JSON")
    assert (await world.everything())["documents"] == {}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
async def test_a_time_that_is_no_number_is_refused(alice, number):
    body = json.dumps(BODY).replace("4.5", number)

    refused = await alice.post(
        CONVERSATIONS, content=body, headers={"content-type": "application/json"}
    )

    assert refused.status_code in {400, 422}


async def test_nobody_reads_what_is_not_theirs(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.settle()

    async with client_of(world, "bob") as bob:
        read = await bob.get(f"{CONVERSATIONS}/talk")
        deleted = await bob.delete(f"{CONVERSATIONS}/talk")
        found = await bob.post(f"{CONVERSATIONS}/search", json={"query": "peanuts"})
        memories = await bob.get("/v3/memories")

    assert (read.status_code, deleted.status_code) == (404, 404)
    assert read.json()["detail"] == "Conversation not found"
    assert (found.json()["hits"], memories.json()) == ([], [])
    assert (await alice.get(f"{CONVERSATIONS}/talk")).status_code == 200


async def test_without_a_token_nothing_is_answered(alice):
    answer = await alice.get(CONVERSATIONS, headers={"authorization": ""})

    assert (answer.status_code, answer.json()["detail"]) == (401, "Authorization header not found")


@pytest.mark.parametrize("name", ["nothing", "..", "a.b", "x" * 65, "%00", "ä"])
async def test_what_is_not_there_is_404(alice, name):
    assert (await alice.get(f"{CONVERSATIONS}/{name}")).status_code == 404
    assert (await alice.delete(f"{CONVERSATIONS}/{name}")).status_code == 404


async def test_a_deleted_one_is_gone_at_once_and_its_traces_soon(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.settle()

    deleted = await alice.delete(f"{CONVERSATIONS}/talk")

    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await alice.get(f"{CONVERSATIONS}/talk")).status_code == 404
    found = await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts"})
    assert found.json()["hits"] == []
    await world.settle()
    assert await world.everything() == {"documents": {}, "rows": []}


async def test_pages_follow_one_another_newest_first(alice):
    for n in range(5):
        times = {"started_at": f"2026-03-02T0{n // 2}:00:00Z"}
        await alice.post(CONVERSATIONS, json={**BODY, **times, "id": f"c{n}"})

    seen, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await alice.get(CONVERSATIONS, params=params)).json()
        seen.append([c["id"] for c in page["conversations"]])
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == [["c4", "c3"], ["c2", "c1"], ["c0"]]


@pytest.mark.parametrize(
    ("path", "params"),
    [
        (CONVERSATIONS, {"limit": 0}),
        (CONVERSATIONS, {"limit": 101}),
        (CONVERSATIONS, {"limit": "many"}),
        (CONVERSATIONS, {"cursor": "not one"}),
        (CONVERSATIONS, {"cursor": "WyJhIiwgImIiXQ=="}),
        (CONVERSATIONS, {"cursor": "WyIyMDI2LTAxLTAxIiwgImEiXQ=="}),
        (CONVERSATIONS, {"cursor": "WyIyMDI2LTAxLTAxVDAwOjAwOjAwWiIsICJhL2IiXQ=="}),
        (CONVERSATIONS, {"cursor": "bnVsbA=="}),
        ("/v3/memories", {"limit": 1_001}),
        ("/v3/memories", {"offset": -1}),
        ("/v3/memories", {"offset": 5_001}),
        ("/v1/action-items", {"limit": 0}),
    ],
)
async def test_a_bad_cursor_limit_or_offset_is_422(alice, path, params):
    assert (await alice.get(path, params=params)).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"query": ""},
        {"query": "x" * 1_001},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 201},
        {"query": "x", "start_date": "2026-01-01T00:00:00"},
        {"query": "x", "end_date": "soon"},
        {},
    ],
)
async def test_a_bad_search_is_422(alice, body):
    assert (await alice.post(f"{CONVERSATIONS}/search", json=body)).status_code == 422


@pytest.mark.parametrize(
    ("dates", "hits"),
    [
        ({}, 1),
        ({"start_date": "2026-03-02T10:00:00+01:00"}, 1),
        ({"start_date": "2026-03-02T09:00:01Z"}, 0),
        ({"end_date": "2026-03-02T09:00:00Z"}, 0),
        ({"start_date": "2026-03-01T00:00:00Z", "end_date": "2026-03-03T00:00:00Z"}, 1),
    ],
)
async def test_a_search_holds_to_its_dates(world, alice, dates, hits):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.settle()

    found = await alice.post(
        f"{CONVERSATIONS}/search", json={"query": "peanuts", "limit": 200, **dates}
    )

    assert len(found.json()["hits"]) == hits


@pytest.mark.parametrize(
    ("names", "hits", "fallback"),
    [
        ({"people": ["ANN"]}, 1, False),
        ({"people": ["Nobody"]}, 1, True),
        ({"topics": ["Nothing"], "people": ["ANN"]}, 1, True),
        ({"people": ["Nobody"], "end_date": "2026-03-02T09:00:00Z"}, 0, True),
    ],
)
async def test_p13_a_search_by_names_says_when_it_went_on_without_them(
    world, alice, names, hits, fallback
):
    said = {**SEGMENT, "speaker": "Ann", "is_user": False}
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": [said]})
    await world.settle()

    found = await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts", **names})

    assert len(found.json()["hits"]) == hits
    assert found.json()["fallback_without_filters"] is fallback


@pytest.mark.parametrize(
    ("names", "status"),
    [({"people": ["x"] * 21}, 413), ({"topics": [""]}, 422), ({"people": "Ann"}, 422)],
)
async def test_p13_a_search_takes_up_to_twenty_names(alice, names, status):
    wrong = await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts", **names})

    assert wrong.status_code == status


async def test_memories_read_as_the_old_app_reads_them(world, alice):
    for n in range(3):
        at = START + timedelta(hours=n)
        stored = Memory(
            id=MemoryId(f"m{n}"), content="x", category="system", created_at=at, updated_at=at
        )
        await world.documents.write(Set(f"users/{ALICE}/memories/m{n}", dump(stored)))

    page = (await alice.get("/v3/memories", params={"limit": 1, "offset": 1})).json()

    assert page == [
        {
            "id": "m1",
            "uid": ALICE,
            "content": "x",
            "category": "system",
            "created_at": "2026-03-02T10:00:00Z",
            "updated_at": "2026-03-02T10:00:00Z",
            "conversation_id": None,
            "memory_id": None,
            "visibility": "private",
            "manually_added": False,
            "edited": False,
            "evidence": "",
            "segment": None,
            "mentions": 1,
            "valid_to": None,
            "reviewed": False,
            "user_review": None,
            "app_id": None,
            "is_locked": False,
        }
    ]


async def test_action_items_say_whether_there_are_more(world, alice):
    for n in range(3):
        at = START + timedelta(hours=n)
        stored = ActionItem(
            id=ActionItemId(f"a{n}"), description="Call", created_at=at, updated_at=at, due_at=at
        )
        await world.documents.write(Set(f"users/{ALICE}/action_items/a{n}", dump(stored)))

    first = (await alice.get("/v1/action-items", params={"limit": 2})).json()
    rest = (await alice.get("/v1/action-items", params={"limit": 2, "offset": 2})).json()

    assert ([item["id"] for item in first["action_items"]], first["has_more"]) == (
        ["a2", "a1"],
        True,
    )
    assert ([item["id"] for item in rest["action_items"]], rest["has_more"]) == (["a0"], False)
    assert rest["action_items"][0]["due_at"] == "2026-03-02T09:00:00Z"

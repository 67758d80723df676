"""Library over HTTP: requests that are accepted, and those that are refused with a reason."""

import json
from datetime import timedelta

import pytest

from shared.data.store.codec import dump
from shared.domain.ids import ActionItemId, MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Set
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.library import BODY, CONVERSATIONS, SEGMENT, build_client
from tests.fixtures.processing import ALICE, START

HASH_DIGITS = 16
STORED = {
    "id": "talk",
    "created_at": "2026-03-02T09:00:00Z",
    "started_at": "2026-03-02T09:00:00Z",
    "finished_at": "2026-03-02T09:30:00Z",
    "source": "phone",
    "language": "en",
    "status": "completed",
    "discarded": False,
    "failure": None,
    "waiting_since": None,
    "starred": False,
    "app_id": None,
    "structured": {
        "title": "Berlin launch in May",
        "overview": "The launch moved to May.",
        "emoji": "🚀",
        "category": "work",
        "action_items": [
            {
                "description": "Call the printer",
                "completed": False,
                "due_at": None,
                "owner": "me",
                "owner_name": None,
            }
        ],
        "events": [],
    },
    "folder_id": None,
    "visibility": "private",
    "audio_files": [],
    "geolocation": None,
    "external_data": None,
    "photos": [],
    "apps_results": [],
    "suggested_summarization_apps": [],
    "dropped_memories": {},
    "transcript_segments": [
        {
            **SEGMENT,
            "id": "segment-0",
            "speaker_id": 0,
            "speaker_name": None,
            "start": 0.0,
            "person_id": None,
            "translations": [],
        }
    ],
}
"""BODY as its owner reads it once it is processed."""


async def test_a_conversation_is_accepted_processed_and_read(world, alice):
    response = await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()

    assert (response.status_code, response.json()) == (202, {"id": "talk", "status": "processing"})
    stored = (await alice.get(f"{CONVERSATIONS}/talk")).json()
    assert len(stored.pop("words_hash")) == HASH_DIGITS
    assert stored == STORED


async def test_a_processed_conversation_is_found_by_its_words_with_the_passage_and_its_segments(
    world, alice
):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()

    result = (await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts"})).json()
    (hit,) = result["items"]
    assert hit["id"] == "talk"
    assert (result["current_page"], result["total_pages"]) == (1, 1)
    assert hit["score"] > 0
    assert "allergic to peanuts" in hit["passages"][0]["text"]
    assert (hit["passages"][0]["first_segment"], hit["passages"][0]["last_segment"]) == (0, 0)
    (snippet,) = hit["snippets"]
    assert (snippet["segment"], snippet["is_user"]) == (0, True)
    assert [piece["text"] for piece in snippet["pieces"] if piece["is_match"]] == ["peanuts"]


@pytest.mark.parametrize(
    ("times", "order"),
    [
        ([(10.0, 12.0), (2.0, 4.0), (2.0, 3.0)], "bca"),
        ([(5.0, 5.0), (0.0, 0.0), (5.0, 5.0)], "bac"),
        ([(10.0, 12.0), (0.0, 0.0), (0.0, 0.0)], "abc"),
        ([(0.0, 0.0)] * 3, "abc"),
        ([(9.0, 2.0), (1.0, 0.0), (3.0, 1.0)], "bca"),
    ],
)
async def test_what_was_said_first_stands_first_where_times_tell_i2(alice, times, order):
    said = [
        {**SEGMENT, "text": f"{name}: {SEGMENT['text']}", "start": start, "end": end}
        for name, (start, end) in zip("abc", times, strict=True)
    ]
    for _ in range(2):
        answer = await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": said})
        assert answer.status_code == 202

    stored = (await alice.get(f"{CONVERSATIONS}/talk")).json()["transcript_segments"]
    assert "".join(segment["text"][0] for segment in stored) == order


async def test_a_conversation_without_an_id_gets_one(alice):
    body = {name: value for name, value in BODY.items() if name != "id"}

    response = await alice.post(CONVERSATIONS, json=body)

    assert response.json() == {"id": "id0001", "status": "processing"}


async def test_the_same_content_again_is_accepted_and_written_once(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    writes = len(world.changes)

    response = await alice.post(CONVERSATIONS, json={**BODY, "started_at": "2026-03-02T09:00:00Z"})

    assert (response.status_code, response.json()["id"]) == (202, "talk")
    assert len(world.changes) == writes


async def test_other_content_under_the_same_id_is_a_conflict(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    before = await world.load_everything()

    response = await alice.post(CONVERSATIONS, json={**BODY, "language": "de"})

    assert response.status_code == 409
    assert response.json()["detail"] == "Another conversation is stored under this id"
    assert await world.load_everything() == before


async def test_a_long_transcript_is_stored_whole_and_accepted_again(alice):
    segments = [{**SEGMENT, "text": f"{n} " + "ä" * 300} for n in range(3_000)]
    long = {**BODY, "transcript_segments": segments}

    first = await alice.post(CONVERSATIONS, json=long)
    second = await alice.post(CONVERSATIONS, json=long)

    assert (first.status_code, second.status_code) == (202, 202)
    stored_segments = (await alice.get(f"{CONVERSATIONS}/talk")).json()["transcript_segments"]
    assert [segment["text"] for segment in stored_segments] == [
        segment["text"] for segment in segments
    ]
    [listed] = (await alice.get(CONVERSATIONS)).json()
    assert listed["transcript_segments"] == stored_segments
    [listed] = (await alice.get(CONVERSATIONS, params={"include_transcript": False})).json()
    assert listed["transcript_segments"] == []


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"started_at": "2026-03-02T10:00:00"}, 422, "The started time must be a date and time with its time zone"),
        ({"started_at": "yesterday"}, 422, "The started time must be a date and time"),
        ({"started_at": "2026-03-03T12:00:01Z", "finished_at": "2026-03-04T00:00:00Z"}, 422,
         "The started time must not lie in the future."),
        ({"finished_at": "2026-03-02T08:59:59Z"}, 422, "The finished time must not lie before the started time."),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, 422, "The started time must be of the year 1900"),
        ({"transcript_segments": []}, 422, "The transcript must have at least one segment."),
        ({"transcript_segments": None}, 422, "The transcript segments must be given"),
        ({"transcript_segments": [{**SEGMENT, "text": 7}]}, 422, "The text in entry 1 of the transcript segments must be"),
        ({"transcript_segments": [{**SEGMENT, "start": -1}]}, 422, "The start in entry 1 of the transcript segments must be"),
        ({"transcript_segments": [{**SEGMENT, "text": "x" * 100_001}]}, 413,
         "The transcript must have at most 97 KB a segment."),
        ({"transcript_segments": [{**SEGMENT, "text": "ä" * 49_999}] * 42}, 413,
         "The transcript must have at most 4 MB of text."),
        ({"transcript_segments": [{"text": "x"}] * 20_001}, 413,
         "The transcript segments must have at most 20000 entries; there are"),
        ({"transcript_segments": [{**SEGMENT, "text": "word"}] * 30_000}, 413,
         "The transcript segments must have at most 20000 entries; there are"),
        ({"transcript_segments": [7] * 100_000}, 413,
         "The transcript segments must have at most 20000 entries; there are"),
        ({"transcript_segments": [{**SEGMENT, "text": "word " * 30}] * 100_000}, 413,
         "The request body is over 8 MB."),
        ({"id": "a/b"}, 422, "The id must be 1 to 64 letters"),
        ({"id": ""}, 422, "The id must be 1 to 64 letters"),
        ({"id": "x" * 65}, 422, "The id must be 1 to 64 letters"),
        ({"language": ""}, 422, "The language must be at least 2 characters long; it has 0."),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
async def test_an_invalid_conversation_is_refused_and_stores_nothing(
    world, alice, changes, status, detail
):
    response = await alice.post(CONVERSATIONS, json={**BODY, **changes})

    assert (response.status_code, response.json()["detail"][: len(detail)]) == (status, detail)
    assert (await world.load_everything())["documents"] == {}


@pytest.mark.parametrize("changes", [
    {"started_at": "2026-03-03T12:00:00Z", "finished_at": "2026-03-03T12:00:00Z"},
    {"transcript_segments": [{"text": "x"}] * 20_000},
    {"transcript_segments": [{"text": ""}]},
    {"source": "toaster"},
    {"unknown_field": 1},
])  # fmt: skip
async def test_a_conversation_on_the_limit_is_accepted(alice, changes):
    response = await alice.post(CONVERSATIONS, json={**BODY, **changes})

    assert response.status_code == 202


async def test_an_unsupported_source_is_stored_as_unknown(alice):
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
    response = await alice.post(
        CONVERSATIONS, content=body, headers={"content-type": "application/json"}
    )

    assert response.status_code == 400
    assert response.json()["detail"].startswith("The body is not valid JSON")
    assert (await world.load_everything())["documents"] == {}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
async def test_a_time_that_is_no_number_is_refused(alice, number):
    body = json.dumps(BODY).replace("4.5", number)

    response = await alice.post(
        CONVERSATIONS, content=body, headers={"content-type": "application/json"}
    )

    assert response.status_code in {400, 422}


async def test_a_user_cannot_read_or_delete_another_users_conversation(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()

    async with build_client(world, "bob") as bob:
        get_response = await bob.get(f"{CONVERSATIONS}/talk")
        delete_response = await bob.delete(f"{CONVERSATIONS}/talk")
        search_response = await bob.post(f"{CONVERSATIONS}/search", json={"query": "peanuts"})
        memories = await bob.get("/v3/memories")

    assert (get_response.status_code, delete_response.status_code) == (404, 404)
    assert get_response.json()["detail"] == "Conversation not found"
    assert (search_response.json()["items"], memories.json()) == ([], [])
    assert (await alice.get(f"{CONVERSATIONS}/talk")).status_code == 200


async def test_a_request_without_a_token_is_401(alice):
    answer = await alice.get(CONVERSATIONS, headers={"authorization": ""})

    assert (answer.status_code, answer.json()["detail"]) == (401, "Authorization header not found")


@pytest.mark.parametrize("name", ["nothing", "..", "a.b", "x" * 65, "%00", "ä"])
async def test_a_missing_conversation_is_404(alice, name):
    assert (await alice.get(f"{CONVERSATIONS}/{name}")).status_code == 404
    assert (await alice.delete(f"{CONVERSATIONS}/{name}")).status_code == 404


async def test_a_deleted_conversation_disappears_at_once_and_its_derived_data_later(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()

    response = await alice.delete(f"{CONVERSATIONS}/talk?cascade=true")

    assert (response.status_code, response.content) == (204, b"")
    assert (await alice.get(f"{CONVERSATIONS}/talk")).status_code == 404
    search_response = await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts"})
    assert search_response.json()["items"] == []
    await world.deliver_all()
    assert await world.load_everything() == {"documents": {}, "rows": []}


async def test_pages_follow_one_another_newest_first(alice):
    for n in range(5):
        times = {"started_at": f"2026-03-02T0{n // 2}:00:00Z"}
        await alice.post(CONVERSATIONS, json={**BODY, **times, "id": f"c{n}"})

    pages, cursor = [], None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = await alice.get(CONVERSATIONS, params=params)
        pages.append([c["id"] for c in page.json()])
        cursor = page.headers.get("X-Next-Cursor")
        if cursor is None:
            break

    assert pages == [["c4", "c3"], ["c2", "c1"], ["c0"]]


@pytest.mark.parametrize("category", ["hobby", {}, ["manual"], 7])
async def test_a_memory_of_an_unknown_category_is_422(alice, category):
    answer = await alice.post("/v3/memories", json={"content": "Trains", "category": category})

    assert answer.status_code == 422
    assert answer.json()["detail"] == "The category must be 'interesting', 'system' or 'manual'."


@pytest.mark.parametrize(
    ("path", "params"),
    [
        (CONVERSATIONS, {"limit": 0}),
        (CONVERSATIONS, {"limit": 1_001}),
        (CONVERSATIONS, {"offset": -1}),
        (CONVERSATIONS, {"start_date": "soon"}),
        (CONVERSATIONS, {"starred": "perhaps"}),
        (CONVERSATIONS, {"limit": "many"}),
        (CONVERSATIONS, {"cursor": "not one"}),
        (CONVERSATIONS, {"cursor": "WyJhIiwgImIiXQ=="}),
        (CONVERSATIONS, {"cursor": "WyIyMDI2LTAxLTAxIiwgImEiXQ=="}),
        (CONVERSATIONS, {"cursor": "WyIyMDI2LTAxLTAxVDAwOjAwOjAwWiIsICJhL2IiXQ=="}),
        (CONVERSATIONS, {"cursor": "bnVsbA=="}),
        ("/v3/memories", {"limit": 5_001}),
        ("/v3/memories", {"offset": -1}),
        ("/v1/action-items", {"limit": 0}),
    ],
)
async def test_a_bad_cursor_limit_or_offset_is_422(alice, path, params):
    assert (await alice.get(path, params=params)).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"query": "x" * 1_001},
        {"query": "x", "page": 0},
        {"query": "x", "per_page": 101},
        {"query": "", "people": ["Ann"]},
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
async def test_a_search_respects_its_dates(world, alice, dates, hits):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()

    response = await alice.post(
        f"{CONVERSATIONS}/search", json={"query": "peanuts", "per_page": 100, **dates}
    )

    assert len(response.json()["items"]) == hits


@pytest.mark.parametrize(
    ("names", "hits", "fallback"),
    [
        ({"people": ["ANN"]}, 1, False),
        ({"people": ["Nobody"]}, 1, True),
        ({"topics": ["Nothing"], "people": ["ANN"]}, 1, True),
        ({"people": ["Nobody"], "end_date": "2026-03-02T09:00:00Z"}, 0, True),
    ],
)
async def test_a_search_reports_when_it_ignored_its_name_filters_p13(
    world, alice, names, hits, fallback
):
    segment = {**SEGMENT, "speaker": "Ann", "is_user": False}
    await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": [segment]})
    await world.deliver_all()

    response = await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts", **names})

    assert len(response.json()["items"]) == hits
    assert response.json()["fallback_without_filters"] is fallback


@pytest.mark.parametrize(
    ("names", "status"),
    [({"people": ["x"] * 21}, 413), ({"topics": [""]}, 422), ({"people": "Ann"}, 422)],
)
async def test_a_search_takes_up_to_twenty_names_p13(alice, names, status):
    response = await alice.post(f"{CONVERSATIONS}/search", json={"query": "peanuts", **names})

    assert response.status_code == status


async def test_memories_have_the_fields_that_the_old_app_expects(world, alice):
    for n in range(3):
        at = START + timedelta(hours=n)
        memory = Memory(
            id=MemoryId(f"m{n}"), content="x", category="system", created_at=at, updated_at=at
        )
        await world.documents.write(Set(f"users/{ALICE}/memories/m{n}", dump(memory)))

    page = (await alice.get("/v3/memories", params={"limit": 1, "offset": 1})).json()

    assert page == [
        {
            "id": "m1",
            "uid": ALICE,
            "content": "x",
            "said_to_owner": "x",
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
            "tags": [],
            "valid_to": None,
            "reviewed": False,
            "user_review": None,
            "session_id": None,
            "message_id": None,
            "app_id": None,
            "is_locked": False,
            "read_kinds": None,
        }
    ]


async def test_action_items_say_whether_there_are_more(world, alice):
    for n in range(3):
        at = START + timedelta(hours=n)
        action_item = ActionItem(
            id=ActionItemId(f"a{n}"), description="Call", created_at=at, updated_at=at, due_at=at
        )
        await world.documents.write(Set(f"users/{ALICE}/action_items/a{n}", dump(action_item)))

    first = (await alice.get("/v1/action-items", params={"limit": 2})).json()
    rest = (await alice.get("/v1/action-items", params={"limit": 2, "offset": 2})).json()

    assert ([item["id"] for item in first["action_items"]], first["has_more"]) == (
        ["a2", "a1"],
        True,
    )
    assert ([item["id"] for item in rest["action_items"]], rest["has_more"]) == (["a0"], False)
    assert rest["action_items"][0]["due_at"] == "2026-03-02T09:00:00Z"

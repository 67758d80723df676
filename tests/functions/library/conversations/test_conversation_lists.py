"""Lists, searches and reprocessing over HTTP, and the speakers of what is handed in."""

from typing import Any

import pytest

from functions.library.conversations.reprocessing import MAX_WAIT
from shared.domain.ids import PersonId
from shared.domain.store.documents import Update
from tests.fixtures.library import BODY, CONVERSATIONS, SEGMENT, build_client, reprocess
from tests.fixtures.processing import ALICE, EXTRACTION, build_outputs

TALK = f"{CONVERSATIONS}/talk"
SEARCH = f"{CONVERSATIONS}/search"


async def hand_in(alice, n: int, **fields: Any) -> str:
    name = f"c{n}"
    started_at = f"2026-03-0{n + 1}T09:00:00Z"
    body = {**BODY, "id": name, "started_at": started_at, "finished_at": started_at, **fields}
    assert (await alice.post(CONVERSATIONS, json=body)).status_code == 202
    return name


async def list_ids(alice, **query: Any) -> list[str]:
    answer = await alice.get(CONVERSATIONS, params=query)
    return [conversation["id"] for conversation in answer.raise_for_status().json()]


@pytest.fixture
async def days(world, alice) -> None:
    world.clock.advance(days=9)
    for n in range(3):
        await hand_in(alice, n)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({}, ["c2", "c1", "c0"]),
        ({"statuses": "", "folder_id": "", "start_date": ""}, ["c2", "c1", "c0"]),
        ({"offset": 1, "limit": 1}, ["c1"]),
        ({"offset": 999_999}, []),
        ({"statuses": "merging,failed"}, []),
        ({"statuses": "in_progress"}, []),
        ({"starred": "true"}, []),
        ({"folder_id": "nowhere"}, []),
        ({"start_date": "2026-03-02T09:00:00Z", "end_date": "2026-03-03T09:00:00Z"}, ["c2", "c1"]),
        ({"end_date": "2026-03-02"}, ["c1", "c0"]),
        ({"something": "unheard of"}, ["c2", "c1", "c0"]),
    ],
)
@pytest.mark.usefixtures("days")
async def test_a_list_takes_what_the_released_app_sends(alice, query, ids):
    assert await list_ids(alice, **query) == ids


@pytest.mark.usefixtures("days")
async def test_a_list_shows_no_conversation_of_another_user(world):
    async with build_client(world, "mallory") as mallory:
        assert await list_ids(mallory) == []


@pytest.mark.usefixtures("days")
async def test_an_empty_query_lists_every_page_to_the_end(alice):
    body = {"query": "", "per_page": 2, "include_discarded": True}

    pages = [(await alice.post(SEARCH, json={**body, "page": n})).json() for n in (1, 2, 3)]

    assert [[item["id"] for item in page["items"]] for page in pages] == [["c2", "c1"], ["c0"], []]
    assert {page["total_pages"] for page in pages} == {2}
    assert [page["current_page"] for page in pages] == [1, 2, 3]


@pytest.mark.parametrize("query", ["peanuts", ""])
async def test_hits_have_transcripts_only_where_they_are_asked_for(world, alice, query):
    await hand_in(alice, 0)
    await world.deliver_all()
    body = {"query": query, "per_page": 1}

    [light] = (await alice.post(SEARCH, json=body)).json()["items"]
    [whole] = (await alice.post(SEARCH, json={**body, "include_transcript": True})).json()["items"]

    assert (light["transcript_segments"], light["photos"]) == ([], [])
    assert whole["transcript_segments"]
    assert light == {**whole, "transcript_segments": [], "photos": []}


async def test_nothing_is_recorded_live_so_nothing_can_be_finished(alice):
    answer = await alice.post(CONVERSATIONS, json={})

    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "No conversation is being recorded here",
    )


async def test_a_name_leads_to_the_person_who_has_it_and_makes_nobody_a_person(alice):
    await alice.post("/v1/users/people", json={"id": "ann", "name": "Ann"})
    speakers = ("Ann", "Bo", "Ann")
    segments = [{**SEGMENT, "speaker": name, "is_user": False} for name in speakers]

    await hand_in(alice, 0, transcript_segments=segments)

    spoken = (await alice.get(f"{CONVERSATIONS}/c0")).json()["transcript_segments"]
    assert [(s["speaker"], s["speaker_name"], s["person_id"]) for s in spoken] == [
        ("SPEAKER_00", "Ann", PersonId("ann")),
        ("SPEAKER_01", "Bo", None),
        ("SPEAKER_00", "Ann", PersonId("ann")),
    ]
    people = (await alice.get("/v1/users/people")).json()
    assert [person["name"] for person in people] == ["Ann"]


async def test_a_name_is_assigned_to_the_label_that_everyone_reads(world, alice):
    segments = [{**SEGMENT, "speaker": name, "is_user": False} for name in ("Bo", "Cy")]
    await hand_in(alice, 0, transcript_segments=segments)
    await alice.post("/v1/users/people", json={"id": "dee", "name": "Dee"})

    path = f"{CONVERSATIONS}/c0/assign-speaker/SPEAKER_01"
    query = {"assign_type": "person_id", "value": "dee"}
    assert (await alice.patch(path, params=query)).status_code == 200

    spoken = (await alice.get(f"{CONVERSATIONS}/c0")).json()["transcript_segments"]
    assert [segment["speaker_name"] for segment in spoken] == ["Bo", "Dee"]
    assert [s.speaker for s in (await load(world)).named_segments] == ["Bo", "Dee"]


async def load(world):
    return await world.deps.stores.conversations.get(ALICE, "c0")


@pytest.fixture
async def processed_world(world, alice):
    await alice.post(CONVERSATIONS, json=BODY)
    await world.deliver_all()
    world.model._answers[EXTRACTION].append(build_outputs())
    return world


async def test_reprocessing_answers_with_the_finished_conversation(processed_world, alice):
    answer = await reprocess(processed_world, alice)

    assert answer.status_code == 200
    assert answer.json() == (await alice.get(TALK)).json()
    assert answer.json()["status"] == "completed"


async def test_reprocessing_in_another_language_keeps_that_language(processed_world, alice):
    answer = await reprocess(processed_world, alice, language_code="de", app_id="")

    assert answer.json()["language"] == "de"


async def test_reprocessing_that_takes_too_long_says_that_it_goes_on(processed_world, alice):
    processed_world.clock.sleep = build_sleep(processed_world.clock)
    before = len(processed_world.events.list_by_topic("conversation.changed"))

    answer = await alice.post(f"{TALK}/reprocess")

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    assert answer.json()["detail"].startswith("Processing takes longer than usual.")
    assert len(processed_world.events.list_by_topic("conversation.changed")) == before + 1


async def test_asking_again_while_it_is_processed_waits_for_the_same_work(processed_world, alice):
    path = "users/alice/conversations/talk"
    await processed_world.documents.write(Update(path, {"status": "processing"}))

    answer = await reprocess(processed_world, alice)

    assert answer.json()["status"] == "completed"
    # The answers of the first attempt were used: none of those that were added.
    assert all(answers for answers in processed_world.model._answers.values())


@pytest.mark.parametrize(("app_id", "status"), [("nothing", 404), ("a/b", 422)])
@pytest.mark.usefixtures("processed_world")
async def test_an_unknown_summary_app_is_refused(alice, app_id, status):
    answer = await alice.post(f"{TALK}/reprocess", params={"app_id": app_id})

    assert answer.status_code == status


def build_sleep(clock):
    async def sleep(seconds: float) -> None:
        clock.advance(seconds=max(seconds, MAX_WAIT.total_seconds()))

    return sleep

"""Sharing: a link shows one conversation and nothing else, until it is ended."""

import json

import pytest

from functions.library.routes import LIBRARY_ROUTES
from tests.fixtures.callers import open_client
from tests.fixtures.library import (
    BODY,
    CONVERSATIONS,
    SEGMENT,
    build_client,
    build_erasures,
    build_library_deps,
)
from tests.fixtures.processing import ALICE

TALK = f"{CONVERSATIONS}/talk"
ORIGIN = "https://keepsake.example"
PRIVATE_FIELDS = {
    "geolocation": {"latitude": 52.5, "longitude": 13.4, "address": "Unter den Linden 1"},
    "external_data": {"note": "for me alone"},
    "photos": [{"id": "p1", "base64": "aGk=", "description": "my passport"}],
}


@pytest.fixture
async def processed_world(world, alice):
    await alice.post("/v1/users/people", json={"id": "ann-id", "name": "Ann"})
    segments = [
        SEGMENT,
        {**SEGMENT, "text": "<b>Hello</b>", "speaker": "SPEAKER_01", "is_user": False},
    ]
    body = {**BODY, **PRIVATE_FIELDS, "transcript_segments": segments}
    await alice.post(CONVERSATIONS, json=body)
    query = {"assign_type": "person_id", "value": "ann-id"}
    await alice.patch(f"{TALK}/assign-speaker/1", params=query)
    await world.deliver_all()
    return world


@pytest.fixture
async def anyone(processed_world):
    deps = build_library_deps(processed_world)
    async with open_client("library", LIBRARY_ROUTES, deps) as client:
        yield client


async def share(alice):
    answer = await alice.patch(f"{TALK}/visibility", params={"value": "shared"})
    assert answer.status_code == 200
    return answer.json()["url"].removeprefix(ORIGIN)


def to_json_path(link):
    return f"/v1/conversations{link.replace('/conversations', '')}"


async def test_a_link_shows_one_conversation_and_nothing_else_r5(anyone, alice):
    link = await share(alice)

    shared = (await anyone.get(to_json_path(link))).json()

    assert set(shared) == {
        "created_at",
        "started_at",
        "finished_at",
        "language",
        "structured",
        "transcript_segments",
    }
    assert shared["structured"]["title"] == "Berlin launch in May"
    assert shared["structured"]["action_items"] == [
        {"description": "Call the printer", "completed": False}
    ]
    assert shared["transcript_segments"][1] == {
        "text": "<b>Hello</b>",
        "speaker": "SPEAKER_01",
        "speaker_name": "Ann",
        "is_user": False,
        "start": 0.0,
        "end": 4.5,
    }
    private_words = ["alice", "ann-id", 'talk"', "Linden", "for me alone", "passport", "memor"]
    assert [word for word in private_words if word in json.dumps(shared)] == []


async def test_the_page_is_inert_and_escapes_what_was_said(anyone, alice):
    await alice.patch(TALK, json={"title": "<script>alert(1)</script>"})

    answer = await anyone.get(await share(alice))

    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["cache-control"] == "no-store"
    assert "<script" not in answer.text
    assert "&lt;script&gt;alert(1)" in answer.text
    assert "<b>Ann:</b> &lt;b&gt;Hello&lt;/b&gt;" in answer.text
    assert "<b>Owner:</b>" in answer.text


async def test_the_page_writes_dates_out(anyone, alice):
    answer = await anyone.get(await share(alice))
    assert "<p>2 March 2026, 09:00 UTC</p>" in answer.text


async def test_sharing_again_gives_the_same_link_and_ending_it_ends_it_for_good(anyone, alice):
    link = await share(alice)
    assert await share(alice) == link
    assert (await alice.get(TALK)).json()["visibility"] == "shared"

    answer = await alice.patch(f"{TALK}/visibility", params={"value": "private"})

    assert answer.json() == {"status": "ok", "visibility": "private", "url": None}
    assert (await alice.get(TALK)).json()["visibility"] == "private"
    assert (await anyone.get(to_json_path(link))).status_code == 404
    new_link = await share(alice)
    assert new_link != link
    assert (await anyone.get(to_json_path(link))).status_code == 404
    assert (await anyone.get(to_json_path(new_link))).status_code == 200


@pytest.mark.parametrize("path", ["/shared/conversations/{}", "/v1/conversations/shared/{}"])
async def test_guessed_ended_and_orphaned_links_have_the_same_answer(
    anyone, alice, processed_world, path
):
    token = (await share(alice)).rpartition("/")[2]
    await alice.patch(f"{TALK}/visibility", params={"value": "private"})
    ended = await anyone.get(path.format(token))
    token = (await share(alice)).rpartition("/")[2]
    await alice.delete(TALK)
    orphaned = await anyone.get(path.format(token))
    guesses = [
        await anyone.get(path.format(guess)) for guess in ("AAAAAAAAAAAAAAAAAAAAAA", "__proto__")
    ]

    answers = [(answer.status_code, answer.text) for answer in (ended, orphaned, *guesses)]
    assert answers[0][0] == 404
    assert set(answers) == {answers[0]}
    assert await processed_world.documents.get(f"shared_conversations/{token}") is None


async def test_a_conversation_that_is_stored_again_is_private(anyone, alice, processed_world):
    link = await share(alice)
    await processed_world.delete()

    await alice.post(CONVERSATIONS, json=BODY)

    assert (await anyone.get(to_json_path(link))).status_code == 404


async def test_the_link_of_an_account_that_is_being_erased_is_gone(anyone, alice, processed_world):
    link = await share(alice)

    await build_erasures(processed_world.documents).begin(ALICE, processed_world.clock.now())

    assert (await anyone.get(to_json_path(link))).status_code == 404


async def test_an_erasure_removes_links(alice, processed_world):
    token = (await share(alice)).rpartition("/")[2]

    await processed_world.deps.stores.accounts.delete(ALICE)

    assert await processed_world.documents.get(f"shared_conversations/{token}") is None


async def test_a_link_is_read_so_many_times_a_minute(anyone, alice):
    link = to_json_path(await share(alice))

    statuses = [(await anyone.get(link)).status_code for _ in range(121)]

    assert statuses == [*[200] * 120, 429]


async def test_only_the_owner_shares_and_only_by_known_words(processed_world, alice):
    async with build_client(processed_world, "mallory") as mallory:
        foreign = await mallory.patch(f"{TALK}/visibility", params={"value": "shared"})
    unknown = await alice.patch(f"{TALK}/visibility", params={"value": "secret"})

    assert (foreign.status_code, unknown.status_code) == (404, 422)
    assert (await alice.get(TALK)).json()["visibility"] == "private"

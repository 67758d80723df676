"""Attachments of a transcript: segment ids, translations, photos, place, data of its own."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.upkeep.retention import delete_text
from shared.adapters.firestore_limits import check_fields
from shared.data.store.codec import dump
from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.conversation import Segment, Translation
from shared.library.conversation_schemas import MAX_PHOTO_CHARS, MAX_PHOTOS
from tests.fixtures.library import BODY, CONVERSATIONS, SEGMENT
from tests.fixtures.processing import ALICE, START
from tests.functions.process_conversation.upkeep.test_retention import build_retention_deps

TALK = f"{CONVERSATIONS}/talk"
PHOTO: dict[str, Any] = {
    "id": "p1",
    "base64": "aGVsbG8=",
    "description": "A harbour",
    "discarded": False,
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PLACE = {"latitude": 38.7, "longitude": -9.1, "google_place_id": "lisbon", "address": "Rossio 1"}


async def hand_in(alice, **fields: Any):
    return await alice.post(CONVERSATIONS, json={**BODY, **fields})


async def test_segment_ids_and_translations_are_kept_as_sent(alice):
    translations = [{"lang": "de", "text": "Guten Tag"}]
    sent = [{**SEGMENT, "id": "a-1", "translations": translations}, {**SEGMENT, "id": None}]

    await hand_in(alice, transcript_segments=sent)

    first, second = (await alice.get(TALK)).json()["transcript_segments"]
    assert (first["id"], first["translations"]) == ("a-1", translations)
    assert (second["id"], second["translations"]) == ("segment-1", [])


async def test_photos_and_place_are_kept_as_sent(alice):
    time = "2026-03-02T09:10:00Z"
    photos = [PHOTO, {"base64": "d29ybGQ=", "created_at": time}]
    data = {"text": "A mail", "nested": {"n": 1, "list": ["a"]}}

    await hand_in(alice, photos=photos, geolocation={**PLACE, "time": time}, external_data=data)

    conversation = (await alice.get(TALK)).json()
    assert conversation["photos"] == [
        {**PHOTO, "created_at": None},
        {
            "id": None,
            "base64": "d29ybGQ=",
            "description": None,
            "created_at": time,
            "discarded": False,
        },
    ]
    unsent = {"altitude": None, "accuracy": None, "location_type": None}
    assert conversation["geolocation"] == {**PLACE, **unsent, "time": time}
    assert conversation["external_data"] == data


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"photos": [{"base64": "a" * (MAX_PHOTO_CHARS + 1)}]}, 422),
        ({"photos": [PHOTO] * (MAX_PHOTOS + 1)}, 413),
        ({"photos": [{"base64": "a" * MAX_PHOTO_CHARS}] * 3}, 413),
        ({"external_data": {"text": "a" * 40_000}}, 422),
        ({"external_data": {"rows": [[1]]}}, 422),
        ({"geolocation": {"latitude": "north"}}, 422),
    ],
)
async def test_more_than_fits_is_refused(alice, fields: dict[str, Any], status: int):
    response = await hand_in(alice, **fields)

    assert response.status_code == status
    assert isinstance(response.json()["detail"], str)
    assert (await alice.get(TALK)).status_code == 404


async def test_transcript_and_photos_that_do_not_fit_together_are_refused_with_what_to_do(alice):
    segments = [{**SEGMENT, "text": "x" * 400}] * 10_000
    photos = [{"base64": "a" * 660_000}] * 3

    assert (await hand_in(alice, id="long", transcript_segments=segments)).status_code == 202
    assert (await hand_in(alice, id="pictures", photos=photos)).status_code == 202
    both = await hand_in(alice, transcript_segments=segments, photos=photos)

    assert both.status_code == 413
    assert both.json()["detail"].endswith(
        "Leave photos out, or send the conversation in two parts."
    )


@given(
    st.builds(
        Segment,
        text=TEXTS,
        speaker=TEXTS,
        start=st.floats(0, 1e12),
        person_id=st.none() | TEXTS,
        id=st.none() | TEXTS,
        translations=st.tuples(st.builds(Translation, lang=TEXTS, text=TEXTS)) | st.just(()),
    )
)
def test_a_segment_takes_up_no_more_than_was_counted(segment: Segment):
    document = check_fields("segments/1", segment.to_fields()) - check_fields("segments/1", {})

    assert document <= segment.count_stored_bytes()


@given(st.builds(Photo, id=TEXTS, base64=TEXTS, description=TEXTS, created_at=st.just(START)))
def test_a_photo_takes_up_no_more_than_was_counted(photo: Photo):
    assert check_fields("photos/1", {"photo": dump(photo)}) <= photo.count_stored_bytes()


async def test_photos_take_up_room_until_their_conversation_is_deleted(world, alice):
    await hand_in(alice)
    stored_without = await read_stored_bytes(world)
    await alice.delete(TALK)

    await hand_in(alice, id="pictures", photos=[PHOTO])

    assert await read_stored_bytes(world) == stored_without + len(PHOTO["base64"])
    await alice.delete(f"{CONVERSATIONS}/pictures")
    assert await read_stored_bytes(world) == 0
    assert not [p for p in (await world.load_everything())["documents"] if "/photos/" in p]


async def test_photos_are_in_lists_searches_and_the_export(world, alice):
    await hand_in(alice, photos=[PHOTO])
    await world.deliver_all()

    shown = {**PHOTO, "created_at": None}
    [listed] = (await alice.get(CONVERSATIONS)).json()
    question = {"query": "peanuts", "include_transcript": True}
    [found] = (await alice.post(f"{CONVERSATIONS}/search", json=question)).json()["items"]
    [exported] = (await alice.get("/v1/users/export")).json()["conversations"]
    assert [c["photos"] for c in (listed, found, exported)] == [[shown]] * 3


async def test_photos_go_with_the_text_that_they_belong_to(world, alice):
    await hand_in(alice, photos=[PHOTO])
    await world.deliver_all()

    stored_bytes = await read_stored_bytes(world)
    talk = await world.load_conversation()
    delete = partial(delete_text, build_retention_deps(world), ALICE, talk)
    assert [await delete(), await delete()] == [stored_bytes, 0]

    assert (await alice.get(TALK)).json()["photos"] == []
    assert not [p for p in (await world.load_everything())["documents"] if "/photos/" in p]


async def read_stored_bytes(world) -> int:
    document = await world.documents.get("users/alice/usage/stored")
    return int(document.fields["stored_bytes"])

"""Full documents: clients may fill one to the last byte, and what we add to it finds room (P26)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.firestore_limits import MAX_DOCUMENT_BYTES, check_fields
from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.transcripts import hash_part, part_fields, part_path
from shared.data.store.codec import dump
from shared.domain.conversations.attachments import Photo
from shared.domain.conversations.conversation import Segment
from shared.domain.store.documents import Set
from tests.fixtures.processing import (
    ALICE,
    START,
    TALK,
    ProcessingFixture,
    build_processing_fixture,
    build_test_conversation,
    to_client_fields,
)
from tests.fixtures.windowed_model import WindowedModel
from tests.functions.process_conversation.test_interruptions import (
    Interruption,
    deliver_until_idle,
    raise_crash,
)
from tests.functions.process_conversation.test_slow_machines import ANSWERS

PATH = conversation_path(ALICE, TALK)
LEFT_BYTES = (0, 1, 30, 45, 46, 200, 5_000)


@pytest.fixture
def world(database: Any) -> ProcessingFixture:
    return build_processing_fixture(database, WindowedModel(ANSWERS, window=400_000))


def fill(fields: dict[str, Any], left: int) -> dict[str, Any]:
    """Lengthen the last segment until so many bytes of the document are left."""
    *others, last = fields["transcript_segments"]
    room = MAX_DOCUMENT_BYTES - left - check_fields(PATH, fields)
    filled = {**last, "text": last["text"] + ("so on " * (room // 6 + 1))[:room]}
    return {**fields, "transcript_segments": [*others, filled]}


def build_fields(**more: Any) -> dict[str, Any]:
    """Build a document with hundreds of segments of a thousand characters."""
    talk = build_test_conversation()
    turns = (Segment(text="word " * 200, start=n, end=n + 1) for n in range(700))
    segments = (*talk.transcript_segments, *turns)
    return {**to_client_fields(replace(talk, transcript_segments=segments)), **more}


async def process(world: ProcessingFixture, fields: dict[str, Any]) -> None:
    await world.documents.write(Set(PATH, fields))
    await world.deliver_all()


@pytest.mark.parametrize("left", LEFT_BYTES)
async def test_a_document_without_room_is_processed_and_keeps_every_word_p26(world, left):
    fields = fill(build_fields(), left)
    assert check_fields(PATH, fields) == MAX_DOCUMENT_BYTES - left

    await process(world, fields)

    conversation = await world.load_conversation()
    assert (conversation.status, conversation.failure) == ("completed", None)
    texts = [segment["text"] for segment in fields["transcript_segments"]]
    assert [segment.text for segment in conversation.transcript_segments] == texts
    assert await world.search_ids("peanuts") == [TALK]


async def test_parts_that_a_client_wrote_are_not_overwritten_by_what_stands_beside_them_p26(world):
    part = (Segment(text="I'm allergic to peanuts", start=0, end=1),)
    fields = fill({**build_fields(), "parts": [hash_part(part)]}, 200)
    await world.documents.write(Set(part_path(PATH, 0), part_fields(part)))

    await process(world, fields)

    conversation = await world.load_conversation()
    assert [segment.text for segment in conversation.transcript_segments] == [part[0].text]


async def test_photos_that_fill_a_document_find_a_place_beside_it_p26(world):
    photo = Photo(id="p", base64="a" * 52_000, created_at=START)
    photos = [{**dump(photo), "id": f"p{n}"} for n in range(20)]
    fields = to_client_fields(build_test_conversation())

    await process(world, fill({**fields, "photos": photos}, 10))

    conversation = await world.load_conversation()
    assert conversation.status == "completed"
    assert [p.id for p in conversation.photos] == [p["id"] for p in photos]


async def test_what_has_room_stays_as_its_client_wrote_it_p26(world):
    fields = to_client_fields(build_test_conversation())

    await process(world, {**fields, "external_data": {"notes": "x" * 800_000}})

    document = await world.documents.get(PATH)
    assert document is not None
    assert document.fields["transcript_segments"] == fields["transcript_segments"]
    assert json.dumps(document.fields["parts"]) == "[]"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [2, 3, 4, 9])
async def test_a_crash_while_a_full_document_is_claimed_loses_and_doubles_nothing_p26(
    database, at, after
):
    interruption = Interruption(at, raise_crash, after)
    model = WindowedModel(ANSWERS, window=400_000)
    world = build_processing_fixture(database, model, interruption.wrap)
    fields = fill(build_fields(), 10)
    await world.documents.write(Set(PATH, fields))
    (message,) = await world.run_trigger()

    await deliver_until_idle(world, message, message)
    world.clock.advance(hours=1)
    await deliver_until_idle(world, message)

    conversation = await world.load_conversation()
    rows = await world.list_row_ids()
    texts = [segment["text"] for segment in fields["transcript_segments"]]
    assert interruption.done
    assert [segment.text for segment in conversation.transcript_segments] == texts
    assert (conversation.status, len(rows)) == ("completed", conversation.chunk_count + 1)


async def test_a_full_document_that_is_deleted_while_its_events_are_on_the_way_leaves_nothing_p26(
    world,
):
    await world.documents.write(Set(PATH, fill(build_fields(), 10)))
    (message,) = await world.run_trigger()
    await world.deliver(message)
    late = await world.run_trigger()
    await world.deps.stores.conversations.delete(ALICE, TALK, now=world.clock.now())

    await deliver_until_idle(world, *late, message)

    left = await world.load_everything()
    assert [path for path in left["documents"] if "/conversations/" in path] == []
    assert left["rows"] == []

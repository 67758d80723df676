"""Edits of a transcript: words and speakers of single segments, kept whatever is processed again."""

from typing import Any

import pytest

from shared.data.store.codec import dump
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.store.documents import Update
from tests.fixtures.library import BODY, CONVERSATIONS, SEGMENT, build_client
from tests.fixtures.processing import ALICE, EXTRACTION, build_outputs

TALK = f"{CONVERSATIONS}/talk"
WORDS, ASSIGN = f"{TALK}/segments/text", f"{TALK}/segments/assign-bulk"
FILLER = "well " * 101
LINES: list[dict[str, Any]] = [
    {"id": "s0", "text": f"I booked the train. {FILLER}", "speaker": "SPEAKER_00"},
    {"id": "s1", "text": "The harbour is lovely.", "speaker": "SPEAKER_01", "is_user": False},
    {"id": "s2", "text": "We meet at pier four.", "speaker": "SPEAKER_01", "is_user": False},
    {"id": "s3", "text": "See you there.", "speaker": "SPEAKER_00"},
]
WHOLE = "process_conversation/whole"


async def add(world, alice, lines=LINES):
    segments = [{**SEGMENT, **line} for line in lines]
    answer = await alice.post(CONVERSATIONS, json={**BODY, "transcript_segments": segments})
    assert answer.status_code in (200, 201, 202)
    await world.deliver_all()


@pytest.fixture
async def processed_world(world, alice):
    world.model._answers[EXTRACTION] += [build_outputs()] * 5
    world.model._answers[WHOLE] = [{"title": "The whole", "overview": "All parts."}]
    await add(world, alice)
    await alice.post("/v1/users/people", json={"id": "ann", "name": "Ann"})
    return world


async def load_segments(alice):
    return (await alice.get(TALK)).json()["transcript_segments"]


async def list_speakers(alice):
    return [(s["speaker"], s["speaker_name"], s["is_user"]) for s in await load_segments(alice)]


async def assign(alice, *ids, kind="person_id", value="ann"):
    body = {"segment_ids": ids, "assign_type": kind, "value": value}
    answer = await alice.patch(ASSIGN, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_corrected_words_are_kept_found_and_processed_again_r5(processed_world, alice):
    prompt_count = len(processed_world.model.prompts)
    await alice.patch(TALK, json={"title": "My own title"})

    body = {"segment_id": "s2", "text": "We meet at the lighthouse."}
    assert (await alice.patch(WORDS, json=body)).status_code == 200
    await processed_world.deliver_all()

    segments = await load_segments(alice)
    assert [s["id"] for s in segments] == ["s0", "s1", "s2", "s3"]
    assert segments[2]["text"] == "We meet at the lighthouse."
    assert segments[1]["text"] == "The harbour is lovely."
    assert await processed_world.search_ids("lighthouse") == ["talk"]
    assert len(processed_world.model.prompts) > prompt_count
    conversation = (await alice.get(TALK)).json()
    assert (conversation["status"], conversation["structured"]["title"]) == (
        "completed",
        "My own title",
    )


@pytest.mark.parametrize("name", ["", "__ann__", ".", "..a"])
async def test_whatever_a_recorder_calls_a_speaker_their_name_can_be_told(
    processed_world, alice, name
):
    await alice.delete(TALK)
    await add(processed_world, alice, [LINES[0], {**LINES[1], "speaker": name}])

    await assign(alice, "s1")
    await processed_world.deliver_all()

    assert (await load_segments(alice))[1]["person_id"] == "ann"
    assert (await processed_world.load_conversation()).speakers.keys() == {name}


async def test_words_of_a_long_transcript_are_corrected_in_its_part(processed_world, alice):
    lines = [{"id": f"s{n}", "text": "word " * 18_000} for n in range(10)]
    await alice.delete(TALK)
    await add(processed_world, alice, lines)
    before = await processed_world.load_conversation()

    body = {"segment_id": "s7", "text": "Short words."}
    assert (await alice.patch(WORDS, json=body)).status_code == 200

    after = await processed_world.load_conversation()
    texts = [len(segment.text) for segment in after.transcript_segments]
    assert texts == [*[90_000] * 7, len("Short words."), 90_000, 90_000]
    assert len(before.parts) == 5
    assert after.parts[0] == before.parts[0]
    assert after.parts[3] != before.parts[3]


async def test_a_transcript_that_shrinks_leaves_no_part_behind(processed_world, alice):
    lines = [{"id": f"s{n}", "text": "word " * 18_000} for n in range(5)]
    await alice.delete(TALK)
    await add(processed_world, alice, lines)

    for n in range(5):
        body = {"segment_id": f"s{n}", "text": f"Short words {n}."}
        assert (await alice.patch(WORDS, json=body)).status_code == 200

    stored = await processed_world.documents.get("users/alice/conversations/talk/parts/1")
    assert stored is None
    assert [s["text"] for s in await load_segments(alice)] == [
        f"Short words {n}." for n in range(5)
    ]


async def test_a_person_is_assigned_to_single_segments(processed_world, alice):
    answer = await assign(alice, "s1")
    await processed_world.deliver_all()

    expected = [
        ("SPEAKER_00", None, True),
        ("SPEAKER_01", "Ann", False),
        ("SPEAKER_01", None, False),
        ("SPEAKER_00", None, True),
    ]
    assert await list_speakers(alice) == expected
    assert [s["person_id"] for s in answer["transcript_segments"]] == [None, "ann", None, None]
    assert await processed_world.search_ids("Ann") == ["talk"]


async def test_the_owner_and_nobody_are_assigned_to_segments(processed_world, alice):
    await assign(alice, "s1", "s2", kind="is_user", value="true")
    assert [named for _, *named in await list_speakers(alice)] == [[None, True]] * 4

    await assign(alice, "s0", "s1", value=None)
    expected = [[None, False]] * 2 + [[None, True]] * 2
    assert [named for _, *named in await list_speakers(alice)] == expected
    await processed_world.deliver_all()
    assert [named for _, *named in await list_speakers(alice)] == expected


async def test_all_segments_of_a_label_are_assigned_as_one(processed_world, alice):
    await assign(alice, "s1")
    await assign(alice, "s2")

    conversation = await processed_world.load_conversation()
    assert conversation.assignments == ()
    assert conversation.speakers["SPEAKER_01"].name == "Ann"


@pytest.mark.usefixtures("processed_world")
async def test_a_speaker_of_a_label_takes_the_place_of_single_assignments(alice):
    await assign(alice, "s1")
    await alice.post("/v1/users/people", json={"id": "bob", "name": "Bob"})

    query = {"assign_type": "person_id", "value": "bob"}
    await alice.patch(f"{TALK}/assign-speaker/1", params=query)

    assert [name for _, name, _ in await list_speakers(alice)] == [None, "Bob", "Bob", None]


async def test_a_person_who_spoke_one_segment_is_renamed_and_deleted(processed_world, alice):
    await assign(alice, "s1")

    await processed_world.deliver_all()

    await alice.patch("/v1/users/people/ann/name", params={"value": "Anneliese"})
    assert [name for _, name, _ in await list_speakers(alice)][1] == "Anneliese"
    assert await processed_world.search_ids("Anneliese") == ["talk"]

    await alice.delete("/v1/users/people/ann")
    await processed_world.deliver_all()
    assert [name for _, name, _ in await list_speakers(alice)][1] is None


async def test_words_that_changed_meanwhile_are_not_overwritten(processed_world, alice):
    store = processed_world.deps.stores.transcript_edits
    before = await processed_world.load_conversation()
    body = {"segment_id": "s2", "text": "The first correction."}
    await alice.patch(WORDS, json=body)

    with pytest.raises(Exception, match="changed meanwhile"):
        await store.replace_text(ALICE, before, before, now=processed_world.clock.now())

    assert (await load_segments(alice))[2]["text"] == "The first correction."


async def test_a_word_too_many_for_the_quota_is_refused(processed_world):
    usage = await processed_world.documents.get("users/alice/usage/stored")
    limits = {**EMBEDDED_LIMITS, "stored_bytes": usage.fields["stored_bytes"] + 5}
    async with build_client(processed_world, ALICE, limits) as alice:
        longer = {"segment_id": "s3", "text": f"{LINES[3]['text']} Bye bye."}

        assert (await alice.patch(WORDS, json=longer)).status_code == 429
        assert (await load_segments(alice))[3]["text"] == LINES[3]["text"]


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        (WORDS, {"segment_id": "s9", "text": "x"}, 404, "Segment not found"),
        (WORDS, {"segment_id": "s1", "text": ""}, 422, "must not be empty"),
        (WORDS, {"segment_id": "s1", "text": "é" * 50_001}, 413, "at most 97 KB a segment"),
        (
            ASSIGN,
            {"segment_ids": [], "assign_type": "is_user", "value": "true"},
            422,
            "must not be empty",
        ),
        (ASSIGN, {"segment_ids": ["s9"], "assign_type": "is_user"}, 404, "Segment not found"),
        (ASSIGN, {"segment_ids": ["s1"], "assign_type": "person_id", "value": "x"}, 404, "Person"),
        (ASSIGN, {"segment_ids": ["s1"], "assign_type": "is_user", "value": "x"}, 422, "true or"),
        (
            ASSIGN,
            {"segment_ids": ["s1"], "assign_type": "friend"},
            422,
            "The assign type must be 'is_user'",
        ),
    ],
)
async def test_an_invalid_edit_is_refused(processed_world, alice, path, body, status, detail):
    before = await processed_world.load_everything()

    answer = await alice.patch(path, json=body)

    assert (answer.status_code, detail in answer.json()["detail"]) == (status, True), answer.text
    assert await processed_world.load_everything() == before


async def test_edits_need_the_transcript(processed_world, alice):
    path = "users/alice/conversations/talk"
    gone = {"transcript_segments": [], "deleted_hash": "x"}
    await processed_world.documents.write(Update(path, gone))

    answer = await alice.patch(WORDS, json={"segment_id": "s1", "text": "x"})

    assert answer.status_code == 404
    assert dump(await processed_world.load_conversation())["transcript_segments"] == []

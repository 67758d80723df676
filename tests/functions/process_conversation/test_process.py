"""P12, P14, P26, P27, P28: what a conversation leads to, and what becomes of it when it changes."""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.data.codec import dump
from shared.data.transcripts import digest, part_fields
from shared.domain.documents import Set, Update
from shared.domain.errors import ModelFailed, NotFound, Unavailable
from shared.domain.ids import MemoryId, UserId
from shared.domain.memory import Memory
from tests.contracts.test_documents import firestore_documents
from tests.doubles import ScriptedModel
from tests.functions.process_conversation.world import (
    ALICE,
    CLAIM,
    DISCARD,
    MEMORIES,
    START,
    STRUCTURE,
    TALK,
    answers,
    script,
    structure,
    talk,
    world_on,
)

PATH = f"users/{ALICE}/conversations/{TALK}"


async def test_a_written_conversation_is_completed_searchable_and_announced_p28(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())

        await world.settle()

    stored = await world.stored()
    assert (stored.status, stored.structured.title) == ("completed", "Berlin launch in May")
    assert await world.found("launch in Berlin") == [TALK]
    assert [m.content for m in await world.deps.memories.newest(ALICE, limit=9)] == [
        "User is allergic to peanuts"
    ]
    (item,) = await world.deps.action_items.newest(ALICE, limit=9)
    assert (item.description, item.conversation_id) == ("Call the printer", TALK)
    assert world.events.of("conversation.processed") == [
        {"uid": ALICE, "conversation_id": TALK, "content_hash": stored.processed_hash}
    ]


async def test_an_edited_conversation_is_found_by_its_new_words_only_p28(database):
    with ScriptedModel(
        answers=script(answers(), answers(items=["Book a room"], facts=[]))
    ) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.settle()

        await world.write(talk("We go hiking in Norway."))
        await world.settle()

    assert await world.found("hiking Norway") == [TALK]
    assert await world.found("peanuts") == []
    assert await world.deps.memories.newest(ALICE, limit=9) == []
    items = await world.deps.action_items.newest(ALICE, limit=9)
    assert [item.description for item in items] == ["Book a room"]


async def test_a_shorter_edit_leaves_no_row_of_the_longer_text_p12(database):
    with ScriptedModel(answers=script(answers(), answers(facts=[]))) as model:
        world = world_on(database, model)
        await world.write(talk(*(f"Sentence number {n}." for n in range(40))))
        await world.settle()
        before = await world.row_ids()

        await world.write(talk())
        await world.settle()

    stored = await world.stored()
    assert len(before) > 10
    assert len(await world.row_ids()) == stored.chunk_count + 1


async def test_a_deleted_conversation_leaves_nothing_but_the_owners_own_p28(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.settle()
        await world.documents.write(Set(f"users/{ALICE}/memories/mine", dump(_own_memory())))

        await world.delete()
        await world.settle()
        await world.deliver({"uid": ALICE, "conversation_id": TALK, "content_hash": None})

    left = await world.everything()
    assert list(left["documents"]) == [f"users/{ALICE}/memories/mine"]
    assert [row for row, _ in left["rows"]] == [f"{ALICE}-mine#m"]
    assert await world.documents.get(CLAIM) is None


async def test_what_the_processor_writes_sends_no_message(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())
        (message,) = await world.tell()

        await world.deliver(message)

    assert len(world.changes) == 1
    assert await world.tell() == []


async def test_a_message_delivered_again_announces_again_and_asks_no_model(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())
        (message,) = await world.tell()
        await world.deliver(message)
        before = await world.everything()

        await world.deliver(message)

    assert await world.everything() == before
    assert len(world.events.of("conversation.processed")) == 2


async def test_a_live_attempt_on_the_same_content_is_waited_for(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())
        (message,) = await world.tell()
        await world.deps.claims.take(ALICE, TALK, said=message["content_hash"])

        with pytest.raises(Unavailable):
            await world.deliver(message)
        world.clock.pass_(seconds=121)
        await world.deliver(message)

    assert (await world.stored()).status == "completed"


async def test_a_failed_call_gives_its_claim_back_at_once(database):
    rounds = script(answers())
    rounds[STRUCTURE].insert(0, Unavailable("busy"))
    with ScriptedModel(answers=rounds) as model:
        world = world_on(database, model)
        await world.write(talk())
        (message,) = await world.tell()

        with pytest.raises(Unavailable):
            await world.deliver(message)
        await world.deliver(message)

    assert (await world.stored()).status == "completed"


@pytest.mark.parametrize(
    "broken", [ModelFailed("refused"), {"title": 7}, "no object", {"overview": "no title"}]
)
async def test_an_unusable_answer_fails_the_conversation_and_damages_nothing(database, broken):
    with ScriptedModel(answers={STRUCTURE: [broken]}) as model:
        world = world_on(database, model)
        await world.write(talk())

        await world.settle()

    stored = await world.stored()
    assert (stored.status, stored.failure) == (
        "failed",
        "The language model gave no usable answer.",
    )
    assert stored.transcript_segments == talk().transcript_segments
    assert await world.row_ids() == []


async def test_the_structure_is_not_asked_for_twice_when_the_memories_fail(database):
    with ScriptedModel(
        answers={
            STRUCTURE: [structure()],
            MEMORIES: [Unavailable("busy"), {"memories": []}],
        }
    ) as model:
        world = world_on(database, model)
        await world.write(talk())
        (message,) = await world.tell()
        with pytest.raises(Unavailable):
            await world.deliver(message)

        await world.deliver(message)

    assert (await world.stored()).structured.title == "Berlin launch in May"


async def test_a_failed_conversation_is_processed_when_it_changes(database):
    rounds = script(answers())
    rounds[STRUCTURE].insert(0, ModelFailed("refused"))
    with ScriptedModel(answers=rounds) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.settle()

        await world.write(talk("Something else, and I'm allergic to peanuts."))
        await world.settle()

    stored = await world.stored()
    assert (stored.status, stored.failure) == ("completed", None)


@pytest.mark.parametrize(
    "damage",
    [
        {"started_at": "soon"},
        {"transcript_segments": [{"speaker": "nobody said anything"}]},
        {"transcript_segments": "text"},
        {"created_at": None},
        {"started_at": "2026-03-02T09:00:00"},
        {"finished_at": "0001-01-01T00:00:00+23:00"},
        {"transcript_segments": [{"text": "Hello.", "start": math.nan}]},
        {"parts": ["0" * 64] * 1_000},
    ],
)
async def test_a_malformed_document_is_marked_and_recovers_with_its_next_good_version(
    database, damage
):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.documents.write(Update(PATH, damage))
        await world.settle()
        document = await world.documents.get(PATH)
        assert document is not None
        assert (document.fields["status"], document.fields["failure"]) == (
            "failed",
            "malformed document",
        )

        await world.write(talk())
        await world.settle()

    assert (await world.stored()).status == "completed"


SHORT: list[tuple[str, bool | None, bool]] = [
    ("word " * 101, None, False),
    ("word " * 100, True, True),
    ("word " * 100, False, False),
    ("Okay, bye.", True, True),
    ("The code is 4711.", False, False),
    ("…", None, True),
    ("会" * 101, None, False),
]


@pytest.mark.parametrize(("text", "verdict", "discarded"), SHORT)
async def test_only_short_ones_are_asked_about_p27(database, text, verdict, discarded):
    rounds: dict[str, list[Any]] = {DISCARD: [] if verdict is None else [{"discard": verdict}]}
    if not discarded:
        rounds |= script(answers(items=[], facts=[]))
    with ScriptedModel(answers=rounds) as model:
        world = world_on(database, model)
        segments = talk(text).transcript_segments[:1]
        await world.write(talk(transcript_segments=segments))

        await world.settle()

    stored = await world.stored()
    assert (stored.status, stored.discarded) == ("completed", discarded)
    assert [role for role, prompt in model.prompts if prompt.name == DISCARD] == ["fast"] * (
        verdict is not None
    )


async def test_a_discarded_one_stays_readable_and_is_not_searched_p27(database):
    with ScriptedModel(answers={**script(answers()), DISCARD: [{"discard": True}]}) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.settle()

        short = talk("Peanuts, peanuts.").transcript_segments[:1]
        await world.write(talk(transcript_segments=short))
        await world.settle()

    stored = await world.stored()
    assert stored.discarded
    assert stored.transcript_segments[0].text == "Peanuts, peanuts."
    assert await world.found("peanuts") == []
    assert await world.row_ids() == []
    assert await world.deps.memories.newest(ALICE, limit=9) == []


async def test_the_model_reads_the_transcript_as_data_in_the_owners_zone(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.documents.write(Set(f"users/{ALICE}", {"time_zone": "Europe/Berlin"}))
        await world.documents.write(Set(f"users/{ALICE}/memories/mine", dump(_own_memory())))
        await world.write(talk())

        await world.settle()

    (_, first), (_, second) = model.prompts
    assert first.data["time_zone"] == "Europe/Berlin"
    assert first.data["transcript"][1] == {
        "segment": 1,
        "speaker": "SPEAKER_01",
        "is_user": False,
        "text": "Okay, I will call the printer.",
    }
    assert second.data["existing_memories"] == [{"number": 0, "text": "User plays the cello"}]
    assert "peanuts" not in first.instructions + second.instructions


async def test_an_unknown_time_zone_counts_as_utc(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.documents.write(Set(f"users/{ALICE}", {"time_zone": "Mars/Olympus"}))
        await world.write(talk())

        await world.settle()

    assert model.prompts[0][1].data["time_zone"] == "UTC"


async def test_what_the_owner_changed_or_completed_is_never_touched_p14(database):
    first = answers(items=["Call the printer", "Pay the rent"])
    with ScriptedModel(answers=script(first, first, answers(items=[], facts=[]))) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.settle()
        (fact,) = await world.deps.memories.newest(ALICE, limit=9)
        items = await world.deps.action_items.newest(ALICE, limit=9)
        call, rent = sorted(items, key=lambda item: item.description)
        await world.documents.write(
            Update(f"users/{ALICE}/memories/{fact.id}", {"content": "No nuts!", "edited": True}),
            Update(f"users/{ALICE}/action_items/{call.id}", {"completed": True}),
            Update(f"users/{ALICE}/action_items/{rent.id}", {"description": "x", "edited": True}),
        )
        before = {k: v for k, v in (await world.everything())["documents"].items() if TALK not in k}

        for text in ("Once more: I'm allergic to peanuts.", "Nothing."):
            await world.write(talk(text))
            await world.settle()

    after = {k: v for k, v in (await world.everything())["documents"].items() if TALK not in k}
    assert after == before


async def test_a_memory_known_from_elsewhere_is_not_stored_again_p14(database):
    with ScriptedModel(answers=script(answers(facts=["user plays the CELLO!"]))) as model:
        world = world_on(database, model)
        await world.documents.write(Set(f"users/{ALICE}/memories/mine", dump(_own_memory())))
        await world.write(talk())

        await world.settle()

    found = await world.deps.memories.newest(ALICE, limit=9)
    assert [one.id for one in found] == ["mine"]


async def test_a_transcript_in_parts_is_processed_like_any_other(database):
    long = talk(*(f"Sentence {n} " + "x" * 5_000 for n in range(100)))
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.deps.conversations.add(ALICE, long)

        await world.settle()

    stored = await world.stored()
    assert stored.parts
    assert stored.transcript_segments == long.transcript_segments
    assert await world.found("Sentence 50") == [TALK]
    read = model.prompts[0][1].data["transcript"]
    assert (read[0]["segment"], read[-1]["segment"]) == (0, 100)


async def test_a_missing_part_is_told_and_waited_for(database):
    part = talk().transcript_segments
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(replace(talk(), transcript_segments=(), parts=(digest(part),)))
        (message,) = await world.tell()

        with pytest.raises(Unavailable):
            await world.deliver(message)
        document = await world.documents.get(PATH)
        await world.documents.write(Set(f"{PATH}/parts/0", part_fields(part)))
        await world.deliver(message)

    assert document is not None
    assert (document.fields["status"], document.fields["failure"]) == (
        "failed",
        "A part of the transcript is not there yet",
    )
    stored = await world.stored()
    assert (stored.status, stored.failure) == ("completed", None)


async def test_what_no_document_can_hold_fails_with_the_reason(database):
    rounds = {STRUCTURE: [structure(overview="x" * 4_000)], MEMORIES: [{"memories": []}]}
    with ScriptedModel(answers=rounds) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.documents.write(Update(PATH, {"made_by_the_app": "x" * 1_044_500}))

        await world.settle()

    stored = await world.stored()
    assert stored.status == "failed"
    assert "A document has at most 1048576 bytes" in str(stored.failure)


async def test_a_message_about_a_conversation_that_never_was_does_no_harm(database):
    world = world_on(database, ScriptedModel())

    await world.deliver({"uid": ALICE, "conversation_id": "nothing", "content_hash": "x"})

    assert await world.everything() == {"documents": {}, "rows": []}


async def test_two_users_conversations_of_one_id_are_kept_apart(database):
    with ScriptedModel(answers=script(answers())) as model:
        world = world_on(database, model)
        await world.write(talk())
        await world.settle()

    assert await world.everything(UserId("bob")) == {"documents": {}, "rows": []}
    with pytest.raises(NotFound):
        await world.stored(UserId("bob"))


@pytest.mark.emulators
async def test_firestore_takes_every_read_and_write_of_it_p28(
    database, firestore_emulator, monkeypatch
):
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    documents = firestore_documents()
    message = {"uid": ALICE, "conversation_id": TALK, "content_hash": "x"}
    rounds = script(answers(), answers(items=[], facts=[]))
    with ScriptedModel(answers=rounds) as model:
        world = world_on(database, model, stored_in=documents)
        await world.deps.conversations.add(ALICE, talk(*("x" * 50_000 for _ in range(9))))
        await world.deliver(message)
        first = await world.stored()
        (item,) = await world.deps.action_items.newest(ALICE, limit=9)
        await world.write(talk("Only hiking."))
        await world.deliver(message)
        second = await world.stored()
        listed = await world.deps.conversations.page(ALICE, limit=1)
        kept = await world.deps.conversations.between(ALICE, start=START, limit=9)
        rest = await world.deps.conversations.page(ALICE, limit=1, after=listed.next)
        await world.delete()
        await world.deliver({**message, "content_hash": None})

    assert (first.status, len(first.parts), item.description) == (
        "completed",
        2,
        "Call the printer",
    )
    assert (second.status, second.parts, second.structured.action_items) == ("completed", (), ())
    assert ([c.id for c in listed.items], [c.id for c in kept], rest.items) == ([TALK], [TALK], [])
    assert await world.deps.action_items.newest(ALICE, limit=9) == []
    assert await documents.get(f"{PATH}/answers/structure") is None
    assert await documents.get(f"{PATH}/parts/0") is None
    assert await world.row_ids() == []


def _own_memory() -> Memory:
    return Memory(
        id=MemoryId("mine"),
        content="User plays the cello",
        category="manual",
        created_at=START - timedelta(days=9),
        updated_at=START - timedelta(days=9),
        conversation_id=TALK,
        manually_added=True,
    )

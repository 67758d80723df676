"""Processing: its result, and its update when the conversation changes (P12, P14, P26, P27, P28)."""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.data.conversations.transcripts import hash_part, part_fields
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Segment
from shared.domain.errors import ModelFailed, NotFound, Unavailable
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.models.model import ModelFacts
from shared.domain.store.documents import Remove, Set, Update
from tests.fakes import ScriptedModel
from tests.fixtures.processing import (
    ALICE,
    CLAIM,
    DISCARD,
    EXTRACTION,
    START,
    TALK,
    build_extraction_output,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_structure_output,
    build_test_conversation,
    fail_vectors,
)

PATH = f"users/{ALICE}/conversations/{TALK}"


async def test_a_written_conversation_is_completed_searchable_and_announced_p28(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        await world.deliver_all()

    conversation = await world.load_conversation()
    assert (conversation.status, conversation.structured.title) == (
        "completed",
        "Berlin launch in May",
    )
    assert await world.search_ids("launch in Berlin") == [TALK]
    assert [m.content for m in await world.deps.stores.memories.list_newest(ALICE, limit=9)] == [
        "User is allergic to peanuts"
    ]
    (item,) = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
    assert (item.description, item.conversation_id) == ("Call the printer", TALK)
    assert world.events.list_by_topic("conversation.processed") == [
        {"uid": ALICE, "conversation_id": TALK, "content_hash": conversation.processed_hash}
    ]


async def test_a_conversation_is_kept_once_and_processed_again_r4(database):
    answers = build_script(*[build_outputs()] * 2)
    with ScriptedModel(answers=answers) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        kept_at = world.clock.now()
        world.clock.advance(hours=1)

        await world.write(build_test_conversation("We go hiking in Norway."))
        await world.deliver_all()

    conversation = await world.load_conversation()
    assert (conversation.kept_at, conversation.processed_at) == (kept_at, world.clock.now())


async def test_a_discarded_conversation_is_kept_once_it_says_more_r4(database):
    answers = {DISCARD: [{"discard": True}], **build_script(build_outputs())}
    with ScriptedModel(answers=answers) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation(transcript_segments=(Segment(text="Hm."),)))
        await world.deliver_all()
        discarded = await world.load_conversation()
        world.clock.advance(hours=1)

        await world.write(build_test_conversation())
        await world.deliver_all()

    conversation = await world.load_conversation()
    assert (discarded.discarded, discarded.kept_at) == (True, None)
    assert conversation.kept_at == conversation.processed_at == world.clock.now()


async def test_what_was_kept_before_these_times_were_stored_does_not_become_new_r4(database):
    with ScriptedModel(answers=build_script(*[build_outputs()] * 2)) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        untimed = {"kept_at": Remove(), "processed_at": Remove()}
        await world.documents.write(Update(PATH, untimed))

        await world.write(build_test_conversation("We go hiking in Norway."))
        await world.deliver_all()

    conversation = await world.load_conversation()
    assert (conversation.kept_at, conversation.processed_at) == (None, world.clock.now())


async def test_an_edited_conversation_is_found_by_its_new_words_only_p28(database):
    with ScriptedModel(
        answers=build_script(build_outputs(), build_outputs(items=["Book a room"], facts=[]))
    ) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()

        await world.write(build_test_conversation("We go hiking in Norway."))
        await world.deliver_all()

    assert await world.search_ids("hiking Norway") == [TALK]
    assert await world.search_ids("peanuts") == []
    assert await world.deps.stores.memories.list_newest(ALICE, limit=9) == []
    items = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
    assert [item.description for item in items] == ["Book a room"]


async def test_a_shorter_edit_leaves_no_row_of_the_longer_text_p12(database):
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs(facts=[]))) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation(*(f"Sentence number {n}." for n in range(40))))
        await world.deliver_all()
        old_rows = await world.list_row_ids()

        await world.write(build_test_conversation())
        await world.deliver_all()

    conversation = await world.load_conversation()
    assert len(old_rows) > 10
    assert len(await world.list_row_ids()) == conversation.chunk_count + 1


async def test_a_deleted_conversation_leaves_only_what_the_user_wrote_p28(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        await world.documents.write(Set(f"users/{ALICE}/memories/mine", dump(_build_user_memory())))
        ratings = world.deps.stores.summary_ratings
        await ratings.set(ALICE, TALK, 1, None, now=world.clock.now())

        await world.delete()
        await world.deliver_all()
        await world.deliver({"uid": ALICE, "conversation_id": TALK, "content_hash": None})

    remaining = await world.load_everything()
    assert list(remaining["documents"]) == [f"users/{ALICE}/memories/mine"]
    assert [row for row, _ in remaining["rows"]] == [f"{ALICE}-mine#m"]
    assert await world.documents.get(CLAIM) is None


async def test_writes_of_the_processor_send_no_message(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()

        await world.deliver(message)

    assert len(world.changes) == 2
    assert await world.run_trigger() == []


async def test_a_redelivered_message_publishes_again_and_calls_no_model(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        await world.deliver(message)
        before = await world.load_everything()

        await world.deliver(message)

    assert await world.load_everything() == before
    assert len(world.events.list_by_topic("conversation.processed")) == 2


async def test_an_answer_to_another_version_of_the_prompt_is_not_used_again(database):
    rounds = build_script(build_outputs(), build_outputs(facts=["User is allergic to nuts"]))
    with ScriptedModel(answers=rounds) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        answer = Update(f"{PATH}/answers/extraction", {"prompt_version": "an older one"})
        await world.documents.write(answer)

        await world.documents.write(Update(PATH, {"edits": {"title": "Nuts"}}))
        await world.deliver_all()

    memories = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert [memory.content for memory in memories] == ["User is allergic to nuts"]


async def test_a_message_is_retried_while_another_attempt_holds_the_claim(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])

        with pytest.raises(Unavailable):
            await world.deliver(message)
        world.clock.advance(seconds=11)
        await world.deliver(message)

    assert (await world.load_conversation()).status == "completed"


async def test_a_failed_attempt_releases_its_claim_at_once(database):
    rounds = build_script(build_outputs())
    rounds[EXTRACTION].insert(0, Unavailable("busy"))
    with ScriptedModel(answers=rounds) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()

        await world.deliver(message)
        await world.deliver(message)

    assert (await world.load_conversation()).status == "completed"


async def test_tasks_that_differ_only_beyond_the_longest_are_one_p26(database):
    start = " ".join(f"w{n}" for n in range(15))
    tasks = [{"description": f"{start} {end}"} for end in ("early", "late")]
    script = build_script(build_extraction_output(action_items=tasks))
    with ScriptedModel(answers=script) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()

    [task] = await world.deps.stores.action_items.list_for_conversation(ALICE, TALK)
    assert task.description == start


async def test_the_same_words_due_at_another_time_are_another_task_p26(database):
    dues = ["2026-03-09", "2026-03-13", "2026-03-13", None]
    tasks = [{"description": "Call Gerda", "due_at": due} for due in dues]
    answers = [build_extraction_output(action_items=[task]) for task in tasks]
    with ScriptedModel(answers={EXTRACTION: answers}) as model:
        world = build_processing_fixture(database, model)
        for n in range(len(dues)):
            await world.write(build_test_conversation(id=ConversationId(f"talk-{n}")))
            await world.deliver_all()

    stored = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
    days = [task.due_at.date().isoformat() for task in stored if task.due_at]
    assert days == ["2026-03-13", "2026-03-09"]


async def test_tasks_appear_with_their_completed_conversation(database):
    script = build_script(build_outputs(items=["Call the printer"]))
    with ScriptedModel(answers=script) as model:
        world = build_processing_fixture(database, model, fail_vectors(1))
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        with pytest.raises(Unavailable):
            await world.deliver(message)
        before = await world.deps.stores.action_items.list_newest(ALICE, limit=9)

        await world.deliver(message)

    after = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
    assert (before, [item.description for item in after]) == ([], ["Call the printer"])


PARTS = (
    {"structure": build_structure_output(title="The good one"), "memories": 7},
    {"structure": {"title": 7}, "memories": build_outputs()["memories"]},
)


async def test_an_odd_item_of_a_list_costs_no_other_n1(database):
    odd: list[Any] = [7, {"due_at": "2026-11-30"}, None, "milk"]
    whole = build_structure_output()
    structure = {name: [*odd, *part] for name, part in whole.items() if isinstance(part, list)}
    answer = {"structure": {**whole, **structure, "topics": "launch"}, "memories": []}
    with ScriptedModel(answers={EXTRACTION: [answer]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        await world.deliver_all()

    conversation = await world.load_conversation()
    tasks = [item.description for item in conversation.structured.action_items]
    assert (conversation.status, tasks) == ("completed", ["milk", "Call the printer"])
    assert conversation.topics.entities == ("milk", "Berlin")


async def test_an_answer_cut_in_its_overview_is_asked_for_once_more_n1(database):
    cut = {"structure": {"title": "The cut one"}}
    whole = {"structure": build_structure_output(title="The whole one"), "memories": []}
    with ScriptedModel(answers={EXTRACTION: [cut, whole, cut, cut]}) as model:
        world = build_processing_fixture(database, model)
        titles = []
        for words in ("The launch is in Berlin.", "The launch is in May."):
            await world.write(build_test_conversation(words))
            await world.deliver_all()
            titles.append((await world.load_conversation()).structured.title)

    assert titles == ["The whole one", "The cut one"]


async def test_an_overview_that_came_is_not_lost_to_an_answer_that_was_cut_n1(database):
    cut = {"structure": {"title": "The cut one"}}
    with ScriptedModel(answers={EXTRACTION: [PARTS[0], cut]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        await world.deliver_all()

    structured = (await world.load_conversation()).structured
    assert (structured.title, structured.overview != "") == ("The good one", True)


@pytest.mark.parametrize(
    "answers",
    [PARTS, PARTS[::-1], (PARTS[0]["structure"], PARTS[1])],
    ids=["first", "last", "bare"],
)
async def test_a_malformed_part_is_asked_for_once_more_and_the_other_kept_d5(database, answers):
    with ScriptedModel(answers={EXTRACTION: answers}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        await world.deliver_all()

    assert (await world.load_conversation()).structured.title == "The good one"
    memories = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert [memory.content for memory in memories] == ["User is allergic to peanuts"]


@pytest.mark.parametrize("answers", [PARTS, PARTS[::-1]])
async def test_a_part_that_came_outlives_an_outage_d5(database, answers):
    first, second = answers
    with ScriptedModel(answers={EXTRACTION: [first, Unavailable("busy"), second]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        await world.deliver(message)

        await world.deliver(message)

    assert (await world.load_conversation()).structured.title == "The good one"


async def test_a_conversation_is_kept_of_which_the_facts_never_come_readably_n1(database):
    with ScriptedModel(answers={EXTRACTION: [PARTS[0], PARTS[0]]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        await world.deliver_all()

    conversation = await world.load_conversation()
    assert (conversation.status, conversation.structured.title) == ("completed", "The good one")
    assert conversation.dropped_memories == {"unread": 1}


async def test_facts_are_kept_of_an_answer_whose_structure_never_comes_d5(database):
    with ScriptedModel(answers={EXTRACTION: [PARTS[1], PARTS[1]]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        await world.deliver_all()

    assert (await world.load_conversation()).status == "completed"
    [memory] = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert memory.content == "User is allergic to peanuts"


async def test_a_failed_conversation_is_processed_when_it_changes(database):
    rounds = build_script(build_outputs())
    rounds[EXTRACTION].insert(0, ModelFailed("refused", reason="other"))
    with ScriptedModel(answers=rounds) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()

        await world.write(build_test_conversation("Something else, and I'm allergic to peanuts."))
        await world.deliver_all()

    conversation = await world.load_conversation()
    assert (conversation.status, conversation.failure) == ("completed", None)


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
async def test_a_malformed_document_is_marked_failed_until_its_next_valid_version(database, damage):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.documents.write(Update(PATH, damage))
        await world.deliver_all()
        document = await world.documents.get(PATH)
        assert document is not None
        assert (document.fields["status"], document.fields["failure"]) == (
            "failed",
            "malformed document",
        )

        await world.write(build_test_conversation())
        await world.deliver_all()

    assert (await world.load_conversation()).status == "completed"


SHORT: list[tuple[str, bool | None, bool]] = [
    ("okay " * 60, None, False),
    ("okay " * 59, True, True),
    ("okay " * 59, False, False),
    ("Okay, bye.", True, True),
    ("うん、はい、そうですね。", True, True),
    ("Danke, tschüss!", True, True),
    ("The code is 4711.", None, False),
    ("Bring the keys tomorrow.", None, False),
    ("I’ll do it.", None, False),
    ("And you are it?", None, False),
    ("Okay, Mara.", None, False),
    ("明日鍵を持ってきて", None, False),
    ("三点见", None, False),
    ("…", None, True),
    ("会" * 60, None, False),
]


@pytest.mark.parametrize(("text", "verdict", "discarded"), SHORT)
async def test_only_short_conversations_are_checked_for_discarding_p27(
    database, text, verdict, discarded
):
    rounds: dict[str, list[Any]] = {DISCARD: [] if verdict is None else [{"discard": verdict}]}
    if not discarded:
        rounds |= build_script(build_outputs(items=[], facts=[]))
    with ScriptedModel(answers=rounds) as model:
        world = build_processing_fixture(database, model)
        segments = build_test_conversation(text).transcript_segments[:1]
        await world.write(build_test_conversation(transcript_segments=segments))

        await world.deliver_all()

    conversation = await world.load_conversation()
    assert (conversation.status, conversation.discarded) == ("completed", discarded)
    assert [role for role, prompt in model.prompts if prompt.name == DISCARD] == ["fast"] * (
        verdict is not None
    )


async def test_a_discarded_conversation_stays_readable_and_is_not_searched_p27(database):
    with ScriptedModel(
        answers={**build_script(build_outputs()), DISCARD: [{"discard": True}]}
    ) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()

        short = build_test_conversation("Okay, bye.").transcript_segments[:1]
        await world.write(build_test_conversation(transcript_segments=short))
        await world.deliver_all()

    conversation = await world.load_conversation()
    assert conversation.discarded
    assert conversation.transcript_segments[0].text == "Okay, bye."
    assert await world.search_ids("peanuts") == []
    assert await world.list_row_ids() == []
    assert await world.deps.stores.memories.list_newest(ALICE, limit=9) == []


async def test_the_model_reads_the_transcript_as_data_in_the_owners_zone(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.documents.write(Set(f"users/{ALICE}", {"time_zone": "Europe/Berlin"}))
        await world.documents.write(Set(f"users/{ALICE}/memories/mine", dump(_build_user_memory())))
        await world.write(build_test_conversation())

        await world.deliver_all()

    ((_, prompt),) = model.prompts
    assert prompt.data["time_zone"] == "Europe/Berlin"
    assert prompt.data["transcript"][1] == {
        "segment": 1,
        "speaker": "SPEAKER_01",
        "text": "Okay, I will call the printer.",
    }
    assert prompt.data["existing_memories"] == [{"number": 0, "text": "User plays the cello"}]
    assert "peanuts" not in prompt.instructions


async def test_an_unknown_time_zone_counts_as_utc(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.documents.write(Set(f"users/{ALICE}", {"time_zone": "Mars/Olympus"}))
        await world.write(build_test_conversation())

        await world.deliver_all()

    assert model.prompts[0][1].data["time_zone"] == "UTC"


async def test_what_the_user_changed_or_completed_is_never_overwritten_p14(database):
    first = build_outputs(items=["Call the printer", "Pay the rent"])
    with ScriptedModel(
        answers=build_script(first, first, build_outputs(items=[], facts=[]))
    ) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        (fact,) = await world.deps.stores.memories.list_newest(ALICE, limit=9)
        items = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
        call, rent = sorted(items, key=lambda item: item.description)
        await world.documents.write(
            Update(f"users/{ALICE}/memories/{fact.id}", {"content": "No nuts!", "edited": True}),
            Update(f"users/{ALICE}/action_items/{call.id}", {"completed": True}),
            Update(f"users/{ALICE}/action_items/{rent.id}", {"description": "x", "edited": True}),
        )
        before = {
            k: v for k, v in (await world.load_everything())["documents"].items() if TALK not in k
        }

        for text in ("Once more: I'm allergic to peanuts.", "Nothing."):
            await world.write(build_test_conversation(text))
            await world.deliver_all()

    after = {k: v for k, v in (await world.load_everything())["documents"].items() if TALK not in k}
    assert after == before


async def test_a_memory_known_from_elsewhere_is_not_stored_again_p14(database):
    with ScriptedModel(
        answers=build_script(build_outputs(facts=["user plays the CELLO!"]))
    ) as model:
        world = build_processing_fixture(database, model)
        await world.documents.write(Set(f"users/{ALICE}/memories/mine", dump(_build_user_memory())))
        await world.write(build_test_conversation())

        await world.deliver_all()

    memories = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert [fact.id for fact in memories] == ["mine"]


async def test_a_transcript_in_parts_is_processed_like_any_other(database):
    long = build_test_conversation(*(f"Sentence {n} " + "x" * 5_000 for n in range(100)))
    facts = ModelFacts(window_tokens=200_000)
    with ScriptedModel(answers=build_script(build_outputs()), facts=facts) as model:
        world = build_processing_fixture(database, model)
        await world.deps.stores.conversations.add(ALICE, long)

        await world.deliver_all()

    conversation = await world.load_conversation()
    assert conversation.parts
    assert conversation.transcript_segments == long.transcript_segments
    assert await world.search_ids("Sentence 50") == [TALK]
    transcript = model.prompts[0][1].data["transcript"]
    assert (transcript[0]["segment"], transcript[-1]["segment"]) == (0, 100)


async def test_a_missing_transcript_part_is_reported_and_retried(database):
    part = build_test_conversation().transcript_segments
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(
            replace(build_test_conversation(), transcript_segments=(), parts=(hash_part(part),))
        )
        (message,) = await world.run_trigger()

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
    conversation = await world.load_conversation()
    assert (conversation.status, conversation.failure) == ("completed", None)


async def test_content_too_large_for_a_document_fails_with_the_reason(database):
    rounds = build_script(build_extraction_output(overview="x" * 4_000))
    with ScriptedModel(answers=rounds) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.documents.write(Update(PATH, {"made_by_the_app": "x" * 1_044_500}))

        await world.deliver_all()

    conversation = await world.load_conversation()
    assert conversation.status == "failed"
    assert "A document has at most 1048576 bytes" in str(conversation.failure)


async def test_a_message_about_an_unknown_conversation_stores_nothing(database):
    world = build_processing_fixture(database, ScriptedModel())

    await world.deliver({"uid": ALICE, "conversation_id": "nothing", "content_hash": "x"})

    assert await world.load_everything() == {"documents": {}, "rows": []}


async def test_two_users_conversations_of_one_id_are_kept_apart(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()

    assert await world.load_everything(UserId("bob")) == {"documents": {}, "rows": []}
    with pytest.raises(NotFound):
        await world.load_conversation(UserId("bob"))


@pytest.mark.emulators
async def test_processing_works_on_firestore_p28(database, firestore_documents):
    message = {"uid": ALICE, "conversation_id": TALK, "content_hash": "x"}
    rounds = build_script(build_outputs(), build_outputs(items=[], facts=[]))
    with ScriptedModel(answers=rounds, facts=ModelFacts(window_tokens=200_000)) as model:
        world = build_processing_fixture(database, model, external_documents=firestore_documents)
        await world.deps.stores.conversations.add(
            ALICE, build_test_conversation(*("x" * 50_000 for _ in range(9)))
        )
        await world.deliver(message)
        first = await world.load_conversation()
        (item,) = await world.deps.stores.action_items.list_newest(ALICE, limit=9)
        await world.write(build_test_conversation("Only hiking."))
        await world.deliver(message)
        second = await world.load_conversation()
        first_page = await world.deps.stores.conversations.list_page(ALICE, limit=1)
        conversations_between = await world.deps.stores.conversations.list_between(
            ALICE, start=START, limit=9
        )
        last_page = await world.deps.stores.conversations.list_page(
            ALICE, limit=1, after=first_page.next
        )
        await world.delete()
        await world.deliver({**message, "content_hash": None})

    assert (first.status, len(first.parts), item.description) == (
        "completed",
        3,
        "Call the printer",
    )
    assert (second.status, second.parts, second.structured.action_items) == ("completed", (), ())
    assert (
        [c.id for c in first_page.items],
        [c.id for c in conversations_between],
        last_page.items,
    ) == ([TALK], [TALK], [])
    assert await world.deps.stores.action_items.list_newest(ALICE, limit=9) == []
    assert await firestore_documents.get(f"{PATH}/answers/extraction") is None
    assert await firestore_documents.get(f"{PATH}/parts/0") is None
    assert await world.list_row_ids() == []


def _build_user_memory() -> Memory:
    return Memory(
        id=MemoryId("mine"),
        content="User plays the cello",
        category="manual",
        created_at=START - timedelta(days=9),
        updated_at=START - timedelta(days=9),
        conversation_id=TALK,
        manually_added=True,
    )

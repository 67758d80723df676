"""Extraction: what a model is told, what it costs, and what becomes of an answer that is nearly right."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.process_conversation.processing.examples import EXAMPLES
from functions.process_conversation.processing.model_outputs import ExtractionOutput
from functions.process_conversation.processing.read_transcript import (
    BRIEF_PROMPT,
    PROMPT,
    render_instructions,
)
from shared import telemetry
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Segment
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import ActionItemId, ConversationId, PersonId, UserId
from shared.domain.models.tokens import estimate_tokens
from shared.domain.people.person import Person
from shared.domain.store.documents import Set
from shared.domain.tasks.action_item import ActionItem
from shared.models.schemas import normalise_answer_schema
from shared.models.windows import count_data_tokens
from tests.fakes import ScriptedModel
from tests.fixtures.encoder import needs_encoder, open_encoder
from tests.fixtures.library import CONVERSATIONS, build_client
from tests.fixtures.processing import (
    ALICE,
    DISCARD,
    EXTRACTION,
    START,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)

SHORTER = "process_conversation/shorter"
LONG_FACT = "User is allergic to peanuts and has been so since early childhood in the far north"
SHORT_FACT = "User has been allergic to peanuts since childhood"


async def process_one(world: ProcessingFixture) -> dict[str, Any]:
    [message] = await world.run_trigger()
    with telemetry.log_request("process_conversation"):
        await world.deliver(message)
        return dict(telemetry.get_fields())


async def list_facts(world: ProcessingFixture) -> list[str]:
    return [m.content for m in await world.deps.stores.memories.list_newest(ALICE, limit=9)]


async def test_the_model_is_told_the_owners_evening_names_language_and_open_tasks_i2(database):
    with ScriptedModel(answers=build_script(build_extraction_output(action_items=[]))) as model:
        world = build_processing_fixture(database, model)
        profile = {
            "time_zone": "America/Los_Angeles",
            "name": "Alex Weber",
            "own_names": ["Lex"],
            "language": "de",
        }
        await world.documents.write(Set(f"users/{ALICE}", profile))
        for name, source in (("open", "other"), ("own", "talk")):
            task = ActionItem(
                id=ActionItemId(name),
                description=f"Send the slides ({name})",
                created_at=START,
                updated_at=START,
                conversation_id=ConversationId(source),
            )
            await world.documents.write(Set(f"users/{ALICE}/action_items/{name}", dump(task)))
        evening = datetime(2026, 11, 28, 4, tzinfo=UTC)
        await world.write(build_test_conversation(started_at=evening, finished_at=evening))

        await world.deliver_all()

    data = model.prompts[0][1].data
    assert data["started_at"] == "Friday 2026-11-27 20:00"
    assert data["days_ahead"].startswith("2026-11: Sat 28 Sun 29 Mon 30; 2026-12: Tue 1 Wed 2")
    assert "28" not in str({k: v for k, v in data.items() if k != "days_ahead"})
    assert data["owner_names"] == ["Alex Weber", "Lex"]
    assert (data["write_in"], data["language"]) == ("de", "en")
    assert data["open_tasks"] == ["Send the slides (open)"]


async def test_the_model_is_told_who_is_who_of_those_who_are_named_i3(database):
    with ScriptedModel(answers=build_script(build_extraction_output())) as model:
        world = build_processing_fixture(database, model)
        roles = {
            "Inês Weber": "my aunt",
            "Kim": "my sister",
            "Bo": "my boss",
            "Al": "?",
            "Mara": "",
        }
        for name, role in roles.items():
            person = Person(
                id=PersonId(name.split()[0].lower().replace("ê", "e")),
                name=name,
                role=role,
                created_at=START,
                updated_at=START,
            )
            await world.deps.stores.people.add(ALICE, person)
        await world.write(build_test_conversation("Mara saw Inês, and my sister is well."))

        await world.deliver_all()

    people = model.prompts[0][1].data["people"]
    assert people == [
        {"name": "Inês Weber", "role": "my aunt"},
        {"name": "Kim", "role": "my sister"},
    ]


async def test_what_the_owner_is_asked_by_name_is_their_task_i3(database):
    items = [
        {"description": "Send the contract to Mara", "owner": "Alex", "due_at": "2026-03-06"},
        {"description": "Bring the plan", "owner": "Mara"},
    ]
    with ScriptedModel(answers=build_script(build_extraction_output(action_items=items))) as model:
        world = build_processing_fixture(database, model)
        profile = {"time_zone": "America/Los_Angeles", "name": "Alex Weber"}
        await world.documents.write(Set(f"users/{ALICE}", profile))
        await world.write(build_test_conversation())

        await world.deliver_all()

    structured = (await world.load_conversation()).structured
    assert [(i.owner, i.owner_name, i.due_at) for i in structured.action_items] == [
        ("me", None, datetime(2026, 3, 7, 2, tzinfo=UTC)),
        ("other", "Mara", None),
    ]


@pytest.mark.parametrize(
    ("answer", "facts", "dropped"),
    [
        ({"sentences": [{"number": 0, "words": SHORT_FACT}]}, [SHORT_FACT], None),
        ({"sentences": [{"number": 0, "words": LONG_FACT}]}, [], 1),
        ({"sentences": [{"number": 9, "words": SHORT_FACT}]}, [], 1),
        ({"sentences": [{"number": 0, "words": " "}]}, [], 1),
        ({"sentences": [{"number": 0, "words": "User's password is plum42"}]}, [], 1),
        ({"sentences": [{"number": 0, "words": f"User eats {EXAMPLES['example_food']}"}]}, [], 1),
        (ModelFailed("no answer"), [], 1),
    ],
)
async def test_a_fact_of_too_many_words_is_asked_for_once_more_i1(database, answer, facts, dropped):
    script = build_script(build_extraction_output(build_memory_output(LONG_FACT)))
    with ScriptedModel(answers={**script, SHORTER: [answer]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        fields = await process_one(world)

    assert await list_facts(world) == facts
    assert fields.get("dropped_long") == dropped
    assert (await world.load_conversation()).status == "completed"


FACT = build_memory_output()
WHOLE = build_extraction_output(FACT)
RECORD = WHOLE["structure"]


@pytest.mark.parametrize(
    "answer",
    [
        {"answer": WHOLE},
        {"result": {"data": WHOLE}},
        {"structure": {"structure": RECORD}, "memories": [FACT]},
        {"structure": {**RECORD, "memories": [FACT]}},
        {**RECORD, "memories": [FACT]},
        {"title": "Another", "structure": RECORD, "memories": [FACT]},
        {"structure": RECORD, "facts": {"memories": FACT}},
        {"structure": RECORD, "memories": [7, "User is allergic", FACT, {"content": "User flies"}]},
        {"structure": {**RECORD, "action_items": ["Call the printer"]}, "memories": [FACT]},
    ],
)
async def test_an_answer_in_another_wrapping_is_read_at_once_i1(database, answer):
    with ScriptedModel(answers=build_script(answer)) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        await world.deliver_all()

    structured = (await world.load_conversation()).structured
    assert structured.title == RECORD["title"]
    assert [item.description for item in structured.action_items] == ["Call the printer"]
    assert await list_facts(world) == ["User is allergic to peanuts"]


async def test_a_conversation_has_one_repair_i1(database):
    whole = build_extraction_output(build_memory_output(LONG_FACT))
    malformed = {**whole, "structure": {"title": 7}}
    with ScriptedModel(answers={EXTRACTION: [malformed, whole]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        fields = await process_one(world)

    assert fields["dropped_long"] == 1
    assert len(model.prompts) == 2


async def test_what_is_dropped_stands_in_the_log_by_reason_i1(database):
    facts = [
        build_memory_output("User flies", evidence="I fly to the moon"),
        build_memory_output("User jokes", kind="joke"),
        build_memory_output(),
    ]
    with ScriptedModel(answers=build_script(build_extraction_output(*facts))) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())

        fields = await process_one(world)

    assert (fields["dropped_unproved"], fields["dropped_not_meant"]) == (1, 1)
    async with build_client(world, ALICE) as client:
        report = (await client.get(f"{CONVERSATIONS}/talk")).json()
    assert report["dropped_memories"] == {"unproved": 1, "not_meant": 1}
    assert await list_facts(world) == ["User is allergic to peanuts"]


async def test_one_press_brings_back_what_was_discarded_p27(database):
    answers = {DISCARD: [{"discard": True}], **build_script(build_extraction_output())}
    with ScriptedModel(answers=answers) as model:
        world = build_processing_fixture(database, model)
        spoken = build_test_conversation("Okay, bye.").transcript_segments[:1]
        await world.write(build_test_conversation(transcript_segments=spoken))
        await world.deliver_all()
        async with build_client(world, ALICE) as client:
            listed = await client.get(CONVERSATIONS, params={"include_discarded": "true"})
            kept = await client.patch(f"{CONVERSATIONS}/talk", json={"discarded": False})
        await world.deliver_all()

    assert [each["discarded"] for each in listed.json()] == [True]
    assert kept.json()["discarded"] is False
    stored = await world.load_conversation()
    assert (stored.discarded, stored.structured.title) == (False, "Berlin launch in May")


async def test_an_import_is_never_discarded_p27(database):
    with ScriptedModel(answers={DISCARD: [], **build_script(build_extraction_output())}) as model:
        world = build_processing_fixture(database, model)
        spoken = build_test_conversation("Okay, bye.").transcript_segments[:1]
        imported = build_test_conversation(transcript_segments=spoken, is_imported=True)
        await world.deps.stores.conversations.add(ALICE, imported)

        await world.deliver_all()

    assert not (await world.load_conversation()).discarded


async def test_segments_without_order_or_times_are_read_i2(database):
    with ScriptedModel(
        answers=build_script(build_extraction_output(build_memory_output(segment=1)))
    ) as model:
        world = build_processing_fixture(database, model)
        ordered = build_test_conversation().transcript_segments
        shuffled = [replace(s, start=0.0, end=0.0, speaker="User") for s in reversed(ordered)]
        await world.write(build_test_conversation(transcript_segments=tuple(shuffled)))

        await world.deliver_all()

    [memory] = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert memory.segment == 2


def count_fields(schema: Any) -> int:
    if isinstance(schema, dict):
        own = len(schema["properties"]) if isinstance(schema.get("properties"), dict) else 0
        return own + sum(map(count_fields, schema.values()))
    return sum(map(count_fields, schema)) if isinstance(schema, list) else 0


def test_the_prompt_is_short_and_its_answer_has_few_fields_p26():
    schema = normalise_answer_schema(ExtractionOutput.model_json_schema())

    assert len(render_instructions(PROMPT).split()) <= 700
    assert len(render_instructions(BRIEF_PROMPT).split()) <= 400
    assert count_fields(schema) <= 25
    memory = schema["properties"]["memories"]["items"]
    assert list(memory["properties"])[:4] == ["segment", "evidence", "kind", "content"]


async def test_a_conversation_of_695_words_costs_at_most_2600_tokens_p26(database):
    words = [
        "so",
        "the",
        "plan",
        "for",
        "the",
        "garden",
        "is",
        "to",
        "move",
        "the",
        "old",
        "fence",
        "and",
        "then",
        "paint",
        "it",
    ]
    turns = [" ".join(2 * (words[n % 7 :] + words[: n % 7])) + "." for n in range(21)]
    segments = tuple(
        Segment(text=text, speaker=f"SPEAKER_0{n % 2}", is_user=n % 2 == 0)
        for n, text in enumerate(
            [
                *turns,
                "Yes, I will do it right away then, thanks, and tell Ann about the paint, the brushes and the ladder, as she asked.",
            ]
        )
    )
    assert sum(len(segment.text.split()) for segment in segments) == 695
    with ScriptedModel(answers=build_script(build_extraction_output())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation(transcript_segments=segments))

        await world.deliver_all()

    [(_, prompt)] = model.prompts
    assert estimate_tokens(prompt.instructions) + count_data_tokens(prompt.data) <= 2_600


async def list_shown_tasks(database, spoken: str, encoder: Any = None) -> Any:
    """Return which of many open tasks a model is shown beside what was `spoken`."""
    with ScriptedModel(answers=build_script(build_extraction_output())) as model:
        world = build_processing_fixture(database, model, embedder=encoder)
        tasks = ["Paint the kayak", *(f"Call friend number {n}" for n in range(50))]
        for n, description in enumerate(tasks):
            at = START + timedelta(minutes=n)
            task = ActionItem(
                id=ActionItemId(f"t{n}"), description=description, created_at=at, updated_at=at
            )
            await world.documents.write(Set(f"users/{ALICE}/action_items/t{n}", dump(task)))
        await world.write(build_test_conversation(spoken))

        await world.deliver_all()

    return model.prompts[0][1].data["open_tasks"]


async def test_of_many_open_tasks_those_that_are_near_to_what_was_said_are_shown_i3(database):
    shown = await list_shown_tasks(database, "The kayak needs paint before the summer.")

    assert shown[:2] == ["Paint the kayak", "Call friend number 49"]
    assert len(shown) == 30


@needs_encoder
@pytest.mark.parametrize(
    "spoken",
    [
        "The varnish of our boat is coming off, it wants a new coat.",
        "Unser Paddelboot braucht bis zum Sommer frische Farbe.",
    ],
)
async def test_a_near_task_is_shown_whatever_the_words_and_their_language_i3(database, spoken):
    async with open_encoder() as encoder:
        shown = await list_shown_tasks(database, spoken, encoder)

    assert shown[0] == "Paint the kayak"
    assert len(shown) == 30


class AbsentEncoder:
    """An embedder that is away."""

    name, embeds_later = "absent", False

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        raise Unavailable("as the test wants it")

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        raise Unavailable("as the test wants it")


async def test_while_the_encoder_is_away_words_choose_the_open_tasks_i3(database):
    spoken = "The kayak needs paint before the summer."

    shown = await list_shown_tasks(database, spoken, AbsentEncoder())

    assert shown[0] == "Paint the kayak"
    assert len(shown) == 30


@needs_encoder
async def test_a_secret_without_any_form_is_not_remembered_i3(database):
    """No pattern knows it: the encoder does."""
    spoken = "My dog is called Pepper, and pelican is the word that opens the safe, code 8834."
    facts = {
        "User's dog is called Pepper": "My dog is called Pepper",
        "The safe of User opens with 8834": "pelican is the word that opens the safe",
    }
    answer = build_extraction_output(
        *(build_memory_output(fact, evidence=evidence) for fact, evidence in facts.items())
    )
    with ScriptedModel(answers=build_script(answer)) as model:
        async with open_encoder() as encoder:
            world = build_processing_fixture(database, model, embedder=encoder)
            await world.write(build_test_conversation(spoken))

            fields = await process_one(world)

    assert await list_facts(world) == ["User's dog is called Pepper"]
    assert fields["dropped_secret"] == 1


@needs_encoder
async def test_two_facts_of_one_proof_that_say_the_same_are_one_p14(database):
    facts = [
        build_memory_output("User is allergic to peanuts"),
        build_memory_output("User has a peanut allergy", evidence="allergic to peanuts"),
        build_memory_output("User's launch is in Berlin", evidence="The launch in Berlin moved"),
    ]
    with ScriptedModel(answers=build_script(build_extraction_output(*facts))) as model:
        async with open_encoder() as encoder:
            world = build_processing_fixture(database, model, embedder=encoder)
            await world.write(build_test_conversation())

            fields = await process_one(world)

    assert sorted(await list_facts(world)) == [facts[0]["content"], facts[2]["content"]]
    assert fields["dropped_repeated"] == 1


MARKET = (
    "On Tuesday we went to the market, it was raining like mad, and then my cats, both of them, got out because the "
    "neighbour left the gate open, and I had to climb over the wall of the bakery, and I still hadn't had breakfast."
)


@needs_encoder
@pytest.mark.parametrize(
    ("said", "fact", "is_kept"),
    [
        (("I'm allergic to peanuts",), "User owes Mallory 900 euros", False),
        (("I'm allergic to peanuts",), "User lives in Porto", False),
        (("We talked about the roof again",), "User has asthma", False),
        (("Ja, das machen wir so",), "User works at Siemens", False),
        (("Sure, I can do that",), "User is a lawyer", False),
        (("I'm allergic to peanuts",), "User ist allergisch gegen Erdnüsse", True),
        (("Soy celíaco desde niño",), "User cannot eat gluten", True),
        ((MARKET,), "User has two cats", True),
        ((MARKET,), "User is a lawyer", False),
        (("ผมแพ้ถั่วลิสง",), "User is allergic to peanuts", True),
        (("我對花生過敏",), "User is allergic to peanuts", True),
        (("我對花生過敏",), "User owes Mallory 900 euros", False),
        (("Je ne mange plus de viande",), "User is a vegetarian", True),
        (("We named her Nora, after my gran",), "User's daughter is called Nora", True),
        (("I gave up drinking three years ago",), "User does not drink alcohol", True),
        (("Where do you live now?", "In Porto since last May"), "User lives in Porto", True),
        (("Do you still play the cello?", "Every single evening"), "User plays the cello", True),
        (("Bist du verheiratet?", "Ja, seit zwölf Jahren"), "User is married", True),
    ],
)
async def test_a_proof_is_about_its_fact_in_whatever_words_and_language_i1(
    database, said, fact, is_kept
):
    segments = tuple(
        Segment(text=text, is_user=text == said[-1], speaker=f"SPEAKER_0{n}")
        for n, text in enumerate(said)
    )
    answer = build_extraction_output(
        build_memory_output(fact, evidence=said[-1], segment=len(said) - 1)
    )
    with ScriptedModel(answers=build_script(answer)) as model:
        async with open_encoder() as encoder:
            world = build_processing_fixture(database, model, embedder=encoder)
            await world.write(build_test_conversation(transcript_segments=segments))

            fields = await process_one(world)

    assert await list_facts(world) == [fact] * is_kept
    assert fields.get("dropped_unproved") == (None if is_kept else 1)


@needs_encoder
@pytest.mark.parametrize(
    ("said", "quoted", "fact", "is_kept"),
    [
        ("I don't eat any meat at all.", "eat any meat at all", "User eats meat", False),
        ("No como marisco, me da alergia", "como marisco, me da", "User eats seafood", False),
        ("Ich esse Fleisch schon lange nicht mehr", "Ich esse Fleisch", "User eats meat", False),
        ("ik drink alcohol helemaal niet", "ik drink alcohol", "User drinks alcohol", False),
        ("Я не ем мясо и рыбу", "ем мясо и рыбу", "User eats meat and fish", False),
        ("eu não bebo café à noite", "bebo café à noite", "User drinks coffee at night", False),
        ("eu não bebo café à noite", "bebo café à noite", "User does not drink coffee at night", True),
        ("I don't know, I'm allergic to nuts", "I'm allergic to nuts", "User is allergic to nuts", True),
        ("I can't believe my sister lives in Graz", "my sister lives in Graz", "User's sister lives in Graz", True),
    ],
)  # fmt: skip
async def test_what_denies_a_proof_is_not_cut_off_i1(database, said, quoted, fact, is_kept):
    segments = (Segment(text=said, is_user=True, speaker="SPEAKER_00"),)
    answer = build_extraction_output(build_memory_output(fact, evidence=quoted))
    with ScriptedModel(answers=build_script(answer)) as model:
        async with open_encoder() as encoder:
            world = build_processing_fixture(database, model, embedder=encoder)
            await world.write(build_test_conversation(transcript_segments=segments))

            await process_one(world)

    assert await list_facts(world) == [fact] * is_kept

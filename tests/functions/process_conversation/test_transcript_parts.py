"""Parts of a transcript: every word is read, in order, by requests that fit the window; nothing comes twice."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.transcript_parts import (
    BEGINNING,
    MAX_OVERLAP_TURNS,
    Place,
    build_lines,
    take_part,
)
from shared.data.conversations.conversations import conversation_path
from shared.domain.conversations.conversation import Segment
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Update
from shared.library.conversation_schemas import ConversationOut
from shared.models.windows import count_data_tokens
from tests.fixtures.processing import (
    ALICE,
    DISCARD,
    EXTRACTION,
    START,
    TALK,
    ProcessingFixture,
    build_extraction_output,
    build_memory_output,
    build_processing_fixture,
    build_test_conversation,
)
from tests.fixtures.storage import MemoryDatabase
from tests.fixtures.windowed_model import WindowedModel, count_request_tokens

WHOLE = "process_conversation/whole"
TEXTS = st.one_of(
    st.text(max_size=400),
    st.text(alphabet='`"\\\n', max_size=400),
    st.text(alphabet="語る猫🚀", max_size=3_000),
    st.integers(0, 20_000).map(lambda size: "word " * (size // 5)),
    st.integers(0, 20_000).map(lambda size: "x" * size),
)
TRANSCRIPTS = st.lists(
    st.builds(
        Segment,
        text=TEXTS,
        speaker=st.sampled_from(["SPEAKER_00", "SPEAKER_01", "Ann"]) | st.text(max_size=30),
        is_user=st.booleans(),
    ),
    max_size=30,
)


def take_all(lines, tokens):
    parts = [take_part(lines, BEGINNING, tokens)]
    while not parts[-1].is_last:
        parts.append(take_part(lines, parts[-1].until, tokens))
    return parts


@given(TRANSCRIPTS, st.integers(400, 3_000))
def test_every_word_stands_in_a_part_once_beside_the_overlap_p26(segments, tokens):
    lines = build_lines(build_test_conversation(transcript_segments=tuple(segments)))

    parts = take_all(lines, tokens)

    read = [""] * len(lines)
    for part in parts:
        for line in part.lines[part.overlap :]:
            read[line["segment"]] += line["text"]
    assert read == [segment.text for segment in segments]
    for part in parts:
        numbers = [line["segment"] for line in part.lines]
        assert numbers == sorted(numbers)
        assert count_data_tokens(part.lines) <= tokens


@given(TRANSCRIPTS, st.integers(400, 3_000))
def test_a_part_begins_with_the_turns_before_it_p26(segments, tokens):
    lines = build_lines(build_test_conversation(transcript_segments=tuple(segments)))

    for part in take_all(lines, tokens):
        read_before = [lines[n]["text"] for n in range(part.start.segment)]
        if part.start.offset:
            read_before.append(lines[part.start.segment]["text"][: part.start.offset])
        overlap = [line["text"] for line in part.lines[: part.overlap]]
        assert len(overlap) <= MAX_OVERLAP_TURNS
        assert "\0".join(read_before).endswith("\0".join(overlap))


def test_a_segment_that_is_longer_than_a_part_is_cut_between_words():
    talk = build_test_conversation(transcript_segments=(Segment(text="several words " * 2_000),))

    parts = take_all(build_lines(talk), 600)

    assert len(parts) > 10
    assert {line["segment"] for part in parts for line in part.lines} == {0}
    for part in parts:
        for line in part.lines:
            assert set(line["text"].split()) <= {"several", "words"}


def read_lines(prompt):
    """Find a task in each line, and in none again what the part before it held."""
    lines = prompt.data["transcript"]
    return build_extraction_output(
        *(
            build_memory_output(
                f"User likes {line['text'].split()[1]}",
                segment=line["segment"],
                evidence=line["text"],
            )
            for line in lines
            if line["text"].startswith("like ")
        ),
        title=f"From {lines[0]['segment']}",
        overview="They talked.",
        action_items=[
            {"description": line["text"].removeprefix("task ")}
            for line in lines
            if line["text"].startswith("task ")
        ],
        topics=[f"topic {line['segment'] // 100}" for line in lines],
        people=["Ann"],
        entities=[],
    )


def describe_all(prompt):
    return {
        "title": "The whole",
        "overview": f"They talked on from {prompt.data['parts'][0]['title']}.",
    }


def build_world(window, *, reader=read_lines, whole=describe_all, **options):
    answers = {EXTRACTION: reader, WHOLE: whole, DISCARD: lambda _: {"discard": False}}
    model = WindowedModel(answers, window=window, **options)
    return build_processing_fixture(MemoryDatabase(), model), model


async def process(world: ProcessingFixture, segments):
    talk = build_test_conversation(transcript_segments=tuple(segments))
    await world.deps.stores.conversations.add(ALICE, talk)
    await world.deliver_all()
    return await world.load_conversation()


def list_read(model):
    """Return what the requests read of each segment, beside what they repeat."""
    return [line for prompt in list_asked(model) for line in prompt.data["transcript"]]


def list_asked(model, name=EXTRACTION):
    return [prompt for prompt in model.prompts if prompt.name == name]


SPOKEN = "so we said about twenty words in this one and then somebody else said as many again, more or less"
LONG_TALK = [
    Segment(text=SPOKEN, speaker=f"SPEAKER_0{n % 2}", is_user=n % 2 == 0, start=n * 5, end=n * 5 + 5)
    for n in range(900)
]  # fmt: skip


@pytest.mark.parametrize("window", [4_096, 8_192, 32_768])
async def test_a_conversation_of_75_minutes_is_completed_in_any_window_n2(window):
    world, model = build_world(window)

    conversation = await process(world, LONG_TALK)

    assert (conversation.status, conversation.failure) == ("completed", None)
    assert [*dict.fromkeys(line["segment"] for line in list_read(model))] == [*range(900)]
    assert all(count_request_tokens(prompt, window) <= window for prompt in model.prompts)
    assert model.refused == []


async def test_a_conversation_that_fits_costs_one_call():
    world, model = build_world(100_000)

    await process(world, LONG_TALK)

    [prompt] = model.prompts
    assert "new_from" not in prompt.data


@given(st.integers(2_500, 20_000), st.lists(TEXTS, min_size=1, max_size=12))
async def test_no_request_is_larger_than_the_window_n2(window, texts):
    segments = [Segment(text=text, is_user=True) for text in [*texts, "well " * 101]]
    world, model = build_world(window)

    conversation = await process(world, segments)

    assert conversation.status == "completed"
    assert model.refused == []
    numbers = [line["segment"] for line in list_read(model)]
    assert {*numbers} == {*range(len(segments))}


@given(st.integers(2_500, 9_000), st.booleans())
async def test_what_a_server_calls_too_long_is_halved_until_it_fits_n2(real_window, learns):
    world, model = build_world(32_000, real_window=real_window, learns=learns)

    conversation = await process(world, LONG_TALK[:300])

    assert conversation.status == "completed"
    assert 0 < len(model.refused) <= 5
    assert [*dict.fromkeys(line["segment"] for line in list_read(model))] == [*range(300)]


async def test_an_unknown_refusal_of_a_long_text_halves_it_once_n2():
    refusal = ModelFailed("no", reason="other", may_be_too_long=True)
    world, model = build_world(32_000, real_window=20_000, refusal=refusal)

    conversation = await process(world, LONG_TALK)

    assert conversation.status == "completed"
    assert len(model.refused) == 1


async def test_an_unknown_refusal_that_is_not_for_length_ends_after_two_calls():
    refusal = ModelFailed("no", reason="other", may_be_too_long=True)
    world, model = build_world(32_000, real_window=300, refusal=refusal)

    conversation = await process(world, LONG_TALK)

    assert (conversation.status, conversation.failure_reason) == ("failed", "other")
    assert len(model.refused) == 2


async def test_a_window_without_room_fails_with_a_reason_and_can_be_tried_again():
    world, model = build_world(32_000, real_window=300)

    conversation = await process(world, LONG_TALK)

    assert conversation.failure_report
    assert conversation.failure_report.reason == "too_long"
    assert conversation.failure_report.can_retry
    assert len(model.refused) < 10


async def test_an_answer_is_read_with_its_question():
    """Whatever the part that the answer begins, the question before it stands in the same request."""
    world, model = build_world(4_096)
    await process(world, LONG_TALK)
    begins = {prompt.data["new_from"] for prompt in model.prompts if "new_from" in prompt.data}

    assert begins
    for prompt in list_asked(model):
        numbers = [line["segment"] for line in prompt.data["transcript"]]
        if "new_from" in prompt.data:
            assert numbers[0] <= prompt.data["new_from"] - 1
            assert prompt.data["new_from"] in numbers


async def test_what_stands_in_two_parts_comes_once_n2():
    talk = list(LONG_TALK)
    for n in range(0, 240, 3):
        talk[n] = replace(
            talk[n], text=f"task Call number {n} about the {'roof' if n % 2 else 'floor'}"
        )
        talk[n + 1] = replace(talk[n + 1], text=f"like subject{n}")
    world, model = build_world(4_096)

    conversation = await process(world, talk[:240])

    assert len(model.prompts) > 3
    described = [item.description for item in conversation.structured.action_items]
    assert described == [
        text.removeprefix("task ") for s in talk[:240] if (text := s.text).startswith("task ")
    ]
    assert conversation.topics.people == ("Ann",)
    assert conversation.topics.topics == ("topic 0", "topic 1", "topic 2")
    memories = await world.deps.stores.memories.list_newest(ALICE, limit=9)
    assert len({memory.content for memory in memories}) == len(memories)


@pytest.mark.parametrize("window", [3_000, 8_192])
async def test_a_conversation_that_was_read_in_parts_has_one_overview_p26(window):
    def read_wordily(prompt):
        answer = read_lines(prompt)
        answer["structure"]["overview"] = "They talked of many things. " * 60
        return answer

    world, model = build_world(window, reader=read_wordily)

    structured = (await process(world, LONG_TALK)).structured

    [prompt] = list_asked(model, WHOLE)
    titles = [part["title"] for part in prompt.data["parts"]]
    assert len(titles) == len(list_asked(model)) > 2
    assert titles[0] == "From 0"
    assert count_request_tokens(prompt, window) <= window
    assert (structured.title, structured.overview) == ("The whole", "They talked on from From 0.")
    assert structured.emoji


async def test_overviews_stand_side_by_side_where_no_model_joins_them_p26():
    def fail(_):
        raise ModelFailed("no", reason="other")

    world, model = build_world(4_096, whole=fail)

    conversation = await process(world, LONG_TALK[:200])

    assert conversation.status == "completed"
    count = len(list_asked(model))
    assert conversation.structured.overview == "\n\n".join(["They talked."] * count)


async def test_an_overview_whose_model_was_away_is_written_later_and_no_part_read_again_p26():
    failures = [Unavailable("down")]

    def fail_once(prompt):
        if failures:
            raise failures.pop()
        return describe_all(prompt)

    world, model = build_world(4_096, whole=fail_once)
    await process(world, LONG_TALK[:200])
    read_before = len(list_asked(model))

    world.clock.advance(hours=1)
    await world.deliver({"uid": ALICE, "conversation_id": TALK})

    assert (await world.load_conversation()).structured.title == "The whole"
    assert len(list_asked(model)) == read_before


async def test_the_newest_memories_are_shown_as_far_as_they_fit():
    world, model = build_world(4_096)
    for n in range(80):
        memory = Memory(
            id=MemoryId(f"m{n}"),
            content=f"User knows fact number {n} about some subject of theirs",
            category="system",
            created_at=START + timedelta(minutes=n),
            updated_at=START,
            manually_added=True,
        )
        await world.deps.stores.memories.add(ALICE, memory)

    await process(world, LONG_TALK[:60])

    for prompt in list_asked(model):
        shown = prompt.data["existing_memories"]
        assert 5 < len(shown) < 80
        assert shown[0]["text"].startswith("User knows fact number 79")
        assert count_data_tokens(shown) < 700


def test_places_have_names_of_their_own():
    keys = [Place(*at).key for at in [(0, 0), (0, 5), (1, 0), (1, 2), (12, 0)]]

    assert keys == ["", "-0-5", "-1", "-1-2", "-12"]


async def test_a_long_answer_that_is_cut_by_a_small_window_is_asked_for_in_halves_n2():
    def write_much(prompt):
        answer = read_lines(prompt)
        if len(prompt.data["transcript"]) > 25:
            raise ModelFailed("cut off", reason="malformed_answer")
        return answer

    world, model = build_world(4_096, reader=write_much)

    conversation = await process(world, LONG_TALK[:200])

    assert conversation.status == "completed"
    assert {line["segment"] for line in list_read(model)} == {*range(200)}


class InterruptedReader:
    """Fails at one request, by its number."""

    def __init__(self, at: int, failure: Exception) -> None:
        self.starts: list[int] = []
        self._at = at
        self._failure = failure

    def __call__(self, prompt):
        self.starts.append(prompt.data.get("new_from", 0))
        if len(self.starts) == self._at:
            raise self._failure
        return read_lines(prompt)


@pytest.mark.parametrize("later_window", [4_096, 3_000, 8_192])
async def test_a_finished_part_is_not_asked_about_again_whatever_the_window_is_then(later_window):
    reader = InterruptedReader(5, Unavailable("down"))
    world, model = build_world(4_096, reader=reader)
    await process(world, LONG_TALK[:200])
    assert len(reader.starts) == 5

    model.window = later_window
    world.clock.advance(hours=1)
    await world.deliver({"uid": ALICE, "conversation_id": TALK})

    assert (await world.load_conversation()).status == "completed"
    assert reader.starts[5] == reader.starts[4]
    assert reader.starts == sorted(reader.starts)
    assert {line["segment"] for line in list_read(model)} == {*range(200)}


async def test_a_retry_after_a_failure_goes_on_with_the_part_that_failed():
    reader = InterruptedReader(5, ModelFailed("nothing left", reason="no_quota"))
    world, _ = build_world(4_096, reader=reader)
    assert (await process(world, LONG_TALK[:200])).status == "failed"

    await world.deps.stores.conversations.reopen(ALICE, TALK, now=world.clock.now())
    await world.deliver({"uid": ALICE, "conversation_id": TALK})

    assert (await world.load_conversation()).status == "completed"
    assert reader.starts[5] == reader.starts[4]


async def test_a_conversation_that_was_too_long_before_can_be_tried_again():
    world, _ = build_world(4_096)
    await world.deps.stores.conversations.add(
        ALICE, build_test_conversation(transcript_segments=tuple(LONG_TALK[:200]))
    )
    changes = {"status": "failed", "failure": "too much", "failure_reason": "too_long"}
    await world.documents.write(Update(conversation_path(ALICE, TALK), changes))
    world.changes.clear()
    failed = ConversationOut.of(await world.load_conversation()).failure

    await world.deps.stores.conversations.reopen(ALICE, TALK, now=world.clock.now())
    await world.deliver({"uid": ALICE, "conversation_id": TALK})

    assert failed is not None
    assert failed.can_retry
    assert (await world.load_conversation()).status == "completed"

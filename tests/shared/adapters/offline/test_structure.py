"""Structure of the offline model: extracted from a transcript, never invented (P26)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.model_outputs import (
    DiscardOutput,
    ExtractionOutput,
    ProcessingOutput,
)
from shared.adapters.embedded.offline.extractors import EXTRACTORS

SCHEMAS: dict[str, type[ProcessingOutput]] = {
    "process_conversation/discard": DiscardOutput,
    "process_conversation/extraction": ExtractionOutput,
}
DISCARD, EXTRACT = (EXTRACTORS[name] for name in SCHEMAS)


def extract_structure(data: dict[str, Any]) -> dict[str, Any]:
    structure: dict[str, Any] = EXTRACT(data)["structure"]
    return structure


def build_data(
    *texts: str | tuple[str, str], start: str = "Monday 2026-03-02 10:00"
) -> dict[str, Any]:
    """Build a prompt's data; a bare text is the owner's. It is a Monday, 10 o'clock in Berlin."""
    lines = [("SPEAKER_00", text) if isinstance(text, str) else text for text in texts]
    return {
        "transcript": [
            {"segment": n, "speaker": speaker, "is_user": speaker == "SPEAKER_00", "text": text}
            for n, (speaker, text) in enumerate(lines)
        ],
        "started_at": start,
        "time_zone": "Europe/Berlin",
        "language": "en",
    }


def by_other_speaker(text: str) -> tuple[str, str]:
    return "SPEAKER_01", text


@pytest.mark.parametrize("prompt", list(SCHEMAS))
def test_every_prompt_with_a_schema_has_its_extractor(prompt):
    extracted = EXTRACTORS[prompt](build_data("I am allergic to walnuts."))

    assert SCHEMAS[prompt].model_validate(extracted).model_fields_set == set(extracted)


@given(st.lists(st.text(max_size=60) | st.sampled_from(["I'll", "tomorrow at 99", "Mr.", "in ten days"]), max_size=6))  # fmt: skip
def test_every_transcript_gives_valid_outputs(texts):
    prompt_data = build_data(*texts, *map(by_other_speaker, texts))

    DiscardOutput.model_validate(DISCARD(prompt_data))
    answer = ExtractionOutput.model_validate(EXTRACT(prompt_data))
    assert answer.structure is not None
    assert answer.memories is not None
    for memory in answer.memories:
        assert memory.evidence in prompt_data["transcript"][memory.segment]["text"]


@pytest.mark.parametrize(
    ("spoken", "category"),
    [
        ("The dentist says the pain goes away with this medicine.", "health"),
        ("Our flight leaves late, the hotel at the airport is booked.", "travel"),
        ("Mmh, whatever, somehow.", "other"),
    ],
)
def test_a_category_follows_its_words(spoken, category):
    assert extract_structure(build_data(spoken))["category"] == category


def test_an_icon_is_neutral_where_two_categories_are_as_likely():
    talk = extract_icon("The doctor asked about the hospital.")
    mixed = extract_icon("The doctor and the teacher met.")

    assert (talk, mixed) == ("🩺", "🧠")


def extract_icon(text: str) -> str:
    icon: str = extract_structure(build_data(text))["emoji"]
    return icon


@pytest.mark.parametrize(
    ("spoken", "task", "due"),
    [
        ("I'll call the dentist tomorrow.", "Call the dentist", "2026-03-03 18:00"),
        ("I need to pay the rent by Friday, because it is late.", "Pay the rent", "2026-03-06 18:00"),
        ("Remind me to water the plants.", "Water the plants", None),
        ("We have to file taxes on 5 May at 9:30 am.", "File taxes on 5 May at 9:30 am", "2026-05-05 09:30"),
        ("I must renew it on February 1st.", "“I must renew it on February 1st”", "2027-02-01 18:00"),
        ("I should ask Anna in two weeks.", "Ask Anna", "2026-03-16 18:00"),
        ("I will send it on Monday at 3.", "“I will send it … at 3”", "2026-03-09 15:00"),
        ("I'll send it tonight at 8 pm.", "“I'll send it … at 8 pm”", "2026-03-02 20:00"),
        (by_other_speaker("Could you send the contract today?"), "Send the contract", "2026-03-02 18:00"),
    ],
)  # fmt: skip
def test_a_promise_or_request_becomes_a_task_with_its_due_date(spoken, task, due):
    action_items = extract_structure(build_data("Hm.", spoken))["action_items"]

    owner = {"owner": "me"}
    assert action_items == [{"description": task.rstrip("?"), "due_at": due, **owner}]


@pytest.mark.parametrize(
    "spoken",
    [
        "I'll be late.",
        "I will not call him.",
        "I'll see.",
        "She called the dentist.",
        by_other_speaker("I need to call my own mother."),
    ],
)
def test_a_sentence_without_a_promise_by_the_user_is_no_task(spoken):
    assert extract_structure(build_data("Hm.", spoken))["action_items"] == []


def test_topics_that_are_said_equally_often_stand_in_the_order_in_which_they_are_said():
    topics = extract_structure(build_data("Purple elephants paint enormous bridges."))["topics"]

    assert topics == ["purple", "elephants", "paint", "enormous", "bridges"]


@pytest.mark.parametrize(
    ("spoken", "start"),
    [
        ("The meeting with Anna is on Thursday at 2 pm.", "2026-03-05 14:00"),
        ("Dinner is tomorrow at 7:30 pm.", "2026-03-03 19:30"),
        ("Shall we have dinner tomorrow at 7?", None),
        ("The meeting is on Thursday.", None),
        ("I sleep on Thursday at 2 pm.", None),
    ],
)
def test_an_event_has_a_name_a_day_and_an_hour(spoken, start):
    events = extract_structure(build_data(spoken))["events"]

    assert [event["start"] for event in events] == ([start] if start else [])


@pytest.mark.parametrize(
    ("spoken", "discard"),
    [
        ("Okay. Mhm.", True),
        ("Hello? Hello? Can you hear me?", True),
        ("Testing, testing.", True),
        ("The code is 4711.", False),
        ("I'll call Anna.", False),
        ("I have two cats.", False),
        ("See you tomorrow.", False),
        ("Purple elephants paint enormous bridges.", False),
    ],
)
def test_only_recordings_without_content_are_discarded_p27(spoken, discard):
    assert DISCARD(build_data(spoken)) == {"discard": discard}

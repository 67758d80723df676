"""Whatever a model answers about a day, it becomes a summary within the limits (R6)."""

from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.days.day_material import DayMaterial
from functions.process_conversation.days.day_output import (
    MAX_LIST_LENGTH,
    MAX_NOTE_CHARS,
    MAX_TASKS,
    MAX_TEXT_CHARS,
    DayOutput,
    build_plain_output,
    build_summary,
)
from functions.process_conversation.days.spoken_lines import SpokenLine
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Structured
from shared.domain.conversations.daily_summary import DailySummary
from shared.domain.conversations.place import Geolocation
from shared.domain.ids import ActionItemId
from shared.domain.tasks.action_item import ActionItem
from tests.fixtures.processing import START, TALK, build_test_conversation

TASK = ActionItem(
    id=ActionItemId("t1"),
    description="Call Ann",
    created_at=START,
    updated_at=START,
    conversation_id=TALK,
)
MATERIAL = DayMaterial(
    day=date(2026, 3, 2),
    zone=ZoneInfo("Europe/Lisbon"),
    language="en",
    conversations=(build_test_conversation(structured=Structured(title="Offsite")),),
    tasks=(TASK,),
    lines=(
        SpokenLine(conversation_id=TALK, segment=0, kind="decision", quote="May it is."),
        SpokenLine(conversation_id=TALK, segment=1, kind="count", quote="At 7 at the station."),
    ),
)
FIELDS = tuple(DayOutput.model_fields)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=30),
    lambda children: (
        st.lists(children, max_size=15)
        | st.dictionaries(
            st.sampled_from(
                ["text", "conversation", "task", "priority", "topic", "summary", "conversations"]
            ),
            children,
        )
    ),
    max_leaves=20,
)


def build(answer: dict[str, object]) -> DailySummary:
    output = DayOutput.model_validate(answer)
    return build_summary(output, MATERIAL, now=START, is_scheduled=True)


def test_a_day_without_a_model_names_its_talks_tasks_decisions_and_numbers():
    talk = Structured(title="Offsite", overview="May it is.")
    material = replace(MATERIAL, conversations=(build_test_conversation(structured=talk),))

    summary = build_summary(build_plain_output(material), material, now=START, is_scheduled=True)

    assert [(each.topic, each.summary) for each in summary.highlights] == [
        ("Offsite", "May it is.")
    ]
    assert [task.description for task in summary.tasks] == ["Call Ann"]
    assert [note.text for note in summary.decisions] == ["May it is."]
    assert [note.text for note in summary.numbers] == ["At 7 at the station."]


@given(answer=st.dictionaries(st.sampled_from(FIELDS), json_values))
def test_no_answer_breaks_a_summary_or_exceeds_its_limits_r6(answer):
    summary = build(answer)

    assert summary.headline
    assert 0 < len(summary.overview) <= MAX_TEXT_CHARS
    assert len(summary.highlights) <= MAX_LIST_LENGTH
    assert len(summary.tasks) <= MAX_TASKS
    cited = [*summary.decisions, *summary.numbers]
    assert {(note.conversation_id, note.segment) for note in cited} <= {(TALK, 0), (TALK, 1)}
    notes = [*cited, *summary.insights, *summary.unresolved_questions]
    assert all(0 < len(note.text) <= MAX_NOTE_CHARS for note in notes)
    assert {note.conversation_id for note in notes} <= {TALK, None}
    assert dump(summary)


def test_an_empty_answer_is_made_of_titles_r6():
    summary = build({})

    assert (summary.headline, summary.overview) == ("Offsite", "You talked about: Offsite.")


def test_a_longest_answer_fits_a_document_r6():
    long = "word " * 10_000
    note = {"text": long, "conversation": 0}
    highlight = {"topic": long, "summary": long, "conversations": [0] * 1_000}

    summary = build(
        {
            **dict.fromkeys(("headline", "overview", "day_emoji"), long),
            "highlights": [highlight] * 100,
            **dict.fromkeys(("insights", "unresolved_questions"), [note] * 100),
            **dict.fromkeys(("decisions", "numbers"), [0, 1] * 100),
        }
    )

    assert len(str(dump(summary))) < 50_000


@pytest.mark.parametrize(
    ("place", "count"),
    [
        (Geolocation(latitude=38.7, longitude=-9.1, address="Lisbon"), 1),
        (None, 0),
    ],
)
def test_places_are_those_where_conversations_were_recorded_r6(place, count):
    conversation = build_test_conversation(geolocation=place)
    material = DayMaterial(
        day=MATERIAL.day, zone=MATERIAL.zone, language="en", conversations=(conversation,)
    )

    summary = build_summary(DayOutput(), material, now=START, is_scheduled=True)

    assert len(summary.places) == count
    assert all(one.conversation_id == TALK for one in summary.places)


def test_stats_count_what_is_stored_r6():
    stats = build({}).stats

    duration = MATERIAL.conversations[0].finished_at - MATERIAL.conversations[0].started_at
    assert duration == timedelta(minutes=30)
    assert (stats.total_conversations, stats.total_duration_minutes) == (1, 30)
    assert stats.action_items_count == 1


def test_a_secret_that_was_told_stands_in_no_summary_r6():
    text = "The password of the boat is hunter2!x"
    line = SpokenLine(conversation_id=TALK, segment=1, kind="count", quote=text)
    output = DayOutput.model_validate(
        {"headline": text, "overview": text, "insights": [{"text": text}], "numbers": [0]}
    )

    summary = build_summary(output, replace(MATERIAL, lines=(line,)), now=START, is_scheduled=True)

    assert "hunter2" not in str(dump(summary))
    assert summary.numbers[0].text == "The password of the boat is …"

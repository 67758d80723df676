"""Structure: its limits hold for any answer of the model (P26)."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.processing.examples import EXAMPLE_DAY, EXAMPLES
from functions.process_conversation.processing.model_outputs import StructureOutput
from functions.process_conversation.processing.read_transcript import (
    BRIEF_PROMPT,
    PROMPT,
    render_instructions,
)
from functions.process_conversation.processing.structure import (
    add_speakers,
    build_structure,
    build_topics,
)
from shared.domain.conversations.conversation import CATEGORIES, Topics
from tests.fixtures.processing import START, build_structure_output, build_test_conversation

BERLIN = ZoneInfo("Europe/Berlin")
NEXT_YEAR = "2027-01-05 11:00"


def build(**changes):
    answer = StructureOutput.model_validate(build_structure_output(**changes))
    return build_structure(answer, build_test_conversation(), BERLIN)


def build_item(description, due_at=None):
    return {"description": description, "due_at": due_at}


def build_event(**changes):
    return {"title": "Demo", "start": NEXT_YEAR, "duration": 30, **changes}


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("NASA visit with Dr. McKay", "NASA visit with Dr. McKay"),
        ("one two three four five six seven eight nine ten, eleven", "one two three four five six seven eight nine ten"),
        ("  spaced \n out ", "spaced out"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_title_has_at_most_ten_words_and_keeps_its_letters_p26(answer, title):
    assert build(title=answer).title == title


@pytest.mark.parametrize(
    ("answer", "category"),
    [("work", "work"), (" Work ", "work"), ("jobs", "other"), ("", "other"), (None, "other"), (7, "other")],
)  # fmt: skip
def test_an_unknown_category_becomes_other_p26(answer, category):
    assert build(category=answer).category == category


@pytest.mark.parametrize(
    ("answer", "emoji"),
    [("🚀", "🚀"), ("👩‍🚀", "👩‍🚀"), ("🇩🇪", "🇩🇪"), ("", "🧠"), ("rocket", "🧠"), ("🚀" * 9, "🧠"), ("<b>", "🧠")],
)  # fmt: skip
def test_an_emoji_is_one_sign_p26(answer, emoji):
    assert build(emoji=answer).emoji == emoji


@pytest.mark.parametrize(
    ("answer", "due"),
    [
        ("2026-03-03 18:00", datetime(2026, 3, 3, 17, tzinfo=UTC)),
        ("2026-07-03T18:00:00", datetime(2026, 7, 3, 16, tzinfo=UTC)),
        ("2026-03-03", datetime(2026, 3, 3, 17, tzinfo=UTC)),
        ("2026-03-01 17:00", None),
        ("2024-03-03 17:00", None),
        ("2026-03-03 6:00 PM", datetime(2026, 3, 3, 17, tzinfo=UTC)),
        ("2026-03-03, in 2 hours", None),
        ("tomorrow", None),
        ("", None),
        (None, None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
    ],
)
def test_due_dates_are_utc_and_after_the_conversation_p26(answer, due):
    (action_item,) = build(action_items=[build_item("Call", answer)]).action_items

    assert action_item.due_at == due


@pytest.mark.parametrize(
    ("answer", "due"),
    [
        ("2026-03-02", datetime(2026, 3, 2, 22, 59, tzinfo=UTC)),
        ("2026-03-02 18:00", None),
        ("2026-03-01", None),
    ],
)
def test_what_is_due_today_keeps_its_day_in_the_evening_p26(answer, due):
    talk = replace(build_test_conversation(), started_at=datetime(2026, 3, 2, 19, tzinfo=UTC))
    output = build_structure_output(action_items=[build_item("Call", answer)])

    (item,) = build_structure(StructureOutput.model_validate(output), talk, BERLIN).action_items

    assert item.due_at == due


@pytest.mark.parametrize(
    ("year", "due"), [(2026, None), (2031, datetime(2031, 5, 11, 7, 30, tzinfo=UTC))]
)
@pytest.mark.parametrize("prompt", [PROMPT, BRIEF_PROMPT])
def test_the_days_of_the_prompts_examples_are_no_answer_before_they_are_near_p26(prompt, year, due):
    talk = replace(build_test_conversation(), started_at=datetime(year, 3, 2, 19, tzinfo=UTC))
    day = f"{EXAMPLE_DAY} 09:30"
    output = build_structure_output(
        action_items=[build_item("Call", day)], events=[{"title": "Call", "start": day}]
    )

    built = build_structure(StructureOutput.model_validate(output), talk, BERLIN)

    assert day in render_instructions(prompt)
    assert [each.due_at for each in built.action_items] == [due]
    assert [each.start for each in built.events] == [due] * bool(due)


def test_tasks_are_truncated_to_fifteen_words_and_deduplicated_p26():
    long = " ".join(f"w{n}" for n in range(20))

    result = build(
        action_items=[
            build_item("Call Anna"),
            build_item("call anna!"),
            build_item(" "),
            build_item(long),
        ]
    )

    assert [i.description for i in result.action_items] == [
        "Call Anna",
        " ".join(f"w{n}" for n in range(15)),
    ]


@pytest.mark.parametrize(
    ("answer", "minutes"),
    [({}, [30]), ({"duration": 500}, [180]), ({"duration": -3}, [1]), ({"duration": 45.4}, [45]),
     ({"start": "2026-03-02 09:59"}, []), ({"start": "soon"}, []), ({"start": "2026-03-03"}, []),
     ({"start": "2026-03-03 9 am"}, [30]), ({"title": " "}, [])],
)  # fmt: skip
def test_events_lie_ahead_and_last_at_most_three_hours_p26(answer, minutes):
    assert [e.duration for e in build(events=[build_event(**answer)]).events] == minutes


@pytest.mark.parametrize("answer", [math.nan, math.inf, None, "half an hour", [], 10**400])
def test_an_invalid_duration_becomes_the_default_p26(answer):
    (only_event,) = build(events=[build_event(duration=answer)]).events

    assert only_event.duration == 30


def test_a_list_that_is_none_is_empty_p26():
    answer = StructureOutput.model_validate({"title": "x", "overview": "y", "events": None})

    assert build_structure(answer, build_test_conversation(), BERLIN).events == ()


def test_names_are_cleaned_and_deduplicated():
    answer = StructureOutput.model_validate(
        build_structure_output(
            people=["Anna", "anna", "SPEAKER_01", "Speaker 2", "User", " ", "Bo  Li"],
            dates=["2026-05-01", "May", "2026-5-1", "2026-05-01"],
        )
    )

    names = build_topics(answer)

    assert names.people == ("Anna", "Bo Li")
    assert names.dates == ("2026-05-01",)


def test_who_speaks_under_a_name_is_among_the_people_and_the_owner_is_not():
    base = build_test_conversation("I can come.", "Fine.", "Hello?")
    ada, label, bea, *_ = base.transcript_segments
    spoken = replace(
        base,
        transcript_segments=(
            replace(ada, speaker="Ada", is_user=True),
            replace(label, speaker="SPEAKER_02", is_user=False),
            replace(bea, speaker="Bea", is_user=False),
        ),
    )

    topics = add_speakers(Topics(people=("Cem", "ada", "Bea")), spoken)

    assert topics.people == ("Bea", "Cem")


@given(
    title=st.text(),
    overview=st.text(),
    emoji=st.text(max_size=12),
    category=st.text(),
    descriptions=st.lists(st.text(), max_size=50),
    due=st.text() | st.datetimes().map(datetime.isoformat),
)
def test_every_valid_model_output_is_reduced_to_the_limits_p26(
    title, overview, emoji, category, descriptions, due
):
    items = [build_item(description, due) for description in descriptions]
    events = [build_event(title=description, start=due) for description in descriptions]

    result = build(
        title=title,
        overview=overview,
        emoji=emoji,
        category=category,
        action_items=items,
        events=events,
    )

    assert len(result.title.split()) <= 10
    assert result.category in CATEGORIES
    assert all(len(i.description.split()) <= 15 for i in result.action_items)
    assert all(i.due_at is None or i.due_at > START for i in result.action_items)
    assert all(e.start > START and e.duration <= 180 for e in result.events)


def test_what_copies_an_example_is_left_out_i3():
    name, food = EXAMPLES["example_name"], EXAMPLES["example_food"]

    result = build(
        title=f"{name}'s kayak",
        overview=f"{food} is dangerous.",
        action_items=[build_item(f"Bring {name}'s kayak"), build_item("Call Anna")],
        events=[build_event(title=f"Lunch with {name}")],
    )

    assert (result.title, result.overview, result.events) == ("", "", ())
    assert [item.description for item in result.action_items] == ["Call Anna"]


def test_no_secret_stands_in_overviews_and_names_i3():
    answer = {
        "overview": "Alex told the password plum42 and the card 4111 1111 1111 1111.",
        "people": ["Mara", "4111 1111 1111 1111"],
        "topics": ["the password is plum42", "gardens"],
        "entities": ["DE89 3704 0044 0532 0130 00"],
    }
    topics = build_topics(StructureOutput.model_validate(build_structure_output(**answer)))

    assert build(**answer).overview == "Alex told the password … and the card …."
    assert topics == Topics(people=("Mara",), topics=("the password is …", "gardens"))


def test_no_secret_stands_in_titles_tasks_and_events_i3():
    result = build(
        title="The password is plum42",
        action_items=[build_item("Change the bank password plum42")],
        events=[build_event(title="Card 4111 1111 1111 1111 expires")],
    )

    titles = [result.title, result.action_items[0].description, result.events[0].title]
    assert titles == ["The password is …", "Change the bank password …", "Card … expires"]

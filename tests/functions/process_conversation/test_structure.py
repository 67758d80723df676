"""P26: the limits of a structure hold whatever the model says."""

import math
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.process_conversation.answers import StructureAnswer
from functions.process_conversation.structure import read_time, structured, topics
from shared.domain.conversation import CATEGORIES
from tests.functions.process_conversation.world import START, structure, talk

BERLIN = ZoneInfo("Europe/Berlin")
NEXT_YEAR = "2027-01-05T10:00:00Z"


def kept(**changes):
    answer = StructureAnswer.model_validate(structure(**changes))
    return structured(answer, talk(), BERLIN)


def item(description, due_at=None):
    return {"description": description, "due_at": due_at}


def event(**changes):
    return {"title": "Demo", "start": NEXT_YEAR, "duration": 30, **changes}


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("NASA visit with Dr. McKay", "NASA visit with Dr. McKay"),
        ("one two three four five six seven eight nine ten, eleven", "one two three four five six seven eight nine ten"),
        ("  spaced \n out ", "spaced out"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_title_has_at_most_ten_words_and_keeps_its_letters_p26(said, title):
    assert kept(title=said).title == title


@pytest.mark.parametrize(
    ("said", "category"),
    [("work", "work"), (" Work ", "work"), ("jobs", "other"), ("", "other"), (None, "other"), (7, "other")],
)  # fmt: skip
def test_an_unknown_category_becomes_other_p26(said, category):
    assert kept(category=said).category == category


@pytest.mark.parametrize(
    ("said", "emoji"),
    [("🚀", "🚀"), ("👩‍🚀", "👩‍🚀"), ("🇩🇪", "🇩🇪"), ("", "🧠"), ("rocket", "🧠"), ("🚀" * 9, "🧠"), ("<b>", "🧠")],
)  # fmt: skip
def test_an_emoji_is_one_sign_p26(said, emoji):
    assert kept(emoji=said).emoji == emoji


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("2026-03-03T18:00:00+01:00", datetime(2026, 3, 3, 17, tzinfo=UTC)),
        ("2026-07-03T18:00:00", datetime(2026, 7, 3, 16, tzinfo=UTC)),
        ("2026-03-03T17:00:00Z", datetime(2026, 3, 3, 17, tzinfo=UTC)),
        ("2026-03-01T17:00:00Z", None),
        ("tomorrow", None),
        ("", None),
        (None, None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
    ],
)
def test_due_dates_are_utc_and_after_the_conversation_p26(said, due):
    (found,) = kept(action_items=[item("Call", said)]).action_items

    assert found.due_at == due


def test_tasks_are_cut_at_fifteen_words_and_named_once_p26():
    long = " ".join(f"w{n}" for n in range(20))

    found = kept(action_items=[item("Call Anna"), item("call anna!"), item(" "), item(long)])

    assert [i.description for i in found.action_items] == [
        "Call Anna",
        " ".join(f"w{n}" for n in range(15)),
    ]


@pytest.mark.parametrize(
    ("said", "minutes"),
    [({}, [30]), ({"duration": 500}, [180]), ({"duration": -3}, [1]), ({"duration": 45.4}, [45]),
     ({"start": "2026-03-02T08:59:00Z"}, []), ({"start": "soon"}, []), ({"title": " "}, [])],
)  # fmt: skip
def test_events_lie_ahead_and_last_at_most_three_hours_p26(said, minutes):
    assert [e.duration for e in kept(events=[event(**said)]).events] == minutes


@pytest.mark.parametrize("said", [math.nan, math.inf, None, "half an hour", [], 10**400])
def test_an_odd_duration_does_not_cost_the_whole_answer_p26(said):
    (found,) = kept(events=[event(duration=said)]).events

    assert found.duration == 30


def test_a_list_that_is_none_is_empty_p26():
    answer = StructureAnswer.model_validate({"title": "x", "overview": "y", "events": None})

    assert structured(answer, talk(), BERLIN).events == ()


def test_names_are_clean_and_named_once():
    answer = StructureAnswer.model_validate(
        structure(
            people=["Anna", "anna", "SPEAKER_01", "Speaker 2", "User", " ", "Bo  Li"],
            dates=["2026-05-01", "May", "2026-5-1", "2026-05-01"],
        )
    )

    found = topics(answer)

    assert found.people == ("anna", "Bo Li")
    assert found.dates == ("2026-05-01",)


@given(
    title=st.text(),
    overview=st.text(),
    emoji=st.text(max_size=12),
    category=st.text(),
    descriptions=st.lists(st.text(), max_size=50),
    due=st.text() | st.datetimes().map(datetime.isoformat),
)
def test_every_answer_that_fits_the_shape_comes_out_within_the_limits_p26(
    title, overview, emoji, category, descriptions, due
):
    items = [item(description, due) for description in descriptions]
    events = [event(title=description, start=due) for description in descriptions]

    found = kept(
        title=title,
        overview=overview,
        emoji=emoji,
        category=category,
        action_items=items,
        events=events,
    )

    assert len(found.title.split()) <= 10
    assert found.category in CATEGORIES
    assert all(len(i.description.split()) <= 15 for i in found.action_items)
    assert all(i.due_at is None or i.due_at > START for i in found.action_items)
    assert all(e.start > START and e.duration <= 180 for e in found.events)


def test_a_time_without_offset_is_meant_where_the_speaker_is():
    assert read_time("2026-03-02T10:00", BERLIN) == START
    assert read_time("2026-03-02", BERLIN) == START - timedelta(hours=10)

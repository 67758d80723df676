"""What the offline model asks for."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from shared.adapters.offline_planner import is_small_talk, plan, span
from shared.domain.model import ToolSpec

NOW = datetime(2026, 3, 4, 13, 30, tzinfo=ZoneInfo("Europe/Berlin"))  # a Wednesday
LIBRARY = [
    ToolSpec(name=name, description="Find conversations and memories", parameters={})
    for name in ("get_conversations", "search_conversations", "search_memories")
]


def _app_tool(**schema: object) -> ToolSpec:
    return ToolSpec(
        name="weather_forecast_a1b2c3",
        description="The weather forecast for a city (from the app Sky)",
        parameters={"type": "object", **schema},
    )


@pytest.mark.parametrize(
    ("question", "small"),
    [
        ("Hello!", True),
        ("hi there", True),
        ("Good morning Keepsake", True),
        ("Thank you", True),
        ("Who are you?", True),
        ("What can you do?", True),
        ("What did Anna say?", False),
        ("hello, what did Anna say about the garden?", False),
        ("What do I like?", False),
        ("yesterday", False),
    ],
)
def test_small_talk_is_told_from_questions_about_the_owners_life_p1(question, small):
    assert is_small_talk(question) is small


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("today", "2026-03-04", "2026-03-05"),
        ("yesterday", "2026-03-03", "2026-03-04"),
        ("3 days ago", "2026-03-01", "2026-03-02"),
        ("this week", "2026-03-02", "2026-03-09"),
        ("last week", "2026-02-23", "2026-03-02"),
        ("this month", "2026-03-01", "2026-04-01"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("on Monday", "2026-03-02", "2026-03-03"),
        ("on Wednesday", "2026-02-25", "2026-02-26"),
        ("on 2026-01-15", "2026-01-15", "2026-01-16"),
    ],
)
def test_a_time_in_words_becomes_a_stretch_in_the_owners_zone_p4(words, start, end):
    found = span(f"What did I do {words}?", NOW)

    assert found is not None
    assert [each.isoformat()[:10] for each in found] == [start, end]
    assert all(each.hour == 0 and each.utcoffset() for each in found)


@pytest.mark.parametrize("question", ["What did I do?", "on 2026-13-45", "since Monday's child"])
def test_no_time_in_the_question_is_no_stretch(question):
    assert span(question, NOW) is None


def test_a_topic_is_searched_in_conversations_and_memories():
    asked = plan("What did Anna say about the budget?", NOW, LIBRARY)

    assert asked == [
        ("search_conversations", {"query": "What did Anna say about the budget?"}),
        ("search_memories", {"query": "What did Anna say about the budget?"}),
    ]


def test_a_bare_day_lists_its_conversations_with_offsets():
    asked = plan("What did I do yesterday?", NOW, LIBRARY)

    day = {"start_date": "2026-03-03T00:00:00+01:00", "end_date": "2026-03-04T00:00:00+01:00"}
    assert asked == [("get_conversations", {**day, "limit": 10})]
    assert json.dumps(asked)


def test_a_topic_of_a_day_is_searched_within_it():
    asked = dict(plan("What did Anna decide yesterday?", NOW, LIBRARY))

    assert asked["search_conversations"]["start_date"] == "2026-03-03T00:00:00+01:00"
    assert "get_conversations" in asked


def test_only_offered_tools_are_asked_for():
    assert plan("What did Anna say?", NOW, []) == []


def test_an_app_whose_description_fits_is_asked_instead_p9():
    tool = _app_tool(properties={"city": {"type": "string"}}, required=["city"])

    asked = plan("What is the weather forecast for Bergen?", NOW, [*LIBRARY, tool])

    assert asked == [(tool.name, {"city": "What is the weather forecast for Bergen?"})]


@pytest.mark.parametrize(
    ("schema", "question"),
    [
        ({}, "What did Anna say about the weather?"),
        ({"properties": {"days": {"type": "integer"}}, "required": ["days"]}, "weather forecast?"),
        ({"required": ["city", "day"]}, "What is the weather forecast?"),
    ],
)
def test_an_app_that_does_not_fit_or_wants_more_is_left_alone(schema, question):
    asked = plan(question, NOW, [*LIBRARY, _app_tool(**schema)])

    assert all(name != "weather_forecast_a1b2c3" for name, _ in asked)

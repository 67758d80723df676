"""Arguments of tools: what counts as absent, and what a model reads of a wrong call (W43)."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from shared.arguments import Arguments, Date, parse_arguments
from shared.domain.errors import ToolRefused
from shared.integrations.google_calendar import UpdateCalendarEvent
from shared.models.absent_arguments import drop_absent


class Item(Arguments):
    name: str
    count: int = 1
    note: str | None = None


class Find(Arguments):
    """Find something."""

    query: str
    start_date: Date = None
    limit: Annotated[int, Field(ge=1)] = 5
    topics: list[str] = Field(default=[])
    items: list[Item] = Field(default=[])


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ({"query": "a", "start_date": "", "limit": None}, {"query": "a"}),
        ({"query": "", "limit": ""}, {"query": ""}),
        ({"query": None, "topics": ""}, {"query": None}),
        ({"query": "a", "topics": None, "limit": 0}, {"query": "a", "limit": 0}),
        ({"query": "a", "other": None}, {"query": "a"}),
        ({"query": "a", "other": "b"}, {"query": "a", "other": "b"}),
        (
            {"query": "a", "items": [{"name": "", "count": None, "note": ""}]},
            {"query": "a", "items": [{"name": ""}]},
        ),
    ],
)
def test_arguments_that_say_nothing_are_absent(
    arguments: dict[str, Any], given: dict[str, Any]
) -> None:
    assert drop_absent(arguments, Find.model_json_schema()) == given


@pytest.mark.parametrize("declared", [
    {"type": "string", "minLength": 0},
    {"type": "string", "enum": ["", "a"]},
    {"anyOf": [{"type": "string", "minLength": 0}, {"type": "null"}]},
])  # fmt: skip
def test_an_empty_text_that_is_named_is_given(declared: dict[str, Any]) -> None:
    assert drop_absent({"a": ""}, {"properties": {"a": declared}}) == {"a": ""}


@pytest.mark.parametrize("declared", [
    {"type": ["string", "null"]},
    {"type": "string", "nullable": True},
    {"enum": ["a", None]},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
])  # fmt: skip
def test_null_is_given_where_it_is_declared(declared: dict[str, Any]) -> None:
    assert drop_absent({"a": None}, {"properties": {"a": declared}}) == {"a": None}


def test_maps_and_what_is_not_described_stay_as_they_are() -> None:
    declared = {
        "properties": {"map": {"additionalProperties": {"type": "string"}}, "any": {}, "list": {}}
    }
    arguments = {"map": {"a": "", "b": None}, "any": {"a": None}, "list": [None, ""]}

    assert drop_absent(arguments, declared) == arguments


def test_a_call_with_empty_optional_arguments_is_one_without_them() -> None:
    parsed = parse_arguments("find", Find, {"query": "a", "start_date": "", "limit": None})

    assert parsed == Find(query="a")


def test_an_empty_text_still_clears_what_an_event_says() -> None:
    arguments = {"event_id": "e", "event_title": "", "description": "", "start_time": ""}

    changes = parse_arguments("update", UpdateCalendarEvent, arguments)

    assert changes.model_dump(exclude_unset=True) == {"event_id": "e", "description": ""}


def test_a_wrong_time_is_corrected_without_a_time_to_copy() -> None:
    with pytest.raises(ToolRefused) as refusal:
        parse_arguments("find", Find, {"query": "a", "start_date": "2026-01-01T00:00:00"})

    assert str(refusal.value) == (
        "find was called wrongly."
        " start_date must include timezone and be ISO 8601 with date, time and offset from UTC."
    )

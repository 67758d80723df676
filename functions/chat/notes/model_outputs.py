"""Model outputs after a turn: notes, in which every malformed field has a default and spoils no other, and summaries."""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from shared.domain.chats.chat_notes import Category, TopicShift

MAX_HARM = 10.0
_MAX_ITEMS = 50
SettingName = Literal["name", "language", "time_zone", "interests", "learning_style"]
Operation = Literal["add", "update", "delete"]


def _take_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _take_texts(value: object) -> list[str]:
    return [text for text in _take_list(value) if isinstance(text, str)]


def _take_objects(value: object) -> list[dict[str, Any]]:
    return [item for item in _take_list(value) if isinstance(item, dict)]


def _take_list(value: object) -> list[Any]:
    return list(value)[:_MAX_ITEMS] if isinstance(value, list | tuple) else []


def _take_one_of(kind: Any, default: str | None) -> Callable[[object], object]:
    return lambda value: value if isinstance(value, str) and value in get_args(kind) else default


def _take_harm(value: object) -> float:
    """Return 0 to 10; 0 for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return 0.0
    return min(max(float(value), 0.0), MAX_HARM)


Text = Annotated[str, BeforeValidator(_take_text)]
Texts = Annotated[Sequence[str], BeforeValidator(_take_texts)]


class OutputModel(BaseModel):
    """Base of the schemas; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class MemorySuggestion(OutputModel):
    """A memory to add, update or delete, proved by the owner's words; `about` says which one it is."""

    operation: Annotated[Operation, BeforeValidator(_take_one_of(Operation, "add"))] = "add"
    fact: Text = ""
    about: Text = ""
    quote: Text = ""


class SettingSuggestion(OutputModel):
    """A setting that the owner's words ask for."""

    setting: Annotated[SettingName | None, BeforeValidator(_take_one_of(SettingName, None))] = None
    value: Text = ""
    quote: Text = ""


class NotesOutput(OutputModel):
    """What a model notes about an answer, and about its chat so far."""

    language: Text = ""
    topic_shift: Annotated[TopicShift, BeforeValidator(_take_one_of(TopicShift, "unclear"))] = (
        "unclear"
    )
    category: Annotated[Category, BeforeValidator(_take_one_of(Category, "general"))] = "general"
    needs_project_overview: Annotated[bool, BeforeValidator(lambda value: value is True)] = False
    summary: Text = ""
    tags: Texts = ()
    follow_up_language: Text = ""
    follow_ups: Texts = ()
    next_steps: Texts = ()
    new_chat_language: Text = ""
    new_chats: Texts = ()
    memory_suggestions: Annotated[Sequence[MemorySuggestion], BeforeValidator(_take_objects)] = ()
    setting_suggestions: Annotated[Sequence[SettingSuggestion], BeforeValidator(_take_objects)] = ()
    new_categories: Texts = ()
    harmful_response: Annotated[float, BeforeValidator(_take_harm)] = 0.0


class FirstNotesOutput(NotesOutput):
    """What is noted of a chat that has no title yet."""

    title: Text = ""
    icons: Texts = ()


class SummaryOutput(OutputModel):
    """Summary that replaces the older messages of a chat."""

    summary: str


class ResultSummary(OutputModel):
    """What one call found."""

    number: int
    summary: str


class ResultSummariesOutput(OutputModel):
    """Summaries that replace the results of an answer's calls, by the numbers of the calls."""

    results: list[ResultSummary]

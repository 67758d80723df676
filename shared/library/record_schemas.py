"""Schemas of what somebody hands in beside conversations: memories, people and tasks."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from shared.domain.memories.memory import MemoryCategory
from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    ClientId,
    Label,
    Time,
)

MAX_MEMORY_CHARS = 1_000
Content = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MEMORY_CHARS)
]
Visibility = Literal["private", "public"]
LEGACY_CATEGORIES = frozenset(
    {
        "core", "hobbies", "lifestyle", "interests", "habits", "work", "skills", "learnings",
        "other", "auto",
    }
)  # fmt: skip
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=20)]
MAX_TASK_CHARS = 500
ROUTE_NAMES = frozenset(
    {"batch", "search", "share", "shared", "accept", "pending-sync", "sync-batch"}
)
"""No ids of tasks: routes stand at these paths."""


def _refuse_route_name(name: str) -> str:
    if name in ROUTE_NAMES:
        raise ValueError("another name is needed: this one is kept for a list")
    return name


Description = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TASK_CHARS)
]
NewTaskId = Annotated[ClientId, AfterValidator(_refuse_route_name)]


def parse_category(name: object) -> object:
    """Read the names of older clients as system, as released apps show them."""
    if name is None or name == "":
        return "manual"
    return "system" if isinstance(name, str) and name in LEGACY_CATEGORIES else name


class MemoryIn(Wire):
    """A fact in the owner's own words. The same id with the same content may be sent again."""

    id: ClientId | None = None
    content: Content
    visibility: Visibility = "private"
    category: Annotated[MemoryCategory, BeforeValidator(parse_category)] = "manual"
    tags: Tags = ()


class PersonIn(Wire):
    """Somebody the owner knows; `role` is what they are to the owner, such as "my sister"."""

    id: ClientId | None = None
    name: Annotated[Label, StringConstraints(strip_whitespace=True, min_length=1)]
    role: Annotated[Label, StringConstraints(strip_whitespace=True)] = ""


class ActionItemIn(Wire):
    """Something to do. The same id with the same description may be sent again."""

    id: NewTaskId | None = None
    description: Description
    completed: bool = False
    due_at: Time | None = None
    conversation_id: ClientId | None = None

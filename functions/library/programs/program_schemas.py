"""Schemas of what programs with a key read of a library; all times in UTC."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from functions.library.date_filters import FirstLocalMoment, LastLocalMoment
from shared.domain.conversations.conversation import CATEGORIES, Conversation
from shared.domain.errors import Invalid
from shared.domain.memories.memory import MemoryCategory
from shared.domain.tasks.action_item import TaskOwner
from shared.edge.declare.schemas import Wire
from shared.edge.declare.validation_sentences import format_validation_error
from shared.library.conversation_schemas import Utc
from shared.library.record_schemas import LEGACY_CATEGORIES, parse_category

W = TypeVar("W", bound=Wire)
MAX_CATEGORIES = 50
MAX_OFFSET = 5_000
"""Skipped items are read, so their number is bounded."""
_MEMORY_CATEGORIES = frozenset(get_args(MemoryCategory)) | LEGACY_CATEGORIES


def _split(text: Any) -> Any:
    """Read one text as a list, split at its commas."""
    return (
        [part.strip() for part in text.split(",") if part.strip()]
        if isinstance(text, str)
        else text
    )


def _check_memory_category(name: str) -> str:
    if name not in _MEMORY_CATEGORIES:
        raise ValueError(f"must be one of {', '.join(sorted(_MEMORY_CATEGORIES))}")
    return str(parse_category(name))


def _check_conversation_category(name: str) -> str:
    if name not in CATEGORIES:
        raise ValueError(f"must be one of {', '.join(CATEGORIES)}")
    return name


MemoryCategories = Annotated[
    tuple[Annotated[str, AfterValidator(_check_memory_category)], ...],
    BeforeValidator(_split),
    Field(max_length=MAX_CATEGORIES),
]
"""Names of older clients stand for the category that such memories are stored under."""
ConversationCategories = Annotated[
    tuple[Annotated[str, AfterValidator(_check_conversation_category)], ...],
    BeforeValidator(_split),
    Field(max_length=MAX_CATEGORIES),
]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET)]


class MemoriesFilter(Wire):
    """Memories, newest first."""

    categories: MemoryCategories = ()
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Offset = 0


class ConversationsFilter(Wire):
    """Conversations by when they were created, newest first; a day is meant as a whole, by the owner's clock."""

    start_date: FirstLocalMoment = None
    end_date: LastLocalMoment = None
    categories: ConversationCategories = ()
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    offset: Offset = 0


CategoryNames = Annotated[str, Field(max_length=1_000)]
"""Names separated by commas."""


class MemoriesQuery(Wire):
    """A MemoriesFilter as a program sends it."""

    categories: CategoryNames = ""
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Offset = 0

    def to_filter(self) -> MemoriesFilter:
        """Raises Invalid for a category that does not exist."""
        return _validate(MemoriesFilter, dict(self))


class ConversationsQuery(Wire):
    """A ConversationsFilter as a program sends it."""

    start_date: FirstLocalMoment = None
    end_date: LastLocalMoment = None
    categories: CategoryNames = ""
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    offset: Offset = 0

    def to_filter(self) -> ConversationsFilter:
        """Raises Invalid for a category that does not exist."""
        return _validate(ConversationsFilter, dict(self))


def _validate(kind: type[W], fields: Mapping[str, Any]) -> W:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise Invalid(format_validation_error(error)) from error


class ProgramMemoryOut(Wire):
    """A memory as programs read it."""

    id: str
    content: str
    category: str
    visibility: Literal["private", "public"]
    tags: tuple[str, ...]
    created_at: Utc
    updated_at: Utc
    manually_added: bool
    reviewed: bool
    edited: bool


class ShortMemoryOut(Wire):
    """A memory in a list for a model, which pays for each word."""

    id: str
    content: str
    category: str


class ProgramTaskOut(Wire):
    """An action item as programs read it: what it says, without its place on a phone."""

    id: str
    description: str
    completed: bool
    created_at: Utc
    updated_at: Utc
    due_at: Utc | None
    completed_at: Utc | None
    conversation_id: str | None
    owner: TaskOwner
    owner_name: str | None


class TopicOut(Wire):
    title: str
    overview: str
    category: str


class ShortConversationOut(Wire):
    """A conversation in a list for a model."""

    id: str
    started_at: Utc
    finished_at: Utc
    structured: TopicOut
    language: str


class SpokenOut(Wire):
    """A piece of speech; `speaker_name` is null where nobody said who it is."""

    id: str
    text: str
    speaker_id: int
    speaker_name: str | None
    start: float
    end: float


class WholeConversationOut(ShortConversationOut):
    transcript_segments: list[SpokenOut]

    @classmethod
    def of(cls, conversation: Conversation) -> Self:
        fields: Mapping[str, Any] = dict(ShortConversationOut.model_validate(conversation))
        segments = [SpokenOut.model_validate(s) for s in conversation.labelled_segments]
        return cls(**fields, transcript_segments=segments)

"""Model outputs: the schemas of the answers that processing asks the model for.

They are lenient: one odd value never costs the whole answer.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from shared.domain.conversations.conversation import CATEGORIES
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import MemoryCategory
from shared.library.exclusive_facts import ExclusiveKey, build_exclusive_key
from shared.library.write_policy import StatementKind, WriteTiming, decide_timing

T = TypeVar("T")
ExtractedKind = Literal[StatementKind, "learned"]
"""How words were meant; `learned` is worth passing on, from whomever, and no fact about the owner."""
DEFAULT_EVENT_MINUTES = 30.0
MAX_LISTED = 50
"""What is read of each list; no prompt asks for so much. A model in a loop does not stop by itself."""
NOWHERE = -1
"""The segment of a proof for which none is named: it may stand anywhere."""
_MAX_LEVELS = 4
"""How deep in an answer its parts are looked for."""


def _normalise_category(category: object) -> str:
    name = str(category).strip().lower()
    return name if name in CATEGORIES else "other"


def _parse_minutes(value: object) -> float:
    """Read a duration; the default stands for what is no finite number."""
    try:
        minutes = float(value)  # type: ignore[arg-type]  # a ValueError or TypeError is handled
    except (TypeError, ValueError, OverflowError):
        return DEFAULT_EVENT_MINUTES
    return minutes if math.isfinite(minutes) else DEFAULT_EVENT_MINUTES


def _parse_kind(value: object) -> object:
    """Take an unknown kind for a guess, which is dropped."""
    kind = re.sub(r"[\s-]+", "_", str(value).strip().lower())
    return kind if kind in get_args(ExtractedKind) else "guess"


def _parse_number(value: object) -> object:
    """Read 3, "3" or "segment 3"; None for what names no number."""
    found = re.search(r"-?\d{1,9}", str(value)) if isinstance(value, int | float | str) else None
    return int(found[0]) if found and not isinstance(value, bool) else None


def _parse_segment(value: object) -> object:
    number = _parse_number(value)
    return NOWHERE if number is None else number


def _parse_text(value: object) -> object:
    return value if isinstance(value, str) else ""


def _parse_told(value: object) -> object:
    return value if isinstance(value, str) else None


def _parse_exclusive_key(value: object) -> object:
    """Read "home" or "favourite tea" into its stored form; None for any other text."""
    name, _, favourite = " ".join(str(value or "").lower().split()).partition(" ")
    keys: tuple[ExclusiveKey, ...] = get_args(ExclusiveKey)
    return next((build_exclusive_key(key, favourite) for key in keys if key == name), None)


def _parse_owner(value: object) -> object:
    return value if isinstance(value, str) else "unknown"


def _find_id(number: int | None, shown_ids: Sequence[MemoryId]) -> MemoryId | None:
    """Return the memory that the model was shown under a number; None for any other."""
    if number is None or not 0 <= number < len(shown_ids):
        return None
    return shown_ids[number]


def _to_list(value: object) -> object:
    return _cut(value) if isinstance(value, list) else []


def _leave_out_items(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Read a list; a malformed item does not cost the others."""
    try:
        return read(value)
    except ValidationError as error:
        malformed = {problem["loc"][0] for problem in error.errors()}
        items = value if isinstance(value, list) else []
        return read([item for place, item in enumerate(items) if place not in malformed])


def _read_facts(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Read facts, also one alone; a malformed one does not cost the others, and only malformed ones are none."""
    facts = [value] if isinstance(value, dict) else value
    if not isinstance(facts, list):
        return None
    objects = [fact for fact in facts if isinstance(fact, dict)]
    if facts and not objects:
        return None
    try:
        return read(objects[:MAX_LISTED])
    except ValidationError:
        return None


def _list_objects(value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object and those that it has as fields, the outer ones first."""
    level = [dict(value)]
    for _ in range(_MAX_LEVELS):
        yield from level
        level = [part for each in level for part in each.values() if isinstance(part, dict)]


def _cut(value: object) -> object:
    return value[:MAX_LISTED] if isinstance(value, list) else value


Category = Annotated[
    str, BeforeValidator(_normalise_category), Field(json_schema_extra={"enum": list(CATEGORIES)})
]
Listed = Annotated[Sequence[T], BeforeValidator(_to_list), WrapValidator(_leave_out_items)]
Names = Listed[str]
Told = Annotated[str | SkipJsonSchema[None], BeforeValidator(_parse_told)]


class ProcessingOutput(BaseModel):
    """The base of every answer; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @property
    def is_complete(self) -> bool:
        """Tell whether nothing of it is missing."""
        return True

    @property
    def can_serve(self) -> bool:
        """Tell whether it is of use without what another answer did not bring either."""
        return self.is_complete

    def add(self, earlier: Self) -> Self:
        """Add the parts that an earlier answer had; most come whole or not at all."""
        return self if self.is_complete else earlier


class DiscardOutput(ProcessingOutput):
    """Whether the recording holds nothing worth keeping."""

    discard: bool


class SentenceOutput(ProcessingOutput):
    """A sentence in fewer words, by its number."""

    number: int
    words: str


class ShorterOutput(ProcessingOutput):
    """Sentences in fewer words."""

    sentences: Listed[SentenceOutput] = ()


class RepeatOutput(ProcessingOutput):
    """A task, by its number, that says what an earlier one says."""

    number: int
    repeats: int


class WholeOutput(ProcessingOutput):
    """Title and overview of a conversation that was read in parts, and which of their tasks are the same."""

    title: str
    overview: str
    same_tasks: Listed[RepeatOutput] = ()


class TemplateOutput(ProcessingOutput):
    """The summary that a template asks for."""

    summary: str


class AppDescriptionOutput(ProcessingOutput):
    """What others read of an app."""

    description: str


class ActionItemOutput(ProcessingOutput):
    """Something to do; `owner` is `me`, the name of whoever has to do it, or `unknown`.

    `due_at` is a wall clock or a day ("2026-11-30 18:00"), or null.
    """

    description: str
    owner: Annotated[str, BeforeValidator(_parse_owner)] = "me"
    due_at: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _take_words_alone(cls, value: object) -> object:
        return {"description": value, "owner": "unknown"} if isinstance(value, str) else value


class EventOutput(ProcessingOutput):
    """Something that will take place; `start` is a wall clock, `duration` in minutes."""

    title: str
    start: str
    duration: Annotated[float, BeforeValidator(_parse_minutes)] = DEFAULT_EVENT_MINUTES


class StructureOutput(ProcessingOutput):
    """Title, overview, tasks, events and names of one transcript, or of one block of it.

    A title or an overview that is missing or no text does not cost the rest.
    """

    title: Told
    overview: Told
    emoji: str = ""
    category: Category = "other"
    action_items: Listed[ActionItemOutput] = ()
    events: Listed[EventOutput] = ()
    people: Names = ()
    topics: Names = ()
    entities: Names = ()
    dates: Names = ()

    @model_validator(mode="before")
    @classmethod
    def _take_without_words(cls, value: object) -> object:
        """Read one that was cut before its end."""
        return {"title": None, "overview": None, **value} if isinstance(value, dict) else value


class MemoryOutput(ProcessingOutput):
    """A fact behind its proof: `evidence` is quoted from segment number `segment`.

    `kind` says how those words were meant. Of facts about the owner with the same `exclusive_key` only one
    can be true. `replaces` is the number of the existing memory that the fact makes untrue, `repeats` that
    of one that says the same in other words, or null.
    """

    segment: Annotated[int, BeforeValidator(_parse_segment)] = NOWHERE
    evidence: Annotated[str, BeforeValidator(_parse_text)] = ""
    kind: Annotated[ExtractedKind, BeforeValidator(_parse_kind)] = "guess"
    content: Annotated[str, BeforeValidator(_parse_text)] = ""
    exclusive_key: Annotated[str | None, BeforeValidator(_parse_exclusive_key)] = None
    replaces: Annotated[int | None, BeforeValidator(_parse_number)] = None
    repeats: Annotated[int | None, BeforeValidator(_parse_number)] = None
    replaced_id: SkipJsonSchema[MemoryId | None] = None
    repeated_id: SkipJsonSchema[MemoryId | None] = None

    @property
    def category(self) -> MemoryCategory:
        return "interesting" if self.kind == "learned" else "system"

    @property
    def timing(self) -> WriteTiming:
        return "now" if self.kind == "learned" else decide_timing("now", self.kind)

    @property
    def stored_key(self) -> str | None:
        """The exclusive key as memories store it; only facts about the owner have one."""
        return self.exclusive_key if self.category == "system" else None

    def identify(self, shown_ids: Sequence[MemoryId]) -> Self:
        """Note which memories its numbers stand for; later they may be others."""
        return self.model_copy(
            update={
                "replaced_id": _find_id(self.replaces, shown_ids),
                "repeated_id": _find_id(self.repeats, shown_ids),
            }
        )


def _leave_out_malformed(value: object, read: ValidatorFunctionWrapHandler) -> object:
    """Read a part of an answer; a malformed one does not cost the other part."""
    try:
        return read(value)
    except ValidationError:
        return None


class ExtractionOutput(ProcessingOutput):
    """A transcript as a structure, and at most two facts of each category; mostly none.

    A part that came malformed is None; with both malformed there is no answer. One that `is_repaired` was
    asked for twice.
    """

    structure: Annotated[
        StructureOutput | SkipJsonSchema[None], WrapValidator(_leave_out_malformed)
    ] = None
    memories: Annotated[
        Sequence[MemoryOutput] | SkipJsonSchema[None],
        WrapValidator(_read_facts),
    ] = None

    is_repaired: SkipJsonSchema[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _take_parts_anywhere(cls, value: object) -> object:
        """Read parts that came bare, one within the other, or with a name of the model's around them."""
        if not isinstance(value, dict):
            return value
        objects = [*_list_objects(value)]
        named = value.get("structure")
        records = [each for each in (named, *objects) if isinstance(each, dict)]
        structure = next((each for each in records if {"title", "overview"} & {*each}), named)
        facts = next((each["memories"] for each in objects if "memories" in each), None)
        return {**value, "structure": structure, "memories": facts}

    @model_validator(mode="after")
    def _require_any_part(self) -> Self:
        if self.structure is None and self.memories is None:
            raise ValueError("no part of the answer can be read")
        return self

    @property
    def is_described(self) -> bool:
        return self.structure is not None and None not in (
            self.structure.title,
            self.structure.overview,
        )

    @property
    def is_complete(self) -> bool:
        return self.is_described and self.memories is not None

    @property
    def can_serve(self) -> bool:
        return self.structure is not None

    def add(self, earlier: Self) -> Self:
        """Return this one with what it lacks; of the earlier one, any part may have been cut."""
        keeps_earlier = self.structure is None or (earlier.is_described and not self.is_described)
        return self.model_copy(
            update={
                "is_repaired": True,
                "structure": earlier.structure if keeps_earlier else self.structure,
                "memories": earlier.memories if self.memories is None else self.memories,
            }
        )

    def identify(self, shown_ids: Sequence[MemoryId]) -> Self:
        """Note which memories its numbers stand for: the model was shown these in this order."""
        if self.memories is None:
            return self
        return self.model_copy(
            update={"memories": [memory.identify(shown_ids) for memory in self.memories]}
        )

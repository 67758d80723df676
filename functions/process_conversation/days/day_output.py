"""Output of a daily summary: the schema of the model's answer, and the summary made from it.

The model names conversations and tasks by their number; what it names wrongly is left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from functions.process_conversation.days.day_material import DayMaterial
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.daily_summary import (
    DailySummary,
    DayNote,
    DayPlace,
    DayStats,
    DayTask,
    Highlight,
    Priority,
)
from shared.domain.ids import ConversationId
from shared.domain.words import truncate_words
from shared.security.link_filter import filter_links
from shared.security.private_data import hide_secrets
from shared.security.visible_text import strip_invisible

MAX_HEADLINE_WORDS = 12
MAX_TEXT_CHARS = 2_000
MAX_NOTE_CHARS = 500
MAX_EMOJI_CHARS = 8
MAX_LIST_LENGTH = 10
MAX_TASKS = 30
"""A recap names so many; all of them stand on the tasks page."""
DEFAULT_EMOJI = "🗓️"


def _keep_valid(value: object) -> object:
    """Keep the members of a list that are objects; anything else is an empty list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _keep_numbers(value: object) -> object:
    return [n for n in value if _is_number(n)] if isinstance(value, list) else []


def _to_number(value: object) -> object:
    return value if _is_number(value) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _to_text(value: object) -> object:
    return value if isinstance(value, str) else ""


def _to_priority(value: object) -> object:
    return value if value in get_args(Priority) else "medium"


Text = Annotated[str, BeforeValidator(_to_text)]
Number = Annotated[int | None, BeforeValidator(_to_number)]
Numbers = Annotated[Sequence[int], BeforeValidator(_keep_numbers)]


class DayOutputPart(BaseModel):
    """Base of the schemas: one odd value never costs the whole answer."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class HighlightOutput(DayOutputPart):
    topic: Text = ""
    emoji: Text = ""
    summary: Text = ""
    conversations: Numbers = ()


class DayTaskOutput(DayOutputPart):
    """A task by its number."""

    task: Number = None
    priority: Annotated[Literal["high", "medium", "low"], BeforeValidator(_to_priority)] = "medium"


class NoteOutput(DayOutputPart):
    """A sentence, and the number of the conversation that it rests on."""

    text: Text = ""
    conversation: Number = None


Notes = Annotated[Sequence[NoteOutput], BeforeValidator(_keep_valid)]


class DayOutput(DayOutputPart):
    """The recap of a day; `decisions` and `numbers` are lines by their number."""

    headline: Text = ""
    overview: Text = ""
    day_emoji: Text = ""
    highlights: Annotated[Sequence[HighlightOutput], BeforeValidator(_keep_valid)] = ()
    tasks: Annotated[Sequence[DayTaskOutput], BeforeValidator(_keep_valid)] = ()
    unresolved_questions: Notes = ()
    decisions: Numbers = ()
    numbers: Numbers = ()
    insights: Notes = ()


def build_summary(
    output: DayOutput, material: DayMaterial, *, now: datetime, is_scheduled: bool
) -> DailySummary:
    """Build the summary of a day from the model's answer and what is stored of that day."""
    return DailySummary(
        id=material.day.isoformat(),
        created_at=now,
        headline=truncate_words(_clean(output.headline, MAX_NOTE_CHARS), MAX_HEADLINE_WORDS)
        or _build_headline(material),
        overview=_clean(output.overview, MAX_TEXT_CHARS) or _build_overview(material),
        day_emoji=_clean_emoji(output.day_emoji) or DEFAULT_EMOJI,
        stats=_build_stats(material),
        highlights=_build_highlights(output.highlights, material),
        tasks=_build_tasks(output.tasks, material),
        unresolved_questions=_build_notes(output.unresolved_questions, material),
        decisions=_quote_lines(output.decisions, material, is_decided=True),
        numbers=_quote_lines(output.numbers, material, is_decided=False),
        insights=_build_notes(output.insights, material),
        places=tuple(_list_places(material.conversations)),
        is_scheduled=is_scheduled,
    )


def build_plain_output(material: DayMaterial) -> DayOutput:
    """Answer without a model, from titles, overviews and lines: the day is not lost because it failed."""
    lines = [*range(len(material.lines))]
    talks = enumerate(conversation.structured for conversation in material.conversations)
    return DayOutput.model_validate(
        {
            "headline": _build_headline(material),
            "overview": _build_overview(material),
            "highlights": [
                {"topic": talk.title, "summary": talk.overview, "conversations": [n]}
                for n, talk in talks
            ],
            "tasks": [{"task": n} for n in range(len(material.tasks))],
            "decisions": lines,
            "numbers": lines,
            "insights": [{"text": memory.content} for memory in material.memories],
        }
    )


def _build_headline(material: DayMaterial) -> str:
    longest = max(material.conversations, key=lambda c: c.finished_at - c.started_at)
    count = len(material.conversations)
    noun = "conversation" if count == 1 else "conversations"
    return longest.structured.title or f"{count} {noun}"


def _build_overview(material: DayMaterial) -> str:
    titles = [c.structured.title for c in material.conversations if c.structured.title]
    return f"You talked about: {'; '.join(titles)}."[:MAX_TEXT_CHARS] if titles else "A quiet day."


def _build_stats(material: DayMaterial) -> DayStats:
    seconds = sum((c.finished_at - c.started_at).total_seconds() for c in material.conversations)
    return DayStats(
        total_conversations=len(material.conversations),
        total_duration_minutes=round(seconds / 60),
        action_items_count=len(material.tasks),
    )


def _build_highlights(
    outputs: Sequence[HighlightOutput], material: DayMaterial
) -> tuple[Highlight, ...]:
    highlights = [
        Highlight(
            topic=_clean(output.topic, MAX_NOTE_CHARS),
            summary=_clean(output.summary, MAX_NOTE_CHARS),
            emoji=_clean_emoji(output.emoji),
            conversation_ids=tuple(
                dict.fromkeys(filter(None, (_find_id(n, material) for n in output.conversations)))
            ),
        )
        for output in outputs[:MAX_LIST_LENGTH]
    ]
    return tuple(h for h in highlights if h.topic and h.summary)


def _build_tasks(outputs: Sequence[DayTaskOutput], material: DayMaterial) -> tuple[DayTask, ...]:
    """Return the tasks that the model named, in its order, each once and in their own words."""
    priorities: dict[int, Priority] = {}
    for output in outputs:
        if output.task is not None and 0 <= output.task < len(material.tasks):
            priorities.setdefault(output.task, output.priority)
    return tuple(
        DayTask(
            description=material.tasks[n].description,
            priority=priority,
            source_conversation_id=material.tasks[n].conversation_id,
            completed=material.tasks[n].completed,
            segment=material.task_segments[n] if material.task_segments else None,
        )
        for n, priority in priorities.items()
    )[:MAX_TASKS]


def _quote_lines(
    numbers: Sequence[int], material: DayMaterial, *, is_decided: bool
) -> tuple[DayNote, ...]:
    """Quote the lines that the model named, each once; one of another kind proves nothing."""
    named = [material.lines[n] for n in dict.fromkeys(numbers) if 0 <= n < len(material.lines)]
    proofs = [line for line in named if (line.kind == "decision") == is_decided]
    return tuple(
        DayNote(
            text=_clean(line.quote, MAX_NOTE_CHARS),
            conversation_id=line.conversation_id,
            segment=line.segment,
        )
        for line in proofs[:MAX_LIST_LENGTH]
    )


def _build_notes(outputs: Sequence[NoteOutput], material: DayMaterial) -> tuple[DayNote, ...]:
    notes = [
        DayNote(
            text=_clean(output.text, MAX_NOTE_CHARS),
            conversation_id=_find_id(output.conversation, material),
        )
        for output in outputs[:MAX_LIST_LENGTH]
    ]
    return tuple(note for note in notes if note.text)


def _list_places(conversations: Sequence[Conversation]) -> Iterator[DayPlace]:
    for conversation in conversations:
        place = conversation.geolocation
        if place is not None and place.latitude is not None and place.longitude is not None:
            yield DayPlace(
                latitude=place.latitude,
                longitude=place.longitude,
                address=place.address,
                conversation_id=conversation.id,
                time=conversation.started_at,
            )


def _find_id(number: int | None, material: DayMaterial) -> ConversationId | None:
    if number is None or not 0 <= number < len(material.conversations):
        return None
    return material.conversations[number].id


def _clean(text: str, max_chars: int) -> str:
    return hide_secrets(filter_links(strip_invisible(text))).strip()[:max_chars]


def _clean_emoji(text: str) -> str:
    sign = strip_invisible(text).strip()
    return sign if len(sign) <= MAX_EMOJI_CHARS else ""

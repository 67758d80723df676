"""What of a model's structure is kept: the limits hold whatever it says."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

from functions.process_conversation.answers import (
    ActionItemAnswer,
    EventAnswer,
    StructureAnswer,
)
from shared.domain.conversation import Conversation, Event, ExtractedItem, Structured, Topics
from shared.domain.words import count_words, first_words, normalise

T = TypeVar("T")
KEPT_WITHOUT_ASKING_WORDS = 100
TITLE_WORDS = 10
ITEM_WORDS = 15
EVENT_MINUTES = 180
OVERVIEW_CHARS = 4_000
NAME_CHARS = 120
LIST_LENGTH = 30
DEFAULT_EMOJI = "🧠"


def word_count(conversation: Conversation) -> int:
    return sum(count_words(segment.text) for segment in conversation.transcript_segments)


def structured(answer: StructureAnswer, conversation: Conversation, zone: ZoneInfo) -> Structured:
    """Fit an answer to the limits; `zone` is where times without an offset were meant."""
    return Structured(
        title=first_words(answer.title, TITLE_WORDS)[:NAME_CHARS],
        overview=answer.overview.strip()[:OVERVIEW_CHARS],
        emoji=_emoji(answer.emoji),
        category=answer.category,
        action_items=tuple(_items(answer.action_items, conversation, zone))[:LIST_LENGTH],
        events=tuple(_events(answer.events, conversation, zone))[:LIST_LENGTH],
    )


def joined(blocks: Sequence[Structured]) -> Structured:
    """Put the blocks of a long transcript together: the first names it, nothing else is lost."""
    if len(blocks) == 1:
        return blocks[0]
    items = [item for block in blocks for item in block.action_items]
    events = [event for block in blocks for event in block.events]
    categories = Counter(block.category for block in blocks)
    return replace(
        blocks[0],
        overview="\n\n".join(block.overview for block in blocks if block.overview),
        category=categories.most_common(1)[0][0],
        action_items=_first_of_each(items, lambda item: normalise(item.description)),
        events=_first_of_each(events, lambda event: (event.start, normalise(event.title))),
    )


def joined_topics(blocks: Sequence[Topics]) -> Topics:
    """Name everything once that any block names."""

    def each(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        return _first_of_each([name for block in names for name in block], normalise)

    return Topics(
        people=each(block.people for block in blocks),
        topics=each(block.topics for block in blocks),
        entities=each(block.entities for block in blocks),
        dates=each(block.dates for block in blocks),
    )


def _first_of_each(values: Iterable[T], key: Callable[[T], object]) -> tuple[T, ...]:
    kept: dict[object, T] = {}
    for one in values:
        kept.setdefault(key(one), one)
    return tuple(kept.values())


def topics(answer: StructureAnswer) -> Topics:
    """Clean the names a conversation is found by: no blanks, no repeats, no speaker labels."""
    return Topics(
        people=_names(answer.people),
        topics=_names(answer.topics),
        entities=_names(answer.entities),
        dates=tuple(dict.fromkeys(filter(_is_day, answer.dates)))[:LIST_LENGTH],
    )


def read_time(text: str | None, zone: ZoneInfo) -> datetime | None:
    """Read ISO 8601 into UTC; None for what is no time."""
    try:
        time = datetime.fromisoformat((text or "").strip())
        return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _items(
    answers: Iterable[ActionItemAnswer], conversation: Conversation, zone: ZoneInfo
) -> Iterator[ExtractedItem]:
    """A due date before the conversation was misunderstood; the task was not."""
    seen = set()
    for answer in answers:
        key = normalise(answer.description)
        if not key or key in seen:
            continue
        seen.add(key)
        due = read_time(answer.due_at, zone)
        yield ExtractedItem(
            description=first_words(answer.description, ITEM_WORDS)[: 2 * NAME_CHARS],
            due_at=due if due and due > conversation.started_at else None,
        )


def _events(
    answers: Iterable[EventAnswer], conversation: Conversation, zone: ZoneInfo
) -> Iterator[Event]:
    for answer in answers:
        start = read_time(answer.start, zone)
        title = first_words(answer.title, TITLE_WORDS)[:NAME_CHARS]
        if title and start and start > conversation.started_at:
            yield Event(
                title=title,
                start=start,
                description=answer.description.strip()[:OVERVIEW_CHARS],
                duration=round(min(max(answer.duration, 1), EVENT_MINUTES)),
            )


def _emoji(text: str) -> str:
    """One sign of at most a few code points, as families and flags need them."""
    sign = text.strip()
    return sign if 0 < len(sign) <= 8 and not re.search(r"[\w\s]", sign) else DEFAULT_EMOJI


def _names(names: Sequence[str]) -> tuple[str, ...]:
    cleaned = (" ".join(name.split())[:NAME_CHARS] for name in names)
    known = {normalise(name): name for name in cleaned if not _is_label(name)}
    return tuple(name for key, name in known.items() if key)[:LIST_LENGTH]


def _is_label(name: str) -> bool:
    return re.fullmatch(r"(?i)(speaker[ _]?\d+|user|unknown)", name) is not None


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False

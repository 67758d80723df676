"""Structure of a conversation: a model's answer within the limits, its lists deduplicated."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from functions.process_conversation.processing.model_outputs import (
    ActionItemOutput,
    EventOutput,
    StructureOutput,
)
from functions.process_conversation.processing.task_owner import decide_owner, find_voices
from shared.domain.conversations.conversation import (
    Conversation,
    Event,
    ExtractedItem,
    Structured,
    Topics,
)
from shared.domain.conversations.own_names import list_others
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.words import count_words, normalise, truncate_words

MAX_DISCARDABLE_WORDS = 100
MAX_TITLE_WORDS = 10
MAX_ITEM_WORDS = 15
MAX_EVENT_MINUTES = 180
MAX_OVERVIEW_CHARS = 4_000
MAX_NAME_CHARS = 120
MAX_LIST_LENGTH = 30
DEFAULT_EMOJI = "🧠"


def count_transcript_words(conversation: Conversation, *, limit: int) -> int:
    """Count the words, no further than a little beyond the limit."""
    words = 0
    for segment in conversation.transcript_segments:
        words += count_words(segment.text)
        if words > limit:
            break
    return words


def build_structure(
    answer: StructureOutput, conversation: Conversation, zone: ZoneInfo
) -> Structured:
    """Fit an answer to the limits; `zone` is where times without an offset were meant."""
    return Structured(
        title=truncate_words(answer.title, MAX_TITLE_WORDS)[:MAX_NAME_CHARS],
        overview=answer.overview.strip()[:MAX_OVERVIEW_CHARS],
        emoji=_clean_emoji(answer.emoji),
        category=answer.category,
        action_items=tuple(_build_items(answer.action_items, conversation, zone))[:MAX_LIST_LENGTH],
        events=tuple(_build_events(answer.events, conversation, zone))[:MAX_LIST_LENGTH],
    )


def build_topics(answer: StructureOutput) -> Topics:
    """Clean the names of an answer: no blanks, no repeats, no speaker labels."""
    return Topics(
        people=_clean_names(answer.people),
        topics=_clean_names(answer.topics),
        entities=_clean_names(answer.entities),
        dates=tuple(dict.fromkeys(filter(_is_day, answer.dates)))[:MAX_LIST_LENGTH],
    )


def add_speakers(topics: Topics, conversation: Conversation) -> Topics:
    """Return them with everybody who speaks under a name, whom a model may leave out; the owner is nobody of these."""
    segments = conversation.named_segments
    own_names = {segment.speaker for segment in segments if segment.is_user}
    names = [s.speaker for s in segments if is_name(s.speaker)]
    people = list_others([*dict.fromkeys(names), *topics.people], own_names)
    return replace(topics, people=_clean_names(people))


def parse_time(text: str | None, zone: ZoneInfo) -> datetime | None:
    """Read ISO 8601 into UTC; None for any other text."""
    try:
        time = datetime.fromisoformat((text or "").strip())
        return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _build_items(
    answers: Iterable[ActionItemOutput], conversation: Conversation, zone: ZoneInfo
) -> Iterator[ExtractedItem]:
    """Yield tasks, each once; a due date before the conversation is a mistake and dropped."""
    seen_keys = set()
    voices = find_voices(conversation.named_segments)
    for answer in answers:
        description = truncate_words(answer.description, MAX_ITEM_WORDS)[: 2 * MAX_NAME_CHARS]
        key = normalise(description)  # as its task is known by
        if not key or key in seen_keys:
            continue
        seen_keys.add(key)
        due, owner = parse_time(answer.due_at, zone), decide_owner(voices, answer)
        yield ExtractedItem(
            description=description,
            due_at=due if due and due > conversation.started_at else None,
            owner=owner.owner,
            owner_name=owner.name,
        )


def _build_events(
    answers: Iterable[EventOutput], conversation: Conversation, zone: ZoneInfo
) -> Iterator[Event]:
    for answer in answers:
        start = parse_time(answer.start, zone)
        title = truncate_words(answer.title, MAX_TITLE_WORDS)[:MAX_NAME_CHARS]
        if title and start and start > conversation.started_at:
            yield Event(
                title=title,
                start=start,
                description=answer.description.strip()[:MAX_OVERVIEW_CHARS],
                duration=round(min(max(answer.duration, 1), MAX_EVENT_MINUTES)),
            )


def _clean_emoji(text: str) -> str:
    """Accept one sign of at most 8 code points, as families and flags need them."""
    sign = text.strip()
    return sign if 0 < len(sign) <= 8 and not re.search(r"[\w\s]", sign) else DEFAULT_EMOJI


def _clean_names(names: Sequence[str]) -> tuple[str, ...]:
    cleaned_names = (" ".join(name.split())[:MAX_NAME_CHARS] for name in names)
    unique = {normalise(name): name for name in cleaned_names if not _is_label(name)}
    return tuple(name for key, name in unique.items() if key)[:MAX_LIST_LENGTH]


def _is_label(name: str) -> bool:
    return re.fullmatch(r"(?i)(speaker[ _]?\d+|user|unknown)", name) is not None


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False

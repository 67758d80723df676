"""Structure of a conversation: a model's answer within the limits, its lists deduplicated."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from functions.process_conversation.processing.examples import is_example_day, quotes_example
from functions.process_conversation.processing.model_outputs import (
    ActionItemOutput,
    EventOutput,
    StructureOutput,
)
from functions.process_conversation.processing.task_owner import (
    Voices,
    decide_owner,
    find_voices,
)
from shared.domain.conversations.conversation import (
    Conversation,
    Event,
    ExtractedItem,
    Structured,
    Topics,
)
from shared.domain.conversations.own_names import list_others
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.wall_clock import DAY_END, EVENING, read_day_ahead, read_wall_clock
from shared.domain.words import count_words, normalise, truncate_words
from shared.security.private_data import hide_secrets

MIN_KEPT_WORDS = 60
"""From so many words on a conversation is never discarded."""
MAX_TITLE_WORDS = 10
MAX_ITEM_WORDS = 15
MAX_EVENT_MINUTES = 180
MAX_OVERVIEW_CHARS = 4_000
MAX_NAME_CHARS = 120
MAX_LIST_LENGTH = 30
MAX_YEAR = 9000
DEFAULT_EMOJI = "🧠"


def count_transcript_words(conversation: Conversation, *, limit: int) -> int:
    """Count the words, no further than a little beyond the limit."""
    words = 0
    for segment in conversation.transcript_segments:
        words += count_words(segment.text)
        if words >= limit:
            break
    return words


def build_structure(
    answer: StructureOutput,
    conversation: Conversation,
    zone: ZoneInfo,
    own_names: Sequence[str] = (),
) -> Structured:
    """Fit an answer to the limits; times were meant in `zone`, and the owner is called by `own_names`."""
    voices = find_voices(conversation, own_names)
    return Structured(
        title=clean_title(answer.title or "", conversation),
        overview=clean_overview(answer.overview or "", conversation),
        emoji=_clean_emoji(answer.emoji),
        category=answer.category,
        action_items=tuple(_build_items(answer.action_items, conversation, zone, voices))[
            :MAX_LIST_LENGTH
        ],
        events=tuple(_build_events(answer.events, conversation, zone))[:MAX_LIST_LENGTH],
    )


def build_topics(answer: StructureOutput) -> Topics:
    """Clean the names of an answer: no blanks, no repeats, no speaker labels, no secrets."""
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
    mentioned = [name for name in topics.people if not _is_copied(name, conversation)]
    people = list_others([*dict.fromkeys(names), *mentioned], own_names)
    return replace(topics, people=_clean_names(people))


def clean_title(title: str, conversation: Conversation) -> str:
    """Truncate a title, without secrets; one that was copied from an example is empty."""
    own_title = hide_secrets(_drop_copied(title, conversation))
    return truncate_words(own_title, MAX_TITLE_WORDS)[:MAX_NAME_CHARS]


def clean_overview(text: str, conversation: Conversation) -> str:
    """Cut an overview, without secrets; one that was copied from an example is empty."""
    return hide_secrets(_drop_copied(text.strip(), conversation))[:MAX_OVERVIEW_CHARS]


def _drop_copied(text: str, conversation: Conversation) -> str:
    return "" if _is_copied(text, conversation) else text


def _is_copied(text: str, conversation: Conversation) -> bool:
    return quotes_example(text, (segment.text for segment in conversation.transcript_segments))


def _build_items(
    answers: Iterable[ActionItemOutput], conversation: Conversation, zone: ZoneInfo, voices: Voices
) -> Iterator[ExtractedItem]:
    """Yield tasks, each once; a due date that does not lie ahead is a mistake and dropped."""
    seen_keys = set()
    for answer in answers:
        shown = hide_secrets(answer.description)
        description = truncate_words(shown, MAX_ITEM_WORDS)[: 2 * MAX_NAME_CHARS]
        key = normalise(description)  # as its task is known by
        if not key or key in seen_keys or _is_copied(description, conversation):
            continue
        seen_keys.add(key)
        owner = decide_owner(voices, answer)
        yield ExtractedItem(
            description=description,
            due_at=_read_due(answer.due_at, conversation, zone),
            owner=owner.owner,
            owner_name=owner.name,
        )


def _read_due(text: str | None, conversation: Conversation, zone: ZoneInfo) -> datetime | None:
    """Read when something is due; "today", said after the hour of a day alone, is due when the day ends."""
    times = (_read_time(text, conversation, zone, day_hour) for day_hour in (EVENING, DAY_END))
    return next((time for time in times if time and _lies_ahead(time, conversation)), None)


def _read_time(
    text: str | None, conversation: Conversation, zone: ZoneInfo, day_hour: time | None = None
) -> datetime | None:
    if is_example_day(text, conversation.started_at):
        return None
    read = read_wall_clock(text, zone, day_hour)
    return read or read_day_ahead(text, conversation.started_at, zone, day_hour)


def _build_events(
    answers: Iterable[EventOutput], conversation: Conversation, zone: ZoneInfo
) -> Iterator[Event]:
    for answer in answers:
        start = _read_time(answer.start, conversation, zone)
        title = clean_title(answer.title, conversation)
        if title and start and _lies_ahead(start, conversation):
            yield Event(
                title=title,
                start=start,
                duration=round(min(max(answer.duration, 1), MAX_EVENT_MINUTES)),
            )


def _lies_ahead(time: datetime, conversation: Conversation) -> bool:
    return conversation.started_at < time and time.year <= MAX_YEAR


def _clean_emoji(text: str) -> str:
    """Accept one sign of at most 8 code points, as families and flags need them."""
    sign = text.strip()
    return sign if 0 < len(sign) <= 8 and not re.search(r"[\w\s]", sign) else DEFAULT_EMOJI


def _clean_names(names: Sequence[str]) -> tuple[str, ...]:
    cleaned_names = (" ".join(hide_secrets(name).split())[:MAX_NAME_CHARS] for name in names)
    unique: dict[str, str] = {}
    for name in cleaned_names:
        if not _is_label(name):
            unique.setdefault(normalise(name), name)  # as it was spelled first
    return tuple(name for key, name in unique.items() if key)[:MAX_LIST_LENGTH]


def _is_label(name: str) -> bool:
    return re.fullmatch(r"(?i)(speaker[ _]?\d+|user|unknown)", name) is not None


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False

"""Spoken lists: somewhere in the JSON of a recorder, or of an assistant, stand lists of what was said.

Their names are those of the programs' own interfaces.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, islice
from typing import Any

from functions.imports.formats.drafts import Contents, Draft, TextFile, Turn, is_owner_name
from functions.imports.formats.json_fields import (
    MILLISECONDS_FROM,
    MOMENTS_FROM,
    Fields,
    find_number,
    find_text,
    find_time,
    list_objects,
)
from functions.imports.formats.stamps import find_date
from functions.imports.formats.unread import count_unread_fields
from shared.domain.value import value

TEXT_NAMES = ("text", "sentence", "transcript", "raw_text", "content", "words")
ATTACHED_TEXT = "extracted_content"
SPEAKER_NAMES = (
    "speaker_name", "speakerName", "speaker", "speaker_label", "speaker_id", "sender_name", "senderName", "name",
    "author", "role", "sender", "from", "user",
)  # fmt: skip
HOLDER_SPEAKER_NAMES = ("speaker_name", "speakerName", "speaker")
START_NAMES = (
    "start", "start_time", "startTime", "startTimestamp", "start_timestamp", "offset", "timestamp", "ts",
    "created_at", "create_time", "sent_at", "datetime", "date", "time",
)  # fmt: skip
END_NAMES = ("end", "end_time", "endTime", "endTimestamp", "end_timestamp")
TITLE_NAMES = ("title", "name", "subject", "meeting_title")
DATE_NAMES = (
    "started_at", "dateString", "date", "start_time", "startTime", "created_at", "create_time",
)  # fmt: skip
OWNER_FIELDS = ("role", "sender", "speakerIdentifier")
OWNER_VALUES = ("user", "human")
SPOKEN_ROLES = ("user", "assistant")
"""The roles of a chat with an assistant; what tools and the system write is not said."""
MAX_NUMBER_CHARS = 3
"""Of the number of a speaker; a longer one is that of a telephone."""
MAX_DEPTH = 8
MIN_MILLISECONDS = 250
"""A turn of so many seconds is none: its times are milliseconds."""
MIN_TEXT_SHARE = 0.5
"""The least share of objects with a text, in a list of what was said."""
MIN_SAME_SHARE = 0.9
"""The least share of the longest list's characters that makes another a list of the same words."""


@value
class SpokenList:
    """A list of utterances; `keys` leads to it, and `holders` are the objects that it stands in."""

    keys: tuple[str, ...]
    holders: tuple[Fields, ...]
    items: Sequence[Fields]


def has_spoken_lists(file: TextFile) -> bool:
    return any(_find_lists(file.content, (), ()))


def read_spoken_lists(file: TextFile) -> Contents:
    """Read the lists in which most is said: a conversation each, but one where they share title and time."""
    lists = _choose(list(_find_lists(file.content, (), ())))
    conversations = groupby(lists, key=_find_heading)
    drafts = [_read_draft(list(parts), file.stem) for _, parts in conversations]
    return Contents(
        conversations=drafts,
        left_out=count_unread_fields(file.content, drafts),
        is_recognised=any(map(_tells_who_or_when, drafts)),
    )


def _tells_who_or_when(draft: Draft) -> bool:
    return draft.started_at is not None or any(
        turn.speaker or turn.start is not None for turn in draft.turns
    )


def _find_lists(
    content: Any, keys: tuple[str, ...], holders: tuple[Fields, ...]
) -> Iterator[SpokenList]:
    """Yield each list of objects with a text."""
    if len(keys) + len(holders) > 2 * MAX_DEPTH:
        return
    if isinstance(content, dict):
        if messages := _list_branch(content):
            yield SpokenList(keys=(*keys, "mapping"), holders=(*holders, content), items=messages)
            return
        for key, item in content.items():
            yield from _find_lists(item, (*keys, key), (*holders, content))
    elif isinstance(content, list):
        if _is_spoken(content):
            yield SpokenList(keys=keys, holders=holders, items=content)
        for item in content:
            yield from _find_lists(item, (*keys, ""), holders)


def _is_spoken(items: Sequence[Any]) -> bool:
    texts = [bool(_read_words(item)) for item in items if isinstance(item, dict)]
    return bool(texts) and len(texts) == len(items) and sum(texts) >= MIN_TEXT_SHARE * len(texts)


def _list_branch(content: Fields) -> list[Fields]:
    """List the messages that lead to the last one, where answers of an assistant branch."""
    nodes = content.get("mapping")
    at = content.get("current_node") or _find_newest(nodes)
    messages: list[Fields] = []
    seen: set[str] = set()
    while isinstance(nodes, dict) and isinstance(at, str) and at not in seen:
        seen.add(at)
        node = nodes.get(at)
        if not isinstance(node, dict):
            break
        if isinstance(message := node.get("message"), dict) and _find_role(message) in SPOKEN_ROLES:
            messages.append(message)
        at = node.get("parent")
    return messages[::-1]


def _find_newest(nodes: Any) -> Any:
    """Return the id of the newest message that none follows."""
    found = nodes if isinstance(nodes, dict) else {}
    messages = {
        at: node["message"]
        for at, node in found.items()
        if isinstance(node, dict)
        and isinstance(node.get("message"), dict)
        and not node.get("children")
    }
    return max(
        messages, key=lambda at: find_number(messages[at], ("create_time",)) or 0.0, default=None
    )


def _find_role(message: Fields) -> Any:
    author = message.get("author")
    return author.get("role") if isinstance(author, dict) else None


def _choose(lists: Sequence[SpokenList]) -> list[SpokenList]:
    """Return the lists in one place in which most is said.

    Of lists of the same words those with speakers and times, and whole utterances and not words.
    """
    by_keys = sorted(lists, key=lambda found: found.keys)
    groups = [list(group) for _, group in groupby(by_keys, key=lambda found: found.keys)]
    chars = [sum(map(_count_chars, group)) for group in groups]
    full = [
        g for g, count in zip(groups, chars, strict=True) if count >= MIN_SAME_SHARE * max(chars)
    ]
    return max(full, key=_rate, default=[])


def _rate(group: Sequence[SpokenList]) -> tuple[bool, bool, int, int]:
    first = group[0].items[0]
    has_speaker = bool(_find_speaker(first, SPEAKER_NAMES))
    has_start = find_number(first, START_NAMES) is not None
    return has_speaker, has_start, -sum(len(found.items) for found in group), -len(group[0].keys)


def _count_chars(found: SpokenList) -> int:
    return sum(len(word) for item in found.items for word in _read_words(item).split())


def _find_heading(found: SpokenList) -> tuple[str, datetime | None]:
    """Return the title and the time of what a list stands in, the nearest first."""
    holders = found.holders[::-1]
    titles = (find_text(holder, TITLE_NAMES) for holder in holders)
    times = (find_time(holder, DATE_NAMES) for holder in holders)
    return next(filter(None, titles), ""), next(filter(None, times), None)


def _read_draft(parts: Sequence[SpokenList], name: str) -> Draft:
    title, started_at = _find_heading(parts[0])
    turns = [turn for part in parts for turn in _read_utterances(part) if turn.text]
    return Draft(
        turns=_scale(turns),
        title=title,
        started_at=started_at or _find_moment(turns) or find_date(name),
    )


def _read_utterances(part: SpokenList) -> Iterator[Turn]:
    holder = part.holders[-1] if part.holders else {}
    speaker = _find_speaker(holder, HOLDER_SPEAKER_NAMES)
    start_names: Sequence[str] = START_NAMES
    if not any(find_number(item, START_NAMES) is not None for item in part.items):
        start_names = _find_moment_names(part.items)
    for item in part.items:
        if not _is_heading(item):
            yield _read_utterance(item, speaker, start_names)


def _find_moment_names(items: Sequence[Fields]) -> tuple[str, ...]:
    """Return the first name, of a program that nobody here knows, under which each item has a moment."""
    names = (name for name in items[0] if all(_is_moment(item.get(name)) for item in items))
    return tuple(islice(names, 1))


def _is_moment(found: Any) -> bool:
    """Tell whether a text is a day with a time of day; a number may be an id."""
    is_written = isinstance(found, str) and ":" in found and not found.isdecimal()
    return is_written and find_time({"at": found}, ("at",)) is not None


def _is_heading(item: Fields) -> bool:
    return str(item.get("type")).startswith("heading")


def _read_utterance(item: Fields, speaker_of_all: str, start_names: Sequence[str]) -> Turn:
    speaker = _find_speaker(item, SPEAKER_NAMES) or speaker_of_all
    return Turn(
        text=_read_words(item).strip(),
        speaker=speaker,
        start=find_number(item, start_names),
        end=find_number(item, END_NAMES),
        is_user=is_owner_name(speaker) or _is_of_owner(item),
    )


def _is_of_owner(item: Fields) -> bool:
    named = [item.get(name) for name in OWNER_FIELDS]
    return any(found in OWNER_VALUES for found in [*named, _find_role(item)])


def _read_words(item: Fields) -> str:
    """Return what is said: a text, or the texts of its parts, and below it texts that were attached."""
    attached = [find_text(file, (ATTACHED_TEXT,)) for file in list_objects(item.get("attachments"))]
    return "\n\n".join(filter(None, [_read_text(item), *attached]))


def _read_text(item: Fields) -> str:
    for name in TEXT_NAMES:
        found = item.get(name)
        if isinstance(found, dict):
            found = found.get("parts")
        if isinstance(found, list) and name == "content":
            parts = (part.get("text") if isinstance(part, dict) else part for part in found)
            found = "\n".join(part for part in parts if isinstance(part, str))
        if isinstance(found, str) and found:
            return found
    return ""


def _find_speaker(item: Fields, names: Sequence[str]) -> str:
    for name in names:
        found = item.get(name)
        if isinstance(found, dict):
            found = find_text(found, ("name", "displayName", "display_name", "role"))
        number = str(found).strip() if isinstance(found, int | str) else ""
        if number.isdecimal() and (isinstance(found, int) or len(number) <= MAX_NUMBER_CHARS):
            return f"Speaker {number}"
        if isinstance(found, str) and found.strip():
            return found.strip()
    return ""


def _find_moment(turns: Sequence[Turn]) -> datetime | None:
    """Return when the first turn began, if the file writes moments; it may stand last."""
    first = min((turn.start for turn in turns if turn.start is not None), default=None)
    return find_time({"start": first}, ("start",))


def _scale(turns: Sequence[Turn]) -> list[Turn]:
    """Return times in seconds from the beginning; some programs write moments, or milliseconds."""
    first = min((turn.start for turn in turns if turn.start is not None), default=0.0)
    begin = first if first > MOMENTS_FROM else 0.0
    spans = sorted(t.end - t.start for t in turns if t.start is not None and t.end is not None)
    is_whole = bool(spans) and all(float(span).is_integer() for span in spans)
    is_long = is_whole and spans[len(spans) // 2] >= MIN_MILLISECONDS
    divisor = 1000 if is_long or first > MILLISECONDS_FROM else 1
    shifted = [_shift(turn, begin, divisor) for turn in turns]
    return sorted(shifted, key=lambda turn: turn.start or 0.0) if begin else shifted


def _shift(turn: Turn, begin: float, divisor: int) -> Turn:
    start = None if turn.start is None else (turn.start - begin) / divisor
    end = None if turn.end is None else (turn.end - begin) / divisor
    return replace(turn, start=start, end=end)

"""JSON files: exports of conversations, Telegram's chats, and the output of transcribers."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from functions.process_conversation.imports.chats import Message, build_chat
from functions.process_conversation.imports.drafts import (
    Contents,
    Draft,
    Turn,
    UnreadableFile,
    is_owner_name,
)
from functions.process_conversation.imports.exported_collections import (
    is_whole_export,
    read_collections,
)
from functions.process_conversation.imports.restored_conversations import is_exported
from functions.process_conversation.imports.stamps import find_date

Fields = Mapping[str, Any]

TEXT_NAMES = ("text", "sentence", "transcript", "raw_text", "content", "words")
SPEAKER_NAMES = ("speaker_name", "speakerName", "speaker", "name", "author", "role")
START_NAMES = ("start", "start_time", "startTime", "startTimestamp", "start_timestamp", "offset")
END_NAMES = ("end", "end_time", "endTime", "endTimestamp", "end_timestamp")
TITLE_NAMES = ("title", "name", "subject", "meeting_title")
DATE_NAMES = ("started_at", "dateString", "date", "start_time", "startTime", "created_at")
_SURROGATE = re.compile(r"\\u[Dd][89A-Fa-f]")
MAX_DEPTH = 8
MIN_MILLISECONDS = 250
"""A turn of so many seconds is none: its times are milliseconds."""
MOMENTS_FROM = 1e8
"""A number of seconds since 1970 is larger, one from the beginning smaller."""
MILLISECONDS_FROM = 1e11
"""A number of seconds since 1970 is smaller, one of milliseconds larger."""


def read_json(name: str, text: str) -> Contents:
    """Read a JSON file; `name` is the file's, without suffix. Raises UnreadableFile."""
    try:
        content = _parse(text)
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"its JSON is broken at line {error.lineno}: {error.msg}") from error
    except RecursionError as error:
        raise UnreadableFile("its JSON is nested too deeply") from error
    contents = _read_telegram(content) or _read_export(content) or _read_speech(name, content)
    if contents is None:
        raise UnreadableFile("it holds neither conversations nor segments")
    return contents


def _parse(text: str) -> Any:
    """Parse JSON; an escaped half of a character, which no store takes, becomes a question mark."""
    content = json.loads(text)
    if not _SURROGATE.search(text):
        return content
    return json.loads(json.dumps(content, ensure_ascii=False).encode(errors="replace"))


# --- exports of conversations, by Omi and by us


def _read_export(content: Any) -> Contents | None:
    fields = content if isinstance(content, dict) else {"conversations": content}
    items = fields.get("conversations", [fields] if "transcript_segments" in fields else [])
    listed = _list_objects(items)
    restored = [item for item in listed if is_exported(item)]
    conversations = [item for item in listed if _has_segments(item) and not is_exported(item)]
    memories, action_items, people = (
        _list_objects(fields.get(name)) for name in ("memories", "action_items", "people")
    )
    whole = read_collections(fields) if is_whole_export(fields) else Contents()
    if not (conversations or restored or memories or action_items or people or whole.records):
        return None
    return Contents(
        conversations=[_read_conversation(item) for item in conversations],
        memories=memories,
        action_items=action_items,
        people=people,
        restored=restored,
        records=whole.records,
        left=whole.left,
    )


def _has_segments(item: Fields) -> bool:
    return bool(_list_objects(item.get("transcript_segments")))


def _read_conversation(item: Fields) -> Draft:
    structured = item.get("structured")
    title = structured.get("title") if isinstance(structured, dict) else None
    names = ("id", "finished_at", "source", "language", "structured")
    return Draft(
        turns=[_read_segment(segment) for segment in _list_objects(item["transcript_segments"])],
        title=title if isinstance(title, str) else "",
        started_at=_find_time(item, ("started_at", "created_at")),
        fields={name: item[name] for name in names if item.get(name) is not None},
    )


def _read_segment(item: Fields) -> Turn:
    speaker = _find_text(item, ("speaker_name", "speaker")) or ""
    return Turn(
        text=_find_text(item, ("text",)) or "",
        speaker=speaker,
        start=_find_number(item, ("start",)),
        end=_find_number(item, ("end",)),
        is_user=bool(item.get("is_user")) or is_owner_name(speaker),
    )


# --- Telegram


def _read_telegram(content: Any) -> Contents | None:
    if not isinstance(content, dict):
        return None
    chats = content.get("chats")
    listed = _list_objects(chats.get("list")) if isinstance(chats, dict) else [content]
    telegram_chats = [chat for chat in listed if _is_telegram_chat(chat)]
    if not telegram_chats:
        return None
    owner = _find_telegram_owner(content)
    drafts = [_read_telegram_chat(chat, owner) for chat in telegram_chats]
    return Contents(conversations=list(chain.from_iterable(drafts)))


def _is_telegram_chat(chat: Fields) -> bool:
    return any(
        "date" in message and "text" in message for message in _list_objects(chat.get("messages"))
    )


def _find_telegram_owner(content: Fields) -> str | None:
    person = content.get("personal_information")
    if not isinstance(person, dict):
        return None
    names = (_find_text(person, (name,)) for name in ("first_name", "last_name"))
    return " ".join(filter(None, names))


def _read_telegram_chat(chat: Fields, owner: str | None) -> Iterator[Draft]:
    messages = [
        Message(at=at, speaker=str(item.get("from") or ""), text=text)
        for item in _list_objects(chat["messages"])
        if item.get("type", "message") == "message"
        and (text := _flatten(item.get("text", "")).strip())
        and (at := _find_time(item, ("date_unixtime", "date")))
    ]
    title = chat.get("name")
    return build_chat(messages, title=title if isinstance(title, str) else "", owner=owner)


def _flatten(text: Any) -> str:
    """Return a message's text, which is a list where parts of it are marked."""
    return "".join(map(_read_part, text if isinstance(text, list) else [text]))


def _read_part(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


# --- transcribers and meeting recorders: somewhere stands a list of what was said


def _read_speech(name: str, content: Any) -> Contents | None:
    path = max(_find_speech(content, ()), key=lambda found: len(found[-1]), default=None)
    if path is None:
        return None
    *parents, items = path
    holders = [parent for parent in reversed(parents) if isinstance(parent, dict)]
    turns = _scale([_read_utterance(item) for item in items if not _is_heading(item)])
    title = next(filter(None, (_find_text(holder, TITLE_NAMES) for holder in holders)), "")
    started_at = next(filter(None, (_find_time(holder, DATE_NAMES) for holder in holders)), None)
    return Contents(
        conversations=[
            Draft(
                turns=[turn for turn in turns if turn.text],
                title=title or "",
                started_at=started_at or find_date(name),
            )
        ]
    )


def _find_speech(content: Any, parents: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield each list of objects with a text, behind what it stands in."""
    if len(parents) > MAX_DEPTH:
        return
    if isinstance(content, dict):
        for item in content.values():
            yield from _find_speech(item, (*parents, content))
    elif isinstance(content, list):
        objects = [item for item in content if isinstance(item, dict)]
        if (
            objects
            and len(objects) == len(content)
            and all(_find_text(o, TEXT_NAMES) is not None for o in objects)
        ):
            yield (*parents, objects)
        for item in content:
            yield from _find_speech(item, (*parents, content))


def _is_heading(item: Fields) -> bool:
    return str(item.get("type")).startswith("heading")


def _read_utterance(item: Fields) -> Turn:
    speaker = _find_speaker(item)
    return Turn(
        text=(_find_text(item, TEXT_NAMES) or "").strip(),
        speaker=speaker,
        start=_find_number(item, START_NAMES),
        end=_find_number(item, END_NAMES),
        is_user=is_owner_name(speaker),
    )


def _find_speaker(item: Fields) -> str:
    for name in SPEAKER_NAMES:
        found = item.get(name)
        if isinstance(found, dict):
            found = _find_text(found, ("name", "displayName", "display_name"))
        if isinstance(found, int) and not isinstance(found, bool):
            return f"Speaker {found}"
        if isinstance(found, str) and found.strip():
            return found.strip()
    return ""


def _scale(turns: Sequence[Turn]) -> list[Turn]:
    """Return times in seconds from the beginning; some programs write moments, or milliseconds."""
    first = next((turn.start for turn in turns if turn.start is not None), 0.0)
    begin = first if first > MOMENTS_FROM else 0.0
    spans = sorted(t.end - t.start for t in turns if t.start is not None and t.end is not None)
    is_whole = bool(spans) and all(float(span).is_integer() for span in spans)
    divisor = 1000 if is_whole and spans[len(spans) // 2] >= MIN_MILLISECONDS else 1
    return [_shift(turn, begin, divisor) for turn in turns]


def _shift(turn: Turn, begin: float, divisor: int) -> Turn:
    start = None if turn.start is None else (turn.start - begin) / divisor
    end = None if turn.end is None else (turn.end - begin) / divisor
    return replace(turn, start=start, end=end)


# --- fields


def _list_objects(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _find_text(item: Fields, names: Sequence[str]) -> str | None:
    return next((item[name] for name in names if isinstance(item.get(name), str)), None)


def _find_number(item: Fields, names: Sequence[str]) -> float | None:
    for name in names:
        found = item.get(name)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
        if isinstance(found, str) and (number := _parse_number(found)) is not None:
            return number
    return None


def _parse_number(text: str) -> float | None:
    """Read a number, or a moment as seconds since 1970."""
    try:
        return float(text)
    except ValueError:
        at = _parse_time(text)
        return at.timestamp() if at else None


def _find_time(item: Fields, names: Sequence[str]) -> datetime | None:
    return next(filter(None, (_parse_time(item.get(name)) for name in names)), None)


def _parse_time(found: Any) -> datetime | None:
    """Read ISO 8601, or seconds or milliseconds since 1970 where the number is large enough."""
    try:
        if isinstance(found, str) and not found.isdecimal():
            return datetime.fromisoformat(found)
        if isinstance(found, str | int | float) and not isinstance(found, bool):
            number = float(found)
            seconds = number / 1000 if number > MILLISECONDS_FROM else number
            return datetime.fromtimestamp(seconds, UTC) if seconds > MOMENTS_FROM else None
    except (ValueError, OverflowError, OSError):
        return None
    return None

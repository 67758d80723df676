"""Recordings of wearables, as the APIs of Limitless and Bee write them; each keeps the id that it has there.

Those of Omi are exports (`exports.py`).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from functions.imports.formats.drafts import SILENT, Contents, Draft, LeftOut, TextFile, Turn
from functions.imports.formats.json_fields import (
    Fields,
    find_number,
    find_text,
    find_time,
    list_objects,
)
from functions.imports.formats.unread import count_unread_fields
from shared.domain.ids import is_id

MAX_DEPTH = 8
UNFINISHED = "it is still being recorded: import again later"
FINISHED = "COMPLETED"


def is_wearable(file: TextFile) -> bool:
    return bool(_list_lifelogs(file.content) or _list_bee(file.content))


def read_wearable(file: TextFile) -> Contents:
    """Read the recordings of a file; what is silent or unfinished is left out by name."""
    lifelogs, recordings = _list_lifelogs(file.content), _list_bee(file.content)
    finished = [item for item in recordings if _is_finished(item)]
    drafts = [*map(_read_lifelog, lifelogs), *map(_read_bee, finished)]
    silent = [LeftOut(title=draft.title, reason=SILENT) for draft in drafts if not draft.turns]
    unfinished = [
        LeftOut(title=_find_bee_title(item), reason=UNFINISHED)
        for item in recordings
        if not _is_finished(item)
    ]
    spoken = [draft for draft in drafts if draft.turns]
    unread = count_unread_fields([*lifelogs, *finished], spoken)
    return Contents(conversations=spoken, left_out=[*unread, *silent, *unfinished])


def _build_fields(item: Fields, prefix: str, ended_name: str) -> dict[str, Any]:
    """Return the id under which it comes only once, and when it ended."""
    id_ = f"{prefix}-{item.get('id')}"
    ended = find_time(item, (ended_name,))
    return {
        **({"id": id_} if is_id(id_) else {}),
        **({"finished_at": ended.isoformat()} if ended else {}),
    }


# --- Limitless


def _list_lifelogs(content: Any) -> list[dict[str, Any]]:
    data = content.get("data") if isinstance(content, dict) else None
    found = data.get("lifelogs", [data.get("lifelog")]) if isinstance(data, dict) else None
    return list_objects(found)


def _read_lifelog(item: Fields) -> Draft:
    return Draft(
        turns=[*_read_nodes(item.get("contents"), 0)],
        title=find_text(item, ("title",)) or "",
        started_at=find_time(item, ("startTime",)),
        fields=_build_fields(item, "limitless", "endTime"),
    )


def _read_nodes(nodes: Any, depth: int) -> Iterator[Turn]:
    """Yield what somebody says; other nodes are headings, and what was written of it."""
    for node in list_objects(nodes):
        text = (find_text(node, ("content",)) or "").strip()
        if text and (node.get("type") == "blockquote" or node.get("speakerName")):
            yield Turn(
                text=text,
                speaker=find_text(node, ("speakerName",)) or "",
                start=_to_seconds(find_number(node, ("startOffsetMs",))),
                end=_to_seconds(find_number(node, ("endOffsetMs",))),
                is_user=node.get("speakerIdentifier") == "user",
            )
        if depth < MAX_DEPTH:
            yield from _read_nodes(node.get("children"), depth + 1)


def _to_seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


# --- Bee


def _list_bee(content: Any) -> list[dict[str, Any]]:
    fields = content if isinstance(content, dict) else {}
    listed = list_objects(fields.get("conversations", [fields.get("conversation")]))
    return listed if any("transcriptions" in item for item in listed) else []


def _is_finished(item: Fields) -> bool:
    return bool(item.get("state", FINISHED) == FINISHED)


def _read_bee(item: Fields) -> Draft:
    said = _choose_transcription(list_objects(item.get("transcriptions")))
    turns = [
        Turn(
            text=text,
            speaker=_find_bee_speaker(utterance),
            start=find_number(utterance, ("start",)),
            end=find_number(utterance, ("end",)),
        )
        for utterance in said
        if (text := (find_text(utterance, ("text",)) or "").strip())
    ]
    return Draft(
        turns=sorted(turns, key=lambda turn: turn.start or 0.0),
        title=_find_bee_title(item),
        started_at=find_time(item, ("start_time", "created_at")),
        fields=_build_fields(item, "bee", "end_time"),
    )


def _choose_transcription(found: Sequence[Fields]) -> list[dict[str, Any]]:
    """Return what was said: where it was transcribed once more after it was heard live, that alone."""
    later = [each for each in found if not each.get("realtime") and each.get("utterances")]
    return [each for part in later or found for each in list_objects(part.get("utterances"))]


def _find_bee_speaker(utterance: Fields) -> str:
    speaker = str(utterance.get("speaker") or "").strip()
    return f"Speaker {speaker}" if speaker.isdecimal() else speaker


def _find_bee_title(item: Fields) -> str:
    return find_text(item, ("title", "short_summary")) or ""

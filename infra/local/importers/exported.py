"""JSON: our own body, an export, a list of either, or a bare list of segments."""

import json
from typing import Any

from infra.local.importers.said import OWNER, Unreadable


def conversations(text: str) -> list[dict[str, Any]]:
    """Return each conversation with the fields it has. Raises Unreadable."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no JSON: {error}") from error
    if isinstance(found, dict):
        found = found.get("conversations", [found])
    if not isinstance(found, list) or not found or not all(isinstance(o, dict) for o in found):
        raise Unreadable("it holds neither conversations nor segments")
    if all("text" in each for each in found):
        found = [{"transcript_segments": found}]
    return [_known(each) for each in found]


def _known(given: dict[str, Any]) -> dict[str, Any]:
    said = given.get("transcript_segments")
    if not isinstance(said, list) or not said or not all(isinstance(s, dict) for s in said):
        raise Unreadable("transcript_segments: a list of segments is expected")
    names = ("id", "started_at", "finished_at", "source", "language")
    known = {name: given[name] for name in names if given.get(name) is not None}
    if "started_at" not in known and given.get("created_at") is not None:
        known["started_at"] = given["created_at"]
    return {**known, "transcript_segments": [_segment(each) for each in said]}


def _segment(given: dict[str, Any]) -> dict[str, Any]:
    names = ("text", "speaker", "is_user", "start", "end", "person_id")
    known = {name: given[name] for name in names if given.get(name) is not None}
    speaker = known.get("speaker")
    if isinstance(speaker, str) and speaker.casefold() in OWNER:
        known.setdefault("is_user", True)
    return known

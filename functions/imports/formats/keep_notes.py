"""Notes of Google Keep: a text or a list, with title and moment."""

from typing import Any

from functions.imports.formats.drafts import Contents, Draft, TextFile, Turn
from functions.imports.formats.json_fields import find_number, find_text, find_time, list_objects
from functions.imports.formats.unread import count_unread_fields
from shared.library.decoding import UnreadableFile

MOMENT_NAMES = ("createdTimestampUsec", "userEditedTimestampUsec")
MICROSECONDS = 1_000_000


def is_keep_note(file: TextFile) -> bool:
    content = file.content
    return isinstance(content, dict) and "isTrashed" in content and MOMENT_NAMES[1] in content


def read_keep_note(file: TextFile) -> Contents:
    """Read a note. Raises UnreadableFile for one that was thrown away."""
    note: dict[str, Any] = file.content
    if note["isTrashed"]:
        raise UnreadableFile("it is a note that stands in the bin of Google Keep")
    texts = [
        note.get("textContent"),
        *(item.get("text") for item in list_objects(note.get("listContent"))),
    ]
    moments = (find_number(note, (name,)) for name in MOMENT_NAMES)
    seconds = next((moment / MICROSECONDS for moment in moments if moment), None)
    draft = Draft(
        turns=[Turn(text=text.strip()) for text in texts if isinstance(text, str) and text.strip()],
        title=find_text(note, ("title",)) or "",
        started_at=find_time({"at": seconds}, ("at",)),
    )
    return Contents(conversations=[draft], left_out=count_unread_fields(note, [draft]))

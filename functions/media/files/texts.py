"""Texts: in whatever encoding, HTML and Rich Text as people see them.

Also called: CSV, plain text files.
"""

import re
from pathlib import Path

from functions.media.files.file_content import NO_TEXT, FileContent, PageCollector, Unreadable
from shared.domain.amounts import describe_bytes
from shared.library.decoding import AudioFile, UnreadableFile, decode
from shared.library.rich_text import is_rich_text, read_rich_text

MAX_BYTES = 8_388_608
"""A longer text has more tokens than a file may have."""
EMPTY = "it is empty"
_TYPES = {".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv"}
_HTML = re.compile(r"\s{0,100}(?:<!doctype html|<html)", re.IGNORECASE)


def read_text(path: Path, name: str) -> FileContent:
    """Raises Unreadable for what is no text."""
    if path.stat().st_size > MAX_BYTES:
        raise Unreadable(f"a text has at most {describe_bytes(MAX_BYTES)}. Send a part of it")
    data = path.read_bytes()
    pages = PageCollector()
    if is_rich_text(data):
        pages.add(read_rich_text(data))
        return FileContent(media_type="application/rtf", pages=pages.finish(nothing=NO_TEXT))
    try:
        text = decode(data)
    except AudioFile as error:
        raise Unreadable(
            "it is sound. Record or import it, and it becomes a conversation"
        ) from error
    except UnreadableFile as error:
        raise Unreadable(f"{error}") from error
    is_html = _HTML.match(text) is not None
    pages.add(_render(text) if is_html else text)
    media_type = "text/html" if is_html else _TYPES.get(Path(name).suffix.lower(), "text/plain")
    return FileContent(media_type=media_type, pages=pages.finish(nothing=EMPTY))


def _render(html: str) -> str:
    from inscriptis import get_text

    return str(get_text(html))

"""JSON as text: what it holds, and why it is refused where no reader knows it."""

import json
import re
from contextlib import suppress
from typing import Any, NoReturn

from functions.imports.formats.drafts import TextFile
from shared.library.decoding import UnreadableFile

BRACKETS = ("{", "[")
_SURROGATE = re.compile(r"\\u[Dd][89A-Fa-f]")


def open_text(name: str, text: str) -> TextFile:
    """Return a file with what it holds as JSON; a text may begin with a bracket, too."""
    content = None
    if text.lstrip().startswith(BRACKETS):
        try:
            content = _parse(text)
        except UnreadableFile:
            content = _parse_lines(text)
    return TextFile(name=name, text=text, content=content)


def _parse_lines(text: str) -> list[Any] | None:
    """Return what stands on each line, if that is an object on all of them."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
        with suppress(UnreadableFile):
            return [_parse(line) for line in lines]
    return None


def is_json(file: TextFile) -> bool:
    """Tell whether a file is called JSON, or what follows its first bracket is JSON too."""
    start = file.text.lstrip()
    follows = start[1:].lstrip()[:1]
    return start.startswith(BRACKETS) and (
        file.name.lower().endswith(".json") or follows in ('"', "{", "[", "]", "}")
    )


def refuse_json(file: TextFile) -> NoReturn:
    if file.content is None:
        _parse(file.text)
    raise UnreadableFile("it holds neither conversations nor segments")


def _parse(text: str) -> Any:
    """Parse JSON; an escaped half of a character, which no store takes, becomes a question mark."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UnreadableFile(f"its JSON is broken at {place}") from error
    except RecursionError as error:
        raise UnreadableFile("its JSON is nested too deeply") from error
    if not _SURROGATE.search(text):
        return content
    return json.loads(json.dumps(content, ensure_ascii=False).encode(errors="replace"))

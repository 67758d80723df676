"""Front matter: the fields between `---` lines with which Markdown notes begin."""

import re
from datetime import datetime

from functions.imports.formats.stamps import find_date
from shared.domain.value import value

_FRONT_MATTER = re.compile(
    r"\s*---[ \t]*\n(?P<fields>(?:[^\n]*\n){1,100}?)---[ \t]*\n(?P<text>.*)", re.DOTALL
)
_FIELD = re.compile(r"(?P<name>\w[\w .-]{0,40}):(?:\s+(?P<value>.*))?")
_CONTINUED = re.compile(r"\s+\S.*|-\s.*|")


@value
class FrontMatter:
    """Title and date of a note, and the text below its front matter."""

    title: str
    started_at: datetime | None
    text: str


def read_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a note, or None where it has none."""
    match = _FRONT_MATTER.fullmatch("\n".join(text.splitlines()))
    lines = match["fields"].splitlines() if match else []
    fields = {
        field["name"].casefold(): field["value"] or ""
        for field in map(_FIELD.fullmatch, lines)
        if field
    }
    if match is None or not fields or not all(map(_is_field, lines)):
        return None
    return FrontMatter(
        title=fields.get("title", "").strip("\"' "),
        started_at=next(filter(None, map(find_date, fields.values())), None),
        text=match["text"],
    )


def _is_field(line: str) -> bool:
    return bool(_FIELD.fullmatch(line) or _CONTINUED.fullmatch(line))

"""Titles and beginnings of transcripts, from the file's name and the lines before the first turn."""

import calendar
import re
from collections.abc import Sequence
from datetime import datetime

from functions.imports.formats.stamps import CLOCK, DATE, cut_at_date, find_date

MAX_TITLE_CHARS = 200
MIN_COMMON_CHARS = 4
_OTTER_SUFFIX = re.compile(r"[_ ]otter[_. ]ai$", re.IGNORECASE)
_WHATSAPP = re.compile(
    r".*?WhatsApp\s*(?:\S{1,15}\s+[-–]\s+|(?:-[^\W\d_A-Z]\S*\s+|[-–]\s*)?(?:[Cc]hat\s*)?(?:[-–]\s*|[^\W\d_A-Z]{2,5}\s+)?)"
)
_QUOTED = re.compile(r"[\"“„«](?P<name>[^\"”“»\n]{1,100})[\"”“»]")
HEADING = re.compile(r"#{1,6}\s+(?P<text>.+)")
_LEADING_DATE = re.compile(r"(?:\d{2}|\d{4})-\d{2}(?:-\d{2})?\s+")
_MONTHS = "|".join(
    name for names in (calendar.month_name, calendar.month_abbr) for name in names if name
)
_TRAILING_DATE = re.compile(rf"\s+[-–—]\s+(?:{_MONTHS})\.?\s+\d{{1,2}}(?:,\s*\d{{4}})?$")
_FIELD = re.compile(r">?\s*[^:\n]{1,40}:\s+(?P<value>.*)")
_YEAR = re.compile(r"(?:19|20)\d\d|\d{1,2}\.?\s[^\W\d_]{3,}\.?\s\d\d\b")
MAX_PARTS = 3
_END = re.compile(rf"\s*[-–—]\s*{CLOCK}$")
"""The end of a meeting, behind its beginning."""
_BAR = re.compile(r"\s+[|•·]\s+")
"""What stands between the date of a recording and its length, or who was there."""


def find_title(
    name: str, preamble: Sequence[str], notices: Sequence[str] = (), senders: Sequence[str] = ()
) -> str:
    """Return the title that a file carries, or an empty text; `senders` are those of a chat."""
    stem = name.replace("_", " ").strip()
    titles = (
        _find_chat_title(name, notices, senders),
        find_heading(preamble),
        _find_common(cut_at_date(name).replace("_", " "), preamble),
        _OTTER_SUFFIX.sub("", stem) if _OTTER_SUFFIX.search(stem) else "",
        _read_first_line(preamble) if preamble else "",
    )
    return next((title for title in titles if title), "")[:MAX_TITLE_CHARS]


def _find_chat_title(name: str, notices: Sequence[str], senders: Sequence[str]) -> str:
    """Return the name of a chat: what its file is called after, else what its notices quote.

    In some languages the name of the other one stands before the program's.
    """
    if "whatsapp" in name.casefold() and (title := _WHATSAPP.sub("", name, count=1).strip()):
        front = name[: name.casefold().index("whatsapp")]
        before = [sender for sender in senders if len(sender) > 1 and sender in front]
        return max(before, key=len, default=title)
    quoted = (match["name"] for notice in notices for match in _QUOTED.finditer(notice))
    return next(quoted, "")


def find_heading(lines: Sequence[str]) -> str:
    """Return the first Markdown heading without its signs, or an empty text."""
    headings = (match["text"] for match in map(HEADING.fullmatch, lines) if match)
    return _clean(next(headings, ""))


def _find_common(stem: str, preamble: Sequence[str]) -> str:
    """Return how both the file's name and one of its first lines begin."""
    for line in preamble:
        title = _clean(line[: _count_common(stem.casefold(), line.casefold())])
        if len(title) >= MIN_COMMON_CHARS:
            return title
    return ""


def _read_first_line(preamble: Sequence[str]) -> str:
    """Return the first line as a title, without the date behind it; nothing where it is a date.

    Of the first of several fields its value is the title.
    """
    line = preamble[0]
    fields = [field for field in map(_FIELD.fullmatch, preamble[:2]) if field]
    title = fields[0]["value"] if len(fields) > 1 else line
    before = cut_at_date(line)
    if before != line:
        return "" if before.rstrip().endswith(":") else _clean(title)
    return "" if _reads_as_date(line) else _clean(title)


def _count_common(one: str, other: str) -> int:
    """Count the characters with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _clean(title: str) -> str:
    without_dates = _TRAILING_DATE.sub("", _LEADING_DATE.sub("", cut_at_date(title)))
    return without_dates.strip(" -–—_:|·").strip()


def find_start(name: str, preamble: Sequence[str]) -> datetime | None:
    """Return when it took place: as the first lines say, or the file's name, which may tell more."""
    named = find_date(name)
    written = next((at for at in map(_parse_line, preamble) if at), None)
    if named and written and named.date() == written.date():
        return max(named.replace(tzinfo=None), written)
    return written or named


def list_dates(lines: Sequence[str]) -> list[str]:
    """List the lines above notes that tell their day: a date alone, one with which a heading begins, or a field with a time."""
    return [text for line in lines if _tells_day(line, text := line.strip("#* ").strip())]


def _tells_day(line: str, text: str) -> bool:
    field = _FIELD.fullmatch(text)
    if field and re.search(CLOCK, field["value"]):
        return _parse_line(text) is not None
    is_first = bool(HEADING.fullmatch(line) and _LEADING_DATE.match(text) and find_date(text))
    return is_first or bool(_YEAR.search(text) and _parse_words(text))


def _parse_line(line: str) -> datetime | None:
    if not _YEAR.search(line):
        return None
    field = _FIELD.fullmatch(line)
    text = field["value"] if field else line
    parts = (find_date(part) or _parse_words(part) for part in _BAR.split(text)[:MAX_PARTS])
    return next(filter(None, parts), None)


def _parse_words(text: str) -> datetime | None:
    """Read a date that is written out in some language, if the text is nothing else."""
    if len(text) > 40:
        return None
    import dateparser  # loads many languages, and most files need none

    settings = {"STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
    at: datetime | None = dateparser.parse(_END.sub("", text), settings=settings)
    return at


def _reads_as_date(line: str) -> bool:
    return bool(re.fullmatch(rf"{DATE}.*", line)) or _parse_line(line) is not None

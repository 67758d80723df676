"""Tables: the rows of CSV files as what was said, where the heads of their columns tell who, when and what.

Also called: comma-separated values, TSV.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from functions.imports.formats.chats import Message, build_chat
from functions.imports.formats.drafts import Contents, Draft, TextFile, Turn
from functions.imports.formats.json_fields import find_number, find_time
from functions.imports.formats.spoken_lists import read_spoken_lists
from functions.imports.formats.stamps import CHAT_CLOCK, DATE, Stamp, parse_stamps
from functions.imports.formats.table_heads import HEADS, Role
from functions.imports.formats.unread import count_unread_fields
from shared.domain.value import value
from shared.library.decoding import UnreadableFile

SUFFIXES = (".csv", ".tsv")
DELIMITERS = ",;\t|"
MAX_HEAD_CHARS = 2_000
_RULE = " \t-:"
"""What stands in the line below the heads of Markdown."""
_SEPARATOR_LINE = re.compile(r"\s*sep=.\r?\n", re.IGNORECASE)
"""What Excel reads of a file before its heads."""
_STAMP = re.compile(rf"(?P<date>{DATE})[,\sT]+(?P<clock>{CHAT_CLOCK})")
_DAY = re.compile(DATE)
_UTC = re.compile(r"\s(?:UTC|GMT|Z)$")


@value
class Table:
    """The heads of a table and the number of the column of each role."""

    delimiter: str
    heads: Sequence[str]
    columns: Mapping[Role, int]

    @property
    def is_spoken(self) -> bool:
        """Tell whether a column has the words, and another says of whom or of when they are."""
        return "text" in self.columns and bool({"speaker", "moment", "start"} & {*self.columns})


def is_table(file: TextFile) -> bool:
    """Tell whether a file is called a table, or its first line has the heads of one."""
    return PurePosixPath(file.name).suffix.lower() in SUFFIXES or _find_table(file.text).is_spoken


def read_table(file: TextFile) -> Contents:
    """Read the rows; their owner is asked about a table whose heads do not tell who or when. Raises UnreadableFile."""
    table = _find_table(file.text)
    rows = _list_rows(file.text, table.delimiter)[1:] if table.is_spoken else []
    said = [row for row in rows if _read_cell(row, table, "text")]
    if not said:
        return Contents(conversations=[Draft(turns=[Turn(text=file.text)])], is_recognised=False)
    moments = _read_moments(said, table)
    fields = [dict(zip(table.heads, row, strict=False)) for row in rows]
    if moments is None:
        contents = read_spoken_lists(
            TextFile(name=file.name, text="", content=[_name_cells(row, table) for row in said])
        )
        drafts = list(contents.conversations)
        is_recognised = contents.is_recognised
    else:
        messages = [
            Message(at=at, speaker=_read_cell(row, table, "speaker"), text=_read_cell(row, table, "text"))
            for at, row in zip(moments, said, strict=True)
        ]  # fmt: skip
        messages.sort(key=lambda message: message.at)
        drafts, is_recognised = list(build_chat(messages, title="")), True
    return Contents(
        conversations=drafts,
        left_out=count_unread_fields(fields, drafts),
        is_recognised=is_recognised,
    )


def _find_table(text: str) -> Table:
    """Return the table by the delimiter with which most of its heads are known."""
    head = _drop_separator_line(text)[:MAX_HEAD_CHARS].lstrip("\n\r")
    tables = (_read_heads(head, delimiter) for delimiter in DELIMITERS)
    return max(tables, key=lambda table: (len(table.columns), len(table.heads)))


def _read_heads(head: str, delimiter: str) -> Table:
    try:
        heads = next(csv.reader(io.StringIO(head), delimiter=delimiter, strict=True), [])
    except csv.Error:
        heads = []
    plain = [" ".join(name.replace("_", " ").split()).casefold() for name in heads]
    columns = {
        role: plain.index(found)
        for role, names in HEADS.items()
        if (found := next((name for name in names if name in plain), None)) is not None
    }
    return Table(delimiter=delimiter, heads=heads, columns=columns)


def _drop_separator_line(text: str) -> str:
    match = _SEPARATOR_LINE.match(text)
    return text[match.end() :] if match else text


def _list_rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(_drop_separator_line(text), newline=""), delimiter=delimiter)
    try:
        return [row for row in reader if any(cell.strip(_RULE) for cell in row)]
    except csv.Error as error:
        raise UnreadableFile(f"its table is broken at line {reader.line_num}") from error


def _read_cell(row: Sequence[str], table: Table, role: Role) -> str:
    at = table.columns.get(role)
    return row[at].strip() if at is not None and at < len(row) else ""


def _name_cells(row: Sequence[str], table: Table) -> dict[str, str]:
    names: Mapping[Role, str] = {
        "text": "text",
        "speaker": "speaker",
        "start": "start",
        "end": "end",
    }
    timed = names if "start" in table.columns else {**names, "moment": "start", "clock": "start"}
    return {name: cell for role, name in timed.items() if (cell := _read_cell(row, table, role))}


def _read_moments(rows: Sequence[Sequence[str]], table: Table) -> list[datetime] | None:
    """Return when each row was said; None where the rows tell no dates, or not all of them."""
    written = [
        " ".join(filter(None, [_read_cell(row, table, "moment"), _read_cell(row, table, "clock")]))
        for row in rows
    ]
    times = [_parse_moment(text) for text in written]
    if all(times):
        return [at for at in times if at]
    stamps = [_parse_stamp(text) for text in written]
    try:
        return parse_stamps([stamp for stamp in stamps if stamp]) if all(stamps) else None
    except ValueError:
        return None


def _parse_moment(text: str) -> datetime | None:
    number = find_number({"at": text}, ("at",)) if text.replace(".", "").isdecimal() else None
    return find_time({"at": _UTC.sub("+00:00", text) if number is None else number}, ("at",))


def _parse_stamp(text: str) -> Stamp | None:
    if match := _STAMP.fullmatch(text):
        return Stamp(date=match["date"], clock=match["clock"])
    return Stamp(date=text, clock="0:00") if _DAY.fullmatch(text) else None

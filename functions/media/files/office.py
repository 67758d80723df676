"""Office documents: a text as one page, each sheet of a table and each slide as a page of its own.

Also called: docx, Excel, PowerPoint.
"""

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from functions.media.files.file_content import NO_TEXT, FileContent, PageCollector, Unreadable
from shared.library.decoding import decode
from shared.library.word_text import WORD_MEMBER, list_lines

MAX_UNPACKED_BYTES = 268_435_456
MAX_RATIO = 200
"""Of a member's size to what it takes up in the file; their XML packs to about a tenth."""
_SMALL_BYTES = 4_194_304
MAX_GAP = 50
_BASE = "application/vnd.openxmlformats-officedocument"


class _Format(NamedTuple):
    """An office format: the member by which it is known, its media type, and what reads it."""

    member: str
    media_type: str
    read: Callable[[Path], Iterator[str]]


def read_office(path: Path) -> FileContent | None:
    """Return what a zip holds that is an office document; None for another. Raises Unreadable."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise Unreadable("its file is damaged") from error
    names = {member.filename for member in members}
    office = next((each for each in _FORMATS if each.member in names), None)
    if office is None:
        return None
    _check(members)
    if any(name.endswith("vbaProject.bin") for name in names):
        raise Unreadable("it holds macros. Save it without them")
    pages = PageCollector()
    for text in office.read(path):
        pages.add(text)
    return FileContent(media_type=office.media_type, pages=pages.finish(nothing=NO_TEXT))


def _check(members: list[zipfile.ZipInfo]) -> None:
    if any(member.flag_bits & 1 for member in members):
        raise Unreadable("it is protected by a password")
    if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES or any(
        member.file_size > max(_SMALL_BYTES, MAX_RATIO * member.compress_size) for member in members
    ):
        raise Unreadable("it unpacks to far more than it is")


def _read_document(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as archive:
        yield "\n".join(list_lines(decode(archive.read(WORD_MEMBER))))


def _read_sheets(path: Path) -> Iterator[str]:
    from openpyxl.reader.excel import load_workbook

    with path.open("rb") as file:  # by its path, a file without a suffix is refused
        book = load_workbook(file, read_only=True, data_only=True)
        for sheet in book.worksheets:
            yield "\n".join([sheet.title, *filter(None, _list_rows(book, sheet))])


def _list_rows(book: Any, sheet: Any) -> Iterator[str]:
    """Yield the rows that are there: openpyxl's own fill all before them, which a file numbers as it likes."""
    from openpyxl.worksheet._reader import WorkSheetParser

    with sheet._get_source() as source:  # noqa: SLF001 - as its own rows
        parser = WorkSheetParser(
            source,
            sheet._shared_strings,  # noqa: SLF001 - as its own rows
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,  # noqa: SLF001 - as its own rows
            timedelta_formats=book._timedelta_formats,  # noqa: SLF001 - as its own rows
        )
        for _, cells in parser.parse():
            yield _format_row(cells)


def _format_row(cells: Iterable[Mapping[str, Any]]) -> str:
    """Write each value in its column; of empty columns in a row no more than MAX_GAP are written."""
    row, column = "", 1
    for cell in sorted(cells, key=lambda each: each["column"]):
        if cell["value"] is not None:
            row += "\t" * min(cell["column"] - column, MAX_GAP) + str(cell["value"])
            column = cell["column"]
    return row.rstrip()


def _read_slides(path: Path) -> Iterator[str]:
    import pptx

    for slide in pptx.Presentation(str(path)).slides:
        lines = [line for shape in slide.shapes for line in _list_shape_lines(shape)]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            lines.append(slide.notes_slide.notes_text_frame.text)
        yield "\n".join(filter(None, lines))


def _list_shape_lines(shape: Any) -> Iterator[str]:
    if shape.has_text_frame:
        yield shape.text_frame.text
    if getattr(shape, "has_table", False):
        for row in shape.table.rows:
            yield "\t".join(cell.text for cell in row.cells)
    for inner in getattr(shape, "shapes", ()):
        yield from _list_shape_lines(inner)


_FORMATS = (
    _Format(WORD_MEMBER, f"{_BASE}.wordprocessingml.document", _read_document),
    _Format("xl/workbook.xml", f"{_BASE}.spreadsheetml.sheet", _read_sheets),
    _Format("ppt/presentation.xml", f"{_BASE}.presentationml.presentation", _read_slides),
)

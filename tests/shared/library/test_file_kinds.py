"""Kinds of files without text: named by what their bytes say, with what to do (U1, U9)."""

import zipfile
from io import BytesIO

import pytest

from functions.imports.formats.read_file import read_parts
from functions.media.files.file_content import Unreadable
from functions.media.files.read_content import read_content
from tests.fixtures.documents import build_docx


def build_zip(*members: tuple[str, str]) -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members:
            archive.writestr(name, text)
    return content.getvalue()


def build_open(kind: str) -> bytes:
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    return build_zip(("mimetype", media_type), ("content.xml", "<x/>"))


def build_office(folder: str) -> bytes:
    return build_zip(("[Content_Types].xml", "<Types/>"), (f"{folder}/main.xml", "<x/>"))


BOOK = build_zip(("mimetype", "application/epub+zip"), ("a.xhtml", "<p>Once</p>"))
PAGES = build_zip(
    ("Index/Document.iwa", "\0"), ("preview.jpg", "\xff\xd8"), ("Data/list.txt", "Ann: Hi")
)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("letter.odt", build_open("text"), "it is a document in a format that is not read. Save"),
        ("sums.ods", build_open("spreadsheet"), "it is a spreadsheet. Save it as CSV"),
        ("talk.odp", build_open("presentation"), "it is a presentation. Save it as PDF"),
        ("sums.xlsx", build_office("xl"), "it is a spreadsheet. Save it as CSV"),
        ("talk.pptx", build_office("ppt"), "it is a presentation. Save it as PDF"),
        ("a.pages", PAGES, "it is of Pages, Numbers or Keynote. Export it"),
        ("a.epub", BOOK, "it is an e-book. Save it as PDF or text"),
        (
            "a.doc",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "it is of an old Office program",
        ),
        ("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "it is a picture, and words in"),
        ("a.mp3", b"ID3" + bytes(500), "it is sound"),
        ("a.rar", b"Rar!\x1a\x07\0" + bytes(50), "it is an archive that is not read. Unpack it"),
        ("a.db", b"SQLite format 3\0" + bytes(50), "it is a database. Export what is in it"),
        ("a.docx", build_docx(""), "it is a document without a text"),
    ],
)
def test_an_imported_file_that_is_not_read_is_named_with_what_to_do_u9(
    name: str, data: bytes, reason: str
) -> None:
    [alone] = read_parts(name, data)
    [packed] = read_parts("all.zip", build_zip((name, data)))  # type: ignore[arg-type]

    assert str(alone.refusal).startswith(reason)
    assert str(packed.refusal).startswith(reason)
    assert "application/" not in str(alone.refusal)


@pytest.mark.parametrize(
    ("data", "reason"), [(BOOK, "it is an e-book"), (PAGES, "it is of Pages, Numbers or Keynote")]
)
def test_a_file_of_a_question_that_is_not_read_is_named_too_u9(tmp_path, data, reason) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)

    with pytest.raises(Unreadable, match=reason):
        read_content(path, "file")

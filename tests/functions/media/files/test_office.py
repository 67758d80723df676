"""Office documents: text is read as it stands, and no number in a file makes work (P21)."""

from pathlib import Path

import docx
import pytest

from functions.imports.formats.documents import read_document_text
from functions.media.files.office import read_office
from tests.fixtures.documents import build_docx, build_xlsx, replace_member

DOCUMENT, SHEET = "word/document.xml", "xl/worksheets/sheet1.xml"
RUN = "<w:r><w:t>{}</w:t></w:r>"


def read(folder: Path, content: bytes) -> list[str]:
    """Return the pages of a document."""
    path = folder / "content"
    path.write_bytes(content)
    read_content = read_office(path)
    assert read_content is not None
    return [page.text for page in read_content.pages]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<w:tcPr>", '<w:tcPr><w:gridSpan w:val="30000000"/>'),
        ("<w:tcPr>", "<w:tcPr><w:vMerge/>"),
        ("<w:trPr>", '<w:trPr><w:gridBefore w:val="30000000"/>'),
    ],
)
def test_cells_are_walked_as_they_stand_whatever_their_spans_claim_p21(
    tmp_path: Path, before: str, after: str
) -> None:
    table = build_docx("Keel", rows=[["oak", "12"]] * 60)
    if before == "<w:trPr>":
        before, after = "<w:tr>", f"<w:tr>{after}</w:trPr>"

    pages = read(tmp_path, replace_member(table, DOCUMENT, (before, after)))

    assert pages == ["\n".join(["Keel", *["oak\t12"] * 60])]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("<row ", '<row spans="1:16384" '), "Wood\noak\t12\nash"),
        (('r="2"', 'r="99999999999"'), "Wood\noak\t12\nash"),
        (('r="B1"', 'r="XFD1"'), "Wood\noak" + "\t" * 50 + "12\nash"),
        (('r="A2"', 'r="C2"'), "Wood\noak\t12\n\t\tash"),
    ],
)
def test_rows_and_columns_that_a_file_leaves_out_are_not_filled_p21(
    tmp_path: Path, change: tuple[str, str], text: str
) -> None:
    book = build_xlsx({"Wood": [["oak", 12], ["ash"]]})

    assert read(tmp_path, replace_member(book, SHEET, change)) == [text]


def test_thousands_of_rows_with_their_only_value_far_right_are_read_p21(tmp_path: Path) -> None:
    book = build_xlsx({"Wood": [["oak"]]})
    row = '<row r="{0}"><c r="XFD{0}"><v>7</v></c></row>'
    rows = "".join(row.format(n) for n in range(2, 20_002))

    [page] = read(tmp_path, replace_member(book, SHEET, ("</sheetData>", f"{rows}</sheetData>")))

    assert page.count("7") == 20_000


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (f"<w:ins>{RUN}</w:ins>", "Keel of oak"),
        (f"<w:sdt><w:sdtContent>{RUN}</w:sdtContent></w:sdt>", "Keel of oak"),
        (f"<w:hyperlink>{RUN}</w:hyperlink>", "Keel of oak"),
        (f"<w:moveFrom>{RUN}</w:moveFrom>", "Keel"),
        ("<w:r><w:noBreakHyphen/><w:t>7</w:t></w:r>", "Keel-7"),
        ("<w:del><w:r><w:delText>{}</w:delText></w:r></w:del>", "Keel"),
        (
            f"<w:r><w:pict><w:txbxContent><w:p>{RUN}</w:p></w:txbxContent></w:pict></w:r>",
            "Keel\n of oak",
        ),
    ],
)
def test_what_was_inserted_or_stands_in_controls_and_boxes_is_text_p21(
    tmp_path: Path, xml: str, text: str
) -> None:
    end = "Keel</w:t></w:r>"
    content = replace_member(build_docx("Keel"), DOCUMENT, (end, end + xml.format(" of oak")))

    assert read(tmp_path, content) == [text]


def test_a_control_around_paragraphs_and_a_table_in_a_table_are_read_p21(tmp_path: Path) -> None:
    document = docx.Document()
    outer = document.add_table(1, 2)
    outer.cell(0, 0).text = "oak"
    inner = outer.cell(0, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "ash", "elm"
    document.save(str(tmp_path / "nested"))

    [page] = read(tmp_path, (tmp_path / "nested").read_bytes())

    assert [page.count(wood) for wood in ("oak", "ash", "elm")] == [1, 1, 1]


def test_an_import_reads_the_same_text_of_a_document_as_a_file_of_a_chat_p21(
    tmp_path: Path,
) -> None:
    end = "Keel</w:t></w:r>"
    box = f"<w:txbxContent><w:p>{RUN.format('box')}</w:p></w:txbxContent>"
    both = "<mc:AlternateContent><mc:Choice>{0}</mc:Choice><mc:Fallback>{0}</mc:Fallback></mc:AlternateContent>"
    parts = [
        f"<w:ins>{RUN.format(' &amp; mast')}</w:ins>",
        f"<w:moveFrom>{RUN.format(' moved')}</w:moveFrom>",
        f"<w:r>{both.format(box)}</w:r>",
    ]
    document = build_docx("Keel", rows=[["oak", "12"]])
    content = replace_member(document, DOCUMENT, (end, end + "".join(parts)))

    assert read(tmp_path, content) == [read_document_text(content).strip()]
    assert read_document_text(content).splitlines() == ["Keel & mast", "box", "oak\t12"]

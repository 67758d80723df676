"""Text of PDFs, page by page; one reader for files and imports.

Also called: PDF extraction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shared.library.decoding import UnreadableFile

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

PDF_MARK = b"%PDF-"
_PASSWORD_ERRORS = ("password", "Unsupported security")


@contextmanager
def open_pdf(source: Path | bytes) -> "Iterator[PdfDocument]":
    """Open a PDF. Raises UnreadableFile for one that is protected or damaged."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        is_protected = any(sign in str(error) for sign in _PASSWORD_ERRORS)
        reason = "it is protected by a password" if is_protected else "its PDF is damaged"
        raise UnreadableFile(reason) from error
    with document:
        yield document


def read_page(document: "PdfDocument", number: int) -> str:
    """Return the text of a page; none of one that is damaged."""
    import pypdfium2

    try:
        return str(document[number].get_textpage().get_text_bounded())
    except pypdfium2.PdfiumError:
        return ""

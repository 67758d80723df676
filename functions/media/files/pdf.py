"""PDF: the text of each page, and a picture of the first.

Also called: PDF extraction.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from functions.media.files.file_content import FileContent, PageCollector, Unreadable
from functions.media.files.pictures import THUMBNAIL_SIDE, build_thumbnail
from shared.domain.files.file import PDF_TYPE

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

NO_TEXT = "no text is in it, only pictures of pages. Send the pages as pictures"
_PASSWORD_ERRORS = ("password", "Unsupported security")


def read_pdf(path: Path) -> FileContent:
    """Raises Unreadable for one that is protected, damaged or has no text."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        is_protected = any(sign in str(error) for sign in _PASSWORD_ERRORS)
        reason = "it is protected by a password" if is_protected else "its PDF is damaged"
        raise Unreadable(reason) from error
    with document:
        pages = PageCollector()
        for number in range(len(document)):
            pages.add(_read_page(document, number))
        return FileContent(
            media_type=PDF_TYPE,
            pages=pages.finish(nothing=NO_TEXT),
            thumbnail=_draw_first(document),
        )


def _read_page(document: "PdfDocument", number: int) -> str:
    """Return the text of a page; none of one that is damaged."""
    import pypdfium2

    try:
        page = document[number]
        return str(page.get_textpage().get_text_bounded())
    except pypdfium2.PdfiumError:
        return ""


def _draw_first(document: "PdfDocument") -> bytes:
    import pypdfium2

    try:
        page = document[0]
        longest = max(page.get_size()) or 1.0
        return build_thumbnail(page.render(scale=2 * THUMBNAIL_SIDE / longest).to_pil())
    except (pypdfium2.PdfiumError, ValueError):
        return b""

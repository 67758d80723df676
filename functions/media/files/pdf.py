"""PDF: the text of each page, and a picture of the first."""

from pathlib import Path
from typing import TYPE_CHECKING

from functions.media.files.file_content import FileContent, PageCollector, Unreadable
from functions.media.files.pictures import THUMBNAIL_SIDE, build_thumbnail
from shared.domain.files.file import PDF_TYPE
from shared.library.decoding import UnreadableFile
from shared.library.pdf_text import open_pdf, read_page

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

NO_TEXT = "no text is in it, only pictures of pages. Send the pages as pictures"


def read_pdf(path: Path) -> FileContent:
    """Raises Unreadable for one that is protected, damaged or has no text."""
    try:
        with open_pdf(path) as document:
            pages = PageCollector()
            for number in range(len(document)):
                pages.add(read_page(document, number))
            return FileContent(
                media_type=PDF_TYPE,
                pages=pages.finish(nothing=NO_TEXT),
                thumbnail=_draw_first(document),
            )
    except UnreadableFile as error:
        raise Unreadable(str(error)) from error


def _draw_first(document: "PdfDocument") -> bytes:
    import pypdfium2

    try:
        page = document[0]
        longest = max(page.get_size()) or 1.0
        return build_thumbnail(page.render(scale=2 * THUMBNAIL_SIDE / longest).to_pil())
    except (pypdfium2.PdfiumError, ValueError):
        return b""

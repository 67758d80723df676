"""Documents among imported files: Word, PDF and Rich Text, whose text is read as that of any file of the owner."""

from functions.imports.formats.archives import list_files
from shared.library.decoding import UnreadableFile, decode
from shared.library.pdf_text import PDF_MARK, open_pdf, read_page
from shared.library.rich_text import read_rich_text
from shared.library.word_text import WORD_MEMBER, list_lines

ARCHIVE_MARK = b"PK"


def is_document(data: bytes) -> bool:
    if not data.startswith(ARCHIVE_MARK) or WORD_MEMBER.encode() not in data:
        return False
    try:
        return any(path == WORD_MEMBER for path, _ in list_files(data))
    except UnreadableFile:
        return False


def read_document_text(data: bytes) -> str:
    """Return the text of a document. Raises UnreadableFile."""
    for path, unpack in list_files(data):
        if path == WORD_MEMBER:
            text = "\n".join(list_lines(decode(unpack())))
            if text.strip():
                return text
    raise UnreadableFile("it is a document without a text")


def is_pdf(data: bytes) -> bool:
    return data.startswith(PDF_MARK)


def read_pdf_text(data: bytes) -> str:
    """Return the text of a PDF, a line for each of its lines. Raises UnreadableFile."""
    with open_pdf(data) as document:
        pages = [read_page(document, number) for number in range(len(document))]
    text = "\n\n".join("\n".join(page.splitlines()) for page in pages)
    if not text.strip():
        raise UnreadableFile("it is a PDF without a text, only with pictures of pages")
    return text


def read_rich_text_document(data: bytes) -> str:
    """Return the text of Rich Text. Raises UnreadableFile."""
    text = read_rich_text(data)
    if not text:
        raise UnreadableFile("it is a document without a text")
    return text

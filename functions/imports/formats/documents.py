"""Word documents among imported files, whose text is read as that of any file of the owner."""

from functions.imports.formats.archives import list_files
from shared.library.decoding import UnreadableFile, decode
from shared.library.word_text import WORD_MEMBER, list_lines

_MARK = b"PK"


def is_document(data: bytes) -> bool:
    if not data.startswith(_MARK) or WORD_MEMBER.encode() not in data:
        return False
    try:
        return any(path == WORD_MEMBER for path, _ in list_files(data))
    except UnreadableFile:
        return False


def read_document_text(data: bytes) -> str:
    """Return the text of a document. Raises UnreadableFile."""
    for path, unpack in list_files(data):
        if path == WORD_MEMBER:
            return "\n".join(list_lines(decode(unpack())))
    raise UnreadableFile("it is a document without a text")

"""Word documents: the text of their paragraphs, a line each.

Read by a pattern, in time that grows with the text: files of strangers meet no parser of XML in a process
that serves others, and a process for each, as for the files of a chat, would cost an import more than the rest.
"""

import html
import re

from functions.imports.formats.archives import list_files
from shared.library.decoding import UnreadableFile, decode

_BODY = "word/document.xml"
_MARK = b"PK"
_PIECE = re.compile(
    r"<w:t(?:\s[^<>]*)?>(?P<text>[^<]*)</w:t>|<w:(?P<tab>tab)/>|(?P<line><w:(?:br|cr)(?:\s[^<>]*)?/>|</w:p>)"
)


def is_document(data: bytes) -> bool:
    if not data.startswith(_MARK) or _BODY.encode() not in data:
        return False
    try:
        return any(path == _BODY for path, _ in list_files(data))
    except UnreadableFile:
        return False


def read_document_text(data: bytes) -> str:
    """Return the text of a document. Raises UnreadableFile."""
    for path, unpack in list_files(data):
        if path == _BODY:
            return "".join(map(_read_piece, _PIECE.finditer(decode(unpack()))))
    raise UnreadableFile("it is a document without a text")


def _read_piece(piece: re.Match[str]) -> str:
    if piece["line"]:
        return "\n"
    return "\t" if piece["tab"] else html.unescape(piece["text"])

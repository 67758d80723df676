"""Pages: the chat that HTML shows, or what people read of it, as a transcript where it names who speaks."""

import re
from dataclasses import replace

from functions.imports.formats.chat_pages import read_chat_page
from functions.imports.formats.drafts import Contents, TextFile
from functions.imports.formats.transcripts import read_transcript
from shared.integrations.html_text import extract_text
from shared.library.decoding import UnreadableFile

_START = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,1000}?-->\s*)?<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)


def is_page(file: TextFile) -> bool:
    return bool(_START.match(file.text))


def read_page(file: TextFile) -> Contents:
    """Read a page; its owner is asked about one on which nobody is named. Raises UnreadableFile."""
    if chat := read_chat_page(file.text):
        return Contents(conversations=chat)
    page = extract_text(file.text.encode(), "utf-8")
    if not page.text:
        raise UnreadableFile("it is a page without words")
    return ask_without_speakers(read_transcript(TextFile(name=file.name, text=page.text)))


def ask_without_speakers(contents: Contents) -> Contents:
    """Have the owner asked about what names nobody who speaks: most pages and documents are no talks."""
    turns = [turn for draft in contents.conversations for turn in draft.turns]
    return replace(contents, is_recognised=any(turn.speaker for turn in turns))

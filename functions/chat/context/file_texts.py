"""Texts of files that a turn gives to its model, by the files' ids; pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType

from functions.chat.context.blocks import FileNote, GivenDocument
from shared.domain.file import File, Page
from shared.domain.ids import FileId
from shared.domain.value import value

MAX_FILES = 10
"""Of one question."""
MAX_EARLIER_TOKENS = 100_000
"""Of the files of earlier messages that a turn reads; others are named, and read by a tool."""
UNSEEN_PICTURE = (
    "[A picture of {width} × {height} pixels. You cannot see it; say so if it matters.]"
)


@value
class FileText:
    """A file and its text, with a line before each page of several."""

    file: File
    text: str

    @property
    def note(self) -> FileNote:
        return build_note(self.file)


FileTexts = Mapping[FileId, FileText]
NO_TEXTS: FileTexts = MappingProxyType({})


def build_note(file: File) -> FileNote:
    return FileNote(id=file.id, name=file.name, chars=file.char_count)


def describe_picture(file: File) -> str:
    """Return what a model reads in the place of a picture."""
    return UNSEEN_PICTURE.format(width=file.width, height=file.height)


def select_given(newest_first: Iterable[File]) -> tuple[list[File], list[File]]:
    """Return the newest files that fit MAX_EARLIER_TOKENS together, and the others."""
    files = list(newest_first)
    totals = accumulate(file.token_count for file in files)
    fitting = sum(1 for total in totals if total <= MAX_EARLIER_TOKENS)
    return files[:fitting], files[fitting:]


def join_pages(pages: Sequence[Page]) -> str:
    """Write pages one after the other, each of several below its number."""
    if len(pages) == 1:
        return pages[0].text
    return "\n\n".join(f"[page {page.number}]\n{page.text}" for page in pages)


def number_documents(texts: Sequence[FileText]) -> list[GivenDocument]:
    return [
        GivenDocument(
            number=n, title=text.file.name, contents=text.text, metadata=f"file {text.file.id}"
        )
        for n, text in enumerate(texts, start=1)
    ]

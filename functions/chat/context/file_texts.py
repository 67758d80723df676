"""Texts of files that a turn gives to its model, by the files' ids; pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType

from functions.chat.context.blocks import FileNote, GivenDocument
from functions.chat.context.pictures import GivenPicture, build_label
from shared.domain.files.file import File, Page
from shared.domain.ids import FileId
from shared.domain.models.model import Picture
from shared.domain.value import value

MAX_FILES = 10
"""Of one question."""
MAX_EARLIER_TOKENS = 100_000
"""Of the files of earlier messages that a turn reads; others are named, and read by a tool."""
MAX_EARLIER_FILES = 50


@value
class FileText:
    """A file and its text, with a line before each page of several; or the picture that it is."""

    file: File
    text: str = ""
    picture: Picture | None = None

    @property
    def note(self) -> FileNote:
        return build_note(self.file)


FileTexts = Mapping[FileId, FileText]
NO_TEXTS: FileTexts = MappingProxyType({})


def build_note(file: File) -> FileNote:
    return FileNote(id=file.id, name=file.name, chars=file.char_count)


def select_given(newest_first: Iterable[File]) -> tuple[list[File], list[File]]:
    """Return the newest MAX_EARLIER_FILES that fit MAX_EARLIER_TOKENS together, and the others."""
    files = list(newest_first)
    totals = accumulate(file.token_count for file in files[:MAX_EARLIER_FILES])
    fitting = sum(1 for total in totals if total <= MAX_EARLIER_TOKENS)
    return files[:fitting], files[fitting:]


def join_pages(pages: Sequence[Page]) -> str:
    """Write pages one after the other, each of several below its number."""
    if len(pages) == 1:
        return pages[0].text
    return "\n\n".join(f"[page {page.number}]\n{page.text}" for page in pages)


def number_documents(texts: Sequence[FileText]) -> list[GivenDocument]:
    documents = [text for text in texts if not text.file.is_picture]
    return [
        GivenDocument(
            number=n,
            title=text.file.name,
            contents=text.text,
            metadata=f"file {text.file.id}",
            file_id=text.file.id,
        )
        for n, text in enumerate(documents, start=1)
    ]


def list_pictures(texts: Sequence[FileText]) -> list[GivenPicture]:
    return [
        GivenPicture(label=build_label(text.file), picture=text.picture)
        for text in texts
        if text.picture is not None
    ]

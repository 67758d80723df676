"""Given files: the texts and pictures of a turn's files, as its model is given them, and the names of those left out; pure.

Also called: vision, multimodal, image input.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType

from functions.chat.context.blocks import (
    EarlierMessage,
    FileNote,
    GivenDocument,
    GivenPicture,
    build_earlier_message,
)
from functions.chat.context.numbering import Numbering
from shared import prompts
from shared.domain.chats.chat import FilePage
from shared.domain.files.file import File, Page
from shared.domain.ids import FileId
from shared.domain.models.model import ModelMessage, Picture, UserText
from shared.domain.provenance import LIBRARY
from shared.domain.value import value
from shared.security.fencing import fence_untrusted

MAX_FILES = 10
"""Of one question."""
MAX_EARLIER_TOKENS = 100_000
"""Of the files of earlier messages that a turn reads, however large the window; others are named, and read by a tool."""
MAX_EARLIER_FILES = 50
UNSEEN = "[You cannot see the pictures of this message; say so if they matter.]"


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


def select_given(newest_first: Iterable[File], max_tokens: int) -> tuple[list[File], list[File]]:
    """Return the newest MAX_EARLIER_FILES that fit `max_tokens` together, and the others."""
    files = list(newest_first)
    totals = accumulate(file.token_count for file in files[:MAX_EARLIER_FILES])
    fitting = sum(1 for total in totals if total <= min(max_tokens, MAX_EARLIER_TOKENS))
    return files[:fitting], files[fitting:]


def join_pages(pages: Sequence[Page]) -> str:
    """Write pages one after the other, each of several below its number."""
    if len(pages) == 1:
        return pages[0].text
    return "\n\n".join(f"[page {page.number}]\n{page.text}" for page in pages)


def number_documents(texts: Sequence[FileText], numbering: Numbering) -> list[GivenDocument]:
    """Return documents by the numbers of their files; those that have none get the next."""
    return [
        GivenDocument(
            number=numbering.assign(FilePage(id=FileId(text.file.id), name=text.file.name)),
            title=text.file.name,
            contents=text.text,
            metadata=f"file {text.file.id}",
            file_id=text.file.id,
        )
        for text in texts
        if not text.file.is_picture
    ]


def list_pictures(texts: Sequence[FileText]) -> list[GivenPicture]:
    return [
        GivenPicture(label=_build_label(text.file), picture=text.picture)
        for text in texts
        if text.picture is not None
    ]


def _build_label(file: File) -> str:
    return f"[picture {_to_json(file.name)}, {file.width} × {file.height} pixels]"


# --- documents


def build_document_messages(documents: Sequence[GivenDocument]) -> list[UserText]:
    """Return the documents of one turn as one message, none where there are none."""
    if not documents:
        return []
    rows = ",\n        ".join(_to_json(_to_fields(document)) for document in documents)
    listed = f'{{\n    "documents": [\n        {rows}\n    ]\n}}'
    text = prompts.render("chat/documents", documents=listed)
    return [UserText(text=fence_untrusted(text, LIBRARY))]


def _to_fields(document: GivenDocument) -> dict[str, object]:
    """Keep the number in front: a model cites what stands close to the text."""
    metadata = {"metadata": document.metadata} if document.metadata else {}
    return {
        "document": document.number,
        "title": document.title,
        **metadata,
        "contents": document.contents,
    }


def build_file_notices(files: Sequence[FileNote]) -> list[UserText]:
    """Name files of long ago that the model can only read by a tool."""
    return _name_files("chat/forgotten_files", files)


def build_project_notices(files: Sequence[FileNote]) -> list[UserText]:
    """Name the files of a project that the model can only search."""
    return _name_files("chat/project_files", files)


def _name_files(prompt: str, files: Sequence[FileNote]) -> list[UserText]:
    if not files:
        return []
    rows = [_to_json({"file_id": f.id, "name": f.name, "chars": f.chars}) for f in files]
    listed = fence_untrusted("\n".join(rows), LIBRARY)
    return [UserText(text=prompts.render(prompt, files=listed))]


def _to_json(fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)


# --- pictures


def add_pictures(message: UserText, given: Sequence[GivenPicture]) -> UserText:
    """Return the message with these pictures, named above its text."""
    if not given:
        return message
    labels = "\n".join(each.label for each in given)
    return UserText(
        text=f"{labels}\n\n{message.text}", pictures=tuple(each.picture for each in given)
    )


def hide_pictures(message: ModelMessage) -> ModelMessage:
    """Return the message for a model that sees none: the names stay, and a line says so."""
    if not isinstance(message, UserText) or not message.pictures:
        return message
    return UserText(text=f"{UNSEEN}\n{message.text}")


def hide_earlier_pictures(earlier: EarlierMessage) -> EarlierMessage:
    messages = tuple(map(hide_pictures, earlier.messages))
    if messages == earlier.messages:
        return earlier
    return replace(build_earlier_message(messages), files=earlier.files)

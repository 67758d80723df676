"""Documents given to a model: files as one message of fenced JSON, and a list of those left out."""

import json
from collections.abc import Sequence

from functions.chat.context.blocks import FileNote, GivenDocument
from shared import prompts
from shared.domain.models.model import UserText
from shared.domain.provenance import LIBRARY
from shared.security.fencing import fence_untrusted


def build_document_messages(documents: Sequence[GivenDocument]) -> list[UserText]:
    """Return the documents of one turn as one message, none where there are none."""
    if not documents:
        return []
    rows = ",\n        ".join(_to_json(_to_fields(document)) for document in documents)
    listed = f'{{\n    "documents": [\n        {rows}\n    ]\n}}'
    text = prompts.render("chat/documents", documents=listed)
    return [UserText(text=fence_untrusted(text, LIBRARY))]


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


def _to_fields(document: GivenDocument) -> dict[str, object]:
    """Keep the number in front: a model cites what stands close to the text."""
    metadata = {"metadata": document.metadata} if document.metadata else {}
    return {
        "document": document.number,
        "title": document.title,
        **metadata,
        "contents": document.contents,
    }


def _to_json(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False)

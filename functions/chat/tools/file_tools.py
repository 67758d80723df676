"""File tools: read the text of a file that the owner handed in, and search in all of them."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from functions.chat.context.citations import Citations
from functions.chat.context.given_files import join_pages
from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import MORE_HITS, build_builtin_tool
from functions.chat.tools.toolkit import ResultRenderer, Tool, WordedResult, render_fixed
from shared.arguments import Arguments
from shared.domain.chats.chat import FilePage
from shared.domain.errors import NotFound
from shared.domain.files.file import File
from shared.domain.ids import UserId
from shared.domain.models.model import SAFE_WINDOW_TOKENS
from shared.library.files import load_pages
from shared.retrieval.page_passages import split_into_passages

MAX_SLICE_CHARS = 20_000
"""In a small window, a character for each of its tokens: about a quarter of it."""
MAX_FOUND = 8
TOKENS_PER_PASSAGE = 1_000
"""In a small window, one passage for so many of its tokens is found."""
NOTHING_FOUND = "No passage of a file fits these words."
NO_SUCH_FILE = "There is no such file; search_files names those there are."
NOT_READ = "This file has no text that could be read."


class ReadFile(Arguments):
    """Read the text of a file that the owner handed in, a slice at a time."""

    file_id: Annotated[str, Field(max_length=64, description="Id of the file.")]
    first_page: Annotated[int, Field(ge=1, description="Page to begin with, from 1.")] = 1
    start: Annotated[
        int, Field(ge=0, description="Character of that page to begin with, from 0.")
    ] = 0


class SearchFiles(Arguments):
    """Search in the files that the owner handed in: documents, tables, slides and texts."""

    query: Annotated[str, Field(min_length=1, max_length=1000, description="What is looked for.")]
    file_ids: Annotated[
        list[str] | None, Field(max_length=20, description="Only in these files; all without any.")
    ] = None


def build_file_tools(
    deps: ChatDeps, uid: UserId, *, can_search: bool, window_tokens: int = SAFE_WINDOW_TOKENS
) -> list[Tool]:
    """Return the tools; one that has the files whole before it has nothing to search."""
    limit = min(MAX_FOUND, max(1, window_tokens // TOKENS_PER_PASSAGE))
    read = build_builtin_tool(
        "read_file",
        "Reading your file",
        ReadFile,
        partial(_read, deps, uid, max_chars=min(MAX_SLICE_CHARS, window_tokens)),
        tool_class="read",
        is_search=True,
        reads="file",
    )
    search = build_builtin_tool(
        "search_files",
        "Searching your files",
        SearchFiles,
        partial(_search, deps, uid, limit=limit),
        tool_class="read",
        is_search=True,
        reads="file",
    )
    return [read, search] if can_search else [read]


async def _read(
    deps: ChatDeps, uid: UserId, arguments: ReadFile, *, max_chars: int
) -> ResultRenderer:
    try:
        file = await deps.stores.files.get(uid, arguments.file_id)
    except NotFound:
        return _word(NO_SUCH_FILE, "That file is not there.")
    pages = await load_pages(deps.blobs, uid, file.id)
    if not pages:
        return _word(NOT_READ, f"“{file.name}” has no text.")
    rest = join_pages(pages[arguments.first_page - 1 :])[arguments.start :]
    text = rest[:max_chars]
    page = FilePage(id=file.id, name=file.name, page=arguments.first_page)
    answer = {
        **_describe(file),
        "url": f"keepsake://files/{file.id}#page={arguments.first_page}",
        "pages": file.page_count,
        "text": text,
        "continues_at": arguments.start + len(text) if len(rest) > len(text) else None,
    }
    return WordedResult(
        render=lambda citations: _to_json({"document": citations.assign_number(page), **answer}),
        shown_text=f"“{file.name}”",
    )


async def _search(
    deps: ChatDeps, uid: UserId, arguments: SearchFiles, *, limit: int
) -> ResultRenderer:
    wanted = await deps.stores.files.find_all(uid, arguments.file_ids or ())
    known = [file.id for file in wanted if file]
    if arguments.file_ids and not known:
        return _word(NO_SUCH_FILE, "Those files are not there.")
    found = await deps.file_index.search(uid, arguments.query, file_ids=known, limit=limit)
    ids = list(dict.fromkeys(passage.file_id for passage in found.passages))
    files = {file.id: file for file in await deps.stores.files.find_all(uid, ids) if file}
    passages = {
        file_id: split_into_passages(await load_pages(deps.blobs, uid, file_id))
        for file_id in files
    }
    rows = [
        {
            **_describe(files[each.file_id]),
            "page": passages[each.file_id][each.number].page,
            "url": f"keepsake://files/{each.file_id}#page={passages[each.file_id][each.number].page}",
            "text": passages[each.file_id][each.number].text,
        }
        for each in found.passages
        if each.number < len(passages.get(each.file_id, ()))
    ]
    if not rows:
        return _word(NOTHING_FOUND, "No file says anything about it.")
    names = ", ".join(f"“{file.name}”" for file in files.values())
    note = MORE_HITS if found.has_more else None
    return WordedResult(render=partial(_render_rows, rows, note), shown_text=names)


def _render_rows(rows: Sequence[Mapping[str, Any]], note: str | None, citations: Citations) -> str:
    """Number each page that was found, so that an answer can cite it."""
    pages = [FilePage(id=row["file_id"], name=row["name"], page=row["page"]) for row in rows]
    results = [
        {"document": citations.assign_number(page), **row}
        for page, row in zip(pages, rows, strict=True)
    ]
    return _to_json({"results": results, **({"note": note} if note else {})})


def _to_json(answer: object) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _describe(file: File) -> dict[str, str]:
    return {"file_id": file.id, "name": file.name}


def _word(text: str, shown_text: str) -> WordedResult:
    return WordedResult(render=render_fixed(text), shown_text=shown_text)

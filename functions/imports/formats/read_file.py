"""Reading of a file: whatever it is called, its content tells what it is.

Also called: file format detection, parser.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from functions.imports.formats.archived_chats import Surroundings, read_surroundings
from functions.imports.formats.archives import list_files
from functions.imports.formats.chat_lists import is_chat_list
from functions.imports.formats.documents import (
    ARCHIVE_MARK,
    is_document,
    is_pdf,
    read_document_text,
    read_pdf_text,
    read_rich_text_document,
)
from functions.imports.formats.drafts import Contents, join_contents
from functions.imports.formats.exports import EXPORTED_LISTS, EmptyPart, read_collection
from functions.imports.formats.formats import find_format, read_text_file
from functions.imports.formats.json_text import open_text
from functions.imports.formats.pages import ask_without_speakers
from functions.imports.formats.restored_records import NOT_TAKEN, RESTORED_KINDS
from functions.imports.formats.slack import is_slack, read_channel_day
from shared.domain.value import value
from shared.library.decoding import UnreadableFile, decode
from shared.library.file_kinds import ZIP, guess_type
from shared.library.rich_text import is_rich_text

SENSELESS = "its values make no sense: it is damaged, or of another program"
EXPORT_MARK = "profile.json"
"""The first file of our own export."""
_UNFORESEEN = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
"""No reader foresees every value."""
CONTENT_FOLDERS = ("audio/", "files/")
CONVERSATIONS = "conversations"
"""The folder of our own export that has a file for each conversation."""


@value
class Part:
    """A file, or one file of an archive: what it holds, or the reason why it is not imported."""

    name: str
    contents: Contents | None = None
    refusal: UnreadableFile | None = None


def read_parts(name: str, data: bytes) -> list[Part]:
    """Read a file, or each file of an archive: one that cannot be read does not cost the others."""
    if is_document(data) or not _is_archive(data):
        return [_read_part(name, partial(_read_single, name, data))]
    stem = PurePosixPath(name).stem
    try:
        surroundings = read_surroundings(list_files(data))
        parts = [
            _read_part(f"{name}/{path}", partial(_read_member, stem, path, unpack, surroundings))
            for path, unpack in _list_members(data)
        ]
    except UnreadableFile as error:
        return [Part(name=name, refusal=error)]
    told = [
        part
        for part in parts
        if not isinstance(part.refusal, EmptyPart)
        and (part.contents or PurePosixPath(part.name).name not in surroundings.passed_over)
    ]
    if any(part.name == f"{name}/{EXPORT_MARK}" for part in parts):
        told = _join_restored(f"{name}/{CONVERSATIONS}", told)
    return told or parts or [Part(name=name, refusal=UnreadableFile("it is an empty archive"))]


def _join_restored(folder: str, parts: Sequence[Part]) -> list[Part]:
    """Return the conversations of our own export as one part: a large library has tens of thousands."""
    joined: list[Contents] = []
    others: list[Part] = []
    for part in parts:
        if part.contents and part.contents.restored and part.name.startswith(f"{folder}/"):
            joined.append(part.contents)
        else:
            others.append(part)
    return [Part(name=folder, contents=join_contents(joined)), *others] if joined else others


def _list_members(data: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield what is read of an archive: sound and files of our own export are no conversations.

    A page beside JSON of the same name holds the same once more.
    """
    is_export = False
    paths = {path for path, _ in list_files(data)}
    for path, unpack in list_files(data):
        is_export |= path == EXPORT_MARK
        is_page = PurePosixPath(path).suffix == ".html"
        is_double = is_page and str(PurePosixPath(path).with_suffix(".json")) in paths
        if not is_double and (not is_export or not path.startswith(CONTENT_FOLDERS)):
            yield path, unpack


def _read_part(name: str, read: Callable[[], Contents]) -> Part:
    try:
        return Part(name=name, contents=read())
    except UnreadableFile as refusal:
        return Part(name=name, refusal=refusal)
    except _UNFORESEEN:
        return Part(name=name, refusal=UnreadableFile(SENSELESS))


def _read_single(name: str, data: bytes) -> Contents:
    """Read a file that is no archive. Raises UnreadableFile."""
    contents = read_text_file(open_text(name, _read_text(data)))
    return ask_without_speakers(contents) if is_pdf(data) else contents


def is_read_by_library(name: str, data: bytes) -> bool:
    """Tell whether a library reads a file, which may take minutes for a page of text."""
    if is_pdf(data) or is_rich_text(data) or data.startswith(ARCHIVE_MARK):
        return True
    try:
        text = data.decode("utf-8-sig")
        return find_format(open_text(name, text)).may_hold_pages
    except (UnreadableFile, *_UNFORESEEN):
        return True


def _read_text(data: bytes) -> str:
    if is_pdf(data):
        return read_pdf_text(data)
    if is_rich_text(data):
        return read_rich_text_document(data)
    return read_document_text(data) if is_document(data) else decode(data)


def _is_archive(data: bytes) -> bool:
    return guess_type(data) == ZIP


def _read_member(
    stem: str, path: str, unpack: Callable[[], bytes], surroundings: Surroundings
) -> Contents:
    """Read a file of an archive: a list of an export by its name, a chat by the archive's."""
    inner, data = PurePosixPath(path), unpack()
    if _is_archive(data) and not is_document(data):  # it may hold itself
        raise UnreadableFile(
            "an archive in an archive is not read: unpack it, and import what is in it"
        )
    if inner.suffix == ".json":
        return _read_json(stem, inner, data, surroundings)
    return _read_single(f"{stem}{inner.suffix}" if inner.stem == "_chat" else inner.name, data)


def _read_json(
    stem: str, inner: PurePosixPath, data: bytes, surroundings: Surroundings
) -> Contents:
    """Read a JSON file whose place may tell what it is: part of a chat, or a list of our export."""
    file = open_text(inner.name, decode(data))
    if file.content == []:
        raise EmptyPart("nothing stands in it")
    if surroundings.people and is_slack(file):
        title = inner.parent.name
        return read_channel_day(file.content, title=title, people=surroundings.people)
    if is_chat_list(file):  # other programs call their files as we do
        return _name_chats(read_text_file(file), surroundings.titles.get(str(inner.parent), ""))
    if inner.stem in (*RESTORED_KINDS, *NOT_TAKEN):
        return read_collection(inner.stem, file.content)
    if inner.stem in EXPORTED_LISTS:
        return read_text_file(open_text(f"{stem}.json", f'{{"{inner.stem}": {file.text}}}'))
    return read_text_file(file)


def _name_chats(contents: Contents, title: str) -> Contents:
    """Give the chats that name themselves nowhere the title that stands beside them."""
    drafts = [replace(draft, title=draft.title or title) for draft in contents.conversations]
    return replace(contents, conversations=drafts)

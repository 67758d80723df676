"""Reading of a file: whatever it is called, its content tells what it is.

Also called: file format detection, parser.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath

import filetype

from functions.imports.formats.archives import list_files
from functions.imports.formats.documents import is_document, read_document_text
from functions.imports.formats.drafts import Contents, join_records
from functions.imports.formats.exports import EXPORTED_LISTS, EmptyPart, read_collection
from functions.imports.formats.formats import read_text_file
from functions.imports.formats.json_text import open_text
from functions.imports.formats.restored_records import NOT_TAKEN, RESTORED_KINDS
from functions.imports.formats.slack import (
    LIST_FILES as SLACK_LISTS,
)
from functions.imports.formats.slack import PEOPLE_FILE, is_slack, read_channel_day, read_people
from shared.domain.value import value
from shared.library.decoding import UnreadableFile, decode

SENSELESS = "its values make no sense: it is damaged, or of another program"
MAX_NAMED = 3
"""Files of an archive that a refusal of the whole names."""
EXPORT_MARK = "profile.json"
"""The first file of our own export."""
CONTENT_FOLDERS = ("audio/", "files/")


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
        people = _find_slack_people(data)
        parts = [
            _read_part(f"{name}/{path}", partial(_read_member, stem, path, unpack, people))
            for path, unpack in _list_members(data)
        ]
    except UnreadableFile as error:
        return [Part(name=name, refusal=error)]
    passed_over = SLACK_LISTS if people else frozenset[str]()
    told = [
        part
        for part in parts
        if not isinstance(part.refusal, EmptyPart)
        and (part.contents or PurePosixPath(part.name).name not in passed_over)
    ]
    return told or parts or [Part(name=name, refusal=UnreadableFile("it is an empty archive"))]


def read_file(name: str, data: bytes) -> Contents:
    """Return everything that a file holds. Raises UnreadableFile where nothing of it can be read."""
    parts = read_parts(name, data)
    contents = [part.contents for part in parts if part.contents]
    if contents:
        return _join(contents)
    refusals = [part.refusal for part in parts if part.refusal]
    if parts[0].name == name:
        raise refusals[0]
    named = [f"{part.name}: {part.refusal}" for part in parts[:MAX_NAMED]]
    raise UnreadableFile("; ".join(named))


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


def _find_slack_people(data: bytes) -> dict[str, str]:
    """Return the names of the people in an export of Slack by id; none in another archive."""
    for path, unpack in list_files(data):
        if PurePosixPath(path).name == PEOPLE_FILE:
            with suppress(UnreadableFile):
                return read_people(open_text(path, decode(unpack())).content)
    return {}


def _read_part(name: str, read: Callable[[], Contents]) -> Part:
    try:
        return Part(name=name, contents=read())
    except UnreadableFile as refusal:
        return Part(name=name, refusal=refusal)
    except (
        ArithmeticError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ):  # no reader foresees every value
        return Part(name=name, refusal=UnreadableFile(SENSELESS))


def _read_single(name: str, data: bytes) -> Contents:
    """Read a file that is no archive. Raises UnreadableFile."""
    text = read_document_text(data) if is_document(data) else decode(data)
    return read_text_file(open_text(name, text))


def _is_archive(data: bytes) -> bool:
    return bool(filetype.guess_mime(data) == "application/zip")


def _read_member(
    stem: str, path: str, unpack: Callable[[], bytes], people: Mapping[str, str]
) -> Contents:
    """Read a file of an archive: a list of an export by its name, a chat by the archive's.

    `people` are those of an export of Slack, where a folder is a channel.
    """
    inner, data = PurePosixPath(path), unpack()
    is_json = inner.suffix == ".json"
    if is_json and people and is_slack(messages := open_text(path, decode(data))):
        return read_channel_day(messages.content, title=inner.parent.name, people=people)
    if is_json and inner.stem in (*RESTORED_KINDS, *NOT_TAKEN):
        return read_collection(inner.stem, open_text(path, decode(data)).content)
    if is_json and inner.stem in EXPORTED_LISTS:
        text = decode(data)
        if open_text(path, text).content == []:
            raise EmptyPart("nothing stands in it")
        return read_text_file(open_text(f"{stem}.json", f'{{"{inner.stem}": {text}}}'))
    if _is_archive(data):  # it may hold itself
        raise UnreadableFile("an archive in an archive is not read")
    return _read_single(f"{stem}{inner.suffix}" if inner.stem == "_chat" else inner.name, data)


def _join(contents: Iterable[Contents]) -> Contents:
    everything = list(contents)
    return Contents(
        conversations=[draft for c in everything for draft in c.conversations],
        memories=[record for c in everything for record in c.memories],
        action_items=[record for c in everything for record in c.action_items],
        people=[record for c in everything for record in c.people],
        restored=[item for c in everything for item in c.restored],
        records=join_records(c.records for c in everything),
        left={name: reason for c in everything for name, reason in c.left.items()},
        left_out=[left for c in everything for left in c.left_out],
    )

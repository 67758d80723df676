"""Archives: the files of a zip, within limits that a zip bomb meets before memory does."""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from lzma import LZMAError

from shared.library.decoding import UnreadableFile
from shared.library.file_kinds import guess_type

MAX_FILES = 100_000
"""Our own export has one for each conversation; how much is read bounds their bytes."""
MAX_BYTES = 536_870_912
"""Of all files of an archive together, as they are read."""
MAX_RATIO = 200
"""Of a file's size to what it takes up in the archive; text packs to about a tenth."""
SMALL_BYTES = 1_048_576
HEAD_BYTES = 8_192
"""Bytes by which a file is recognised."""
DOCUMENT_SUFFIXES = (".docx", ".pdf", ".rtf")
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    NotImplementedError,
    OSError,
    ValueError,
    EOFError,
)
"""What reading a damaged member raises, by how it was compressed."""


def list_files(data: bytes) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield each file, without folders and what systems add: its name, and what unpacks it.

    Of a file that is neither text nor a document, only the head is unpacked. Both raise UnreadableFile.
    """
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise UnreadableFile("its zip is broken") from error
    with archive:
        files = [info for info in archive.infolist() if _is_wanted(info)]
        _check(files)
        for info in files:
            yield info.filename, partial(_read, archive, info)


def _is_wanted(info: zipfile.ZipInfo) -> bool:
    parts = info.filename.split("/")
    return not info.is_dir() and "__MACOSX" not in parts and not parts[-1].startswith(".")


def _check(files: list[zipfile.ZipInfo]) -> None:
    if any(info.flag_bits & 1 for info in files):
        raise UnreadableFile("it is protected by a password")
    if len(files) > MAX_FILES:
        raise UnreadableFile(f"it holds more than {MAX_FILES} files")
    if sum(info.file_size for info in files) > MAX_BYTES or any(map(_is_bomb, files)):
        raise UnreadableFile("it unpacks to far more than it is")


def _is_bomb(info: zipfile.ZipInfo) -> bool:
    return info.file_size > max(SMALL_BYTES, MAX_RATIO * info.compress_size)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read a file, and no more than it was declared to hold."""
    try:
        with archive.open(info) as file:
            data = file.read(HEAD_BYTES)
            if guess_type(data) is None or info.filename.lower().endswith(DOCUMENT_SUFFIXES):
                data += file.read(info.file_size + 1)
    except _BROKEN as error:
        raise UnreadableFile("it is damaged and cannot be unpacked") from error
    if len(data) > info.file_size:
        raise UnreadableFile("it unpacks to far more than it is")
    return data

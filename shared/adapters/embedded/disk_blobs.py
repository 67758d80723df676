"""Blobs in a folder, each a file under its path.

Also called: file storage.
"""

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread

from shared.adapters.blob_rules import check_path, check_size
from shared.adapters.embedded.data_folder import FILE_MODE, FOLDER_MODE
from shared.domain.errors import NotFound, Unavailable


class DiskBlobs:
    """Files below `folder`; the media type of a file is not kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def write(self, path: str, content: bytes, *, media_type: str) -> None:
        check_path(path)
        check_size(content)
        await anyio.to_thread.run_sync(_write, self._folder / path, content)

    async def read(self, path: str) -> bytes:
        check_path(path)
        try:
            return await anyio.to_thread.run_sync((self._folder / path).read_bytes)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise NotFound("There is no such file") from error
        except OSError as error:
            raise Unavailable("A file of the data folder cannot be read") from error

    async def delete(self, paths: Sequence[str]) -> None:
        for path in paths:
            check_path(path)
        await anyio.to_thread.run_sync(_delete, [self._folder / path for path in paths])

    async def delete_tree(self, prefix: str) -> None:
        check_path(prefix)
        await anyio.to_thread.run_sync(_delete_folder, self._folder / prefix)


def _write(path: Path, content: bytes) -> None:
    """Write it beside its place and move it there, so that nobody reads a part of it."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        for folder in reversed(path.parents):
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Unavailable("A file cannot be written to the data folder") from error


def _delete(paths: Sequence[Path]) -> None:
    try:
        for path in paths:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable("A file of the data folder cannot be deleted") from error


def _delete_folder(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unavailable("A folder of the data folder cannot be deleted") from error

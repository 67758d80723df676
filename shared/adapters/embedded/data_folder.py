"""Data folder of the embedded world: private to the account that runs Keepsake."""

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OTHERS = 0o077
"""What other accounts may do."""


def prepare_folder(folder: Path) -> None:
    """Create the folder, or close an existing one to other accounts.

    Raises OSError, with what to do. A folder is refused whose mode is not ours to change: one of
    another account, a common one as /tmp, or one that holds more than Keepsake's files.
    """
    _create_folder(folder)
    status = folder.stat()
    if not status.st_mode & _OTHERS:
        return
    if not _is_ours(status) or status.st_mode & stat.S_ISVTX or _has_folders(folder):
        raise PermissionError(
            errno.EPERM,
            "other accounts can open it: close it with chmod 700, or choose another folder with DATA_DIR=elsewhere",
            str(folder),
        )
    folder.chmod(FOLDER_MODE)


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        is_file = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "a file is in its place" if is_file else error.strerror
        sentence = f"{reason}: choose another folder with DATA_DIR=elsewhere"
        raise OSError(error.errno, sentence, str(folder)) from error


def prepare_file(path: Path) -> None:
    """Create an empty file, or close an existing one to other accounts.

    An existing file is not opened: closing it would drop the locks that this process has on it.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    except FileExistsError:
        close_file(path)


def close_file(path: Path) -> None:
    """Close a file of ours to other accounts."""
    status = path.stat()
    if status.st_mode & _OTHERS and _is_ours(status):
        path.chmod(FILE_MODE)


def read_or_create(path: Path, generate: Callable[[], bytes]) -> bytes:
    """Return the content of a private file; the first process creates it."""
    prepare_folder(path.parent)
    if path.exists():
        close_file(path)
    else:
        _create(path, generate())
    return path.read_bytes()


def replace_file(path: Path, content: bytes) -> None:
    """Write a private file, or replace the whole of it at once. Raises OSError."""
    prepare_folder(path.parent)
    _write_draft(path, content).replace(path)


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Let one process at a time change a file: what it reads meanwhile is the latest. Raises OSError."""
    prepare_folder(path.parent)
    lock = path.with_name(f"{path.name}.lock")
    prepare_file(lock)
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _create(path: Path, content: bytes) -> None:
    """Write the whole file at once, unless another process was first."""
    draft = _write_draft(path, content)
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _write_draft(path: Path, content: bytes) -> Path:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return draft


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid()


def _has_folders(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        return any(entry.is_dir() for entry in entries)

"""Rules of blobs that every adapter keeps: the form of paths, and the size of a file."""

import re

from shared.domain.errors import Invalid

MAX_BLOB_BYTES = 8 * 1024 * 1024
_PART = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}"
_PATH = re.compile(rf"users/{_PART}(/{_PART}){{0,6}}")


def check_path(path: str) -> None:
    """Raises Invalid for what could lead out of the users' files."""
    if not _PATH.fullmatch(path):
        raise Invalid("A blob's path is users/… of letters, digits, '-', '_' and '.'")


def check_size(content: bytes) -> None:
    if len(content) > MAX_BLOB_BYTES:
        raise Invalid(f"A blob has at most {MAX_BLOB_BYTES} bytes")

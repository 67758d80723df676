"""Password file of a self-hosted server: a line for each account, `name:hash:time of the change`.

The hash of a removed account is empty. Its line stays, so that its tokens no longer hold.

Also called: login, password hashing.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from shared.adapters.embedded.data_folder import lock_file, replace_file
from shared.domain.ids import UserId
from shared.domain.value import value

NAME = "passwords"


@value
class PasswordLine:
    """An account's slow hash, and when it was last changed, in whole seconds."""

    hash: str
    changed_at: datetime


class PasswordFile:
    """The accounts of a data folder, shared by the server and the command that edits them."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / NAME
        self._version: tuple[int, int] | None = None
        self._lines: Mapping[str, PasswordLine] = {}

    def list_names(self) -> list[str]:
        return sorted(name for name, line in self._read().items() if line.hash)

    def find_hash(self, name: str) -> str | None:
        """Find the hash of an account; None for one that is unknown or removed."""
        line = self._read().get(name)
        return line.hash or None if line else None

    def find_change(self, uid: UserId) -> datetime | None:
        """Find when a password was set or taken away: tokens from before no longer hold."""
        line = self._read().get(uid)
        return line.changed_at if line else None

    def store(self, name: str, password_hash: str, *, now: datetime) -> None:
        """Set the hash of an account; an empty one removes it. Raises OSError."""
        with lock_file(self._path):
            changed_at = now.replace(microsecond=0)
            line = PasswordLine(hash=password_hash, changed_at=changed_at)
            self._write({**self._read(), name: line})

    def _read(self) -> Mapping[str, PasswordLine]:
        """Read the file if it changed."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return {}
        if (version := (status.st_mtime_ns, status.st_ino)) != self._version:
            self._lines = dict(map(_parse_line, self._path.read_text().splitlines()))
            self._version = version
        return self._lines

    def _write(self, lines: Mapping[str, PasswordLine]) -> None:
        text = "".join(
            f"{name}:{line.hash}:{int(line.changed_at.timestamp())}\n"
            for name, line in lines.items()
        )
        replace_file(self._path, text.encode())


def _parse_line(text: str) -> tuple[str, PasswordLine]:
    name, password_hash, changed_at = text.split(":")
    moment = datetime.fromtimestamp(int(changed_at), UTC)
    return name, PasswordLine(hash=password_hash, changed_at=moment)

"""World of a soak: the running product, its faults, and a look into its store."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]
"""The documents of a user by collection."""
COLLECTIONS = ("messages", "conversations", "action_items", "people")


class World(Protocol):
    """Processes of the product; those of `steady_pids` live throughout."""

    @property
    def steady_pids(self) -> Sequence[int]: ...

    def find_origin(self, path: str) -> str:
        """Return the address of a process that serves a path, or of a link to one."""

    async def sign_in(self, name: str) -> tuple[str, str]:
        """Return the user id and a new token of a person, whose account is made the first time."""

    async def kill_next(self) -> None:
        """Kill a process as a crash does, and start it again with another clock."""

    async def stop(self) -> Sequence[str]:
        """Stop all processes; return the unexpected errors that they logged."""

    async def load_rows(self, uid: str) -> Rows: ...

    async def count_rows(self) -> int:
        """Count all documents."""

    async def count_waiting(self) -> int:
        """Count the messages that are not handled yet."""

    async def count_faults(self) -> Mapping[str, int]:
        """Count the faults so far, by name."""

"""Schemas of an account: its export and its erasure."""

from typing import Literal

from shared.edge.declare.schemas import Wire
from shared.library.conversation_schemas import (
    Utc,
)


class ExportQuery(Wire):
    """Without a format, the header Accept decides."""

    format: Literal["json", "zip"] | None = None


class SignOutIn(Wire):
    """With `revokes_keys` the keys of programs end, too: those of MCP clients and of the developer API."""

    revokes_keys: bool = False


class ErasureOut(Wire):
    """The state of an erasure; `documents` were deleted so far.

    `note` says for people what outlives it, and for how long.
    """

    status: Literal["none", "running", "done"]
    requested_at: Utc | None = None
    documents: int = 0
    note: str = ""


class EraseIn(Wire):
    """An erasure to complete; a sweep comes some minutes after it."""

    erasure_id: str
    is_sweep: bool

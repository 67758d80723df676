"""Confirmation of a call: shown to the user, then made once exactly as shown, or never."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.provenance import Source
from shared.domain.value import value

Decision = Literal["approved", "refused", "expired"]
"""`expired`: nobody answered in time."""

CONFIRMATION_TIMEOUT = timedelta(minutes=2)
"""So long do all questions of one turn together wait for their owner."""


@value
class Confirmation:
    """A call in doubt as its owner is shown it.

    `tool` is the tool's own name, `source` who is told the `arguments`: JSON text, the very text
    that runs. `reason` says why it is in doubt: nobody asked for it, or nobody said `argument`.
    """

    id: str
    call_id: str
    tool: str
    source: Source
    arguments: str
    reason: Literal["not_asked", "not_said"]
    argument: str
    asked_at: datetime
    expires_at: datetime
    decision: Decision | None = None

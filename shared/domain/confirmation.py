"""Confirmation of a call: shown to the user, then made once exactly as shown, or never."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.provenance import Source
from shared.domain.value import value

Decision = Literal["approved", "refused", "expired"]
"""`expired`: there was no answer in time."""

CONFIRMATION_TIMEOUT = timedelta(minutes=2)
"""How long all questions of one turn together wait for the user."""


@value
class Confirmation:
    """A call that waits for the user's answer, as it is shown.

    `tool` is the tool's own name, `source` receives the `arguments`: JSON text, exactly what runs.
    `reason` says why it is asked about: the message does not ask for it, or does not contain the
    value of `argument`.
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

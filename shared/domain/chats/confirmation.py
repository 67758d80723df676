"""Confirmation of a call: shown to the user, then made once exactly as shown, or never."""

from datetime import datetime, timedelta
from typing import Literal

from shared.domain.chats.consent import Grant
from shared.domain.ids import RunId
from shared.domain.provenance import Source
from shared.domain.value import value

Decision = Literal["approved", "always", "refused", "expired"]
"""`always`: this call and all later ones of the tool. `expired`: there was no answer in time."""

ConfirmationReason = Literal[
    "sensitive",
    "first_use",
    "new_tool",
    "changed_tool",
    "disclosure",
    "private_text",
    "foreign_words",
]
"""Why a call is asked about.

`sensitive`: its tool asks each time. `first_use`: it changes something, and no `always` was given.
`new_tool`, `changed_tool`: the user has not seen the tool as it is now. `disclosure`: it would tell
its maker more than a call may that nobody was asked about. `private_text`: it contains a number or
a secret that was read and that the user did not write. `foreign_words`: it writes into the library what is
not in the words of the user, after something of others was read.
"""

CONFIRMATION_TIMEOUT = timedelta(minutes=10)
"""How long all questions of one turn together wait for the user."""

NO_ALWAYS = "This tool asks each time: it cannot be allowed for always."


@value
class WaitingCall:
    """A call of the same answer about which the user is asked next, by the model's name for its tool."""

    call_id: str
    model_name: str
    arguments: str


@value
class Confirmation:
    """A call that waits for the user's answer, as it is shown.

    `question` says in their language what it would do, and `details` has a line for each argument where
    that is not in it.

    `tool` is the tool's own name, `model_name` the model's name for it, and `pin` names the version
    that runs. `source` receives the `arguments`: JSON text, exactly what runs; `maker` learns them.
    `channel` is how it is answered: by a button while the answer waits, or by the next message of
    the chat. `answered_in` is the run that such a message began. `typed_words` are what that message has
    to say where yes is not enough. `waiting` are the calls that come next.
    """

    id: str
    call_id: str
    tool: str
    model_name: str
    pin: str
    source: Source
    maker: str
    arguments: str
    reason: ConfirmationReason
    allows_always: bool
    asked_at: datetime
    expires_at: datetime
    channel: Literal["button", "reply"] = "button"
    decision: Decision | None = None
    answered_in: RunId | None = None
    typed_words: str = ""
    question: str = ""
    details: tuple[str, ...] = ()
    waiting: tuple[WaitingCall, ...] = ()


def build_always_grant(confirmation: Confirmation) -> Grant:
    """Return the grant that the decision `always` gives."""
    return Grant(pin=confirmation.pin, state="always")

"""What a run tells while it works; exactly one Ended, and nothing after it."""

from typing import Literal

from shared.domain.chat import Message
from shared.domain.ids import AppId
from shared.domain.value import positional_value

Outcome = Literal["completed", "limited", "interrupted", "failed"]


@positional_value
class Status:
    """What is being done now, in words for the owner; `app_id` where an app does it."""

    text: str
    app_id: AppId | None = None


@positional_value
class Said:
    """The next piece of the answer, citation markers included."""

    text: str


@positional_value
class Ended:
    """The end. `message` is stored already; `limited` means that a guard ended the turn."""

    message: Message
    outcome: Outcome


RunEvent = Status | Said | Ended

"""What a run tells while it works; exactly one Ended, and nothing after it."""

from dataclasses import dataclass
from typing import Literal

from shared.domain.chat import Message
from shared.domain.ids import AppId

Outcome = Literal["completed", "limited", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Status:
    """What is being done now, in words for the owner; `app_id` where an app does it."""

    text: str
    app_id: AppId | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """The next piece of the answer, citation markers included."""

    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The end. `message` is stored already; `limited` means that a guard ended the turn."""

    message: Message
    outcome: Outcome


RunEvent = Status | Said | Ended

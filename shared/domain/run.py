"""What a run tells while it works; exactly one Ended, and nothing after it.

A run is one answer in progress. Its events are numbered from 1 and kept in its journal, so that
whoever reads them can start anywhere, follow, and miss or repeat nothing.
"""

from typing import Literal

from shared.domain.chat import Card, Message
from shared.domain.ids import AppId
from shared.domain.value import positional_value, value

Outcome = Literal["completed", "limited", "stopped", "interrupted", "failed"]
"""How a run ended: `limited` by a guard, `stopped` by its owner, `interrupted` with its process."""

StageName = Literal["thinking", "using_tools", "answering", "response_ready"]
"""Each model cycle begins with `thinking`; `response_ready` once, when the last word is said."""


@positional_value
class Stage:
    """Where the turn stands, for programs; told only when it changes."""

    name: StageName


@positional_value
class Status:
    """What is being done now, in words for the owner; `app_id` where an app does it."""

    text: str
    app_id: AppId | None = None


@positional_value
class Reasoned:
    """The next piece of the model's reasoning, where the provider shows it."""

    text: str


@positional_value
class Said:
    """The next piece of the answer; its citation markers are numbered as CitationShown told."""

    text: str


@value
class ToolStarted:
    """A tool call begins; `arguments` is JSON text as the model wrote it, perhaps broken."""

    call_id: str
    tool: str
    arguments: str


@value
class ToolEnded:
    """A tool call came back; every ToolStarted has one. `output` is capped, and for display only."""

    call_id: str
    output: str
    failed: bool = False


@value
class CitationShown:
    """The next piece cites a conversation for the first time; its marker says `number`, from 1."""

    number: int
    card: Card


@positional_value
class Ended:
    """The end. `message` is stored already."""

    message: Message
    outcome: Outcome


RunEvent = Stage | Status | Reasoned | Said | ToolStarted | ToolEnded | CitationShown | Ended


@positional_value
class Numbered:
    """An event and its number in its run, from 1. Joined pieces carry the last one's number."""

    seq: int
    event: RunEvent

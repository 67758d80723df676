"""Placement of a run's events: the block of the answer in which a client shows each of them."""

from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    CitationShown,
    ConfirmationRequested,
    ConfirmationResolved,
    FileCited,
    ReasoningText,
    RunEvent,
    Stage,
    ToolEnded,
    ToolStarted,
)
from shared.domain.value import value


@value
class Placement:
    """The place of an event: its block, from 0, and its tab among the block's parallel tools.

    `voice` is the number of the model that speaks, from 0.
    """

    turn_index: int = 0
    tab_index: int = 0
    voice: int = 0


class PlacementCounter:
    """Counts the blocks of one voice, event by event from the first one on.

    Reasoning, the tools that one model call requests, and text are a block each; the next model call
    begins another, and so does what follows withdrawn text. The pieces into which text is split do not matter, so a run that is read from the
    store has the same placements as the run that was followed.
    """

    def __init__(self, voice: int) -> None:
        self._voice = voice
        self._kind: str | None = None
        self._current = Placement(turn_index=-1, voice=voice)
        self._by_call: dict[str, Placement] = {}
        self._by_confirmation: dict[str, Placement] = {}

    def place(self, event: RunEvent) -> Placement:
        """Return where an event belongs; what has no block of its own is in the one before it."""
        match event:
            case Stage("thinking") | AnswerWithdrawn():
                self._kind = None
            case ReasoningText():
                self._enter("reasoning")
            case AnswerText() | CitationShown() | FileCited():
                self._enter("text")
            case ToolStarted(call_id=call_id):
                return self._by_call.get(call_id) or self._place_tool(call_id)
            case ToolEnded(call_id=call_id):
                return self._by_call.get(call_id, self._latest)
            case ConfirmationRequested(confirmation):
                place = self._by_call.get(confirmation.call_id, self._latest)
                return self._by_confirmation.setdefault(confirmation.id, place)
            case ConfirmationResolved(id=confirmation_id):
                return self._by_confirmation.get(confirmation_id, self._latest)
        return self._latest

    @property
    def _latest(self) -> Placement:
        """The current block; the first one, where no block has begun."""
        return self._current if self._current.turn_index >= 0 else Placement(voice=self._voice)

    def _place_tool(self, call_id: str) -> Placement:
        """Return the next tab of the block of tools; the first tool begins the block."""
        tab_index = self._current.tab_index + 1 if self._kind == "tools" else 0
        self._enter("tools")
        turn_index = self._current.turn_index
        self._current = Placement(turn_index=turn_index, tab_index=tab_index, voice=self._voice)
        self._by_call[call_id] = self._current
        return self._current

    def _enter(self, kind: str) -> None:
        if kind != self._kind:
            self._kind = kind
            turn_index = self._current.turn_index + 1
            self._current = Placement(turn_index=turn_index, voice=self._voice)

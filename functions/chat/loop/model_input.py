"""Input of a turn's model calls: what was said and found so far, fitted to the window before each call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from functions.chat.context.context import Context
from functions.chat.loop.limits import LimitReached
from functions.chat.tools.toolkit import Tool, Toolkit
from shared import telemetry
from shared.domain.errors import ModelFailed, TooLarge
from shared.domain.models.model import AssistantTurn, ModelFacts, ModelMessage, ToolResult, ToolSpec


class FitToWindow(Protocol):
    """Fits what a model is given to a window."""

    def __call__(self, context: Context, facts: ModelFacts, /) -> tuple[Context, Sequence[Tool]]:
        """Return it with rules and tools for that window. Raises TooLarge."""


@dataclass(slots=True, kw_only=True)
class ModelInput:
    """The input of one turn; `fit` is None where its window is fixed."""

    context: Context
    toolkit: Toolkit
    fit: FitToWindow | None
    searched: bool = False
    _has_doubted: bool = False

    def add_exchange(self, turn: AssistantTurn, results: Sequence[ToolResult]) -> None:
        """Add calls of this turn and their results, for the calls to come."""
        self.context = self.context.add_exchange(turn, results)

    def leave_out_known(self) -> None:
        """Give the calls to come nothing of the library that was not asked for: an answer from the web rests on that alone."""
        self.context = replace(self.context, known="", known_facts=())

    def build(
        self, cycle: int, *, warning: str, offers_tools: bool
    ) -> tuple[Sequence[ModelMessage], Sequence[ToolSpec]]:
        """Build the messages and tools of the next call; where all is too much, the last tools go first.

        Raises LimitReached where no window holds the rest.
        """
        context = replace(self.context, warning=warning) if warning else self.context
        tools = self.toolkit.specs if offers_tools else ()
        while True:
            try:
                fitted = context.fit(cycle, tools, searched=self.searched)
            except TooLarge as error:
                if not tools:
                    raise LimitReached(str(error)) from None
                tools = tools[:-1]
            else:
                if fitted.left_out:
                    telemetry.add_fields(blocks_left_out=fitted.left_out)
                return fitted.messages, tools

    def shrink(self, failure: ModelFailed, known: ModelFacts) -> bool:
        """Fit to the window that is `known` by now, else to half of it, if a call was too long for it.

        An unknown refusal is doubted once in a turn. Raises LimitReached where the owner's own words
        are too many.
        """
        is_doubt = failure.may_be_too_long and failure.reason != "too_long"
        is_too_long = failure.reason == "too_long" or (is_doubt and not self._has_doubted)
        if self.fit is None or not is_too_long:
            return False
        self._has_doubted = self._has_doubted or is_doubt
        facts = self.context.facts
        is_smaller = known.window_tokens < facts.window_tokens
        window = known.window_tokens if is_smaller else facts.window_tokens // 2
        try:
            self.context, tools = self.fit(self.context, replace(facts, window_tokens=window))
        except TooLarge as error:
            if is_doubt:
                return False
            raise LimitReached(str(error)) from None
        self.toolkit.offer(tools)
        telemetry.add_fields(window_tokens=window)
        return True

"""Context of a turn: all that its model is given, as messages for each cycle; pure.

The order keeps the beginning the same from cycle to cycle and from turn to turn, which the provider's
prompt cache needs: what changes stands at the end.

Also called: prompt caching, context engineering.
"""

from collections.abc import Sequence
from dataclasses import replace

from functions.chat.context.blocks import EarlierMessage, Exchange, TurnBlocks, count_message_tokens
from functions.chat.context.budget import (
    HISTORY_SHARE,
    compute_budget,
    lighten_history,
    select_newest,
)
from functions.chat.context.given_files import build_file_notices, hide_earlier_pictures
from functions.chat.context.reductions import cut_to_fit
from functions.chat.context.required import build_required
from shared.domain.models.model import AssistantTurn, ModelMessage, ToolResult, ToolSpec, UserText
from shared.domain.value import value

ROOM_TOKENS = 1_000
"""Room that a whole project leaves for the history and for what tools find."""


@value
class FittedInput:
    """The messages of a model call, and the names of the blocks that were cut or left out for them."""

    messages: Sequence[ModelMessage]
    left_out: Sequence[str]


@value
class Context(TurnBlocks):
    """The blocks of a turn, fitted anew to the window for each of its cycles."""

    def add_exchange(self, turn: AssistantTurn, results: Sequence[ToolResult]) -> "Context":
        """Return the context after these calls."""
        exchange = Exchange(turn=turn, results=tuple(results))
        return replace(self, exchanges=(*self.exchanges, exchange))

    def check_fits(self, tools: Sequence[ToolSpec]) -> None:
        """Raises TooLarge where the first model call, which offers `tools`, cannot be made to fit its window."""
        budget = compute_budget(self.facts.window_tokens, tools)
        cut_to_fit(self, budget, searched=False, is_last=False)

    def for_cycle(
        self, n: int, tools: Sequence[ToolSpec] = (), *, searched: bool = False
    ) -> list[ModelMessage]:
        """Return the messages of model call `n` of the turn, from 1, which offers `tools`.

        `searched` says that a tool of this turn returned documents to cite. They fit the window
        beside the tools and an answer: results of tools are cut first, then whatever else may be, and
        the oldest history is left out. Raises TooLarge where the rest is too much.
        """
        return list(self.fit(n, tools, searched=searched).messages)

    def fit(self, n: int, tools: Sequence[ToolSpec] = (), *, searched: bool = False) -> FittedInput:
        """Return the messages of `for_cycle`, and what was cut for them."""
        budget = compute_budget(self.facts.window_tokens, tools)
        blocks = self if self.facts.takes_images else _hide_history_pictures(self)
        is_last = n > 1 and not tools
        required, left_out = cut_to_fit(blocks, budget, searched=searched, is_last=is_last)
        kept, notices = _select_history(blocks, budget, budget - required.tokens)
        messages = [
            *required.head,
            *drop_orphans([message for each in kept for message in each.messages]),
            *required.standing,
            *notices,
            *required.latest,
        ]
        is_shorter = len(kept) < len(self.history)
        return FittedInput(
            messages=messages, left_out=[*left_out, *(["history"] if is_shorter else [])]
        )

    def fits_whole(self, tools: Sequence[ToolSpec]) -> bool:
        """Tell whether all but the history fits uncut, with room for what the tools find."""
        budget = compute_budget(self.facts.window_tokens, tools)
        required = build_required(self, searched=False, is_last=False)
        return required.tokens + ROOM_TOKENS <= budget

    def count_tokens(self) -> int:
        """Count the tokens of everything, as if any window held it."""
        required = build_required(self, searched=False, is_last=False)
        return required.tokens + _count_history_tokens(self.history)


def _select_history(
    blocks: TurnBlocks, budget: int, room: int
) -> tuple[Sequence[EarlierMessage], Sequence[UserText]]:
    """Return the newest history that fits beside the names of the files that do not."""
    history, named = blocks.history, blocks.forgotten_files
    if _count_history_tokens(history) > room:
        history, files = lighten_history(history, budget // HISTORY_SHARE)
        named = (*named, *files)
    kept = select_newest(history, room)
    while True:
        dropped = history[: len(history) - len(kept)]
        left_out = [file for message in dropped for file in message.files]
        notices = build_file_notices([*named, *left_out])
        notice_tokens = count_message_tokens(notices)
        if notice_tokens + _count_history_tokens(kept) <= room:
            return kept, notices
        if not kept:
            return (), ()
        kept = select_newest(kept, room - notice_tokens)


def _count_history_tokens(history: Sequence[EarlierMessage]) -> int:
    return sum(message.tokens for message in history)


def _hide_history_pictures(blocks: TurnBlocks) -> TurnBlocks:
    return replace(blocks, history=tuple(map(hide_earlier_pictures, blocks.history)))


def drop_orphans(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Leave out results without their call, and calls without a result each, which model APIs refuse; texts stay."""
    kept: list[ModelMessage] = []
    for position, message in enumerate(messages, 1):
        if isinstance(message, AssistantTurn) and message.tool_calls:
            results = messages[position : _find_results_end(messages, position)]
            kept += _keep_pairs(message, results)
        elif not isinstance(message, ToolResult):
            kept.append(message)
    return kept


def _find_results_end(messages: Sequence[ModelMessage], start: int) -> int:
    end = start
    while end < len(messages) and isinstance(messages[end], ToolResult):
        end += 1
    return end


def _keep_pairs(turn: AssistantTurn, results: Sequence[ModelMessage]) -> list[ModelMessage]:
    result_ids = sorted(r.call_id for r in results if isinstance(r, ToolResult))
    if result_ids == sorted(call.id for call in turn.tool_calls):
        return [turn, *results]
    return [AssistantTurn(text=turn.text)] if turn.text else []

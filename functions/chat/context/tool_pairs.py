"""Pairs of tool calls and results: model APIs refuse a call without its result, and the reverse."""

from collections.abc import Sequence

from shared.domain.models.model import AssistantTurn, ModelMessage, ToolResult


def drop_orphans(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Leave out results without their call, and calls without a result each; texts stay."""
    kept: list[ModelMessage] = []
    position = 0
    while position < len(messages):
        message, start = messages[position], position + 1
        position = _find_results_end(messages, start)
        if isinstance(message, AssistantTurn) and message.tool_calls:
            kept += _keep_pairs(message, messages[start:position])
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

"""Replayed calls: the tool calls of an earlier answer, each with its data or a sentence instead."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from pydantic_core import from_json

from functions.chat.context.earlier_results import EarlierResult
from shared.domain.chats.steps import CallState, CallStep, Step
from shared.domain.models.model import AssistantTurn, ModelMessage, ToolCall, ToolResult

RESULT_TEXTS: Mapping[CallState, str] = {
    "done": "This tool call completed but the results are no longer accessible.",
    "failed": "This tool call failed.",
    "skipped": "This tool call was not made: the owner did not allow it.",
    "abandoned": "The answer ended before this tool call did.",
}
"""Text of others is not repeated: it may be outdated. Data is, as far as it was kept.

Else a summary stands in its place where the owner wants one.
"""
NOTHING_KEPT: Mapping[str, EarlierResult] = {}


def replay_calls(
    steps: Sequence[Step], results: Mapping[str, EarlierResult] = NOTHING_KEPT
) -> list[ModelMessage]:
    """Return the calls as the model made them, those of one model call together, and their results.

    `results` are those that were kept, by the ids of their calls.
    """
    calls = [step for step in steps if isinstance(step, CallStep)]
    return [
        message
        for _, of_cycle in groupby(calls, key=lambda step: step.cycle)
        for message in _replay_cycle(list(of_cycle), results)
    ]


def _replay_cycle(
    calls: Sequence[CallStep], results: Mapping[str, EarlierResult]
) -> Iterator[ModelMessage]:
    yield AssistantTurn(text="", tool_calls=tuple(map(_to_call, calls)))
    for call in calls:
        result = results.get(call.call_id)
        text = result.text if result else call.summary or RESULT_TEXTS[call.state]
        source = result.source if result else None
        yield ToolResult(call_id=call.call_id, text=text, source=source)


def _to_call(step: CallStep) -> ToolCall:
    return ToolCall(id=step.call_id, name=step.tool, arguments=_to_object(step.arguments))


def _to_object(arguments: str) -> str:
    """Return JSON of an object, which model APIs demand: broken or cut text is put into one."""
    try:
        is_object = isinstance(from_json(arguments, allow_inf_nan=False), dict)
    except ValueError:
        is_object = False
    return arguments if is_object else json.dumps({"text": arguments}, ensure_ascii=False)

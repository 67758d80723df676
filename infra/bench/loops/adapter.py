"""Model adapter alone, making the same calls: the foundation of our loop."""

import json
import sys
from collections.abc import Sequence

from infra.bench.loops.pipe import serve
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.domain.models.model import (
    AssistantTurn,
    ModelMessage,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    UserText,
)

QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
LOOKUP = ToolSpec(name="lookup", description="Look something up.", parameters=QUERY)
model = OpenaiModel(api_key="x", base_url=sys.argv[1], models={"agent": "scripted"})


async def run_turn(question: str) -> str:
    messages: list[ModelMessage] = [UserText(text=question)]
    while True:
        text, calls = await _call_model(messages)
        if not calls:
            return text
        results = [
            ToolResult(call_id=call.id, text=json.loads(call.arguments)["query"]) for call in calls
        ]
        messages += [AssistantTurn(text=text, tool_calls=tuple(calls)), *results]


async def _call_model(messages: Sequence[ModelMessage]) -> tuple[str, list[ToolCall]]:
    """Return the words of an answer and the tools it calls."""
    async with model.stream("agent", messages, [LOOKUP]) as events:
        received = [event async for event in events]
    text = "".join(event.text for event in received if isinstance(event, TextDelta))
    return text, [event.call for event in received if isinstance(event, ToolCallRequested)]


if __name__ == "__main__":
    serve(run_turn)

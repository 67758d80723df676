"""Baseline of the agent loops: the same calls through the SDK's streams, and nothing else."""

import json
from functools import partial
from typing import Any

from openai import AsyncOpenAI

from infra.bench.loops.pipe import serve

LOOKUP: Any = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Look something up.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        },
    },
}


async def run_turn(client: AsyncOpenAI, question: str) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        text, tool_call = await _call_model(client, messages)
        if not tool_call:
            return text
        result = " ".join(map(str, json.loads(tool_call["function"]["arguments"]).values()))
        messages.append({"role": "assistant", "content": None, "tool_calls": [tool_call]})
        messages.append({"role": "tool", "tool_call_id": tool_call["id"], "content": result})


async def _call_model(client: AsyncOpenAI, messages: list[Any]) -> tuple[str, dict[str, Any]]:
    """Return the words of an answer, and the one tool it calls."""
    text: list[str] = []
    tool_call: dict[str, Any] = {}
    stream = await client.chat.completions.create(
        model="scripted",
        messages=messages,
        tools=[LOOKUP],
        stream=True,
        stream_options={"include_usage": True},
    )
    async for chunk in stream:
        for choice in chunk.choices:
            if choice.delta.content:
                text.append(choice.delta.content)
            for piece in choice.delta.tool_calls or ():
                _merge_piece(tool_call, piece)
    return "".join(text), tool_call


def _merge_piece(tool_call: dict[str, Any], piece: Any) -> None:
    if piece.id:
        function = {"name": piece.function.name, "arguments": ""}
        tool_call |= {"id": piece.id, "type": "function", "function": function}
    tool_call["function"]["arguments"] += piece.function.arguments or ""


if __name__ == "__main__":
    serve(partial(run_turn, AsyncOpenAI(max_retries=0)))

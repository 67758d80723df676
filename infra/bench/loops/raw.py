"""The baseline: the same calls through the SDK's streams, and nothing around them."""

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


async def turn(client: AsyncOpenAI, question: str) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        text, called = await _call(client, messages)
        if not called:
            return text
        found = " ".join(map(str, json.loads(called["function"]["arguments"]).values()))
        messages.append({"role": "assistant", "content": None, "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": called["id"], "content": found})


async def _call(client: AsyncOpenAI, messages: list[Any]) -> tuple[str, dict[str, Any]]:
    """Return the words of an answer, and the one tool it calls."""
    text: list[str] = []
    called: dict[str, Any] = {}
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
                _add(called, piece)
    return "".join(text), called


def _add(called: dict[str, Any], piece: Any) -> None:
    if piece.id:
        function = {"name": piece.function.name, "arguments": ""}
        called |= {"id": piece.id, "type": "function", "function": function}
    called["function"]["arguments"] += piece.function.arguments or ""


if __name__ == "__main__":
    serve(partial(turn, AsyncOpenAI(max_retries=0)))

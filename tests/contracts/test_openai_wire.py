"""OpenAI on the wire: our requests and readings beside those of the official SDK, on the same server."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from openai import AsyncOpenAI, omit
from openai.types.chat import ChatCompletionMessageParam

from shared.adapters.cloud.openai_model import OpenaiModel
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelMessage,
    SystemText,
    TextDelta,
    ToolCall,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.models.requests import to_wire_tool
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai, scripted_openai

TOOL = ToolSpec(name="look", description="Look it up.", parameters={"type": "object"})
MESSAGES: list[ModelMessage] = [
    SystemText(text="Be brief."),
    UserText(text="Where — “in the garden”?\u2028"),
    AssistantTurn(text="", tool_calls=(ToolCall(id="a1", name="look", arguments='{"q":"é"}'),)),
    ToolResult(call_id="a1", text="Found 🌱."),
]
WIRE_MESSAGES: list[ChatCompletionMessageParam] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where — “in the garden”?\u2028"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a1", "type": "function", "function": {"name": "look", "arguments": '{"q":"é"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "a1", "content": "Found 🌱."},
]
SCRIPTS = [
    Script(text="Good morning,\n\nfriend — 🌱."),
    Script(text="Wait.", tool_calls=(ScriptedCall(name="look", arguments='{"q": "x"}', id="b1"),)),
    Script(
        tool_calls=tuple(ScriptedCall(name="look", arguments="{}", id=f"c{n}") for n in range(3))
    ),
]


@pytest.fixture
def server() -> Iterator[ScriptedOpenai]:
    with scripted_openai() as openai:
        yield openai


@pytest.fixture
async def ours(server: ScriptedOpenai) -> AsyncIterator[OpenaiModel]:
    model = OpenaiModel(api_key="key", base_url=server.url, models={"agent": "big"})
    yield model
    await model.aclose()


@pytest.fixture
async def official(server: ScriptedOpenai) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(api_key="key", base_url=server.url, max_retries=0) as client:
        yield client


async def _read_ours(model: OpenaiModel, tools: list[ToolSpec]) -> dict[str, Any]:
    async with model.stream("agent", MESSAGES, tools) as stream:
        events = [event async for event in stream]
    end = events[-1]
    assert isinstance(end, ModelCallFinished)
    calls = [event.call for event in events if isinstance(event, ToolCallRequested)]
    return {
        "text": "".join(event.text for event in events if isinstance(event, TextDelta)),
        "calls": [(call.id, call.name, call.arguments) for call in calls],
        "reason": end.reason,
        "tokens": (end.usage.input_tokens, end.usage.output_tokens),
    }


async def _read_official(client: AsyncOpenAI, tools: list[ToolSpec]) -> dict[str, Any]:
    async with client.chat.completions.stream(
        model="big",
        messages=WIRE_MESSAGES,
        stream_options={"include_usage": True},
        max_tokens=16_000,
        tools=[*map(to_wire_tool, tools)] if tools else omit,  # type: ignore[list-item]  # our own form
    ) as stream:
        completion = await stream.get_final_completion()
    (choice,) = completion.choices
    assert completion.usage is not None
    calls = choice.message.tool_calls or []
    return {
        "text": choice.message.content or "",
        "calls": [(call.id, call.function.name, call.function.arguments) for call in calls],
        "reason": choice.finish_reason,
        "tokens": (completion.usage.prompt_tokens, completion.usage.completion_tokens),
    }


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("tools", [[], [TOOL]])
async def test_the_same_call_is_sent_and_read_as_by_the_official_client(
    server: ScriptedOpenai,
    ours: OpenaiModel,
    official: AsyncOpenAI,
    script: Script,
    tools: list[ToolSpec],
) -> None:
    server.play(script, script)

    assert await _read_ours(ours, tools) == await _read_official(official, tools)

    sent, official_sent = server.requests
    assert sent.body == official_sent.body
    assert sent.authorization == official_sent.authorization

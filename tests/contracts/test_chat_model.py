"""ChatModel contract, over a real HTTP server and over the offline model."""

import json
from collections.abc import AsyncIterator

import pytest
from pydantic import BaseModel

from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.masked_model import MaskedModel
from shared.adapters.resilient_model import ResilientModel
from shared.adapters.system_clock import SystemClock
from shared.domain.errors import ModelFailed
from shared.domain.models.model import (
    AssistantTurn,
    ModelCallFinished,
    ModelEvent,
    ModelMessage,
    Prompt,
    SystemText,
    TextDelta,
    ToolCallRequested,
    ToolResult,
    ToolSpec,
    UserText,
)
from shared.ports import ChatModel
from shared.security.masking import Masker
from tests.servers.openai import Script, ScriptedCall, scripted_openai

SEARCH = ToolSpec(
    name="search_conversations",
    description="Find conversations about a topic.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}},
)
HELLO: list[ModelMessage] = [SystemText(text="You are Keepsake."), UserText(text="Hello!")]
QUESTION: list[ModelMessage] = [UserText(text="What did Anna say about the tulips?")]
SEARCH_RESULT = json.dumps(
    {"results": [{"document": 1, "title": "Garden", "passages": ["Anna: The tulips come Friday."]}]}
)


class UnknownOutput(BaseModel):
    """A schema whose prompt the model does not know."""

    number: int


@pytest.fixture(params=["openai", "offline", "masked"])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[ChatModel]:
    if request.param == "offline":
        yield OfflineModel()
        return
    with scripted_openai(Script(text="The tulips come Friday.[1]")) as server:
        query = ScriptedCall(name="search_conversations", arguments='{"query": "tulips"}')
        if "tool" in request.node.name:
            server.play(Script(tool_calls=(query,)))
        openai_model = OpenaiModel(
            api_key="key",
            base_url=server.url,
            models={"agent": "scripted", "fast": "scripted"},
        )
        resilient_model = ResilientModel(
            {"agent": [openai_model], "fast": [openai_model]}, SystemClock()
        )
        if request.param == "masked":
            yield MaskedModel(resilient_model, Masker(b"key"), also_local=True)
        else:
            yield resilient_model
        await openai_model.aclose()


async def _collect_events(
    model: ChatModel, messages: list[ModelMessage], tools: tuple[ToolSpec, ...] = ()
) -> list[ModelEvent]:
    async with model.stream("agent", messages, tools) as events:
        return [event async for event in events]


async def test_an_answer_streams_in_pieces_and_ends_once(model):
    *pieces, last = await _collect_events(model, HELLO)

    assert len(pieces) > 1
    assert all(isinstance(piece, TextDelta) for piece in pieces)
    assert isinstance(last, ModelCallFinished)
    assert last.reason == "stop"
    assert last.model


async def test_a_wanted_tool_is_one_complete_call_before_the_end(model):
    *before, last = await _collect_events(model, QUESTION, (SEARCH,))

    calls = [event.call for event in before if isinstance(event, ToolCallRequested)]
    assert [call.name for call in calls] == ["search_conversations"]
    assert "query" in json.loads(calls[0].arguments)
    assert isinstance(last, ModelCallFinished)
    assert last.reason == "tool_calls"


async def test_the_tool_result_leads_to_a_cited_answer(model):
    events = await _collect_events(model, QUESTION, (SEARCH,))
    calls = tuple(event.call for event in events if isinstance(event, ToolCallRequested))
    results = [ToolResult(call_id=call.id, text=SEARCH_RESULT) for call in calls]

    messages = [*QUESTION, AssistantTurn(text="", tool_calls=calls), *results]
    *pieces, _ = await _collect_events(model, messages, (SEARCH,))

    text = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    assert "tulips come Friday." in text
    assert "[1]" in text


async def test_a_stream_may_be_left_before_its_end(model):
    async with model.stream("agent", HELLO) as events:
        first = await anext(events)

    assert isinstance(first, TextDelta)


async def test_an_answer_that_does_not_fit_the_schema_fails(model):
    prompt = Prompt(name="unknown", version="1", instructions="Count.", data={})

    with pytest.raises(ModelFailed):
        await model.complete_structured("fast", prompt, UnknownOutput)


async def test_every_role_has_a_name(model):
    assert model.name("agent")

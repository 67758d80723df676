"""A real model through our adapter: answers in a row, streams, cancelling, calls and their results."""

from collections.abc import AsyncIterator, Iterator
from json import loads
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from infra.model_server.server import ModelServer
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.cloud.openai_server import OpenaiServer
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
from shared.models.known_models import KnownModel, KnownModels
from tests.e2e.waiting import wait_until_async
from tests.real_models.conftest import USUAL_WINDOW
from tests.real_models.recording_proxy import Body, RecordingProxy
from tests.servers import run_server

pytestmark = pytest.mark.real_model

WEATHER = ToolSpec(
    name="get_weather",
    description="Get the weather of a city.",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Lisbon", "Rome"]}},
        "required": ["city"],
    },
)
CALL_TOKEN, CALL_BIAS = 151_657, 22
"""The word that begins a call, and how much more likely it is made than the model finds it.

With less the model writes its call as text, with more it says that word again and again.
"""
ASKED: list[ModelMessage] = [
    SystemText(text="Answer in one short sentence."),
    UserText(text="Is it warm in Lisbon?"),
]

RULES = "Answer in one short sentence. " + " ".join(
    f"Rule {number}: say nothing about the number {number}." for number in range(50)
)


class Reading(BaseModel):
    """Every value is short, so that no answer runs into its bound."""

    language: Literal["en", "de", "fr"]
    is_question: bool
    tone: Literal["calm", "angry", "glad"]


@pytest.fixture
async def model(model_server: ModelServer) -> AsyncIterator[OpenaiModel]:
    model = build_model(model_server, model_server.base_url)
    yield model
    await model.aclose()


@pytest.fixture
def proxy(model_server: ModelServer) -> Iterator[tuple[RecordingProxy, str]]:
    """Have a question call its tool, and then answer, as larger models do by themselves."""

    def force_call(body: Body) -> Body:
        if any(message["role"] == "tool" for message in body["messages"]):
            return {**body, "tool_choice": "none", "temperature": 0, "max_tokens": 60}
        choice = {"tool_choice": "required", "parallel_tool_calls": False, "temperature": 0}
        return {**body, **choice, "logit_bias": [[CALL_TOKEN, CALL_BIAS]]}

    proxy = RecordingProxy(model_server.origin, force_call)
    with run_server(proxy) as url:
        yield proxy, f"{url}/v1"


def build_model(
    server: ModelServer, base_url: str, known: KnownModels | None = None
) -> OpenaiModel:
    return OpenaiModel(
        api_key=server.api_key,
        base_url=base_url,
        models=dict.fromkeys(("agent", "reader"), server.model),
        known=known,
    )


async def test_ten_structured_answers_in_a_row_fit_their_schema(model: OpenaiModel) -> None:
    prompts = [build_reading_prompt(f"Did Ann and Bob meet {n} times?") for n in range(10)]

    readings = [await model.complete_structured("reader", prompt, Reading) for prompt in prompts]

    assert {type(reading) for reading in readings} == {Reading}


async def test_a_stream_comes_in_pieces_and_ends_with_its_usage(model: OpenaiModel) -> None:
    async with model.stream("agent", ASKED) as stream:
        events = [event async for event in stream]

    [end] = [event for event in events if isinstance(event, ModelCallFinished)]
    assert end is events[-1]
    assert end.reason == "stop"
    assert end.usage.input_tokens > 10
    assert end.usage.output_tokens > 1
    assert len([event for event in events if isinstance(event, TextDelta)]) > 1


async def test_what_nobody_waits_for_is_cancelled_at_the_server(
    model: OpenaiModel, model_server: ModelServer
) -> None:
    endless = [UserText(text="Write the numbers from one to two thousand, each in words.")]
    async with model.stream("agent", endless) as stream:
        await anext(stream)
        during = count_busy_places(model_server)

    async def find_idle() -> bool | None:
        return True if count_busy_places(model_server) == 0 else None

    assert during == 1
    assert await wait_until_async(find_idle, within_s=10)


def count_busy_places(server: ModelServer) -> int:
    with server.open_client(30) as client:
        places: list[dict[str, Any]] = client.get("/slots").raise_for_status().json()
    return sum(place["is_processing"] for place in places)


async def test_a_call_goes_forth_and_its_result_back(
    model_server: ModelServer, proxy: tuple[RecordingProxy, str]
) -> None:
    recorder, url = proxy
    model = build_model(model_server, url)
    async with model.stream("agent", ASKED, [WEATHER]) as stream:
        events = [event async for event in stream]
    calls = [event.call for event in events if isinstance(event, ToolCallRequested)]
    results = [ToolResult(call_id=call.id, text="It is 24 degrees and sunny.") for call in calls]
    turn = AssistantTurn(text="", tool_calls=tuple(calls), given_back=find_end(events).given_back)
    async with model.stream("agent", [*ASKED, turn, *results], [WEATHER]) as stream:
        answer = [event async for event in stream]
    await model.aclose()

    assert [(call.name, loads(call.arguments)) for call in calls] == [
        ("get_weather", {"city": "Lisbon"})
    ]
    assert find_end(events).reason == "tool_calls"
    assert any(isinstance(event, TextDelta) for event in answer)
    assert find_end(answer).reason in ("stop", "length")
    assert recorder.refusals == []


async def test_a_second_question_reads_the_first_from_the_cache_after_notes_and_readings_x8(
    model_server: ModelServer,
) -> None:
    server = OpenaiServer(base_url=model_server.base_url, api_key=model_server.api_key)
    facts = await server.ask_facts(model_server.model)
    known = KnownModels()
    known.set((model_server.base_url, model_server.model), KnownModel(places=facts.places))
    model = build_model(model_server, model_server.base_url, known)
    chat: list[ModelMessage] = [SystemText(text=RULES), UserText(text="Is it warm in Lisbon?")]

    await model.complete_structured("reader", build_reading_prompt("Is it warm?"), Reading)
    async with model.stream("agent", chat) as stream:
        first = [event async for event in stream]
    for task in (
        "Read this text.",
        "Note what was said.",
        "What was it about?",
    ):  # in turn they would take both
        await model.complete_structured(
            "reader", build_reading_prompt("Rome. " * 200, task), Reading
        )
    words = "".join(event.text for event in first if isinstance(event, TextDelta))
    chat += [AssistantTurn(text=words), UserText(text="And in Rome?")]
    async with model.stream("agent", chat) as stream:
        second = [event async for event in stream]
    await model.aclose()

    read = find_end(first).usage.input_tokens
    assert read > 500
    assert find_end(second).usage.cached_tokens >= 0.95 * read


def build_reading_prompt(text: str, task: str = "Say what the text is.") -> Prompt:
    return Prompt(
        name="tests/reading",
        version="1",
        instructions=task,
        data={"text": text},
        answer_tokens=200,
    )


def find_end(events: list[ModelEvent]) -> ModelCallFinished:
    end = events[-1]
    assert isinstance(end, ModelCallFinished)
    return end


async def test_the_server_tells_its_window_and_places(model_server: ModelServer) -> None:
    server = OpenaiServer(base_url=model_server.base_url, api_key=model_server.api_key)

    facts = await server.ask_facts(model_server.model, None)

    assert (facts.window_tokens, facts.places) == (USUAL_WINDOW, 2)


async def test_nobody_without_the_key_is_answered(model_server: ModelServer) -> None:
    model = OpenaiModel(api_key="guess", base_url=model_server.base_url, models={"agent": "small"})

    with pytest.raises(ModelFailed) as error:
        async with model.stream("agent", ASKED) as stream:
            await anext(stream)
    await model.aclose()

    assert error.value.reason == "refused_key"

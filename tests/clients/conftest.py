"""Product with one conversation, and a model whose answer the tests know."""

from collections.abc import AsyncGenerator, Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from functions.chat.api.run_streams import build_ui_stream
from shared.domain.chats.run import (
    AnswerText,
    AnswerWithdrawn,
    ReasoningText,
    RunEnded,
    RunEvent,
    SequencedEvent,
)
from shared.domain.ids import RunId
from shared.edge.declare.event_stream import EventStream
from tests.e2e.product import (
    Product,
    build_conversation_body,
    build_model_environment,
    run_product,
)
from tests.functions.chat.test_ui_messages import MESSAGE
from tests.servers import run_server
from tests.servers.openai import Script, ScriptedOpenai, scripted_openai

ANSWER = "The offsite moves to Friday."


@pytest.fixture(scope="package")
def model() -> Iterator[ScriptedOpenai]:
    with scripted_openai(Script(text=ANSWER)) as server:
        yield server


@pytest.fixture(scope="package")
def product(tmp_path_factory: pytest.TempPathFactory, model: ScriptedOpenai) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    with run_product(folder, **build_model_environment(model.url)) as product:
        with product.client("alice") as http:
            body = build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")
            http.post("/v1/conversations", json=body).raise_for_status()
        yield product


@pytest.fixture
def thinking_server() -> Iterator[str]:
    """A server whose answer takes a thought back, of which one character is two for JavaScript."""
    thought = "I should answer 🚆."
    events: list[RunEvent] = [
        AnswerText("Yes. "),
        AnswerText(thought),
        AnswerWithdrawn(len(thought)),
        ReasoningText(thought),
        AnswerText(ANSWER),
        RunEnded(MESSAGE, "completed"),
    ]

    async def answer(_: Request) -> EventStream:
        async def iterate() -> AsyncGenerator[SequencedEvent, None]:
            for seq, event in enumerate(events, 1):
                yield SequencedEvent(seq, event)

        return build_ui_stream(RunId("run1"), iterate())

    with run_server(Starlette(routes=[Route("/v2/messages", answer, methods=["POST"])])) as url:
        yield url

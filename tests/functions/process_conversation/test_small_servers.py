"""Servers with small windows: a long recording is processed, however they refuse what is too long (N2)."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.cloud.openai_model import OpenaiModel
from shared.adapters.masked_model import MaskedModels
from shared.adapters.resilient_model import ResilientModel
from shared.domain.conversations.conversation import Segment
from shared.domain.models.model import ModelRole
from shared.domain.models.tokens import estimate_tokens
from tests.fakes import AutoAdvanceClock, UnmaskedModels
from tests.fixtures.processing import ALICE, build_processing_fixture, build_test_conversation
from tests.fixtures.storage import MemoryDatabase
from tests.functions.process_conversation.test_transcript_parts import (
    LONG_TALK,
    describe_all,
    read_lines,
)
from tests.servers import run_server

ROLES: tuple[ModelRole, ...] = ("reader", "fast", "standard")
SECRET = b"the secret of the server"
Refuse = Callable[[int, int], Response]


def refuse_as_vllm(tokens: int, window: int) -> Response:
    message = (
        f"This model's maximum context length is {window} tokens. However, you requested {tokens} "
        f"tokens ({tokens - 100} in the messages, 100 in the completion). Please reduce the length."
    )
    return JSONResponse({"object": "error", "message": message, "code": 400}, status_code=400)


def refuse_as_llama(tokens: int, window: int) -> Response:
    error = {
        "code": 400,
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": tokens,
        "n_ctx": window,
    }
    return JSONResponse({"error": error}, status_code=400)


def refuse_by_size(*_: int) -> Response:
    return JSONResponse({"error": {"message": "Request Entity Too Large"}}, status_code=413)


def refuse_without_a_reason(*_: int) -> Response:
    return JSONResponse({"error": {"message": "Bad request."}}, status_code=400)


@dataclass
class SmallServer:
    """Counts the tokens of a request and refuses what is more than its window."""

    window: int
    refuse: Refuse
    url: str = ""
    accepted: list[Mapping[str, Any]] = field(default_factory=list)
    refused: int = 0

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        words = "".join(str(message["content"]) for message in body["messages"])
        tokens = estimate_tokens(words) + body.get("max_tokens", 500)
        if tokens > self.window:
            self.refused += 1
            return self.refuse(tokens, self.window)
        data = _read_data(words)
        self.accepted += [data] if data else []
        answer_data = describe_all if "parts" in data else read_lines
        answer = json.dumps(answer_data(_Prompt(data)) if data else {})
        return Response(_stream(answer), media_type="text/event-stream")


@dataclass
class _Prompt:
    data: Mapping[str, Any]


def _read_data(words: str) -> Mapping[str, Any]:
    """Return the data of a prompt; empty for a request of the adapter's own, which tries out a form."""
    data: Mapping[str, Any] = json.loads(words.partition("```json")[2].partition("```")[0] or "{}")
    return data


def _stream(answer: str) -> str:
    delta = {"choices": [{"index": 0, "delta": {"content": answer}, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (delta, end)) + "data: [DONE]\n\n"


@contextmanager
def run_small_server(window: int, refuse: Refuse) -> Iterator[SmallServer]:
    server = SmallServer(window=window, refuse=refuse)
    app = Starlette(routes=[Route("/chat/completions", server.complete, methods=["POST"])])
    with run_server(app) as server.url:
        yield server


@asynccontextmanager
async def open_model(
    window: int, refuse: Refuse
) -> AsyncIterator[tuple[ResilientModel, SmallServer]]:
    """Open the model as wiring does; nothing is known of it but its name."""
    clock = AutoAdvanceClock()
    with run_small_server(window, refuse) as server:
        models = {str(role): "some-model" for role in ROLES}
        model = OpenaiModel(api_key="key", base_url=server.url, models=models, clock=clock)
        yield ResilientModel({role: [model] for role in ROLES}, clock), server
        await model.aclose()


@pytest.mark.parametrize(
    ("window", "refuse"),
    [
        *product([4_096, 8_192], [refuse_as_vllm, refuse_as_llama, refuse_by_size]),
        (20_000, refuse_without_a_reason),
    ],
)
async def test_a_recording_of_75_minutes_is_processed_by_a_small_server_n2(
    window: int, refuse: Refuse
) -> None:
    async with open_model(window, refuse) as (model, server):
        world = build_processing_fixture(MemoryDatabase(), model)
        talk = build_test_conversation(transcript_segments=tuple(LONG_TALK))
        await world.deps.stores.conversations.add(ALICE, talk)
        await world.deliver_all()

    conversation = await world.load_conversation()
    read = [line["segment"] for data in server.accepted for line in data.get("transcript", ())]
    assert (conversation.status, conversation.failure) == ("completed", None)
    assert conversation.structured.title == "The whole"
    assert [*dict.fromkeys(read)] == [*range(900)]
    assert server.refused < 12


async def test_what_is_masked_may_grow_and_fits_all_the_same_n2() -> None:
    """A placeholder has more tokens than a short address."""
    mails = " ".join(f"a{n}@b.de" for n in range(30))
    segments = tuple(Segment(text=f"{n} {mails}", is_user=True) for n in range(60))
    async with open_model(4_096, refuse_as_llama) as (model, server):
        world = build_processing_fixture(MemoryDatabase(), model)
        masked = MaskedModels(UnmaskedModels(model=model), masking="on", secret=SECRET)
        world.deps = replace(world.deps, model=masked)
        await world.deps.stores.profiles.change(ALICE, masks_private_data=True)
        talk = build_test_conversation(transcript_segments=segments)
        await world.deps.stores.conversations.add(ALICE, talk)
        await world.deliver_all()

    conversation = await world.load_conversation()
    read = [line for data in server.accepted for line in data.get("transcript", ())]
    assert conversation.status == "completed"
    assert {line["segment"] for line in read} == {*range(60)}
    assert "@b.de" not in "".join(line["text"] for line in read)

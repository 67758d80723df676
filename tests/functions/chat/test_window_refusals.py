"""Refusals for length over the wire: a window that nobody told is found by asking, and kept (N2)."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from functions.chat.loop.agent import MAX_SHRINKS
from shared.adapters.cloud.openai_model import OpenaiModel
from shared.domain.models.tokens import estimate_tokens
from shared.models.known_models import KnownModels
from tests.fixtures.chat import ChatFixture
from tests.functions.chat.chats import store_messages
from tests.functions.chat.test_small_windows import store_long_talks
from tests.functions.chat.test_turn import ask, require_end
from tests.servers import run_server

WINDOW = 4_096
Body = Mapping[str, Any]


def count_prompt(body: Body) -> int:
    return estimate_tokens(json.dumps([body["messages"], body.get("tools", ())]))


def count_all(body: Body) -> int:
    return count_prompt(body) + int(body.get("max_tokens", 0))


def refuse_like_vllm(body: Body) -> dict[str, Any] | None:
    if count_all(body) <= WINDOW:
        return None
    return {
        "message": f"This model's maximum context length is {WINDOW} tokens. However, you requested "
        f"{count_all(body)} tokens ({count_prompt(body)} in the messages, {body.get('max_tokens', 0)} in the "
        "completion). Please reduce the length of the messages or completion.",
        "type": "BadRequestError",
        "code": 400,
    }


def refuse_like_llama_cpp(body: Body) -> dict[str, Any] | None:
    if count_prompt(body) <= WINDOW:
        return None
    return {
        "message": "the request exceeds the available context size, try increasing it",
        "type": "exceed_context_size_error",
        "code": 400,
        "n_prompt_tokens": count_prompt(body),
        "n_ctx": WINDOW,
    }


def refuse_without_a_number(body: Body) -> dict[str, Any] | None:
    if count_prompt(body) <= WINDOW:
        return None
    return {"message": "The prompt is too long.", "type": "invalid_request_error"}


class SmallServer:
    """Answers what fits its window: by a search, if it may, and then by an answer."""

    origin = ""

    def __init__(
        self, refuse: Callable[[Body], dict[str, Any] | None], refusals_later: int
    ) -> None:
        self.refusals_later = refusals_later
        self.refused: list[int] = []
        self.answered: list[Body] = []
        self._refuse = refuse

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        error = self._refuse(body)
        if error is not None:
            self.refused.append(count_prompt(body))
            return JSONResponse({"error": error}, status_code=400)
        self.answered.append(body)
        return Response(self._stream(body), media_type="text/event-stream")

    def _stream(self, body: Body) -> bytes:
        has_found = body["messages"][-1]["role"] == "tool" or any(
            message["role"] == "tool" for message in body["messages"][-2:]
        )
        call = {"name": "search_conversations", "arguments": '{"query": "plumber"}'}
        delta = (
            {"content": "On Tuesday at nine[1]."}
            if has_found
            else {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": call}]}
        )
        reason = "stop" if has_found else "tool_calls"
        chunks = [
            {"choices": [{"index": 0, "delta": delta}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        ]
        return b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks)


REFUSALS = {
    "vllm": (refuse_like_vllm, 2),
    "llama.cpp": (refuse_like_llama_cpp, 0),
    "no number": (refuse_without_a_number, 6),
}
"""Each with the most calls that a later turn may be refused."""


@pytest.fixture(params=REFUSALS)
def small_server(request: pytest.FixtureRequest) -> Iterator[SmallServer]:
    server = SmallServer(*REFUSALS[request.param])
    route = Route("/v1/chat/completions", server.answer, methods=["POST"])
    with run_server(Starlette(routes=[route])) as server.origin:
        yield server


async def test_a_question_is_answered_by_a_server_of_a_small_window_that_nobody_told_n2(
    world: ChatFixture, small_server: SmallServer
) -> None:
    await store_long_talks(world)
    model = OpenaiModel(
        api_key="key",
        base_url=f"{small_server.origin}/v1",
        models=dict.fromkeys(("agent", "standard", "fast", "reader"), "qwen"),
        known=KnownModels(),
    )
    deps = world.deps(model)

    await store_messages(world, *["What was said about the boat. " * 40] * 12)
    first = require_end(await ask(deps, "When does the plumber come?"))
    refused_first = len(small_server.refused)
    world.clock.advance(seconds=5)
    second = require_end(await ask(deps, "And what does the plumber bring?"))
    await model.aclose()

    assert first.message.text == "On Tuesday at nine."
    assert second.outcome == "completed"
    assert refused_first <= MAX_SHRINKS + 1
    assert len(small_server.refused) - refused_first <= small_server.refusals_later

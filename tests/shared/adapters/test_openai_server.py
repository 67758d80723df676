"""Free questions to servers: a refused key, whatever is no list of models, and facts in a bounded time (N4)."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import anyio
import anyio.lowlevel
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from shared.adapters.cloud.openai_server import OpenaiServer
from shared.domain.errors import ModelFailed, ModelUnreachable
from shared.models.server_facts import NOTHING_TOLD, ServerFacts
from tests.servers import run_server

NOW = datetime(2026, 11, 28, tzinfo=UTC)
LISTING = {"data": [{"id": "qwen3", "max_model_len": 8_192}]}
Answer = Callable[[Request], Awaitable[Response]]


def say(response: Response) -> Answer:
    async def answer(_: Request) -> Response:
        return response

    return answer


async def hang(_: Request) -> Response:
    await anyio.sleep_forever()
    raise AssertionError


async def never_end(_: Request) -> Response:
    async def pour() -> AsyncIterator[bytes]:
        while True:
            yield b"[" * 65_536
            await anyio.lowlevel.checkpoint()  # so that a disconnect is heard

    return StreamingResponse(pour(), media_type="application/json")


@contextmanager
def serve(models: Answer, **others: Answer) -> Iterator[OpenaiServer]:
    """Serve `/v1/models`, and `props` and the like at the root."""
    routes = [Route("/v1/models", models)]
    routes += [Route(f"/{name}", answer) for name, answer in others.items()]
    with run_server(Starlette(routes=routes)) as origin:
        yield build_server(origin)


def build_server(origin: str, *, timeout_s: float = 0.5) -> OpenaiServer:
    return OpenaiServer(
        base_url=f"{origin}/v1/",
        api_key="sk-1",
        list_timeout_s=timeout_s,
        facts_timeout_s=timeout_s,
    )


async def test_a_server_is_asked_with_the_key() -> None:
    async def answer(request: Request) -> Response:
        return JSONResponse({"data": [{"id": request.headers["authorization"]}]})

    with serve(answer) as server:
        listing = await server.list_models(NOW)

    assert listing == {"data": [{"id": "Bearer sk-1"}]}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (say(Response(status_code=401)), "refused_key"),
        (
            say(JSONResponse({"error": {"message": "API key not valid."}}, status_code=400)),
            "refused_key",
        ),
        (say(HTMLResponse("<html>It works!</html>")), "wrong_server"),
        (say(Response()), "wrong_server"),
    ],
    ids=["401", "400 that names the key", "a page", "nothing"],
)
async def test_a_refused_key_and_a_wrong_server_are_told(answer: Answer, reason: str) -> None:
    with serve(answer) as server, pytest.raises(ModelFailed) as error:
        await server.list_models(NOW)

    assert error.value.reason == reason


@pytest.mark.parametrize(
    "answer",
    [say(Response(status_code=status)) for status in (403, 404, 405, 429, 500)] + [hang],
    ids=["403", "404", "405", "429", "500", "for ever"],
)
async def test_a_server_without_a_list_may_answer_all_the_same(answer: Answer) -> None:
    with serve(answer) as server:
        assert await server.list_models(NOW) is None


async def test_an_endless_list_is_read_to_a_bound() -> None:
    with run_server(Starlette(routes=[Route("/v1/models", never_end)])) as origin:
        server = build_server(origin, timeout_s=60)
        with pytest.raises(ModelFailed) as error:
            await server.list_models(NOW)
        assert await server.ask_facts("qwen3") == NOTHING_TOLD

    assert error.value.reason == "wrong_server"


async def test_what_speaks_no_http_is_a_wrong_server() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        with pytest.raises(ModelFailed) as error:
            await build_server(f"http://127.0.0.1:{port}").list_models(NOW)

    assert error.value.reason == "wrong_server"


async def test_where_nothing_answers_there_is_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(ModelUnreachable):
        await build_server(f"http://127.0.0.1:{port}").list_models(NOW)


async def test_what_hangs_costs_no_fact_of_another_path() -> None:
    props = {"default_generation_settings": {"n_ctx": 4_096}, "total_slots": 1}
    with serve(hang, props=say(JSONResponse(props))) as server:
        facts = await server.ask_facts("qwen3", LISTING)

    assert facts == ServerFacts(window_tokens=4_096, places=1)


async def test_a_list_that_was_read_is_not_asked_for_again() -> None:
    with serve(hang) as server:
        assert await server.ask_facts("qwen3", LISTING) == ServerFacts(window_tokens=8_192)


async def test_where_nothing_answers_nothing_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    assert await build_server(f"http://127.0.0.1:{port}").ask_facts("qwen3") == NOTHING_TOLD


async def test_a_key_that_no_header_can_carry_is_a_refused_one() -> None:
    server = OpenaiServer(base_url="http://127.0.0.1:9/v1", api_key="sk-ä")

    with pytest.raises(ModelFailed) as error:
        await server.list_models(NOW)
    assert error.value.reason == "refused_key"
    assert await server.ask_facts("qwen3") == NOTHING_TOLD

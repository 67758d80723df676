"""OpenAI's embeddings against a local server that speaks them (C58)."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.cloud.openai_embedder import MAX_BATCH_TEXTS, MAX_TEXT_CHARS, OpenaiEmbedder
from shared.domain.errors import KeepsakeError, ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.telemetry import log_request
from tests.fakes import AutoAdvanceClock
from tests.servers import run_server
from tests.spans import capture_spans

ANN = UserId("ann")


@dataclass
class FakeEmbeddings:
    """Answers each text with its length, in any order; `status` refuses the first requests."""

    failure_statuses: list[int] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def embed(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer key"
        if self.failure_statuses:
            error = {"message": "no", "code": "no"}
            return JSONResponse(
                {"error": error}, self.failure_statuses.pop(0), {"retry-after-ms": "1"}
            )
        self.requests.append(body := await request.json())
        data = [
            {"object": "embedding", "index": n, "embedding": [float(len(text)), 0.5]}
            for n, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
        return JSONResponse(answer)


@pytest.fixture
def server() -> Iterator[FakeEmbeddings]:
    server = FakeEmbeddings()
    app = Starlette(routes=[Route("/v1/embeddings", server.embed, methods=["POST"])])
    with run_server(app) as server.url:
        yield server


@pytest.fixture
async def embedder(server: FakeEmbeddings) -> AsyncIterator[OpenaiEmbedder]:
    embedder = OpenaiEmbedder(
        api_key="key", base_url=f"{server.url}/v1", model="large", clock=AutoAdvanceClock()
    )
    yield embedder
    await embedder.aclose()


async def test_vectors_come_in_the_order_of_their_texts_c58(
    server: FakeEmbeddings, embedder: OpenaiEmbedder
):
    assert await embedder.embed(ANN, ["a", "bcd"]) == [[1.0, 0.5], [3.0, 0.5]]
    assert (embedder.name, server.requests[0]["model"]) == ("large", "large")


async def test_many_texts_go_in_batches_and_none_is_empty_or_too_long(
    server: FakeEmbeddings, embedder: OpenaiEmbedder
):
    texts = ["", "x" * 2 * MAX_TEXT_CHARS, *["y"] * MAX_BATCH_TEXTS]

    vectors = await embedder.embed(ANN, texts)

    assert len(vectors) == len(texts)
    assert [len(body["input"]) for body in server.requests] == [MAX_BATCH_TEXTS, 2]
    assert [len(text) for text in server.requests[0]["input"][:2]] == [1, MAX_TEXT_CHARS]


async def test_vectors_are_asked_for_at_their_length_d4(server: FakeEmbeddings):
    embedder = OpenaiEmbedder(
        api_key="key",
        base_url=f"{server.url}/v1",
        model="large",
        dimensions=512,
        clock=AutoAdvanceClock(),
    )

    await embedder.embed(ANN, ["a"])
    await embedder.aclose()

    assert (embedder.name, server.requests[0]["dimensions"]) == ("large/512", 512)


async def test_no_texts_make_no_request(server: FakeEmbeddings, embedder: OpenaiEmbedder):
    assert await embedder.embed(ANN, []) == []
    assert server.requests == []


async def test_a_transient_failure_is_retried_c67(server: FakeEmbeddings, embedder: OpenaiEmbedder):
    server.failure_statuses = [503, 429]

    assert await embedder.embed(ANN, ["a"]) == [[1.0, 0.5]]


@pytest.mark.parametrize(
    ("status", "expected"), [(500, Unavailable), (429, Unavailable), (401, ModelFailed)]
)
async def test_a_permanent_failure_raises_our_own_error_c67(
    server: FakeEmbeddings, embedder: OpenaiEmbedder, status: int, expected: type[KeepsakeError]
):
    server.failure_statuses = [status] * 3

    with pytest.raises(expected):
        await embedder.embed(ANN, ["a"])


async def test_an_unreachable_server_is_unavailable_c67():
    embedder = OpenaiEmbedder(
        api_key="key", base_url="http://127.0.0.1:9", model="large", clock=AutoAdvanceClock()
    )

    with pytest.raises(Unavailable):
        await embedder.embed(ANN, ["a"])


async def test_a_call_is_a_span_without_its_texts_d7(embedder: OpenaiEmbedder) -> None:
    with capture_spans() as sent, log_request("chat"):
        await embedder.embed(ANN, ["a secret"])

    call = sent.find("embeddings large")
    assert (call.kind, call.error) == ("client", None)
    assert call.attributes == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "large",
    }


async def test_a_call_that_fails_is_a_span_with_an_error_d7(
    embedder: OpenaiEmbedder, server: FakeEmbeddings
) -> None:
    server.failure_statuses = [503, 503, 503]

    with capture_spans() as sent, log_request("chat"), pytest.raises(Unavailable):
        await embedder.embed(ANN, ["a secret"])

    assert sent.find("embeddings large").error == "Unavailable"

"""OpenAI's embeddings through the real SDK, against a local server that speaks them (C58)."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shared.adapters.openai_embedder import BATCH, TEXT_CHARS, OpenaiEmbedder
from shared.domain.errors import KeepsakeError, ModelFailed, Unavailable
from tests.servers import running


@dataclass
class Embeddings:
    """Answers each text with its length, in any order; `status` refuses the first requests."""

    status: list[int] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def embed(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer key"
        if self.status:
            error = {"message": "no", "code": "no"}
            return JSONResponse({"error": error}, self.status.pop(0), {"retry-after-ms": "1"})
        self.asked.append(body := await request.json())
        data = [
            {"object": "embedding", "index": n, "embedding": [float(len(text)), 0.5]}
            for n, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}
        return JSONResponse(answer)


@pytest.fixture
def server() -> Iterator[Embeddings]:
    server = Embeddings()
    app = Starlette(routes=[Route("/v1/embeddings", server.embed, methods=["POST"])])
    with running(app) as server.url:
        yield server


@pytest.fixture
async def embedder(server: Embeddings) -> AsyncIterator[OpenaiEmbedder]:
    embedder = OpenaiEmbedder(api_key="key", base_url=f"{server.url}/v1", model="large")
    yield embedder
    await embedder.aclose()


async def test_c58_vectors_come_in_the_order_of_their_texts(
    server: Embeddings, embedder: OpenaiEmbedder
):
    assert await embedder.embed(["a", "bcd"]) == [[1.0, 0.5], [3.0, 0.5]]
    assert (embedder.name, server.asked[0]["model"]) == ("large", "large")


async def test_many_texts_go_in_batches_and_none_is_empty_or_too_long(
    server: Embeddings, embedder: OpenaiEmbedder
):
    texts = ["", "x" * 2 * TEXT_CHARS, *["y"] * BATCH]

    vectors = await embedder.embed(texts)

    assert len(vectors) == len(texts)
    assert [len(asked["input"]) for asked in server.asked] == [BATCH, 2]
    assert [len(text) for text in server.asked[0]["input"][:2]] == [1, TEXT_CHARS]


async def test_no_texts_ask_nobody(server: Embeddings, embedder: OpenaiEmbedder):
    assert await embedder.embed([]) == []
    assert server.asked == []


async def test_c67_a_moments_failure_is_tried_again(server: Embeddings, embedder: OpenaiEmbedder):
    server.status = [503, 429]

    assert await embedder.embed(["a"]) == [[1.0, 0.5]]


@pytest.mark.parametrize(
    ("status", "expected"), [(500, Unavailable), (429, Unavailable), (401, ModelFailed)]
)
async def test_c67_a_lasting_failure_is_one_of_ours(
    server: Embeddings, embedder: OpenaiEmbedder, status: int, expected: type[KeepsakeError]
):
    server.status = [status] * 3

    with pytest.raises(expected):
        await embedder.embed(["a"])


async def test_c67_nobody_there_is_unavailable():
    embedder = OpenaiEmbedder(api_key="key", base_url="http://127.0.0.1:9", model="large")

    with pytest.raises(Unavailable):
        await embedder.embed(["a"])

"""Embedder on OpenAI's embeddings, at any compatible base URL."""

from collections.abc import Sequence
from functools import cached_property

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI

from shared.adapters.cloud.openai_chunks import build_error, parse_retry_after_s
from shared.domain.errors import Unavailable

MAX_BATCH_TEXTS = 256
"""Texts in a request: so many turns stay below the limit of 300,000 tokens."""
MAX_TEXT_CHARS = 8_000
"""About 2,000 tokens; a text may have 8,191 in any script."""
_TIMEOUT = httpx2.Timeout(10.0, connect=5.0)


class OpenaiEmbedder:
    """The client retries twice, and is built on first use."""

    def __init__(self, *, api_key: str, base_url: str, model: str) -> None:
        self.name = model
        self._api_key = api_key
        self._base_url = base_url

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        batches = [
            texts[start : start + MAX_BATCH_TEXTS]
            for start in range(0, len(texts), MAX_BATCH_TEXTS)
        ]
        return [vector for batch in batches for vector in await self._embed_batch(batch)]

    async def _embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        try:
            answer = await self._client.embeddings.create(
                model=self.name,
                input=[text[:MAX_TEXT_CHARS] or " " for text in texts],
                encoding_format="float",
            )
        except APIStatusError as error:
            wait_s = parse_retry_after_s(error.response.headers)
            raise build_error(error.status_code, error.code, retry_after_s=wait_s) from None
        except APIConnectionError as error:
            raise Unavailable(f"no connection to the embedder: {type(error).__name__}") from None
        embeddings = sorted(answer.data, key=lambda each: each.index)
        return [embedding.embedding for embedding in embeddings]

    async def aclose(self) -> None:
        if "_client" in vars(self):
            await self._client.close()

    @cached_property
    def _client(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._api_key, base_url=self._base_url, timeout=_TIMEOUT, max_retries=2
        )

"""Embedder on OpenAI's embeddings, at any base url that speaks them."""

from collections.abc import Sequence
from functools import cached_property

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI

from shared.adapters.openai_chunks import failure, retry_after_s
from shared.domain.errors import Unavailable

BATCH = 256
"""Our texts are turns: so many stay below the 300,000 tokens that a request may have."""
TEXT_CHARS = 8_000
"""Some 2,000 tokens, of the 8,191 that a text may have in any script."""
_TIMEOUT = httpx2.Timeout(10.0, connect=5.0)


class OpenaiEmbedder:
    """The client repeats twice what may be repeated, and is built on first use."""

    def __init__(self, *, api_key: str, base_url: str, model: str) -> None:
        self.name = model
        self._api_key = api_key
        self._base_url = base_url

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return [vector for batch in batches for vector in await self._batch(batch)]

    async def _batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        try:
            answer = await self._client.embeddings.create(
                model=self.name,
                input=[text[:TEXT_CHARS] or " " for text in texts],
                encoding_format="float",
            )
        except APIStatusError as error:
            wait_s = retry_after_s(error.response.headers)
            raise failure(error.status_code, error.code, retry_after_s=wait_s) from None
        except APIConnectionError as error:
            raise Unavailable(f"no connection to the embedder: {type(error).__name__}") from None
        in_order = sorted(answer.data, key=lambda each: each.index)
        return [each.embedding for each in in_order]

    async def aclose(self) -> None:
        if "_client" in vars(self):
            await self._client.close()

    @cached_property
    def _client(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._api_key, base_url=self._base_url, timeout=_TIMEOUT, max_retries=2
        )

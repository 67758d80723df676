"""Embedder on OpenAI's embeddings, at any compatible base URL.

Also called: vectorization.
"""

from collections.abc import Sequence

from pydantic import BaseModel, ValidationError

from shared.adapters.cloud.model_spans import open_model_call
from shared.adapters.cloud.openai_http import OpenaiHttp
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.ports import Clock
from shared.resilience.retry import retry

MAX_BATCH_TEXTS = 256
"""Texts in a request: so many turns stay below the limit of 300,000 tokens."""
MAX_TEXT_CHARS = 8_000
"""About 2,000 tokens; a text may have 8,191 in any script."""
_TIMEOUT_S = 10.0
_ATTEMPTS = 3


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Answer(BaseModel):
    """What is read of an answer; the vectors come in any order."""

    data: list[_Embedding]


class OpenaiEmbedder:
    """Tries a batch three times; a question is embedded as any other text. `dimensions` are those to which the model shortens; None leaves it all."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        model: str,
        clock: Clock,
        dimensions: int | None = None,
    ) -> None:
        self.embeds_later = False
        self.name = f"{model}/{dimensions}" if dimensions else model
        self._model = model
        self._dimensions = dimensions
        self._http = OpenaiHttp(
            api_key=api_key, base_url=base_url, timeout_s=_TIMEOUT_S, clock=clock
        )
        self._clock = clock

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        batches = [
            texts[start : start + MAX_BATCH_TEXTS]
            for start in range(0, len(texts), MAX_BATCH_TEXTS)
        ]
        return [vector for batch in batches for vector in await self._embed_batch(batch)]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        [vector] = await self.embed(uid, [question])
        return vector

    async def _embed_batch(self, texts: Sequence[str]) -> list[Sequence[float]]:
        body = {
            "model": self._model,
            "input": [text[:MAX_TEXT_CHARS] or " " for text in texts],
            "encoding_format": "float",
            **({"dimensions": self._dimensions} if self._dimensions else {}),
        }
        with open_model_call("embeddings", self.name):
            content = await retry(
                lambda: self._http.post("embeddings", body),
                sleep=self._clock.sleep,
                attempts=_ATTEMPTS,
            )
        return _read_vectors(content, len(texts))

    async def aclose(self) -> None:
        await self._http.aclose()


def _read_vectors(content: bytes, count: int) -> list[Sequence[float]]:
    """Return one vector a text. Raises ModelFailed for any other answer."""
    try:
        embeddings = sorted(_Answer.model_validate_json(content).data, key=lambda each: each.index)
    except ValidationError:
        embeddings = []
    if [each.index for each in embeddings] != list(range(count)):
        raise ModelFailed("the embedder gave an answer that cannot be read")
    return [each.embedding for each in embeddings]

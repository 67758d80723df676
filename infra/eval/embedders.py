"""Embedders of evaluations: one with a cache, and shortened ones; both embed at once."""

from collections.abc import Sequence

from shared.domain.ids import UserId
from shared.ports import Embedder


class CachingEmbedder:
    """An embedder with a cache: the same people are evaluated several times."""

    embeds_later = False

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._vectors: dict[str, Sequence[float]] = {}
        self._questions: dict[str, Sequence[float]] = {}

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, await self._embedder.embed(uid, new), strict=True))
        return [self._vectors[text] for text in texts]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        if question not in self._questions:
            self._questions[question] = await self._embedder.embed_question(uid, question)
        return self._questions[question]


class ShortenedEmbedder:
    """The first dimensions of another embedder's vectors."""

    embeds_later = False

    def __init__(self, embedder: Embedder, dimensions: int) -> None:
        self.name = f"{embedder.name}, first {dimensions}"
        self._embedder = embedder
        self._dimensions = dimensions

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        vectors = await self._embedder.embed(uid, texts)
        return [vector[: self._dimensions] for vector in vectors]

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        return (await self._embedder.embed_question(uid, question))[: self._dimensions]

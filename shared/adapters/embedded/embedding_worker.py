"""Worker that embeds what waits: rows are found by words at once, and by meaning once it came to them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.ids import UserId
from shared.domain.store.vectors import WaitingText
from shared.ports import Clock, Embedder

BATCH_TEXTS = 8
POLL_S = 2.0
IDLE_S = 60.0
"""After so long without a text the embedder's process, of some 130 MB, ends; another takes half a second to start."""
TOLD_FROM = 200
"""So many waiting texts, over a minute of work, are told about."""
TOLD_EACH = 400
_NOBODY = UserId("nobody")
_TRIAL = "Is anybody there?"


class ClosableEmbedder(Embedder, Protocol):
    """An embedder that can be asked again after it was closed."""

    async def aclose(self) -> None:
        """Free what embedding texts takes."""


class EmbeddingWorker:
    """Embeds texts in the order of their arrival; `say` gets sentences for whoever runs the server."""

    def __init__(
        self,
        vectors: SqliteVectors,
        embedder: ClosableEmbedder,
        clock: Clock,
        say: Callable[[str], None],
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._clock = clock
        self._say = say
        self.has_failed = False

    async def run(self) -> None:
        """Work until cancelled; end where this machine cannot run the encoder, or can no longer."""
        try:
            await self._embedder.embed_question(_NOBODY, _TRIAL)
            await self._embed_all()
        except ModelFailed as error:
            self.has_failed = True
            self._say(f"search goes by words alone: {error}")

    async def _embed_all(self) -> None:
        embedded, idle_s = 0, 0.0
        while True:
            with suppress(Unavailable):  # a busy database or a full disk: the texts still wait
                if texts := await self._vectors.list_waiting(BATCH_TEXTS):
                    if embedded % TOLD_EACH < BATCH_TEXTS:
                        await self._tell()
                    await self._embed(texts)
                    embedded, idle_s = embedded + len(texts), 0.0
                    continue
                embedded = 0
            await self._clock.sleep(POLL_S)
            idle_s += POLL_S
            if idle_s == IDLE_S:
                await self._embedder.aclose()

    async def _embed(self, texts: Sequence[WaitingText]) -> None:
        """Embed texts at once; each alone where that fails. Raises ModelFailed where no text can be embedded.

        One that fails alone stays found by words.
        """
        try:
            vectors = await self._embedder.embed(
                UserId(texts[0].namespace), [each.text for each in texts]
            )
        except ModelFailed:
            if len(texts) == 1:
                await self._embedder.embed(_NOBODY, [_TRIAL])
                await self._vectors.drop_waiting(texts[0])
            else:
                for each in texts:
                    await self._embed([each])
        else:
            await self._vectors.add_dense(texts, vectors)

    async def _tell(self) -> None:
        waiting = await self._vectors.count_waiting()
        if waiting >= TOLD_FROM:
            embedded = await self._vectors.count_embedded()
            self._say(
                f"{embedded:,} of {embedded + waiting:,} passages can be found by meaning; words find all of them"
            )

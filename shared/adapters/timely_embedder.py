"""Embedder whose vector of a question comes in time or not at all: words have found something by then.

Also called: embedding cache.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.ports import Clock, Embedder

MAX_QUESTIONS = 64
"""Questions whose vectors are kept: those of the turns that run, each of which searches a few times."""

Vector = Sequence[float]


class TimelyEmbedder:
    """Encodes a question once for all who ask for it, also at the same time.

    One that takes longer than `patience_s` is encoded to its end, for the next search of the same question.
    While `most_at_once` are encoded, another is not begun: it would come too late, and delay the answers.
    """

    def __init__(
        self, embedder: Embedder, clock: Clock, *, patience_s: float, most_at_once: int
    ) -> None:
        self.name = embedder.name
        self.embeds_later = embedder.embeds_later
        self._embedder = embedder
        self._clock = clock
        self._patience_s = patience_s
        self._most_at_once = most_at_once
        self._questions: OrderedDict[tuple[UserId, str], asyncio.Task[Vector]] = OrderedDict()

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Vector]:
        return await self._embedder.embed(uid, texts)

    async def embed_question(self, uid: UserId, question: str) -> Vector:
        """Raises Unavailable where the vector does not come in time."""
        encoding = self._encode(uid, question)
        if not encoding.done():
            await self._wait(encoding)
        if not encoding.done():
            raise Unavailable("The meaning of the question did not come in time")
        return encoding.result()

    async def embed_surely(self, uid: UserId, question: str) -> Vector:
        """Return the vector whenever it comes, however many are encoded. Raises what the embedder raises."""
        return await asyncio.shield(self._encode(uid, question, is_sure=True))

    def _encode(
        self, uid: UserId, question: str, *, is_sure: bool = False
    ) -> "asyncio.Task[Vector]":
        """Return the encoding of a question, which may have begun before. Raises Unavailable."""
        key = uid, question
        encoding = self._questions.get(key)
        if encoding is None:
            if (
                not is_sure
                and sum(not each.done() for each in self._questions.values()) >= self._most_at_once
            ):
                raise Unavailable("The embedder has as many questions as it can answer in time")
            encoding = asyncio.ensure_future(self._embedder.embed_question(uid, question))
            encoding.add_done_callback(lambda ended: self._drop_failed(key, ended))
            self._questions[key] = encoding
        self._questions.move_to_end(key)
        while len(self._questions) > MAX_QUESTIONS:
            self._questions.popitem(last=False)
        return encoding

    async def _wait(self, encoding: "asyncio.Task[Vector]") -> None:
        """Wait until it is done, or patience ends; who gives up does not end it for others."""
        patience = asyncio.ensure_future(self._clock.sleep(self._patience_s))
        try:
            await asyncio.wait((encoding, patience), return_when=asyncio.FIRST_COMPLETED)
        finally:
            patience.cancel()

    def _drop_failed(self, key: tuple[UserId, str], encoding: "asyncio.Task[Vector]") -> None:
        has_failed = encoding.cancelled() or encoding.exception()
        if has_failed and self._questions.get(key) is encoding:
            del self._questions[key]

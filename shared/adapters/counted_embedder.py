"""Embedder of a provider that is paid: what it reads to be found later is taken from a day's quota.

Questions are not counted: a day has few, and each is a turn.
"""

from collections.abc import Sequence
from contextlib import suppress

from shared.data.account.quotas import Quotas
from shared.domain.errors import QuotaExceeded, ReadingUsedUp, Unavailable
from shared.domain.ids import UserId
from shared.domain.models.tokens import estimate_tokens
from shared.ports import Clock, Embedder


class CountedEmbedder:
    """Beyond the day's quota texts have no vectors, and are found by their words."""

    def __init__(self, embedder: Embedder, quotas: Quotas, clock: Clock) -> None:
        self._embedder = embedder
        self._quotas = quotas
        self._clock = clock

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def embeds_later(self) -> bool:
        return self._embedder.embeds_later

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        """Raises ReadingUsedUp where the day's tokens do not suffice. What nobody read is given back."""
        tokens, now = sum(map(estimate_tokens, texts)), self._clock.now()
        try:
            await self._quotas.take(uid, "reading_tokens", tokens, now=now)
        except QuotaExceeded as refusal:
            raise ReadingUsedUp(str(refusal)) from refusal
        try:
            return await self._embedder.embed(uid, texts)
        except Unavailable:
            with suppress(Unavailable):
                await self._quotas.give_back(uid, "reading_tokens", tokens, now=now)
            raise

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        return await self._embedder.embed_question(uid, question)

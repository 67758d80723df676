"""Embedder that masks private data: questions as well as what they shall find, alike for each user."""

from collections.abc import Sequence

from anyio import to_thread

from shared.adapters.masked_model import derive_masking_key
from shared.domain.ids import UserId
from shared.ports import Embedder
from shared.security.masking import Masker


class MaskedEmbedder:
    """Its name is another than the embedder's, because their vectors of one text differ."""

    def __init__(self, embedder: Embedder, *, secret: bytes) -> None:
        self._embedder = embedder
        self._secret = secret

    @property
    def name(self) -> str:
        return f"{self._embedder.name}, masked"

    @property
    def embeds_later(self) -> bool:
        """Nothing waits: texts that wait are stored, and only masked ones leave."""
        return False

    async def embed(self, uid: UserId, texts: Sequence[str]) -> list[Sequence[float]]:
        return await self._embedder.embed(uid, await self._mask(uid, texts))

    async def embed_question(self, uid: UserId, question: str) -> Sequence[float]:
        [masked] = await self._mask(uid, [question])
        return await self._embedder.embed_question(uid, masked)

    async def _mask(self, uid: UserId, texts: Sequence[str]) -> list[str]:
        masker = Masker(derive_masking_key(self._secret, uid))
        return await to_thread.run_sync(lambda: [*map(masker.mask, texts)])

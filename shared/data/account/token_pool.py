"""Pool of the model provider's tokens, in shards from which instances lease."""

from dataclasses import replace
from datetime import datetime

from shared.domain.errors import PreconditionFailed
from shared.domain.models.rate_budget import (
    POOL_SHARDS,
    build_shard,
    is_worth_leasing,
    lease_from,
)
from shared.domain.models.token_bucket import TokenBucket
from shared.domain.store.documents import Create, Document, Update
from shared.ports import Documents


class TokenPool:
    """The shards `leases/model-tokens-{n}`; each knows its level and since when, and no user."""

    def __init__(self, documents: Documents, tokens_per_minute: int) -> None:
        self._documents = documents
        self._tokens_per_minute = tokens_per_minute

    async def lease(
        self, wanted: float, /, *, least: float, first: int, floor: float, now: datetime
    ) -> float:
        """Take at most `wanted` tokens, of the shard `first` before others. Raises Unavailable.

        Where there are not even `least`, none are taken unless the pool is full. `floor` is the share of a
        shard that stays for others. Nothing comes of a shard that another instance took from meanwhile.
        """
        shards: list[TokenBucket] = []
        leases: list[tuple[float, Create | Update]] = []
        found = 0.0
        for number in range(first, first + POOL_SHARDS):
            if found >= wanted:
                break
            path = f"leases/model-tokens-{number % POOL_SHARDS}"
            document = await self._documents.get(path)
            shard = self._load(document, now)
            shards.append(shard)
            if tokens := lease_from(shard, wanted - found, now, floor=floor):
                found += tokens
                leases.append((tokens, _build_write(path, document, shard.take(tokens, now))))
        if not is_worth_leasing(found, least, shards, now):
            return 0.0
        return sum([tokens for tokens, write in leases if await self._try_write(write)])

    async def _try_write(self, write: Create | Update) -> bool:
        try:
            await self._documents.write(write)
        except PreconditionFailed:
            return False
        return True

    def _load(self, document: Document | None, now: datetime) -> TokenBucket:
        """Return a shard as it is stored, within the budget as it is set now."""
        shard = build_shard(self._tokens_per_minute, now)
        if document is None:
            return shard
        level = min(document.fields["level"], shard.capacity)
        return replace(shard, level=level, at=document.fields["at"])


def _build_write(path: str, document: Document | None, shard: TokenBucket) -> Create | Update:
    fields = {"level": shard.level, "at": shard.at}
    return Update(path, fields, version=document.version) if document else Create(path, fields)

"""Pool of the model provider's tokens, in shards from which instances lease."""

from dataclasses import replace
from datetime import datetime

from shared.domain.errors import PreconditionFailed
from shared.domain.models.rate_budget import POOL_SHARDS, build_shard, lease_from
from shared.domain.models.token_bucket import TokenBucket
from shared.domain.store.documents import Create, Document, Update
from shared.ports import Documents


class TokenPool:
    """The shards `leases/model-tokens-{n}`; each knows its level and since when, and no user."""

    def __init__(self, documents: Documents, tokens_per_minute: int) -> None:
        self._documents = documents
        self._tokens_per_minute = tokens_per_minute

    async def lease(self, wanted: float, /, *, first: int, floor: float, now: datetime) -> float:
        """Take at most `wanted` tokens, of the shard `first` before others. Raises Unavailable.

        `floor` is the share of a shard that stays for others.
        """
        leased = 0.0
        for number in range(first, first + POOL_SHARDS):
            if leased < wanted:
                leased += await self._lease_from(number % POOL_SHARDS, wanted - leased, floor, now)
        return leased

    async def _lease_from(self, number: int, wanted: float, floor: float, now: datetime) -> float:
        """Take from one shard; nothing where another instance took from it meanwhile."""
        path = f"leases/model-tokens-{number}"
        document = await self._documents.get(path)
        shard = self._load(document, now)
        leased = lease_from(shard, wanted, now, floor=floor)
        if not leased:
            return 0.0
        shard = shard.take(leased, now)
        fields = {"level": shard.level, "at": shard.at}
        write = Update(path, fields, version=document.version) if document else Create(path, fields)
        try:
            await self._documents.write(write)
        except PreconditionFailed:
            return 0.0
        return leased

    def _load(self, document: Document | None, now: datetime) -> TokenBucket:
        """Return a shard as it is stored, within the budget as it is set now."""
        shard = build_shard(self._tokens_per_minute, now)
        if document is None:
            return shard
        level = min(document.fields["level"], shard.capacity)
        return replace(shard, level=level, at=document.fields["at"])

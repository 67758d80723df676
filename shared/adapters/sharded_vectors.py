"""Vectors in shards: each holds a range of buckets, and each user lives in a bucket.

Also called: sharding, partitioning.
"""

from collections.abc import Awaitable, Callable, Sequence

from shared.domain.ids import UserId
from shared.domain.store.vector_home import VectorHome
from shared.domain.store.vectors import Filter, Hit, Row, SparseVector
from shared.ports import Vectors

FindHome = Callable[[UserId], Awaitable[VectorHome]]


class ShardedVectors:
    """Reads from the shard of a user's bucket; while they are moved, writes to both shards.

    The shard that is read is written first: where the other one fails, the writer is told, and
    repeats all of it.
    """

    def __init__(self, shards: Sequence[tuple[range, Vectors]], find_home: FindHome) -> None:
        self._shards = shards
        self._find_home = find_home

    async def upsert(self, namespace: str, rows: Sequence[Row]) -> None:
        for shard in await self._list_written(namespace):
            await shard.upsert(namespace, rows)

    async def fetch(self, namespace: str, ids: Sequence[str]) -> dict[str, Row]:
        return await (await self._find_read(namespace)).fetch(namespace, ids)

    async def query_sparse(
        self, namespace: str, query: SparseVector, *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        shard = await self._find_read(namespace)
        return await shard.query_sparse(namespace, query, limit=limit, where=where)

    async def query_dense(
        self, namespace: str, vector: Sequence[float], *, limit: int, where: Filter | None = None
    ) -> list[Hit]:
        shard = await self._find_read(namespace)
        return await shard.query_dense(namespace, vector, limit=limit, where=where)

    async def delete(self, namespace: str, ids: Sequence[str]) -> None:
        for shard in await self._list_written(namespace):
            await shard.delete(namespace, ids)

    async def delete_namespace(self, namespace: str) -> None:
        """Delete it from every shard: a user may have been moved, or be on the way."""
        for _, shard in self._shards:
            await shard.delete_namespace(namespace)

    async def delete_copies(self, namespace: str) -> None:
        """Delete a namespace from the shards that its user does not live in."""
        written = await self._list_written(namespace)
        for _, shard in self._shards:
            if shard not in written:
                await shard.delete_namespace(namespace)

    async def _find_read(self, namespace: str) -> Vectors:
        return self._get_shard((await self._find_home(UserId(namespace))).bucket)

    async def _list_written(self, namespace: str) -> list[Vectors]:
        """Return each shard once, also where both buckets are in the same one."""
        home = await self._find_home(UserId(namespace))
        return list(dict.fromkeys(map(self._get_shard, home.buckets)))

    def _get_shard(self, bucket: int) -> Vectors:
        return next(shard for buckets, shard in self._shards if bucket in buckets)

"""Counts that hold under any concurrency: an hour has as many slots as it admits."""

from datetime import datetime, timedelta
from zlib import crc32

from shared.domain.documents import Create
from shared.domain.errors import AlreadyExists
from shared.domain.ids import UserId
from shared.ports import Documents


class HourlyLimits:
    """A slot is a document that only one caller can create, so that no two callers share one."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def take(
        self, uid: UserId, name: str, *, hour: datetime, limit: int, taker: str
    ) -> int | None:
        """Take a slot of the hour that begins at `hour` and return how many are left.

        None when all are taken. `taker` is an id of the attempt: different ones start at different
        slots, so that a rush rarely meets at one.
        """
        paths = [f"users/{uid}/limits/{name}-{hour:%Y-%m-%d-%H}-{n}" for n in range(limit)]
        fields = {"expires_at": hour + timedelta(hours=1)}
        while free := await self._free(paths):
            if await self._created(free[crc32(taker.encode()) % len(free)], fields):
                return len(free) - 1
        return None

    async def _free(self, paths: list[str]) -> list[str]:
        found = await self._documents.get_many(paths)
        return [path for path, slot in zip(paths, found, strict=True) if slot is None]

    async def _created(self, path: str, fields: dict[str, datetime]) -> bool:
        try:
            await self._documents.write(Create(path, fields))
        except AlreadyExists:
            return False
        return True

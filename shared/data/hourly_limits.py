"""Counts that hold under any concurrency: an hour has as many slots as it admits."""

from datetime import datetime, timedelta

from shared.domain.documents import Create
from shared.domain.errors import AlreadyExists
from shared.domain.ids import UserId
from shared.ports import Documents


class HourlyLimits:
    """A slot is a document that only one caller can create, so that no two callers share one."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def take(self, uid: UserId, name: str, *, hour: datetime, limit: int) -> int | None:
        """Take a slot of the hour that begins at `hour` and return how many are left.

        None when all are taken.
        """
        paths = [f"users/{uid}/limits/{name}-{hour:%Y-%m-%d-%H}-{n}" for n in range(limit)]
        found = await self._documents.get_many(paths)
        free = [path for path, slot in zip(paths, found, strict=True) if slot is None]
        fields = {"expires_at": hour + timedelta(hours=1)}
        for left, path in zip(reversed(range(len(free))), free, strict=True):
            if await self._created(path, fields):
                return left
        return None

    async def _created(self, path: str, fields: dict[str, datetime]) -> bool:
        try:
            await self._documents.write(Create(path, fields))
        except AlreadyExists:
            return False
        return True

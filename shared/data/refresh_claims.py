"""Who may refresh a token: one caller at a time."""

from contextlib import suppress
from datetime import datetime, timedelta

from shared.domain.documents import Create, Delete, Update
from shared.domain.errors import AlreadyExists, PreconditionFailed
from shared.ports import Documents

LEASE = timedelta(seconds=60)
"""Longer than a refresh takes: its request is given up before."""


class RefreshClaims:
    """A claim stands below the document whose token it is about."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def take(self, document: str, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for LEASE, unless another holder has it.

        By create() and a precondition: a transaction that many want at once would not end.
        """
        path = _path(document)
        claim = {"holder": holder, "until": now + LEASE}
        try:
            await self._documents.write(Create(path, claim))
        except AlreadyExists:
            return await self._take_over(path, claim, now)
        return True

    async def _take_over(self, path: str, claim: dict[str, object], now: datetime) -> bool:
        held = await self._documents.get(path)
        if held is None or held.fields["until"] > now:
            return False
        try:
            await self._documents.write(Update(path, claim, version=held.version))
        except PreconditionFailed:
            return False
        return True

    async def release(self, document: str, holder: str) -> None:
        """Give the right back, unless it was taken over."""
        held = await self._documents.get(_path(document))
        if held is None or held.fields["holder"] != holder:
            return
        with suppress(PreconditionFailed):
            await self._documents.write(Delete(held.path, version=held.version))


def _path(document: str) -> str:
    return f"{document}/claims/refresh"

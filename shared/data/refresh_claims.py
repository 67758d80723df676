"""Who may refresh a token: one caller at a time."""

from contextlib import suppress
from datetime import datetime, timedelta

from shared.domain.documents import Create, Delete, Update
from shared.domain.errors import PreconditionFailed
from shared.ports import Documents

LEASE = timedelta(seconds=60)
"""Longer than a refresh takes: its request is given up before."""


class RefreshClaims:
    """A claim stands below the document whose token it is about."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def take(self, document: str, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for LEASE, unless another holder has it.

        By create() and a precondition: a transaction that many want at once would not end. Who
        has to wait only reads.
        """
        path = _path(document)
        held = await self._documents.get(path)
        if held is not None and held.fields["until"] > now:
            return False
        claim = {"holder": holder, "until": now + LEASE}
        take = Update(path, claim, version=held.version) if held else Create(path, claim)
        try:
            await self._documents.write(take)
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

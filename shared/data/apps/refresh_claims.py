"""Refresh claims: leases by which one caller at a time refreshes an account's tokens.

Also called: distributed lock, mutex.
"""

from contextlib import suppress
from datetime import datetime, timedelta

from shared.domain.errors import PreconditionFailed
from shared.domain.store.documents import Create, Delete, Update
from shared.ports import Documents

LEASE_TTL = timedelta(seconds=60)
"""Longer than a refresh takes: its request times out before."""


class RefreshClaims:
    """A claim is stored below the document of the tokens."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def acquire(self, document_path: str, holder: str, *, now: datetime) -> bool:
        """Take the right to refresh for LEASE_TTL, unless another holder has it.

        Uses create() and a precondition: a transaction under such contention would not end. A
        caller that has to wait only reads.
        """
        path = _claim_path(document_path)
        stored_claim = await self._documents.get(path)
        if stored_claim is not None and stored_claim.fields["until"] > now:
            return False
        claim = {"holder": holder, "until": now + LEASE_TTL}
        write = (
            Update(path, claim, version=stored_claim.version)
            if stored_claim
            else Create(path, claim)
        )
        try:
            await self._documents.write(write)
        except PreconditionFailed:
            return False
        return True

    async def release(self, document_path: str, holder: str) -> None:
        """Release the lease, unless another holder took it over."""
        stored_claim = await self._documents.get(_claim_path(document_path))
        if stored_claim is None or stored_claim.fields["holder"] != holder:
            return
        with suppress(PreconditionFailed):
            await self._documents.write(Delete(stored_claim.path, version=stored_claim.version))


def _claim_path(document_path: str) -> str:
    return f"{document_path}/claims/refresh"

"""Renewals under way: a document for each subject, which the sweep finds when it is due.

Also called: work queue, backfill.
"""

from collections.abc import Sequence
from contextlib import suppress

from shared.data.store.codec import dump, load, load_all
from shared.domain.conversations.renewal import Renewal
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Query, Set, Update, Write
from shared.ports import Documents

RENEWALS = "renewals"
MAX_LISTED = 100


class Renewals:
    """A user's renewals. A new one of the same subject takes the place of the one before."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, uid: UserId, subject: str) -> Renewal | None:
        document = await self._documents.get(_renewal_path(uid, subject))
        return load(Renewal, document) if document else None

    async def list_open(self, uid: UserId) -> Sequence[Renewal]:
        query = Query(collection=f"users/{uid}/{RENEWALS}", limit=MAX_LISTED)
        return load_all(Renewal, await self._documents.query(query))

    def build_request(self, uid: UserId, renewal: Renewal) -> Write:
        """Return the write of a renewal that begins with what else is written."""
        return Set(_renewal_path(uid, renewal.subject), dump(renewal))

    async def save(self, uid: UserId, renewal: Renewal, *, is_over: bool = False) -> None:
        """Store how far it is, or that it is over; nothing where a later one took its place."""
        path = _renewal_path(uid, renewal.subject)
        document = await self._documents.get(path)
        stored = load(Renewal, document) if document else None
        if document is None or stored is None or stored.requested_at != renewal.requested_at:
            return
        with suppress(PreconditionFailed):
            await self._documents.write(
                Delete(path, document.version)
                if is_over
                else Update(path, dump(renewal), document.version)
            )


def _renewal_path(uid: UserId, subject: str) -> str:
    return f"users/{uid}/{RENEWALS}/{subject}"

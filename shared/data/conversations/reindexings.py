"""Reindexings: how far the run over all users is, in one document."""

from dataclasses import replace
from datetime import datetime

from shared.data.store.codec import dump, load
from shared.domain.conversations.reindexing import Reindexing, ReindexProgress
from shared.domain.store.documents import Document, Query, Set, Where
from shared.ports import Documents, Transaction

_PATH = "reindexings/latest"


class Reindexings:
    """The latest run. Which users are done stands in their profiles."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self) -> Reindexing | None:
        return _load(await self._documents.get(_PATH))

    async def start(self, new: Reindexing) -> Reindexing:
        """Start a run, or return the one of the same scheme that is under way.

        One that was abandoned goes on where it was, as the new attempt.
        """

        async def work(tx: Transaction) -> Reindexing:
            stored = _load(await tx.get(_PATH))
            started = _join(stored, new)
            if started != stored:
                tx.write(Set(_PATH, dump(started)))
            return started

        return await self._documents.transaction(work)

    async def advance(self, listed: Reindexing, cursor: str | None, now: datetime) -> Reindexing:
        """Go to the next page; return the stored run, also where somebody else went there first."""

        async def work(tx: Transaction) -> Reindexing:
            stored = _load(await tx.get(_PATH)) or listed
            if (stored.attempt, stored.page) != (listed.attempt, listed.page):
                return stored
            advanced = replace(
                stored,
                page=stored.page + 1,
                cursor=cursor,
                is_listed=cursor is None,
                advanced_at=now,
            )
            tx.write(Set(_PATH, dump(advanced)))
            return advanced

        return await self._documents.transaction(work)

    async def count_users(self, scheme: str) -> ReindexProgress:
        """Count who is done and who is not, of those that have a task."""
        done, pending = [
            await self._documents.count(
                Query(collection="users", where=(Where(name, "==", scheme),), fields=(name,))
            )
            for name in ("index_scheme", "next_index_scheme")
        ]
        reindexing = await self.get()
        is_listed = reindexing is not None and reindexing.is_listed
        return ReindexProgress(done=done, pending=pending, is_listed=is_listed)


def _join(stored: Reindexing | None, new: Reindexing) -> Reindexing:
    if stored is None or stored.is_listed or stored.scheme != new.scheme:
        return new
    if stored.is_abandoned(new.advanced_at):
        return replace(new, page=stored.page, cursor=stored.cursor)
    return stored


def _load(document: Document | None) -> Reindexing | None:
    return load(Reindexing, document) if document else None

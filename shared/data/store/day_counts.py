"""Counts a day, which know no persons: how often something happened, by its name.

Also called: counters.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import date

from shared.domain.store.documents import Document, Set
from shared.ports import Documents, Transaction

_SHARDS = "0123456789abcdef"
"""A day is counted in as many documents, so that its writers rarely meet."""


class DayCounts:
    """Counts in the documents `{collection}/{day}-{shard}`, changed beside what they count."""

    def __init__(self, documents: Documents, collection: str) -> None:
        self._documents = documents
        self._collection = collection

    def build_path(self, day: date, key: str) -> str:
        """Return the document that counts what has this hexadecimal key; read it in the transaction."""
        return f"{self._collection}/{day.isoformat()}-{key[0]}"

    def add(self, tx: Transaction, path: str, stored: Document | None, **changes: int) -> None:
        """Add to the counts of a day's document, as it was read."""
        counts = Counter(_get_counts(stored))
        counts.update(changes)
        tx.write(Set(path, {"counts": {name: n for name, n in counts.items() if n}}))

    async def read(self, day: date) -> Mapping[str, int]:
        """Return the counts of a day."""
        paths = [self.build_path(day, shard) for shard in _SHARDS]
        counts: Counter[str] = Counter()
        for document in await self._documents.get_many(paths):
            counts.update(_get_counts(document))
        return counts


def _get_counts(document: Document | None) -> Mapping[str, int]:
    counts: Mapping[str, int] = document.fields["counts"] if document else {}
    return counts

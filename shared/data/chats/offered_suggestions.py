"""Offered suggestions: which questions were suggested to an owner of late, as hashes of their words.

Whoever picks one says words that a model wrote.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from shared.domain.ids import UserId
from shared.domain.store.documents import Document, Set
from shared.domain.words import normalise
from shared.ports import Documents, Transaction

KEPT = timedelta(days=30)
_FRESH = timedelta(days=1)
_HASH_DIGITS = 16

_Times = Mapping[str, datetime]


class OfferedSuggestions:
    """Sixteen documents a user, by the first digit of a hash: a turn reads one of them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, uid: UserId, texts: Iterable[str], now: datetime) -> None:
        """Note that these are offered; what was offered within a day is not written again."""
        names: dict[str, set[str]] = defaultdict(set)
        for name in filter(None, map(_hash, texts)):
            names[_build_path(uid, name)].add(name)

        async def work(transaction: Transaction) -> None:
            documents = await transaction.get_many(list(names))
            for path, document in zip(names, documents, strict=True):
                known = _load_times(document, now)
                if any(name not in known or now - known[name] > _FRESH for name in names[path]):
                    offered = {**known, **dict.fromkeys(names[path], now)}
                    transaction.write(Set(path, {"offered": offered, "expires_at": now + KEPT}))

        if names:
            await self._documents.transaction(work)

    async def has(self, uid: UserId, text: str, now: datetime) -> bool:
        """Tell whether a message is a suggestion of the last 30 days, whatever its case and signs."""
        name = _hash(text)
        if name is None:
            return False
        return name in _load_times(await self._documents.get(_build_path(uid, name)), now)


def _load_times(document: Document | None, now: datetime) -> _Times:
    times: _Times = document.fields["offered"] if document else {}
    return {name: at for name, at in times.items() if now - at <= KEPT}


def _hash(text: str) -> str | None:
    """Return the name of a text; None for one without words."""
    words = normalise(text)
    return hashlib.sha256(words.encode()).hexdigest()[:_HASH_DIGITS] if words else None


def _build_path(uid: UserId, name: str) -> str:
    return f"users/{uid}/offered_suggestions/{name[0]}"

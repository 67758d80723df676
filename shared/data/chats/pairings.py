"""Pairings: the wrapped keys that wait for a user's next browser, in one document."""

import hmac
from dataclasses import replace
from datetime import datetime

from shared.data.store.codec import dump, load
from shared.domain.chats.pairing import MAX_WRONG_GUESSES, Pairing
from shared.domain.errors import NotFound
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Set
from shared.ports import Documents, Transaction

NOT_WAITING = (
    "No key waits for this code: it was used, is older than five minutes, or was mistyped. "
    "Show a new code in the other browser."
)


class Pairings:
    """One pairing of a user at a time."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def start(self, uid: UserId, pairing: Pairing) -> None:
        """Store it in the place of an earlier one, whose code ends."""
        await self._documents.write(Set(_build_path(uid), dump(pairing)))

    async def end(self, uid: UserId) -> None:
        """Delete it, if there is any: its code serves nobody."""
        await self._documents.write(Delete(_build_path(uid)))

    async def take(self, uid: UserId, code_id: str, now: datetime) -> bytes:
        """Return the wrapped keys to one caller only, and delete them; too many wrong ids delete them too.

        Raises NotFound.
        """
        path = _build_path(uid)

        async def work(tx: Transaction) -> bytes | None:
            document = await tx.get(path)
            if document is None:
                return None
            pairing = load(Pairing, document)
            is_right = hmac.compare_digest(pairing.code_id, code_id)
            guessed = replace(pairing, wrong_guesses=pairing.wrong_guesses + 1)
            is_over = pairing.expires_at <= now or guessed.wrong_guesses >= MAX_WRONG_GUESSES
            tx.write(Delete(path) if is_right or is_over else Set(path, dump(guessed)))
            return pairing.wrapped_keys if is_right and now < pairing.expires_at else None

        wrapped_keys = await self._documents.transaction(work)
        if wrapped_keys is None:
            raise NotFound(NOT_WAITING)
        return wrapped_keys


def _build_path(uid: UserId) -> str:
    return f"users/{uid}/pairings/current"

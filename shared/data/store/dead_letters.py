"""Dead letters: messages whose delivery was given up, until an operator sends them again."""

from shared.data.store.codec import dump, load, load_all
from shared.domain.errors import PreconditionFailed
from shared.domain.store.dead_letter import DeadLetter
from shared.domain.store.documents import Delete, Order, Query, Set
from shared.ports import Documents

_MAX_LISTED = 1_000


class DeadLetters:
    """Written where a queue gives a message up, read by operators; no user sees them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def put(self, letter: DeadLetter) -> None:
        """Store it in place of an earlier one of the same message."""
        await self._documents.write(Set(dead_letter_path(letter.id), dump(letter)))

    async def list_newest(self) -> list[DeadLetter]:
        """List the newest 1,000, newest first."""
        query = Query(
            collection="dead_letters", order_by=(Order("last_at", "desc"),), limit=_MAX_LISTED
        )
        return load_all(DeadLetter, await self._documents.query(query))

    async def remove(self, letter: DeadLetter) -> None:
        """Remove it, unless the same message was given up again meanwhile."""
        document = await self._documents.get(dead_letter_path(letter.id))
        if document is None or load(DeadLetter, document) != letter:
            return
        try:
            await self._documents.write(Delete(document.path, version=document.version))
        except PreconditionFailed:
            return


def dead_letter_path(letter_id: str) -> str:
    return f"dead_letters/{letter_id}"

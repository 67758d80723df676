"""Turn slots: as many documents a user as turns may run at once, over all processes."""

from datetime import datetime

from shared.domain.errors import PreconditionFailed
from shared.domain.ids import RunId, UserId
from shared.domain.store.documents import Create, Delete, Document, Update
from shared.domain.value import value
from shared.ports import Documents

MAX_CONCURRENT_TURNS = 10


@value
class TurnSlot:
    """A slot that a run holds; `version` changes with its holder."""

    number: int
    run_id: RunId
    taken_at: datetime
    version: str


class TurnSlots:
    """A slot is a document that only one run can create, and that its end deletes."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> list[TurnSlot | None]:
        """Return every slot by its number, None for a free one."""
        paths = [slot_path(uid, number) for number in range(MAX_CONCURRENT_TURNS)]
        documents = await self._documents.get_many(paths)
        return [
            _to_slot(number, document) if document else None
            for number, document in enumerate(documents)
        ]

    async def take(
        self,
        uid: UserId,
        number: int,
        run_id: RunId,
        *,
        now: datetime,
        replacing: TurnSlot | None = None,
    ) -> bool:
        """Take a free slot, or one whose holder is gone; False where another run was first."""
        path, fields = slot_path(uid, number), {"run_id": run_id, "taken_at": now}
        write = (
            Update(path, fields, version=replacing.version) if replacing else Create(path, fields)
        )
        try:
            await self._documents.write(write)
        except PreconditionFailed:
            return False
        return True

    async def release(self, uid: UserId, number: int, run_id: RunId) -> None:
        """Free a slot, unless another run took it over."""
        document = await self._documents.get(slot_path(uid, number))
        if document is None or document.fields["run_id"] != run_id:
            return
        try:
            await self._documents.write(Delete(document.path, version=document.version))
        except PreconditionFailed:
            return


def slot_path(uid: UserId, number: int) -> str:
    return f"users/{uid}/limits/turn-{number}"


def _to_slot(number: int, document: Document) -> TurnSlot:
    return TurnSlot(
        number=number,
        run_id=document.fields["run_id"],
        taken_at=document.fields["taken_at"],
        version=document.version,
    )

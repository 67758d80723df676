"""Limited records: the base of what a user may have a number of, also under concurrent requests."""

from collections.abc import Sequence
from typing import TypeVar

from shared.data.store.codec import dump, load
from shared.data.store.records import Records, StoredRecord
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import UserId
from shared.domain.store.documents import Delete, Document, Set, Write
from shared.ports import Transaction

R = TypeVar("R", bound=StoredRecord)


class LimitedRecords(Records[R]):
    """At most `max_count` records; their ids stand in one document, so that the limit holds."""

    max_count: int

    async def find(self, uid: UserId, name: str) -> R | None:
        document = await self._documents.get(self.document_path(uid, name))
        return load(self.kind, document) if document else None

    async def create(self, uid: UserId, record: R) -> R:
        """Store a record, once: what is stored already under its id is returned. Raises Conflict."""
        stored = await self._create(uid, record)
        if stored is None:
            raise Conflict(f"You may have {self.max_count} {self.noun.lower()}s; delete one first.")
        return stored

    async def restore(self, uid: UserId, record: R) -> None:
        """Store a record of an export, unless its id is taken or there is no room."""
        await self._create(uid, self.prepare_restored(record))

    async def delete(self, uid: UserId, name: str) -> None:
        """Delete a record with what hangs on it. Raises NotFound."""
        path = self._build_valid_path(uid, name)

        async def work(tx: Transaction) -> None:
            document, listed = await tx.get_many([path, self._ids_path(uid)])
            record = self._load(document)
            ids = [known for known in _read_ids(listed) if known != name]
            tx.write(Delete(path), Set(self._ids_path(uid), {"ids": ids}))
            tx.write(*self.build_removals(record))

        await self._documents.transaction(work)

    def prepare_restored(self, record: R) -> R:
        """Return a record of an export as it may be stored."""
        return record

    def build_removals(self, record: R) -> Sequence[Write]:
        """Return what is deleted with a record."""
        return ()

    async def _create(self, uid: UserId, record: R) -> R | None:
        """Return what is stored under the record's id, None where there is no room."""

        async def work(tx: Transaction) -> R | None:
            path = self.document_path(uid, record.id)
            stored, listed = await tx.get_many([path, self._ids_path(uid)])
            if stored is not None:
                return load(self.kind, stored)
            ids = _read_ids(listed)
            if len(ids) >= self.max_count:
                return None
            tx.write(Set(path, dump(record)), Set(self._ids_path(uid), {"ids": [*ids, record.id]}))
            return record

        return await self._documents.transaction(work)

    def _load(self, document: Document | None) -> R:
        """Raises NotFound."""
        if document is None:
            raise NotFound(f"{self.noun} not found")
        return load(self.kind, document)

    def _ids_path(self, uid: UserId) -> str:
        return f"users/{uid}/limits/{self.collection}"


def _read_ids(document: Document | None) -> list[str]:
    return list(document.fields["ids"]) if document else []

"""Idempotency records: requests made under idempotency keys, and their responses.

Also called: exactly once.
"""

from typing import TYPE_CHECKING

from shared.data.store.codec import dump, load
from shared.domain.errors import AlreadyExists
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Delete, Document, Set
from shared.domain.store.operation import Operation, StoredResponse, resume_or_reject

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction


class Operations:
    """One document a key, stored with the user whom it concerns."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def begin(self, uid: UserId, operation: Operation) -> Operation:
        """Begin, resume after a crash, or return the stored response. Raises Invalid, Conflict."""
        path = _document_path(uid, operation)
        try:
            await self._documents.write(Create(path, dump(operation)))
        except AlreadyExists:
            return await self._resume(path, operation)
        return operation

    async def _resume(self, path: str, operation: Operation) -> Operation:
        async def work(tx: "Transaction") -> Operation:
            resumed_operation = resume_or_reject(_load_operation(await tx.get(path)), operation)
            if resumed_operation.answer is None:
                tx.write(Set(path, dump(resumed_operation)))
            return resumed_operation

        return await self._documents.transaction(work)

    async def store_response(
        self, uid: UserId, operation: Operation, response: StoredResponse
    ) -> StoredResponse:
        """Store the response and return it; concurrent attempts both return the first one's."""
        path = _document_path(uid, operation)

        async def work(tx: "Transaction") -> StoredResponse:
            stored = _load_operation(await tx.get(path))
            if stored is None or stored.name != operation.name:
                return response  # its user was erased, or the record expired
            if stored.answer is not None:
                return stored.answer
            tx.write(Set(path, {**dump(stored), "answer": dump(response)}))
            return response

        return await self._documents.transaction(work)

    async def release(self, uid: UserId, operation: Operation) -> None:
        """Let the next attempt continue at once; an attempt that took over keeps its lease."""
        fields = {**dump(operation), "leased_until": operation.begun_at}
        await self._write_unless_taken_over(operation, Set(_document_path(uid, operation), fields))

    async def delete(self, uid: UserId, operation: Operation) -> None:
        """Let the next attempt begin anew: this one changed nothing."""
        await self._write_unless_taken_over(operation, Delete(_document_path(uid, operation)))

    async def _write_unless_taken_over(self, operation: Operation, write: Set | Delete) -> None:
        async def work(tx: "Transaction") -> None:
            if _load_operation(await tx.get(write.path)) == operation:
                tx.write(write)

        await self._documents.transaction(work)


def _load_operation(document: Document | None) -> Operation | None:
    return load(Operation, document) if document else None


def _document_path(uid: UserId, operation: Operation) -> str:
    return f"users/{uid}/idempotency/{operation.id}"

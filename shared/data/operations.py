"""What was asked for under idempotency keys, and what was answered."""

from shared.data.codec import dump, load
from shared.domain.documents import Create, Delete, Document, Set
from shared.domain.errors import AlreadyExists
from shared.domain.ids import UserId
from shared.domain.operation import Answer, Operation, asked_again
from shared.ports import Documents, Transaction


class Operations:
    """One document a key, kept with the user whom it is about."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def begin(self, uid: UserId, asked: Operation) -> Operation:
        """Begin, continue what crashed, or return what has its answer. Raises Invalid, Conflict."""
        path = _path(uid, asked)
        try:
            await self._documents.write(Create(path, dump(asked)))
        except AlreadyExists:
            return await self._begin_again(path, asked)
        return asked

    async def _begin_again(self, path: str, asked: Operation) -> Operation:
        async def work(tx: Transaction) -> Operation:
            begun = asked_again(_loaded(await tx.get(path)), asked)
            if begun.answer is None:
                tx.write(Set(path, dump(begun)))
            return begun

        return await self._documents.transaction(work)

    async def answer(self, uid: UserId, begun: Operation, answer: Answer) -> Answer:
        """Store the answer and return it; of two attempts at once, the first one's is that of both."""
        path = _path(uid, begun)

        async def work(tx: Transaction) -> Answer:
            stored = _loaded(await tx.get(path))
            if stored is None or stored.name != begun.name:
                return answer  # its user was erased, or its day is over
            if stored.answer is not None:
                return stored.answer
            tx.write(Set(path, {**dump(stored), "answer": dump(answer)}))
            return answer

        return await self._documents.transaction(work)

    async def release(self, uid: UserId, begun: Operation) -> None:
        """Let the next attempt continue at once; an attempt that took over keeps its lease."""
        expired = {**dump(begun), "leased_until": begun.begun_at}
        await self._unless_taken_over(begun, Set(_path(uid, begun), expired))

    async def forget(self, uid: UserId, begun: Operation) -> None:
        """Let the next attempt begin anew: this one changed nothing."""
        await self._unless_taken_over(begun, Delete(_path(uid, begun)))

    async def _unless_taken_over(self, begun: Operation, write: Set | Delete) -> None:
        async def work(tx: Transaction) -> None:
            if _loaded(await tx.get(write.path)) == begun:
                tx.write(write)

        await self._documents.transaction(work)


def _loaded(document: Document | None) -> Operation | None:
    return load(Operation, document) if document else None


def _path(uid: UserId, operation: Operation) -> str:
    return f"users/{uid}/idempotency/{operation.id}"

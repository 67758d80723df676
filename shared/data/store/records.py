"""Records of a user of one kind: the base of memories, action items and people."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from shared.data.store.codec import dump, load, load_all
from shared.data.store.offsets import query_from
from shared.data.store.paging import Page, build_page, parse_cursor
from shared.domain.errors import AlreadyExists, Conflict, NotFound
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import (
    Create,
    Delete,
    Document,
    Order,
    Query,
    Set,
    Where,
    Write,
)
from shared.domain.words import MAX_WORDING_CHARS
from shared.ports import Documents, Transaction


class StoredRecord(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


R = TypeVar("R", bound=StoredRecord)
_MAX_PER_QUERY = 100
_MAX_VALUES_PER_QUERY = 30
"""Limit of Firestore's `in`."""


class Records(Generic[R]):
    """Documents of `kind` in the user's `collection`; `noun` names one of them in messages."""

    kind: type[R]
    collection: str
    noun: str

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, uid: UserId, name: str) -> R:
        """Raises NotFound."""
        document = await self._documents.get(self._build_valid_path(uid, name))
        if document is None:
            raise NotFound(f"{self.noun} not found")
        return load(self.kind, document)

    async def list_newest(
        self, uid: UserId, *, limit: int, offset: int = 0, where: Sequence[Where] = ()
    ) -> list[R]:
        """List newest first. Most skipped ones are counted, not read: bound the offset."""
        query = self._build_filtered_query(uid, limit, where)
        return load_all(self.kind, await query_from(self._documents, query, offset))

    async def list_page(
        self, uid: UserId, *, limit: int, after: str | None = None, where: Sequence[Where] = ()
    ) -> Page[R]:
        """List newest first. Raises Invalid for a cursor we did not give."""
        query = self._build_filtered_query(uid, limit, where)
        query = replace(query, start_after=parse_cursor(after))
        documents = await self._documents.query(replace(query, limit=limit + 1))
        items = load_all(self.kind, documents[:limit])
        is_last = len(documents) <= limit
        return (
            Page(items=items, next=None) if is_last else build_page(items, documents[:limit], query)
        )

    async def list_created_between(
        self, uid: UserId, start: datetime, end: datetime, *, limit: int
    ) -> list[R]:
        """List what was created from `start` on and before `end`, oldest first."""
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("created_at", ">=", start), Where("created_at", "<", end)),
            order_by=(Order("created_at"),),
            limit=limit,
        )
        return load_all(self.kind, await self._documents.query(query))

    async def add(self, uid: UserId, record: R) -> R:
        """Store it, once: what is stored already under its id is returned. Raises Conflict.

        A Conflict is another record under that id; `is_same` decides.
        """
        record = self.prepare(record)
        try:
            await self._documents.write(Create(self.document_path(uid, record.id), dump(record)))
        except AlreadyExists:
            stored = await self.get(uid, record.id)
            self._check_same(stored, record)
            return stored
        return record

    async def add_all(self, uid: UserId, records: Sequence[R]) -> list[R]:
        """Store all of them or none, each as add() does. Raises Conflict."""
        by_path = [(self.document_path(uid, r.id), self.prepare(r)) for r in records]

        async def work(tx: Transaction) -> list[R]:
            found = await tx.get_many(list(dict(by_path)))
            stored = {d.path: load(self.kind, d) for d in found if d is not None}
            new: dict[str, R] = {}
            for path, record in by_path:
                if path not in stored:
                    stored[path] = new[path] = record
                self._check_same(stored[path], record)
            tx.write(*(Create(path, dump(record)) for path, record in new.items()))
            return [stored[path] for path, _ in by_path]

        return await self._documents.transaction(work)

    def _check_same(self, stored: R, record: R) -> None:
        if not self.is_same(stored, record):
            raise Conflict(f"Another {self.noun.lower()} is stored under this id")

    async def change(self, uid: UserId, record_id: str, /, **changes: Any) -> R:
        """Change fields and return the whole; concurrent changes are both kept. Raises NotFound."""
        _, changed = await self.change_from(uid, record_id, **changes)
        return changed

    async def change_from(self, uid: UserId, record_id: str, /, **changes: Any) -> tuple[R, R]:
        """Change fields and return the record before and after. Raises NotFound."""
        path = self._build_valid_path(uid, record_id)

        async def work(tx: Transaction) -> tuple[R, R]:
            document = await tx.get(path)
            if document is None:
                raise NotFound(f"{self.noun} not found")
            record = load(self.kind, document)
            changed = self.prepare(replace(record, **changes))  # type: ignore[type-var]
            tx.write(*await self.build_follow_ups(tx, uid, record, changed))
            tx.write(Set(path, dump(changed)))
            return record, changed

        return await self._documents.transaction(work)

    async def build_follow_ups(
        self, tx: Transaction, uid: UserId, before: R, after: R
    ) -> Sequence[Write]:
        """Return what a change of a record changes elsewhere; read by this transaction."""
        return ()

    async def remove(self, uid: UserId, name: str) -> None:
        await self._documents.write(Delete(self._build_valid_path(uid, name)))

    async def list_by_values(
        self, uid: UserId, field: str, values: Sequence[str], *where: Where
    ) -> list[R]:
        """Return those with one of these values in a field, at most 100 for 30 values.

        Values too long for a query are nobody's: other writers may name anything.
        """
        documents: list[Document] = []
        values = [value for value in values if len(value) <= MAX_WORDING_CHARS]
        for n in range(0, len(values), _MAX_VALUES_PER_QUERY):
            is_listed = Where(field, "in", list(values[n : n + _MAX_VALUES_PER_QUERY]))
            query = Query(
                collection=f"users/{uid}/{self.collection}",
                where=(*where, is_listed),
                limit=_MAX_PER_QUERY,
            )
            documents += await self._documents.query(query)
        return load_all(self.kind, documents)

    def prepare(self, record: R) -> R:
        """Return it as it is stored, with the fields that queries need."""
        return record

    def is_same(self, stored: R, record: R) -> bool:
        return stored == record

    def document_path(self, uid: UserId, name: str) -> str:
        return f"users/{uid}/{self.collection}/{name}"

    def _build_valid_path(self, uid: UserId, name: str) -> str:
        """Raises NotFound for a name that would lead elsewhere."""
        if not is_id(name):
            raise NotFound(f"{self.noun} not found")
        return self.document_path(uid, name)

    def _build_filtered_query(self, uid: UserId, limit: int, where: Sequence[Where]) -> Query:
        query = self._build_newest_query(uid, limit)
        return replace(query, where=(*query.where, *where))

    def _build_newest_query(self, uid: UserId, limit: int) -> Query:
        order = (Order("created_at", "desc"),)
        return Query(collection=f"users/{uid}/{self.collection}", order_by=order, limit=limit)

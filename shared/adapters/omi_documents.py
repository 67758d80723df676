"""Documents of which conversations may be in Omi's form: read as ours, and written so where that is wanted."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from shared.adapters.document_json import LazyFields
from shared.data.store.omi_form import OmiForm, list_marks
from shared.domain.store.documents import Create, Delete, Document, Query, Set, Update, Write

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction

T = TypeVar("T")


class OmiDocuments:
    """Any Documents, whose readers see no form but ours."""

    def __init__(self, documents: "Documents", form: OmiForm) -> None:
        self._documents = documents
        self._form = form

    async def get(self, path: str) -> Document | None:
        return _read(self._form, await self._documents.get(path))

    async def get_many(
        self, paths: Sequence[str], *, known: Mapping[str, str] | None = None
    ) -> list[Document | None]:
        stored = await self._documents.get_many(paths, known=known)
        return [_read(self._form, found) for found in stored]

    async def query(self, query: Query) -> list[Document]:
        """Ask also for the marks of Omi's form where fields are asked for that it may have written."""
        marks = list_marks(query.fields or ())
        asked = replace(query, fields=(*(query.fields or ()), *marks)) if marks else query
        opened = [_open(self._form, found) for found in await self._documents.query(asked)]
        if not marks:
            return opened
        return [_leave_out(found, marks) for found in opened]

    async def count(self, query: Query) -> int:
        return await self._documents.count(query)

    async def sum(self, query: Query, fields: Sequence[str]) -> list[int]:
        return await self._documents.sum(query, fields)

    async def write(self, *writes: Write) -> None:
        await self._documents.write(*(_write(self._form, write) for write in writes))

    async def transaction(self, work: "Callable[[Transaction], Awaitable[T]]") -> T:
        async def run(transaction: "Transaction") -> T:
            return await work(_OmiTransaction(transaction, self._form))

        return await self._documents.transaction(run)

    async def delete_tree(self, path: str) -> int:
        return await self._documents.delete_tree(path)


class _OmiTransaction:
    def __init__(self, transaction: "Transaction", form: OmiForm) -> None:
        self._transaction = transaction
        self._form = form

    async def get(self, path: str) -> Document | None:
        return _read(self._form, await self._transaction.get(path))

    async def get_many(self, paths: Sequence[str]) -> list[Document | None]:
        return [_read(self._form, found) for found in await self._transaction.get_many(paths)]

    def write(self, *writes: Write) -> None:
        self._transaction.write(*(_write(self._form, write) for write in writes))


def _read(form: OmiForm, document: Document | None) -> Document | None:
    return None if document is None else _open(form, document)


def _open(form: OmiForm, document: Document) -> Document:
    stored = document.fields
    if isinstance(stored, LazyFields):
        return replace(document, fields=LazyFields(lambda: form.read(document.path, stored)))
    fields = form.read(document.path, stored)
    return document if fields is stored else replace(document, fields=fields)


def _leave_out(document: Document, marks: Sequence[str]) -> Document:
    fields = document.fields
    if fields.keys().isdisjoint(marks):
        return document
    return replace(document, fields={n: v for n, v in fields.items() if n not in marks})


def _write(form: OmiForm, write: Write) -> Write:
    match write:
        case Create(path=path, fields=fields) | Set(path=path, fields=fields):
            return type(write)(path, form.write(path, fields))
        case Update(path=path, changes=changes, version=version):
            return Update(path, form.write(path, changes), version=version)
        case Delete():
            return write

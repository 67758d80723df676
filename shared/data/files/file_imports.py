"""Imports of a user: documents that say how far each is."""

from dataclasses import replace
from typing import Any

from shared.data.store.codec import dump, load, load_all
from shared.data.store.records import Records
from shared.domain.errors import NotFound
from shared.domain.files.file_import import FileImport
from shared.domain.ids import UserId
from shared.domain.store.documents import Query, Set, Where
from shared.ports import Transaction


class FileImports(Records[FileImport]):
    """A user's imports."""

    kind = FileImport
    collection = "imports"
    noun = "Import"

    async def count_open(self, uid: UserId) -> int:
        """Count those that read, keep, or wait for their owner."""
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("status", "in", ["reading", "preview", "keeping"]),),
            limit=1_000,
        )
        return await self._documents.count(query)

    async def list_previews(self, uid: UserId) -> list[FileImport]:
        """List those that wait for their owner, the oldest first; at most 100."""
        query = Query(
            collection=f"users/{uid}/{self.collection}",
            where=(Where("status", "==", "preview"),),
            limit=100,
        )
        previews = load_all(FileImport, await self._documents.query(query))
        return sorted(previews, key=lambda preview: preview.created_at)

    async def move(self, uid: UserId, before: FileImport, **changes: Any) -> FileImport:
        """Change an import that still stands where it stood; return it as it is now.

        Of several attempts at one step, only the first one moves it. Raises NotFound.
        """
        path = self.document_path(uid, before.id)

        async def work(tx: Transaction) -> FileImport:
            document = await tx.get(path)
            if document is None:
                raise NotFound("Import not found")
            stored = load(FileImport, document)
            if stored.step != before.step:
                return stored
            moved = replace(stored, **changes)
            tx.write(Set(path, dump(moved)))
            return moved

        return await self._documents.transaction(work)

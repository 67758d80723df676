"""Projects of a user, and which files belong to them."""

from asyncio import gather
from contextlib import suppress
from dataclasses import replace

from shared.data.files.files import file_path
from shared.data.store.codec import dump, load, load_all
from shared.data.store.limited_records import LimitedRecords
from shared.domain.chats.project import MAX_PROJECT_FILES, MAX_PROJECTS, Project
from shared.domain.errors import Conflict, NotFound, PreconditionFailed
from shared.domain.files.file import File
from shared.domain.ids import ProjectId, UserId, is_id
from shared.domain.store.documents import Document, Query, Set, Update, Where
from shared.ports import Transaction

_MAX_CHATS = 50
"""Chats that leave a project at once."""


class Projects(LimitedRecords[Project]):
    """A project's files are found by what they say, so that a turn reads them in one round."""

    kind = Project
    collection = "projects"
    noun = "Project"
    max_count = MAX_PROJECTS

    async def list_files(self, uid: UserId, project_id: str) -> list[File]:
        """Return the files of a project, oldest first; none of one that is gone."""
        query = Query(
            collection=f"users/{uid}/files",
            where=(Where("project_ids", "array_contains", project_id),),
            limit=MAX_PROJECT_FILES,
        )
        files = load_all(File, await self._documents.query(query))
        return sorted(files, key=lambda file: (file.created_at, file.id))

    async def add_file(self, uid: UserId, project_id: str, file_id: str) -> None:
        """Add a file to a project; a repeat changes nothing. Raises NotFound and Conflict."""
        path = self._build_valid_path(uid, project_id)
        files = await self.list_files(uid, project_id)
        if len(files) >= MAX_PROJECT_FILES and file_id not in {file.id for file in files}:
            raise Conflict(f"A project holds {MAX_PROJECT_FILES} files; take one out first.")

        async def work(tx: Transaction) -> None:
            self._load(await tx.get(path))
            await _set_membership(tx, uid, file_id, ProjectId(project_id), belongs=True)

        await self._documents.transaction(work)

    async def take_out_file(self, uid: UserId, project_id: str, file_id: str) -> None:
        """Take a file out of a project; it stays among the user's files. Raises NotFound."""

        async def work(tx: Transaction) -> None:
            await _set_membership(tx, uid, file_id, ProjectId(project_id), belongs=False)

        await self._documents.transaction(work)

    async def delete(self, uid: UserId, name: str) -> None:
        """Delete a project; its files and chats stay. Raises NotFound.

        They leave it first: where the process dies, a repeat goes on.
        """
        await self.get(uid, name)
        for file in await self.list_files(uid, name):
            with suppress(NotFound):  # it was deleted meanwhile
                await self.take_out_file(uid, name, file.id)
        await self._release_chats(uid, name)
        await super().delete(uid, name)

    async def _release_chats(self, uid: UserId, project_id: str) -> None:
        query = Query(
            collection=f"users/{uid}/chat_sessions",
            where=(Where("project_id", "==", project_id),),
            limit=_MAX_CHATS,
            fields=("project_id",),
        )
        while chats := await self._documents.query(query):
            await gather(*map(self._release_chat, chats))

    async def _release_chat(self, chat: Document) -> None:
        """Take a chat out; one that has changed since is looked at again."""
        with suppress(PreconditionFailed):
            await self._documents.write(
                Update(chat.path, {"project_id": None}, version=chat.version)
            )


async def _set_membership(
    tx: Transaction, uid: UserId, file_id: str, project_id: ProjectId, *, belongs: bool
) -> None:
    document = await tx.get(file_path(uid, file_id)) if is_id(file_id) else None
    if document is None:
        raise NotFound("File not found")
    file = load(File, document)
    others = [each for each in file.project_ids if each != project_id]
    ids = (*others, project_id) if belongs else tuple(others)
    tx.write(Set(document.path, dump(replace(file, project_ids=ids))))

"""Projects of a user, in one document, and the chats in them."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from shared.data.codec import dump, load
from shared.data.sessions import session_path
from shared.domain.chat import Session
from shared.domain.documents import Create, Document, Query, Set, Update, Where, Write
from shared.domain.errors import NotFound, PreconditionFailed
from shared.domain.ids import ProjectId, SessionId, UserId, is_id
from shared.domain.project import ProjectList
from shared.ports import Documents, Transaction

NO_FILE = "File not found"
_BATCH_SIZE = 100
"""Chats that leave a project in one write."""


class Projects:
    """One document holds all projects, so that limits hold under concurrency.

    Whatever names a project or a file of one reads it in its transaction: nothing joins a project
    that is being deleted, and no project gets a file that is.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def load(self, uid: UserId) -> ProjectList:
        return load_projects(await self._documents.get(projects_path(uid)))

    async def change(
        self,
        uid: UserId,
        change: Callable[[ProjectList], ProjectList],
        *,
        file_ids: Sequence[str] = (),
    ) -> ProjectList:
        """Replace the projects by what `change` makes of them, and return them.

        Raises what it raises, and NotFound for one of `file_ids` that is no file of the user.
        """
        if not all(map(is_id, file_ids)):
            raise NotFound(NO_FILE)

        async def work(tx: Transaction) -> ProjectList:
            paths = [f"users/{uid}/files/{file_id}" for file_id in file_ids]
            stored, *files = await tx.get_many([projects_path(uid), *paths])
            if None in files:
                raise NotFound(NO_FILE)
            projects = load_projects(stored)
            changed = change(projects)
            if changed != projects:
                tx.write(build_projects_write(uid, changed))
            return changed

        return await self._documents.transaction(work)

    async def begin_chat(self, uid: UserId, session: Session) -> None:
        """Store a new chat in its project. Raises NotFound where that is gone."""

        async def work(tx: Transaction) -> None:
            projects = load_projects(await tx.get(projects_path(uid)))
            projects.get(session.project_id or "")
            tx.write(Create(session_path(uid, session.id), dump(session)))

        await self._documents.transaction(work)

    async def put_chat(
        self, uid: UserId, session_id: SessionId, project_id: ProjectId | None
    ) -> None:
        """Put a chat into a project, or out of the one it is in. Raises NotFound for either."""
        path = session_path(uid, session_id)

        async def work(tx: Transaction) -> None:
            session, projects = await tx.get_many([path, projects_path(uid)])
            if session is None:
                raise NotFound("Chat session not found")
            if project_id is not None:
                load_projects(projects).get(project_id)
            tx.write(Update(path, {"project_id": project_id}))

        await self._documents.transaction(work)

    async def delete(self, uid: UserId, project_id: str) -> None:
        """Delete a project; its files stay, and its chats leave it.

        Raises NotFound where it is gone; the chats that an interrupted deletion left there leave it
        all the same.
        """
        before = await self.load(uid)
        await self.change(uid, lambda stored: stored.remove(project_id))
        await self._empty(uid, project_id)
        before.get(project_id)

    async def _empty(self, uid: UserId, project_id: str) -> None:
        query = Query(
            collection=f"users/{uid}/chat_sessions",
            where=(Where("project_id", "==", project_id),),
            limit=_BATCH_SIZE,
            fields=("project_id",),
        )
        while documents := await self._documents.query(query):
            with suppress(PreconditionFailed):  # one of them changed: the next round reads it again
                await self._documents.write(
                    *(Update(each.path, {"project_id": None}, each.version) for each in documents)
                )


def load_projects(document: Document | None) -> ProjectList:
    return load(ProjectList, document) if document else ProjectList()


def build_projects_write(uid: UserId, projects: ProjectList) -> Write:
    newest = max((each.updated_at for each in projects.projects), default=None)
    return Set(projects_path(uid), {**dump(projects), "updated_at": newest})


def projects_path(uid: UserId) -> str:
    return f"users/{uid}/projects/all"

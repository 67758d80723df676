"""Project: files, instructions and chats of one owner that belong together; pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import FileId, ProjectId
from shared.domain.value import value

MAX_PROJECTS = 40
"""Together they fit into one document."""
MAX_NAME_CHARS = 100
MAX_INSTRUCTIONS_CHARS = 4_000
MAX_FILES = 50


@value
class Project:
    """A project. All times in UTC.

    `instructions` and the files stand above the latest message in each of its chats, in each turn
    anew. A chat names the project that it belongs to.
    """

    id: ProjectId
    name: str
    created_at: datetime
    updated_at: datetime
    instructions: str = ""
    file_ids: tuple[FileId, ...] = ()

    def leave_out(self, file_id: FileId) -> Self:
        return replace(self, file_ids=tuple(each for each in self.file_ids if each != file_id))


@value
class ProjectList:
    """The projects of a user, newest first."""

    projects: tuple[Project, ...] = ()

    def find(self, project_id: str | None) -> Project | None:
        return next((each for each in self.projects if each.id == project_id), None)

    def get(self, project_id: str) -> Project:
        """Raises NotFound."""
        project = self.find(project_id)
        if project is None:
            raise NotFound("Project not found")
        return project

    def add(self, project: Project) -> Self:
        """Add a project, unless its id is there. Raises Conflict for one project too many."""
        if self.find(project.id) is not None:
            return self
        if len(self.projects) >= MAX_PROJECTS:
            raise Conflict(f"You may have {MAX_PROJECTS} projects; delete one first.")
        return replace(self, projects=(project, *self.projects))

    def change(self, project_id: str, **changes: Any) -> Self:
        """Change fields of a project. Raises NotFound."""
        changed = replace(self.get(project_id), **changes)
        return self._replace_all([changed if p.id == project_id else p for p in self.projects])

    def remove(self, project_id: str) -> Self:
        return self._replace_all([each for each in self.projects if each.id != project_id])

    def leave_out(self, file_id: FileId) -> Self:
        """Take a file out of every project."""
        return self._replace_all([each.leave_out(file_id) for each in self.projects])

    def _replace_all(self, projects: Sequence[Project]) -> Self:
        return replace(self, projects=tuple(projects))

"""Schemas of projects: what their owners send and read; all times in UTC."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from functions.chat.api.prompt_texts import IN_ONE_LINE, NOT_EMPTY, WITH_LINE_BREAKS
from shared.domain.project import MAX_FILES, MAX_INSTRUCTIONS_CHARS, MAX_NAME_CHARS, Project
from shared.edge.schemas import ID_PATTERN, Wire

ProjectName = Annotated[str, Field(max_length=MAX_NAME_CHARS), IN_ONE_LINE, NOT_EMPTY]
ProjectInstructions = Annotated[str, Field(max_length=MAX_INSTRUCTIONS_CHARS), WITH_LINE_BREAKS]
FileIds = Annotated[list[Annotated[str, Field(pattern=ID_PATTERN)]], Field(max_length=MAX_FILES)]


class ProjectIn(Wire):
    """A new project. In each of its chats, its instructions and files stand above the latest message."""

    name: ProjectName
    instructions: ProjectInstructions = ""
    file_ids: FileIds = Field(default_factory=list)


class ProjectChangeIn(Wire):
    """Fields left out keep their value, and so do nulls; `file_ids` names all files of the project."""

    name: ProjectName | None = None
    instructions: ProjectInstructions | None = None
    file_ids: FileIds | None = None


class ProjectOut(Wire):
    """A project; its chats are listed by its id."""

    id: str
    name: str
    instructions: str
    file_ids: list[str]
    created_at: datetime
    updated_at: datetime


def to_project_out(project: Project) -> ProjectOut:
    return ProjectOut.model_validate(project)

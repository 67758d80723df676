"""Routes of projects: create, list, read, rename and delete them, and say which files belong to them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from functions.chat.api.prompt_texts import IN_ONE_LINE, NOT_EMPTY
from functions.chat.deps import ChatDeps
from shared.domain.chats.project import MAX_NAME_CHARS, Project
from shared.domain.files.file import File, FileStatus
from shared.domain.ids import ProjectId, UserId
from shared.edge.declare.common_schemas import OkOut, PageQuery
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.edge.declare.schemas import Wire
from shared.library.files import build_thumbnail_address


class ProjectIn(Wire):
    name: Annotated[str, Field(max_length=MAX_NAME_CHARS), IN_ONE_LINE, NOT_EMPTY]


class ProjectOut(Wire):
    """A project; all times in UTC. Its chats are `GET /v2/chat-sessions?project_id=…`."""

    id: str
    name: str
    created_at: datetime
    updated_at: datetime


class ProjectPageOut(Wire):
    """A page of projects, newest first; `next` is the cursor of the following one."""

    items: list[ProjectOut]
    next: str | None


class ProjectsQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ProjectFileOut(Wire):
    """A file of a project. Each question in its chats gets those that are `ready`."""

    id: str
    name: str
    mime_type: str
    size: int
    status: FileStatus
    reason: str
    thumbnail: str | None
    created_at: datetime


class ProjectFilesOut(Wire):
    """All files of a project, oldest first."""

    items: list[ProjectFileOut]


@route("GET", "/v2/projects", "List projects, newest first")
async def list_projects(deps: ChatDeps, call: Call[None, ProjectsQuery]) -> ProjectPageOut:
    query = call.query
    page = await deps.stores.projects.list_page(call.uid, limit=query.limit, after=query.cursor)
    return ProjectPageOut(items=list(map(_to_project_out, page.items)), next=page.next)


@route("POST", "/v2/projects", "Create a project", errors=(400, 409, 422))
async def create_project(deps: ChatDeps, call: CreatingCall[ProjectIn]) -> ProjectOut:
    now = deps.clock.now()
    project = Project(
        id=ProjectId(call.operation.name), name=call.body.name, created_at=now, updated_at=now
    )
    return _to_project_out(await deps.stores.projects.create(call.uid, project))


@route("GET", "/v2/projects/{id}", "Read a project", errors=(404,))
async def get_project(deps: ChatDeps, call: Call) -> ProjectOut:
    return _to_project_out(await deps.stores.projects.get(call.uid, call.path["id"]))


@route("PATCH", "/v2/projects/{id}", "Rename a project", errors=(404,))
async def rename_project(deps: ChatDeps, call: Call[ProjectIn]) -> ProjectOut:
    changed = await deps.stores.projects.change(
        call.uid, call.path["id"], name=call.body.name, updated_at=deps.clock.now()
    )
    return _to_project_out(changed)


@route("DELETE", "/v2/projects/{id}", "Delete a project; its files and chats stay", errors=(404,))
async def delete_project(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.projects.delete(call.uid, call.path["id"])
    return OkOut()


@route("GET", "/v2/projects/{id}/files", "List the files of a project", errors=(404,))
async def list_project_files(deps: ChatDeps, call: Call) -> ProjectFilesOut:
    project = await deps.stores.projects.get(call.uid, call.path["id"])
    files = await deps.stores.projects.list_files(call.uid, project.id)
    return ProjectFilesOut(items=[_to_file_out(file, call.uid) for file in files])


@route(
    "PUT",
    "/v2/projects/{id}/files/{file_id}",
    "Add a file to a project, from the next question on",
    errors=(404, 409),
)
async def add_project_file(deps: ChatDeps, call: Call) -> OkOut:
    """A file may belong to several projects."""
    await deps.stores.projects.add_file(call.uid, call.path["id"], call.path["file_id"])
    return OkOut()


@route(
    "DELETE",
    "/v2/projects/{id}/files/{file_id}",
    "Take a file out of a project; it is not deleted",
    errors=(404,),
)
async def take_out_project_file(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.projects.take_out_file(call.uid, call.path["id"], call.path["file_id"])
    return OkOut()


def _to_project_out(project: Project) -> ProjectOut:
    return ProjectOut.model_validate(project)


def _to_file_out(file: File, uid: UserId) -> ProjectFileOut:
    return ProjectFileOut(
        id=file.id,
        name=file.name,
        mime_type=file.media_type,
        size=file.size,
        status=file.status,
        reason=file.reason,
        thumbnail=build_thumbnail_address(file, uid),
        created_at=file.created_at,
    )


ROUTES = (
    list_projects,
    create_project,
    get_project,
    rename_project,
    delete_project,
    list_project_files,
    add_project_file,
    take_out_project_file,
)

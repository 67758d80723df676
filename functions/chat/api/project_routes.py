"""Routes of projects: create, list, read, change and delete them."""

from functions.chat.api.project_schemas import (
    ProjectChangeIn,
    ProjectIn,
    ProjectOut,
    to_project_out,
)
from functions.chat.deps import ChatDeps
from shared.domain.ids import FileId, ProjectId
from shared.domain.project import Project
from shared.edge.routes import Call, route
from shared.edge.schemas import OkOut

MAX_PROJECT_BYTES = 65_536


@route("GET", "/v2/projects", "List projects, newest first")
async def list_projects(deps: ChatDeps, call: Call) -> list[ProjectOut]:
    stored = await deps.stores.projects.load(call.uid)
    return list(map(to_project_out, stored.projects))


@route(
    "POST",
    "/v2/projects",
    "Create a project of files and chats",
    errors=(404, 409),
    max_bytes=MAX_PROJECT_BYTES,
)
async def create_project(deps: ChatDeps, call: Call[ProjectIn]) -> ProjectOut:
    body, now = call.body, deps.clock.now()
    project = Project(
        id=ProjectId(deps.new_id()),
        name=body.name,
        instructions=body.instructions,
        file_ids=_order_files(body.file_ids),
        created_at=now,
        updated_at=now,
    )
    projects = await deps.stores.projects.change(
        call.uid, lambda stored: stored.add(project), file_ids=project.file_ids
    )
    return to_project_out(projects.get(project.id))


@route("GET", "/v2/projects/{id}", "Read a project", errors=(404,))
async def get_project(deps: ChatDeps, call: Call) -> ProjectOut:
    stored = await deps.stores.projects.load(call.uid)
    return to_project_out(stored.get(call.path["id"]))


@route(
    "PATCH",
    "/v2/projects/{id}",
    "Change a project, from the next message of its chats on",
    errors=(404,),
    max_bytes=MAX_PROJECT_BYTES,
)
async def change_project(deps: ChatDeps, call: Call[ProjectChangeIn]) -> ProjectOut:
    project_id = call.path["id"]
    changes = call.body.model_dump(exclude_none=True)
    if "file_ids" in changes:
        changes["file_ids"] = _order_files(changes["file_ids"])
    projects = await deps.stores.projects.change(
        call.uid,
        lambda stored: stored.change(project_id, **changes, updated_at=deps.clock.now()),
        file_ids=changes.get("file_ids", ()),
    )
    return to_project_out(projects.get(project_id))


@route(
    "DELETE",
    "/v2/projects/{id}",
    "Delete a project; its files stay, and its chats go on without it",
    errors=(404,),
)
async def delete_project(deps: ChatDeps, call: Call) -> OkOut:
    await deps.stores.projects.delete(call.uid, call.path["id"])
    return OkOut()


def _order_files(file_ids: list[str]) -> tuple[FileId, ...]:
    """Return each file once."""
    return tuple(dict.fromkeys(map(FileId, file_ids)))


ROUTES = (list_projects, create_project, get_project, change_project, delete_project)

"""Folders over HTTP: list, create, change, order, delete, and move conversations into them."""

from functions.library.folders.folder_schemas import (
    MAX_MOVE_BYTES,
    MAX_ORDER_BYTES,
    BulkMoveIn,
    BulkMoveOut,
    ConversationFolderIn,
    FolderChangeIn,
    FolderDeletionQuery,
    FolderIn,
    FolderOrderIn,
    FolderOut,
)
from shared.domain.conversations.folder import FolderList
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId, FolderId, UserId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, CreatingCall, route
from shared.library.deps import LibraryDeps

_BODY_ERRORS = (400, 401, 404, 413, 415, 422)


@route("GET", "/v1/folders", "List folders in their order, with how many conversations they hold")
async def list_folders(deps: LibraryDeps, call: Call) -> list[FolderOut]:
    """Complete a deletion that was interrupted, too: whoever deleted may not ask again."""
    folders = await deps.stores.folders.load(call.uid)
    if folders.list_unemptied():
        now = deps.clock.now()
        folders = await deps.stores.folders.complete_deletions(call.uid, folders, now=now)
    return await _render(deps, call.uid, folders)


@route(
    "POST",
    "/v1/folders",
    "Create a folder, at the end of the list",
    errors=(400, 401, 409, 413, 415, 422),
)
async def add_folder(deps: LibraryDeps, call: CreatingCall[FolderIn]) -> FolderOut:
    now = deps.clock.now()
    folder = call.body.to_folder(id=FolderId(call.operation.name), created_at=now, updated_at=now)
    folders = await deps.stores.folders.add(call.uid, folder, now=now)
    stored = folders.find_equal(folder)
    assert stored is not None, "it was added, or there already"
    return await _render_one(deps, call.uid, folders, stored.id)


@route(
    "POST",
    "/v1/folders/reorder",
    "Put folders into another order",
    errors=_BODY_ERRORS,
    max_bytes=MAX_ORDER_BYTES,
)
async def reorder_folders(deps: LibraryDeps, call: Call[FolderOrderIn]) -> OkOut:
    folder_ids = call.body.folder_ids
    await deps.stores.folders.change(
        call.uid, lambda stored: stored.reorder(folder_ids), now=deps.clock.now()
    )
    return OkOut()


@route("PATCH", "/v1/folders/{folder_id}", "Change a folder", errors=_BODY_ERRORS)
async def change_folder(deps: LibraryDeps, call: Call[FolderChangeIn]) -> FolderOut:
    folder_id, now = call.path["folder_id"], deps.clock.now()
    changes = call.body.model_dump(exclude_none=True, exclude={"order"})
    folders = await deps.stores.folders.change(
        call.uid,
        lambda stored: stored.change(folder_id, changes, order=call.body.order, now=now),
        now=now,
    )
    return await _render_one(deps, call.uid, folders, folder_id)


@route(
    "DELETE",
    "/v1/folders/{folder_id}",
    "Delete a folder; its conversations move to another",
    status=204,
    errors=(401, 404, 409, 422),
)
async def delete_folder(deps: LibraryDeps, call: Call[None, FolderDeletionQuery]) -> None:
    await deps.stores.folders.delete(
        call.uid,
        call.path["folder_id"],
        call.query.move_to_folder_id or None,
        now=deps.clock.now(),
    )


@route(
    "PATCH",
    "/v1/conversations/{conversation_id}/folder",
    "Put a conversation into a folder, or take it out",
    errors=_BODY_ERRORS,
)
async def move_conversation(deps: LibraryDeps, call: Call[ConversationFolderIn]) -> OkOut:
    conversation_id = ConversationId(call.path["conversation_id"])
    moved_count = await deps.stores.folders.move(
        call.uid, [conversation_id], call.body.folder_id or None, now=deps.clock.now()
    )
    if not moved_count:
        raise NotFound("Conversation not found")
    return OkOut()


@route(
    "POST",
    "/v1/folders/{folder_id}/conversations/bulk-move",
    "Put conversations into a folder",
    errors=_BODY_ERRORS,
    max_bytes=MAX_MOVE_BYTES,
)
async def move_conversations(deps: LibraryDeps, call: Call[BulkMoveIn]) -> BulkMoveOut:
    """Leave out those that were deleted meanwhile. Raises NotFound if there is nothing else."""
    ids = [ConversationId(name) for name in call.body.conversation_ids]
    folder_id = call.path["folder_id"]
    moved_count = await deps.stores.folders.move(call.uid, ids, folder_id, now=deps.clock.now())
    if ids and not moved_count:
        raise NotFound("Conversation not found")
    return BulkMoveOut(moved_count=moved_count)


async def _render(deps: LibraryDeps, uid: UserId, folders: FolderList) -> list[FolderOut]:
    counts = await deps.stores.folders.count_conversations(uid, folders, now=deps.clock.now())
    return [
        FolderOut.of(folder, order=order, conversation_count=counts.get(folder.id, 0))
        for order, folder in enumerate(folders.folders)
    ]


async def _render_one(
    deps: LibraryDeps, uid: UserId, folders: FolderList, folder_id: str
) -> FolderOut:
    rendered = await _render(deps, uid, folders)
    return next(folder for folder in rendered if folder.id == folder_id)


ROUTES = (
    list_folders,
    add_folder,
    reorder_folders,
    change_folder,
    delete_folder,
    move_conversation,
    move_conversations,
)

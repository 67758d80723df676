"""Action items of a conversation over HTTP: completed by place, renamed and deleted by their words."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from functions.library.conversations.edit_schemas import (
    ItemDeletionIn,
    ItemDescriptionIn,
    ItemStatesIn,
)
from shared.domain.errors import NotFound
from shared.domain.ids import ConversationId
from shared.edge.declare.common_schemas import OkOut
from shared.edge.declare.routes import Call, route
from shared.library.deps import LibraryDeps
from shared.library.task_reminders import announce_tasks

_PATH = "/v1/conversations/{conversation_id}/action-items"
_ERRORS = (400, 401, 404, 413, 415, 422)


@route(
    "PATCH", _PATH, "Complete action items of a conversation, or open them again", errors=_ERRORS
)
async def complete_items(deps: LibraryDeps, call: Call[ItemStatesIn]) -> OkOut:
    async with _announce_afterwards(deps, call):
        await deps.stores.conversation_items.complete(
            call.uid, _path_id(call), call.body.by_place, now=deps.clock.now()
        )
    return OkOut()


@route(
    "PATCH",
    f"{_PATH}/{{place}}",
    "Give an action item of a conversation other words",
    errors=_ERRORS,
)
async def rename_item(deps: LibraryDeps, call: Call[ItemDescriptionIn]) -> OkOut:
    async with _announce_afterwards(deps, call):
        await deps.stores.conversation_items.rename(
            call.uid,
            _path_id(call),
            _parse_place(call.path["place"]),
            old=call.body.old_description,
            new=call.body.description,
            now=deps.clock.now(),
        )
    return OkOut()


@route(
    "DELETE",
    _PATH,
    "Delete an action item of a conversation; it does not come back",
    status=204,
    errors=_ERRORS,
)
async def delete_item(deps: LibraryDeps, call: Call[ItemDeletionIn]) -> None:
    async with _announce_afterwards(deps, call):
        await deps.stores.conversation_items.remove(
            call.uid,
            _path_id(call),
            call.body.description,
            completed=call.body.completed,
            now=deps.clock.now(),
        )


@asynccontextmanager
async def _announce_afterwards(deps: LibraryDeps, call: Call[Any, Any]) -> AsyncIterator[None]:
    """Tell phones which of the conversation's tasks with a day were changed or deleted."""
    before = await deps.stores.action_items.list_for_conversation(call.uid, _path_id(call))
    yield
    dated = {task.id: task for task in before if task.due_at}
    after = await deps.stores.action_items.get_many(call.uid, list(dated))
    changed = [task for name, task in dated.items() if task not in after]
    await announce_tasks(deps, call.uid, changed, "action_item_delete")


def _parse_place(text: str) -> int:
    """Raises NotFound for what is no place in a list."""
    if not text.isdecimal() or not text.isascii() or len(text) > 4:
        raise NotFound("Action item not found")
    return int(text)


def _path_id(call: Call[Any, Any]) -> ConversationId:
    return ConversationId(call.path["conversation_id"])


ROUTES = (complete_items, rename_item, delete_item)

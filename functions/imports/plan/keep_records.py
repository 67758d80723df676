"""Keeping of imported memories, tasks and people: each once, and none over what its owner changed.

What the library does not take raises ValueError or Invalid, and Conflict where it is there already.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from functions.imports.formats.restored_records import build_record, is_restorable
from shared.domain.errors import Invalid
from shared.domain.ids import ActionItemId, ConversationId, PersonId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.people.person import Person
from shared.domain.tasks.action_item import ActionItem
from shared.library.deps import ImportDeps
from shared.library.manual_memories import build_manual_memory
from shared.library.memory_index import index_memories
from shared.library.record_schemas import ActionItemIn, MemoryIn, PersonIn
from shared.library.task_reminders import announce_tasks

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
BodyT = TypeVar("BodyT", bound=BaseModel)


def _parse(kind: type[BodyT], fields: Mapping[str, Any]) -> BodyT:
    """Return a record with the fields that its owner could send. Raises ValueError."""
    known = {name: fields[name] for name in kind.model_fields if fields.get(name) is not None}
    return kind.model_validate(known)


def _read_time(fields: Mapping[str, Any], name: str, now: datetime) -> datetime:
    """Return when the record says that something was; now where it does not, or is ahead of it."""
    try:
        at = datetime.fromisoformat(str(fields.get(name))).astimezone(UTC)
    except (ValueError, OverflowError):
        return now
    return min(max(at, EARLIEST), now)


def _restore(kind: str, fields: Mapping[str, Any], now: datetime) -> Any:
    """Return a record of our own export as it was; None for one of another program."""
    if not is_restorable(kind, fields):
        return None
    try:
        return build_record(kind, fields, now)
    except (ValueError, TypeError, Invalid):
        return None


async def keep_memory(deps: ImportDeps, uid: UserId, fields: dict[str, Any]) -> None:
    now = deps.clock.now()
    memory = _restore("memory", fields, now) or _build_memory(deps, fields, now)
    stored = await deps.stores.memories.add(uid, memory)
    await index_memories(deps.stores.memories, deps.index, uid, [stored])


def _build_memory(deps: ImportDeps, fields: dict[str, Any], now: datetime) -> Memory:
    """Build a memory of another program, in whose words it is."""
    body = _parse(MemoryIn, fields)
    memory = build_manual_memory(
        body.id or deps.new_id(),
        body.content,
        _read_time(fields, "created_at", now),
        body.category,
        read_kinds=("import",),
    )
    return replace(memory, updated_at=now, visibility=body.visibility, tags=body.tags)


async def keep_action_item(deps: ImportDeps, uid: UserId, fields: dict[str, Any]) -> None:
    now = deps.clock.now()
    task = _restore("action_item", fields, now) or _build_task(deps, fields, now)
    stored = await deps.stores.action_items.add(uid, task)
    if stored.due_at and not stored.completed:
        await announce_tasks(deps, uid, [stored], "action_item_reminder")


def _build_task(deps: ImportDeps, fields: dict[str, Any], now: datetime) -> ActionItem:
    """Build a task of another program: its owner kept it, so it is theirs."""
    body = _parse(ActionItemIn, fields)
    return ActionItem(
        id=ActionItemId(body.id or deps.new_id()),
        description=body.description,
        created_at=_read_time(fields, "created_at", now),
        updated_at=now,
        completed=body.completed,
        completed_at=_read_time(fields, "completed_at", now) if body.completed else None,
        due_at=body.due_at,
        conversation_id=ConversationId(body.conversation_id) if body.conversation_id else None,
        edited=True,
        read_kinds=("import",),
    )


async def keep_person(deps: ImportDeps, uid: UserId, fields: dict[str, Any]) -> None:
    """Keep a person; one of the same name stays the one."""
    body = _parse(PersonIn, fields)
    if await deps.stores.people.list_by_values(uid, "name", [body.name]):
        return
    now = deps.clock.now()
    person = Person(
        id=PersonId(body.id or deps.new_id()),
        name=body.name,
        role=body.role,
        created_at=_read_time(fields, "created_at", now),
        updated_at=_read_time(fields, "updated_at", now),
    )
    await deps.stores.people.add(uid, person)

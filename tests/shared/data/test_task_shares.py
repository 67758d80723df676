"""Task shares: accepted once, on each storage."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from shared.data.tasks.action_items import ActionItemFilter, ActionItems
from shared.data.tasks.task_shares import TaskShares
from shared.domain.errors import Conflict
from shared.domain.ids import ActionItemId, UserId
from shared.domain.tasks.action_item import ActionItem
from shared.domain.tasks.task_share import (
    LIFETIME,
    TaskShare,
    build_share_id,
    copy_shared_task,
    snapshot_task,
)

ANN, BOB = UserId("ann"), UserId("bob")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TASKS = [
    ActionItem(id=ActionItemId(f"a{n}"), description=f"Task {n}", created_at=NOON, updated_at=NOON)
    for n in range(3)
]
SHARE = TaskShare(
    id=build_share_id("token"),
    uid=ANN,
    created_at=NOON,
    expires_at=NOON + LIFETIME,
    tasks=tuple(map(snapshot_task, TASKS)),
)


async def test_a_link_is_found_by_its_token_until_it_ends(any_documents):
    shares = TaskShares(any_documents)
    await shares.add(SHARE)

    assert await shares.find("token", NOON) == SHARE
    assert await shares.find("other", NOON) is None
    assert await shares.find("token", SHARE.expires_at) is None


async def test_of_several_attempts_at_once_one_adds_the_tasks(any_documents):
    shares = TaskShares(any_documents)
    copies = [copy_shared_task(SHARE, task, NOON) for task in SHARE.tasks]

    results = await asyncio.gather(
        *(shares.accept(BOB, SHARE, copies, NOON) for _ in range(3)), return_exceptions=True
    )

    assert sum(result is None for result in results) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 2
    stored = await ActionItems(any_documents).list_newest(BOB, limit=10)
    assert sorted(task.id for task in stored) == sorted(copy.id for copy in copies)


async def test_changes_of_many_tasks_and_filtered_offsets_work_on_each_storage(any_documents):
    items = ActionItems(any_documents)
    for task in TASKS:
        await items.add(ANN, task)

    changes: dict[str, dict[str, Any]] = {
        "a0": {"completed": True},
        "a1": {"sort_order": 2},
        "gone": {"sort_order": 1},
    }
    changed = await items.update(ANN, changes, NOON)

    assert [task.id for task in changed] == ["a0", "a1"]
    where = ActionItemFilter(completed=False, end=NOON).to_where()
    page = await items.list_newest(ANN, limit=5, offset=1, where=where)
    assert [(task.id, task.sort_order) for task in page] == [("a1", 2)]

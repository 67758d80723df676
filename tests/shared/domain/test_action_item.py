"""Action items as their owner changes them."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.ids import ActionItemId
from shared.domain.tasks.action_item import ActionItem

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
TASK = ActionItem(id=ActionItemId("a1"), description="Buy bread", created_at=NOON, updated_at=NOON)


def test_completing_keeps_the_first_time_and_reopening_clears_it():
    done = TASK.change({"completed": True}, NOON)
    done_again = done.change({"completed": True, "description": "Buy rye bread"}, LATER)
    reopened = done_again.change({"completed": False}, LATER)

    assert (done.completed_at, done_again.completed_at) == (NOON, NOON)
    assert (reopened.completed, reopened.completed_at) == (False, None)


@pytest.mark.parametrize(
    ("changes", "is_content"),
    [
        ({"description": "Buy rolls"}, True),
        ({"due_at": None}, True),
        ({"exported": True, "export_date": LATER, "apple_reminder_id": "r1"}, False),
        ({"sort_order": 3}, False),
        ({"sort_order": 3, "completed": True}, True),
        ({}, False),
    ],
)
def test_only_content_is_an_edit_of_the_owner(changes, is_content):
    changed = TASK.change(changes, LATER)

    assert (changed.edited, changed.updated_at == LATER) == (is_content, is_content)


def test_a_new_version_stands_where_the_old_one_stood():
    stored = TASK.change(
        {"exported": True, "apple_reminder_id": "r1", "sort_order": 7, "indent_level": 2}, NOON
    )

    new = TASK.change({"description": "Buy rolls"}, LATER).with_place_of(stored)

    assert (new.description, new.exported, new.apple_reminder_id) == ("Buy rolls", True, "r1")
    assert (new.sort_order, new.indent_level) == (7, 2)

"""Tasks in the chat: made, found, changed (P5)."""

from typing import Any

import pytest

from functions.chat.context.citations import Citations
from functions.chat.tools.tasks import task_tools
from shared.domain.errors import ToolRefused
from shared.domain.ids import UserId
from tests.functions.chat.conftest import ADA, EVE, World


async def call(world: World, name: str, uid: UserId = ADA, **arguments: Any) -> str:
    tool = next(t for t in task_tools(world.deps(), uid) if t.spec.name == name)
    return (await tool.run(arguments))(Citations())


async def test_p5_a_task_makes_the_round_trip(world: World) -> None:
    made = await call(
        world, "create_action_item", description="Call Ann", due_at="2026-03-09T10:00:00+01:00"
    )
    (stored,) = await world.deps().action_items.newest(ADA, limit=9)
    listed = await call(world, "get_action_items")
    changed = await call(world, "update_action_item", action_item_id=stored.id, completed=True)

    assert made == f"Created:\n- Call Ann (open, due 2026-03-09T09:00+00:00, id {stored.id})"
    assert listed == f"- Call Ann (open, due 2026-03-09T09:00+00:00, id {stored.id})"
    assert "(done, due" in changed
    assert await call(world, "get_action_items", completed=False) == "There are no such tasks."


async def test_p5_the_same_task_is_not_made_twice(world: World) -> None:
    await call(world, "create_action_item", description="Call Ann")

    again = await call(world, "create_action_item", description="call ann!")

    assert again.startswith("This task is there already:")
    assert len(await world.deps().action_items.newest(ADA, limit=9)) == 1


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        ("2026-03-09T00:00:00Z", None, True),
        ("2026-03-10T00:00:00Z", None, False),
        (None, "2026-03-09T09:00:00Z", False),
        (None, "2026-03-09T09:00:01Z", True),
    ],
)
async def test_p5_due_dates_bound_the_list(world: World, start, end, found) -> None:
    due = "2026-03-09T09:00:00Z"
    await call(world, "create_action_item", description="Call Ann", due_at=due)

    bounds = {"due_start_date": start, "due_end_date": end}
    said = await call(world, "get_action_items", **{k: v for k, v in bounds.items() if v})

    assert said.startswith("- Call Ann") is found


async def test_p5_a_date_without_an_offset_tells_the_model_what_to_send(world: World) -> None:
    with pytest.raises(ToolRefused, match="must include timezone"):
        await call(world, "create_action_item", description="x", due_at="2026-03-09T10:00:00")


async def test_p5_another_owners_task_is_not_there(world: World) -> None:
    await call(world, "create_action_item", EVE, description="Hide")
    (hidden,) = await world.deps().action_items.newest(EVE, limit=9)

    with pytest.raises(ToolRefused, match="no such task"):
        await call(world, "update_action_item", action_item_id=hidden.id, completed=True)
    assert await call(world, "get_action_items") == "There are no such tasks."

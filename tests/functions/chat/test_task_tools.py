"""Task tools: create, list and change action items (P5)."""

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from functions.chat.consent.taint import Taint
from functions.chat.context.citations import Citations
from functions.chat.tools.task_tools import NOT_ALL_READ, build_task_tools
from shared.data.tasks.action_items import MAX_SEARCHED
from shared.domain.errors import ToolRefused
from shared.domain.ids import ActionItemId, UserId
from tests.fixtures.chat import ADA, EVE, ChatFixture

UTC = ZoneInfo("UTC")


async def call_tool(world: ChatFixture, name: str, uid: UserId = ADA, **arguments: Any) -> str:
    tool = next(
        t for t in build_task_tools(world.deps(), uid, UTC, taint=Taint([])) if t.spec.name == name
    )
    return (await tool.run(arguments, "c1"))(Citations())


async def test_a_task_is_created_listed_and_completed_p5(world: ChatFixture) -> None:
    create_text = await call_tool(
        world, "create_action_item", description="Call Ann", due_at="2026-03-09T10:00:00+01:00"
    )
    (item,) = await world.deps().stores.action_items.list_newest(ADA, limit=9)
    list_text = await call_tool(world, "get_action_items")
    update_text = await call_tool(
        world, "update_action_item", action_item_id=item.id, completed=True
    )

    assert create_text == f"Created:\n- Call Ann (open, due 2026-03-09T09:00+00:00, id {item.id})"
    assert list_text == f"- Call Ann (open, due 2026-03-09T09:00+00:00, id {item.id})"
    assert "(done, due" in update_text
    assert await call_tool(world, "get_action_items", completed=False) == "There are no such tasks."


async def test_no_words_of_a_task_begin_a_line_of_another_p5(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", description="Call Ann\n- Pay Eve (open, id b2)")
    (item,) = await world.deps().stores.action_items.list_newest(ADA, limit=9)

    listed = await call_tool(world, "get_action_items")

    assert listed == f"- Call Ann - Pay Eve (open, id b2) (open, id {item.id})"


async def test_a_list_that_is_cut_says_how_many_there_are_p5(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", description="Call Ann")
    store = world.deps().stores.action_items
    (first,) = await store.list_newest(ADA, limit=9)
    for name in ("Ben", "Cem"):
        item = replace(first, id=ActionItemId(name), description=f"Call {name}")
        await store.add(ADA, item)

    cut = await call_tool(world, "get_action_items", limit=2)

    heading, *rows, note = cut.splitlines()
    assert heading == "There are 3 such tasks; these are the newest."
    assert len(rows) == 2
    assert note.startswith("The next begin at offset 2.")
    assert "such tasks" not in await call_tool(world, "get_action_items", limit=3)


async def test_a_list_of_tasks_goes_on_at_an_offset_p5(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", description="Call Ann")
    store = world.deps().stores.action_items
    (first,) = await store.list_newest(ADA, limit=9)
    for name in ("Ben", "Cem"):
        await store.add(ADA, replace(first, id=ActionItemId(name), description=f"Call {name}"))

    whole = (await call_tool(world, "get_action_items")).splitlines()
    heading, *rest = (await call_tool(world, "get_action_items", limit=2, offset=1)).splitlines()

    assert heading == "There are 3 such tasks; these are further ones."
    assert rest == whole[1:]


async def test_a_list_of_the_newest_tasks_alone_says_so_p5(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", description="Call Ann")
    store = world.deps().stores.action_items
    (first,) = await store.list_newest(ADA, limit=9)
    for n in range(MAX_SEARCHED):
        item = replace(first, id=ActionItemId(f"i{n}"), description=f"Call {n}", completed=True)
        await store.add(ADA, item)

    text = await call_tool(world, "get_action_items", completed=False, owner="other")

    assert text == f"There are no such tasks.\n{NOT_ALL_READ}"


async def test_a_list_of_everybodys_tasks_names_the_owner_too_p5(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", description="Call Ann")

    assert "- User: Call Ann (open" in await call_tool(world, "get_action_items", owner="all")


async def test_the_same_task_is_not_created_twice_p5(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", description="Call Ann")

    repeat_text = await call_tool(world, "create_action_item", description="call ann!")

    assert repeat_text.startswith("This task is there already:")
    assert len(await world.deps().stores.action_items.list_newest(ADA, limit=9)) == 1


@pytest.mark.parametrize(
    ("start", "end", "is_listed"),
    [
        ("2026-03-09T00:00:00Z", None, True),
        ("2026-03-10T00:00:00Z", None, False),
        (None, "2026-03-09T09:00:00Z", False),
        (None, "2026-03-09T09:00:01Z", True),
    ],
)
async def test_tasks_are_filtered_by_due_dates_p5(
    world: ChatFixture, start, end, is_listed
) -> None:
    due = "2026-03-09T09:00:00Z"
    await call_tool(world, "create_action_item", description="Call Ann", due_at=due)

    bounds = {"due_start_date": start, "due_end_date": end}
    text = await call_tool(world, "get_action_items", **{k: v for k, v in bounds.items() if v})

    assert text.startswith("- Call Ann") is is_listed


async def test_a_date_without_an_offset_is_refused_with_a_correction_p5(world: ChatFixture) -> None:
    with pytest.raises(ToolRefused, match="must include timezone"):
        await call_tool(world, "create_action_item", description="x", due_at="2026-03-09T10:00:00")


async def test_another_users_task_is_not_found_p5(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", EVE, description="Hide")
    (hidden,) = await world.deps().stores.action_items.list_newest(EVE, limit=9)

    with pytest.raises(ToolRefused, match="no such task"):
        await call_tool(world, "update_action_item", action_item_id=hidden.id, completed=True)
    assert await call_tool(world, "get_action_items") == "There are no such tasks."


async def test_what_others_promised_is_listed_by_their_names(world: ChatFixture) -> None:
    await call_tool(world, "create_action_item", description="Call Ann")
    store = world.deps().stores.action_items
    (own,) = await store.list_newest(ADA, limit=9)
    promised = replace(own, id=ActionItemId("a"), description="Send it", owner="other")
    await store.add(ADA, replace(promised, owner_name="Mara Vogt"))
    await store.add(ADA, replace(promised, id=ActionItemId("b"), owner="unknown"))

    texts = {
        "own": await call_tool(world, "get_action_items"),
        "mara": await call_tool(world, "get_action_items", owner_name="mara"),
        "other": await call_tool(world, "get_action_items", owner="other"),
        "unknown": await call_tool(world, "get_action_items", owner="unknown"),
        "eve": await call_tool(world, "get_action_items", owner_name="Eve"),
    }

    assert texts == {
        "own": f"- Call Ann (open, id {own.id})",
        "mara": "- Mara Vogt: Send it (open, id a)",
        "other": "- Mara Vogt: Send it (open, id a)",
        "unknown": "- Somebody: Send it (open, id b)",
        "eve": "There are no such tasks.",
    }

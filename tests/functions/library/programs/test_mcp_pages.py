"""Lists of MCP tools: each says whether there is more, and where it goes on (E2)."""

import json
from typing import Any

import pytest

from functions.library.programs.mcp_server.tools import TOOLS
from shared.library.deps import LibraryDeps
from tests.fixtures.chat import build_chat_fixture
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.functions.chat.library import build_conversation, store_conversations

COUNT = 7


async def call(deps: LibraryDeps, name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(await TOOLS[name].call(deps, ALICE, arguments))
    return result


@pytest.fixture
async def deps(world: ProcessingFixture, database: Any) -> LibraryDeps:
    """Store seven conversations, facts and tasks."""
    deps = build_library_deps(world)
    talks = [build_conversation(n, "The boat is of oak.") for n in range(COUNT)]
    await store_conversations(build_chat_fixture(database), ALICE, *talks)
    for n in range(COUNT):
        await call(deps, "create_memory", content=f"Owns boat {n}")
        await call(deps, "create_action_item", description=f"Paint boat {n}")
    return deps


@pytest.mark.parametrize(
    ("tool", "noun"),
    [
        ("get_conversations", "conversations"),
        ("get_memories", "memories"),
        ("get_action_items", "action_items"),
    ],
)
async def test_a_list_says_where_it_goes_on_until_its_end_e2(
    deps: LibraryDeps, tool: str, noun: str
) -> None:
    pages: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        page = await call(deps, tool, limit=3, offset=offset)
        pages.append(page)
        offset = page.get("next_offset")

    rests = [{key: page[key] for key in page if key != noun} for page in pages]
    assert rests == [
        {"more": True, "next_offset": 3, "total": COUNT},
        {"more": True, "next_offset": 6, "total": COUNT},
        {},
    ]
    ids = [item["id"] for page in pages for item in page[noun]]
    assert len(ids) == len(set(ids)) == COUNT


async def test_a_list_by_category_counts_none_of_the_others_e2(deps: LibraryDeps) -> None:
    await call(deps, "create_memory", content="Works on a boat", category="work")

    by_category = await call(deps, "get_memories", categories=["core"], limit=3)
    none = await call(deps, "get_conversations", categories=["technology"], limit=3)

    assert "total" not in by_category
    assert none == {"conversations": []}


async def test_a_list_of_tasks_counts_those_that_were_asked_for_alone_e2(deps: LibraryDeps) -> None:
    await call(deps, "create_action_item", description="Sell the boat", completed=True)
    for n in range(2):
        created = await call(deps, "create_action_item", description=f"Sail boat {n}")
        name = created["action_item"]["id"]
        await call(deps, "update_action_item", action_item_id=name, owner_name="Ann")

    open_tasks = await call(deps, "get_action_items", completed=False, limit=1)
    of_others = await call(deps, "get_action_items", owner="others", limit=1)

    assert (open_tasks["total"], of_others["total"]) == (COUNT, 2)


@pytest.mark.parametrize(
    ("tool", "noun", "query"),
    [
        ("search_conversations", "conversations", "oak"),
        ("search_memories", "memories", "boat"),
        ("search_action_items", "action_items", "boat"),
    ],
)
async def test_a_search_says_that_there_are_more_e2(
    deps: LibraryDeps, tool: str, noun: str, query: str
) -> None:
    some = await call(deps, tool, query=query, limit=3)
    all_of_them = await call(deps, tool, query=query, limit=COUNT + 1)

    assert (some["more"], len(some[noun])) == (True, 3)
    assert (list(all_of_them), len(all_of_them[noun])) == ([noun], COUNT)


async def test_a_list_that_is_cut_still_says_that_there_is_more_e2(deps: LibraryDeps) -> None:
    for n in range(300):
        await call(deps, "create_memory", content=f"{n} " + "boat " * 90)

    text = await TOOLS["get_memories"].call(deps, ALICE, {"limit": 300})

    assert text.endswith("characters left out; ask for less …")
    assert text.startswith('{"more":true,"next_offset":300,')

"""Memory tools: a wish to remember is written once, shown with the answer, and undone."""

import re
from typing import Any

import pytest

from functions.chat.consent.taint import Taint
from functions.chat.context.citations import Citations
from functions.chat.tools.memory_tools import build_memory_tools
from functions.chat.tools.toolkit import ChangeResult, Tool
from shared.domain.errors import ToolRefused
from shared.domain.ids import MemoryId
from shared.domain.memories.memory import Memory
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import store_memories
from tests.functions.chat.test_message_routes import open_chat

FACT = "I like green tea"
LONG = "User " + " ".join(["likes tea"] * 8)
CHANGED_SINCE = "This memory was changed or deleted since, so it stays as it is."


async def remember_in_a_turn(world: ChatFixture) -> None:
    with ScriptedModel(
        script_calls(("remember", {"fact": FACT})), script_answer("Noted.")
    ) as model:
        async with open_chat(world.deps(model)) as http:
            await http.post("/v2/messages", json={"text": f"Remember that {FACT}"})


async def call_in_a_turn(world: ChatFixture, name: str, **arguments: Any) -> None:
    with ScriptedModel(script_calls((name, arguments)), script_answer("Done.")) as model:
        async with open_chat(world.deps(model)) as http:
            await http.post("/v2/messages", json={"text": "Please do it"})


def deletion(*memories: tuple[str, str]) -> dict[str, Any]:
    return {"memories": [{"memory_id": name, "text": text} for name, text in memories]}


def get_tool(world: ChatFixture, name: str) -> Tool:
    tools = build_memory_tools(world.deps(), ADA, Taint([]))
    return next(tool for tool in tools if tool.spec.name == name)


async def get_memory(world: ChatFixture) -> Memory:
    (memory,) = await world.deps().stores.memories.list_newest(ADA, limit=9)
    return memory


async def find_facts(world: ChatFixture, query: str) -> list[str]:
    return [m.content for m in await world.deps().search.search_memories(ADA, query, limit=9)]


async def undo(world: ChatFixture) -> tuple[int, str]:
    with ScriptedModel() as model:
        async with open_chat(world.deps(model)) as http:
            (answer, *_) = (await http.get("/v2/messages")).json()
            (change,) = answer["metadata"]["changes"]
            reply = await http.post(f"/v1/messages/{answer['id']}/changes/{change['id']}/undo")
            return reply.status_code, reply.json().get("detail", "")


async def list_facts(world: ChatFixture) -> list[str]:
    return [m.content for m in await world.deps().stores.memories.list_newest(ADA, limit=9)]


async def test_a_fact_is_the_owners_memory_and_is_found(world: ChatFixture) -> None:
    await remember_in_a_turn(world)

    memory = await get_memory(world)
    assert (memory.content, memory.is_user_owned) == (FACT, True)
    assert await find_facts(world, "green tea") == [FACT]


async def test_the_same_fact_is_written_once(world: ChatFixture) -> None:
    tool = get_tool(world, "remember")

    results = [await tool.run({"fact": FACT}, f"call-{n}") for n in range(2)]

    assert isinstance(results[0], ChangeResult)
    assert results[1](Citations()) == f"This is remembered already: “{FACT}”"
    assert await list_facts(world) == [FACT]


async def test_undoing_removes_it_and_its_row_and_may_be_repeated(world: ChatFixture) -> None:
    await remember_in_a_turn(world)

    assert [await undo(world) for _ in range(2)] == [(200, ""), (200, "")]

    assert await list_facts(world) == []
    assert await find_facts(world, "green tea") == []


async def test_a_fact_that_was_changed_since_stays(world: ChatFixture) -> None:
    await remember_in_a_turn(world)
    memory = await get_memory(world)
    await world.deps().stores.memories.change(
        ADA, MemoryId(memory.id), updated_at=world.deps().clock.now(), content="I like black tea"
    )

    status, detail = await undo(world)

    assert (status, detail) == (409, CHANGED_SINCE)
    assert await list_facts(world) == ["I like black tea"]


def test_the_tools_have_names_that_vendors_accept_and_deleting_asks_m106(
    world: ChatFixture,
) -> None:
    tools = build_memory_tools(world.deps(), ADA, Taint([]))

    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.spec.name) for tool in tools)
    assert {tool.spec.name: tool.tool_class for tool in tools} == {
        "remember": "write",
        "update_memory": "write",
        "delete_memories": "sensitive",
    }


@pytest.mark.parametrize(
    ("category", "fact"), [("manual", LONG), ("system", FACT), ("interesting", FACT)]
)
async def test_a_fact_is_of_the_category_that_was_named_and_the_owners_m106(
    world: ChatFixture, category: str, fact: str
) -> None:
    await call_in_a_turn(world, "remember", fact=fact, category=category)

    memory = await get_memory(world)
    assert (memory.content, memory.category, memory.is_user_owned) == (fact, category, True)


@pytest.mark.parametrize(
    ("category", "fact"), [("system", LONG), ("interesting", LONG), ("loss", FACT)]
)
async def test_what_does_not_fit_its_category_is_refused_m106(
    world: ChatFixture, category: str, fact: str
) -> None:
    with pytest.raises(ToolRefused):
        await get_tool(world, "remember").run({"fact": fact, "category": category}, "call-1")

    assert await list_facts(world) == []


async def test_a_change_is_found_by_its_words_and_undone_m106(world: ChatFixture) -> None:
    await store_memories(world, ADA, [FACT])
    before = await get_memory(world)
    world.clock.advance(seconds=60)

    await call_in_a_turn(world, "update_memory", memory_id=before.id, fact="I like black coffee")

    changed = await get_memory(world)
    assert (changed.content, changed.edited) == ("I like black coffee", True)
    assert await find_facts(world, "coffee") == ["I like black coffee"]
    assert await undo(world) == (200, "")
    assert await get_memory(world) == before
    assert await find_facts(world, "green tea") == [FACT]
    assert await find_facts(world, "coffee") == []


async def test_a_change_of_what_was_deleted_since_is_not_undone_m106(world: ChatFixture) -> None:
    await store_memories(world, ADA, [FACT])
    memory = await get_memory(world)
    await call_in_a_turn(world, "update_memory", memory_id=memory.id, fact="I like coffee")
    await world.deps().stores.memories.remove(ADA, memory.id)

    assert await undo(world) == (409, CHANGED_SINCE)
    assert await list_facts(world) == []


async def test_a_change_is_as_short_as_its_category_wants_m106(world: ChatFixture) -> None:
    await call_in_a_turn(world, "remember", fact=FACT, category="system")
    memory = await get_memory(world)

    with pytest.raises(ToolRefused, match="at most 15 words"):
        await get_tool(world, "update_memory").run({"memory_id": memory.id, "fact": LONG}, "call-1")

    assert await list_facts(world) == [FACT]


async def test_a_deletion_waits_for_the_owner_then_nothing_is_found_m106(
    world: ChatFixture,
) -> None:
    await remember_in_a_turn(world)
    memory = await get_memory(world)

    await call_in_a_turn(world, "delete_memories", **deletion((memory.id, FACT)))
    assert await list_facts(world) == [FACT]

    await get_tool(world, "delete_memories").run(deletion((memory.id, FACT)), "call-1")
    assert await list_facts(world) == []
    assert await find_facts(world, "green tea") == []


@pytest.mark.parametrize("memory_id", ["nope", "../eve", ""])
async def test_an_unknown_memory_is_neither_changed_nor_deleted_m106(
    world: ChatFixture, memory_id: str
) -> None:
    change = {"memory_id": memory_id, "fact": FACT}
    for name, words in (
        ("update_memory", change),
        ("delete_memories", deletion((memory_id, FACT))),
    ):
        with pytest.raises(ToolRefused, match="no such memory"):
            await get_tool(world, name).run(words, "call-1")


async def test_what_was_corrected_is_neither_changed_nor_deleted_m106(world: ChatFixture) -> None:
    await store_memories(world, ADA, [FACT])
    now = world.clock.now()
    await world.deps().stores.memories.change(ADA, "m000", valid_to=now, superseded_by="m001")

    change = {"memory_id": "m000", "fact": "Tea"}
    for name, words in (("update_memory", change), ("delete_memories", deletion(("m000", FACT)))):
        with pytest.raises(ToolRefused, match="no such memory"):
            await get_tool(world, name).run(words, "call-1")


async def test_only_what_the_owner_reads_is_deleted_m106(world: ChatFixture) -> None:
    await remember_in_a_turn(world)
    memory = await get_memory(world)

    with pytest.raises(ToolRefused, match="says something else"):
        await get_tool(world, "delete_memories").run(deletion((memory.id, "tea")), "c")

    assert await list_facts(world) == [FACT]


async def test_all_about_a_person_goes_by_one_question_or_nothing_does_c50(
    world: ChatFixture,
) -> None:
    facts = ["Ann is my sister", "Ann lives in Oslo", FACT]
    await store_memories(world, ADA, facts)
    delete = get_tool(world, "delete_memories")

    with pytest.raises(ToolRefused, match="says something else"):
        await delete.run(deletion(("m000", facts[0]), ("m001", facts[2])), "c")
    assert sorted(await list_facts(world)) == sorted(facts)

    await delete.run(deletion(("m000", facts[0]), ("m001", facts[1])), "c")
    assert await list_facts(world) == [FACT]
    assert await find_facts(world, "Ann") == []


async def test_without_recall_no_tool_needs_an_id_m106(world: ChatFixture) -> None:
    tools = build_memory_tools(world.deps(), ADA, Taint([]), recalls_memories=False)

    assert [tool.spec.name for tool in tools] == ["remember"]

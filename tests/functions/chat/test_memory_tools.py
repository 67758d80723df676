"""Memory tools: a wish to remember is written once, shown with the answer, and undone."""

from functions.chat.context.citations import Citations
from functions.chat.tools.memory_tools import build_memory_tools
from functions.chat.tools.toolkit import ChangeResult
from shared.domain.ids import MemoryId
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.test_message_routes import open_chat

FACT = "I like green tea"


async def remember_in_a_turn(world: ChatFixture) -> None:
    with ScriptedModel(
        script_calls(("remember", {"fact": FACT})), script_answer("Noted.")
    ) as model:
        async with open_chat(world.deps(model)) as http:
            await http.post("/v2/messages", json={"text": f"Remember that {FACT}"})


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

    (memory,) = await world.deps().stores.memories.list_newest(ADA, limit=9)
    found = await world.deps().search.search_memories(ADA, "green tea", limit=3)
    assert (memory.content, memory.is_user_owned) == (FACT, True)
    assert [m.id for m in found] == [memory.id]


async def test_the_same_fact_is_written_once(world: ChatFixture) -> None:
    (tool,) = build_memory_tools(world.deps(), ADA)

    results = [await tool.run({"fact": FACT}, f"call-{n}") for n in range(2)]

    assert isinstance(results[0], ChangeResult)
    assert results[1](Citations()) == f"This is remembered already: “{FACT}”"
    assert await list_facts(world) == [FACT]


async def test_undoing_removes_it_and_its_row_and_may_be_repeated(world: ChatFixture) -> None:
    await remember_in_a_turn(world)

    assert [await undo(world) for _ in range(2)] == [(200, ""), (200, "")]

    assert await list_facts(world) == []
    assert await world.deps().search.search_memories(ADA, "green tea", limit=3) == []


async def test_a_fact_that_was_changed_since_stays(world: ChatFixture) -> None:
    await remember_in_a_turn(world)
    (memory,) = await world.deps().stores.memories.list_newest(ADA, limit=9)
    await world.deps().stores.memories.change(
        ADA, MemoryId(memory.id), updated_at=world.deps().clock.now(), content="I like black tea"
    )

    status, detail = await undo(world)

    assert (status, detail) == (409, "This memory was changed since, so it stays as it is.")
    assert await list_facts(world) == ["I like black tea"]

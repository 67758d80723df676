"""Recall of memories: paused and resumed by its owner, and never volunteered unless they want it (C51, C69)."""

import pytest

from shared.domain.models.model import UserText
from shared.domain.store.documents import Document, Query
from shared.ports import Documents
from tests.fakes import CountingDocuments, ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, ChatFixture
from tests.functions.chat.library import store_memories
from tests.functions.chat.test_crisis_gate import CERTAIN
from tests.functions.chat.test_message_routes import ask, open_chat
from tests.functions.chat.test_turn import build_app

MEMORY_TOOLS = {"get_memories", "search_memories"}


def list_tools(model: ScriptedModel, call: int) -> set[str]:
    return {tool.name for tool in model.calls[call].tools}


def read_context(model: ScriptedModel, call: int) -> str:
    return [m.text for m in model.calls[call].messages if isinstance(m, UserText)][-1]


async def test_the_assistant_pauses_and_resumes_it_when_asked_c51(world: ChatFixture) -> None:
    pause, resume = (script_calls(("set_recall", {"recalls": on})) for on in (False, True))
    may_i, done = script_answer("Shall I?"), script_answer("Done.")
    with ScriptedModel(pause, may_i, done, done, resume, may_i, done, done) as model:
        deps = world.deps(model)
        for text in ("Don't use my memories", "yes", "Hello", "Use them again", "yes", "Hello"):
            world.clock.advance(seconds=5)
            await ask(deps, {"text": text})

    assert [list_tools(model, n) >= MEMORY_TOOLS for n in (0, 3, 7)] == [True, False, True]
    assert "paused memories" in read_context(model, 3)
    assert "paused memories" not in read_context(model, 7)


async def test_the_setting_is_the_owners_c51(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        before = (await http.get("/v1/users/profile")).json()
        changed = await http.patch("/v1/users/profile", json={"recalls_memories": False})
        after = (await http.get("/v1/users/profile")).json()

    assert (before["recalls_memories"], before["volunteers_memories"]) == (True, False)
    assert changed.json()["recalls_memories"] is after["recalls_memories"] is False


class WatchedDocuments(CountingDocuments):
    """Documents that note which collections were read."""

    def __init__(self, documents: Documents) -> None:
        super().__init__(documents)
        self.queried: list[str] = []

    async def query(self, query: Query) -> list[Document]:
        self.queried.append(query.collection)
        return await super().query(query)


@pytest.mark.parametrize(
    ("text", "persona", "reads_memories"),
    [("What do I like?", False, True), ("What do I like?", True, False), (CERTAIN, False, False)],
    ids=["answer", "persona", "crisis"],
)
async def test_memories_enter_the_main_route_alone_c54(
    world: ChatFixture, text: str, *, persona: bool, reads_memories: bool
) -> None:
    await store_memories(world, ADA, ["User likes tea"])
    app = build_app(world, persona_prompt="You are a poet.")
    await world.deps().stores.apps.create(app)
    world.documents = watched = WatchedDocuments(world.documents)
    turns = [script_answer("Tea.")]
    if reads_memories:
        turns.insert(0, script_calls(("get_memories", {})))
    with ScriptedModel(*([] if text == CERTAIN else turns)) as model:
        query = {"app_id": app.id} if persona else {}
        await ask(world.deps(model), {"text": text}, **query)

    assert ("users/ada/memories" in watched.queried) is reads_memories
    offered = {tool.name for call in model.calls for tool in call.tools}
    assert (offered >= MEMORY_TOOLS) is reads_memories


@pytest.mark.parametrize("volunteers", [False, True])
async def test_memories_are_volunteered_only_where_the_owner_wants_it_c69(
    world: ChatFixture, *, volunteers: bool
) -> None:
    await world.deps().stores.profiles.change(ADA, volunteers_memories=volunteers)
    with ScriptedModel(script_answer("Hi.")) as model:
        await ask(world.deps(model), {"text": "Hello"})

    assert ("bring one up unasked" in read_context(model, 0)) is volunteers
    rules = str(model.calls[0].messages[0])
    assert "do not recite what was not asked for" in rules

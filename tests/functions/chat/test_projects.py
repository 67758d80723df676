"""Projects: files and chats that belong together, given whole or searched (X12, X13)."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from shared.data.chats.projects import Projects
from shared.domain.chats.chat import Session
from shared.domain.chats.project import MAX_PROJECT_FILES, MAX_PROJECTS
from shared.domain.errors import NotFound
from shared.domain.ids import FileId, SessionId
from shared.domain.models.model import ModelFacts
from shared.domain.store.documents import Delete, Document, Query
from shared.ports import Documents
from tests.fakes import CountingDocuments, ScriptedModel
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.chats import store_messages
from tests.functions.chat.test_files import list_texts, store_file
from tests.functions.chat.test_message_routes import open_chat

PROJECTS, CHATS = "/v2/projects", "/v2/chat-sessions"
WINDOW = 20_000


async def create_project(http: httpx.AsyncClient, name: str = "Boat") -> str:
    created = await http.post(PROJECTS, json={"name": name})
    assert created.status_code == 200, created.text
    return str(created.json()["id"])


async def list_names(http: httpx.AsyncClient, project_id: str) -> list[str]:
    files = (await http.get(f"{PROJECTS}/{project_id}/files")).json()["items"]
    return [file["name"] for file in files]


async def begin_project_chat(world: ChatFixture, *file_ids: FileId) -> SessionId:
    async with open_chat(world.deps()) as http:
        project_id = await create_project(http)
        for file_id in file_ids:
            added = await http.put(f"{PROJECTS}/{project_id}/files/{file_id}")
            assert added.status_code == 200, added.text
        chat = (await http.post(CHATS, json={"project_id": project_id})).json()
    assert chat["project_id"] == project_id
    return SessionId(chat["id"])


async def prepare(world: ChatFixture, session_id: SessionId, **changes: Any) -> PreparedTurn:
    model = ScriptedModel(facts=ModelFacts(window_tokens=WINDOW))
    return await prepare_turn(
        world.deps(model), ADA, Question("What is it of?", session_id=session_id, **changes)
    )


def list_tool_names(turn: PreparedTurn) -> set[str]:
    return {tool.name for tool in turn.tools}


@pytest.mark.parametrize("path", [PROJECTS, "/v1/agents"])
async def test_what_is_created_again_under_its_key_is_there_once_t15(
    world: ChatFixture, path: str
) -> None:
    body = (
        {"name": "Boat", "instructions": "Speak of boats."}
        if "agents" in path
        else {"name": "Boat"}
    )
    async with open_chat(world.deps()) as http:
        first, second = [
            await http.post(path, json=body, headers={"Idempotency-Key": "phone-1"})
            for _ in range(2)
        ]
        listed = (await http.get(path)).json()["items"]

    assert first.status_code == 200, first.text
    assert second.headers["Idempotency-Replayed"] == "true"
    assert [each["id"] for each in listed] == [first.json()["id"]] == [second.json()["id"]]


async def test_a_project_is_created_read_renamed_and_deleted_x12(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "Of oak.")
    async with open_chat(world.deps()) as http:
        project_id = await create_project(http, " Bo\u202eat ")
        path = f"{PROJECTS}/{project_id}"
        await http.put(f"{path}/files/{keel}")
        await http.put(f"{path}/files/{keel}")
        chat = (await http.post(CHATS, json={"project_id": project_id})).json()
        other = (await http.post(CHATS, json={})).json()
        world.clock.advance(minutes=1)
        renamed = (await http.patch(path, json={"name": "Yacht"})).json()
        assert (await http.get(path)).json() == renamed
        assert (await http.get(PROJECTS)).json()["items"] == [renamed]
        assert await list_names(http, project_id) == ["keel.pdf"]
        listed = (await http.get(CHATS, params={"project_id": project_id})).json()
        deleted = await http.delete(path)
        left = (await http.get(f"{CHATS}/{chat['id']}")).json()
        missing = [
            await http.get(path),
            await http.patch(path, json={"name": "x"}),
            await http.delete(path),
            await http.get(f"{path}/files"),
            await http.put(f"{path}/files/{keel}"),
            await http.post(CHATS, json={"project_id": project_id}),
            await http.patch(f"{CHATS}/{other['id']}", json={"project_id": project_id}),
        ]

    assert (renamed["name"], renamed["updated_at"]) == ("Yacht", "2026-03-02T12:01:00Z")
    assert [each["id"] for each in listed] == [chat["id"]]
    assert (deleted.json(), left["project_id"]) == ({"status": "ok"}, None)
    assert (await world.deps().stores.files.get(ADA, keel)).project_ids == ()
    refusals = {(each.status_code, each.json()["detail"]) for each in missing}
    assert refusals == {(404, "Project not found")}


async def test_a_file_leaves_a_project_when_it_is_taken_out_or_deleted_x12(
    world: ChatFixture,
) -> None:
    keel, mast = [await store_file(world, name, "Of oak.") for name in ("keel", "mast")]
    async with open_chat(world.deps()) as http:
        project_id = await create_project(http)
        path = f"{PROJECTS}/{project_id}/files"
        for file_id in (keel, mast):
            await http.put(f"{path}/{file_id}")
        await http.delete(f"{path}/{keel}")
        await http.delete(f"{path}/{keel}")
        assert await list_names(http, project_id) == ["mast.pdf"]
        await world.deps().stores.files.take_out(ADA, mast)
        assert await list_names(http, project_id) == []
        unknown = [await http.put(f"{path}/{name}") for name in (mast, "nope", "x" * 65)]

    assert [(r.status_code, r.json()["detail"]) for r in unknown] == [(404, "File not found")] * 3


async def test_nobody_reaches_the_projects_and_files_of_others_x12(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "Of oak.")
    async with open_chat(world.deps()) as http:
        await create_project(http, "The first, whose id Eve's own will have")
        project_id = await create_project(http)
    async with open_chat(world.deps(), EVE) as http:
        own_id = await create_project(http)
        refusals = [
            await http.get(f"{PROJECTS}/{project_id}"),
            await http.delete(f"{PROJECTS}/{project_id}"),
            await http.put(f"{PROJECTS}/{project_id}/files/{keel}"),
            await http.put(f"{PROJECTS}/{own_id}/files/{keel}"),
            await http.post(CHATS, json={"project_id": project_id}),
        ]

    assert [refusal.status_code for refusal in refusals] == [404] * 5


async def test_projects_and_their_files_are_bounded_x12(world: ChatFixture) -> None:
    names = [await store_file(world, f"f{n}", "Oak.") for n in range(MAX_PROJECT_FILES + 1)]
    async with open_chat(world.deps()) as http:
        project_id = await create_project(http)
        path = f"{PROJECTS}/{project_id}/files"
        added = [await http.put(f"{path}/{name}") for name in names]
        repeated = await http.put(f"{path}/{names[0]}")
        created = [await http.post(PROJECTS, json={"name": "x"}) for _ in range(MAX_PROJECTS)]

    assert [each.status_code for each in added] == [200] * MAX_PROJECT_FILES + [409]
    assert repeated.status_code == 200
    assert [each.status_code for each in created] == [200] * (MAX_PROJECTS - 1) + [409]
    assert created[-1].json()["detail"] == "You may have 100 projects; delete one first."


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PROJECTS, {"name": "\u202e"}),
        (PROJECTS, {"name": "x" * 101}),
        (PROJECTS, {}),
        (CHATS, {"project_id": "../x"}),
    ],
)
async def test_senseless_values_are_refused_x12(
    world: ChatFixture, path: str, body: dict[str, str]
) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.post(path, json=body)
        both = await http.get(CHATS, params={"project_id": "a", "starred": True})

    assert (refusal.status_code, both.status_code) == (422, 422)


async def test_the_files_of_a_project_stay_when_the_history_overflows_x12(
    world: ChatFixture,
) -> None:
    keel = await store_file(world, "keel", "The keel is of oak.", tokens=40)
    session_id = await begin_project_chat(world, keel)
    await store_messages(world, *["語" * 3_000] * 12, session_id=session_id)

    turn = await prepare(world, session_id)

    *history, project, question = list_texts(turn.context.for_cycle(1))
    assert "The keel is of oak." in project
    assert question.endswith("What is it of?")
    assert len(history) < 12
    assert "search_files" not in list_tool_names(turn)


async def test_they_follow_each_question_above_its_own_files_x12(world: ChatFixture) -> None:
    keel, mast = [await store_file(world, name, f"About {name}.") for name in ("keel", "mast")]
    session_id = await begin_project_chat(world, keel)

    turn = await prepare(world, session_id, file_ids=[mast])

    project, files, _ = list_texts(turn.context.for_cycle(1))[-3:]
    assert ("About keel." in project, "About mast." in files) == (True, True)
    assert ('"document": 2,' in project, '"document": 1,' in files) == (True, True)


@pytest.mark.parametrize(("tokens", "is_whole"), [(5_999, True), (6_000, False)])
async def test_from_60_percent_of_the_window_on_a_project_is_searched_x13(
    world: ChatFixture, tokens: int, *, is_whole: bool
) -> None:
    files = [
        await store_file(world, name, f"About {name}.", tokens=tokens) for name in ("keel", "mast")
    ]
    session_id = await begin_project_chat(world, *files)

    turn = await prepare(world, session_id)

    texts = "\n".join(list_texts(turn.context.for_cycle(1)))
    assert ("About keel." in texts) is is_whole
    assert ('"file_id": "keel"' in texts) is not is_whole
    assert ("search_files" in list_tool_names(turn)) is not is_whole


async def test_each_of_several_models_gets_what_its_window_holds_x13(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "About keel.", tokens=12_000)
    session_id = await begin_project_chat(world, keel)
    model = SizedModel(facts=ModelFacts(window_tokens=100_000))

    turn = await prepare_turn(
        world.deps(model), ADA, Question("Well?", session_id=session_id, models=["agent", "fast"])
    )

    large, small = ("\n".join(list_texts(voice.context.for_cycle(1))) for voice in turn.voices)
    assert ("About keel." in large, "About keel." in small) == (True, False)
    tools = [{tool.name for tool in voice.tools} for voice in turn.voices]
    assert ["search_files" in names for names in tools] == [False, True]


class SizedModel(ScriptedModel):
    """Its fast model has the small window."""

    def describe(self, role: Any) -> ModelFacts:
        return ModelFacts(window_tokens=WINDOW) if role == "fast" else self.facts


async def test_a_project_costs_no_further_round_of_reads_x12(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "About keel.")
    session_id = await begin_project_chat(world, keel)
    counting = CountingDocuments(world.documents)

    await prepare(replace(world, documents=counting), session_id)

    assert counting.rounds <= 2


async def test_a_file_that_is_being_read_keeps_its_projects_x12(world: ChatFixture) -> None:
    keel = await store_file(world, "keel", "About keel.", status="processing")
    files = world.deps().stores.files
    before = await files.get(ADA, keel)
    await begin_project_chat(world, keel)

    await files.finish_reading(ADA, before)

    assert len((await files.get(ADA, keel)).project_ids) == 1


async def test_a_chat_of_an_app_belongs_to_no_project_x12(world: ChatFixture) -> None:
    stores = world.deps().stores
    now = world.clock.now()
    chat = Session(id=SessionId("chess"), created_at=now, updated_at=now, app_id="chess")  # type: ignore[arg-type]
    await stores.sessions.add(ADA, chat)
    async with open_chat(world.deps()) as http:
        project_id = await create_project(http)
        refusal = await http.patch(f"{CHATS}/chess", json={"project_id": project_id})

    assert refusal.status_code == 422
    assert "cannot belong to a project" in refusal.json()["detail"]


async def test_a_deletion_that_ended_early_goes_on_when_it_is_repeated_x12(
    world: ChatFixture,
) -> None:
    files = [await store_file(world, name, f"About {name}.") for name in ("keel", "mast")]
    session_id = await begin_project_chat(world, *files)
    projects = world.deps().stores.projects
    [project] = await projects.list_newest(ADA, limit=9)
    await projects.take_out_file(ADA, project.id, files[0])

    await projects.delete(ADA, project.id)

    session = await world.deps().stores.sessions.get(ADA, session_id)
    assert session is not None
    assert session.project_id is None
    assert await projects.list_files(ADA, project.id) == []
    with pytest.raises(NotFound):
        await projects.delete(ADA, project.id)


async def test_a_file_of_the_project_that_comes_with_the_question_is_given_once_x12(
    world: ChatFixture,
) -> None:
    keel, mast = [await store_file(world, name, f"About {name}.") for name in ("keel", "mast")]
    session_id = await begin_project_chat(world, keel)

    turn = await prepare(world, session_id, file_ids=[keel, mast])

    assert [each.contents for each in turn.context.project_files] == ["About keel."]
    assert [(each.number, each.contents) for each in turn.context.files] == [(2, "About mast.")]


async def test_a_chat_that_is_deleted_meanwhile_does_not_keep_its_project_x12(
    world: ChatFixture,
) -> None:
    session_id = await begin_project_chat(world)
    path = f"users/{ADA}/chat_sessions/{session_id}"
    projects = Projects(DeletingDocuments(world.documents, path))
    [project] = await projects.list_newest(ADA, limit=9)

    await projects.delete(ADA, project.id)

    assert await projects.list_newest(ADA, limit=9) == []


class DeletingDocuments(CountingDocuments):
    """Documents of which one is deleted as soon as a query has found it."""

    def __init__(self, documents: Documents, path: str) -> None:
        super().__init__(documents)
        self._path = path

    async def query(self, query: Query) -> list[Document]:
        found = await super().query(query)
        if any(each.path == self._path for each in found):
            await self.write(Delete(self._path))
        return found

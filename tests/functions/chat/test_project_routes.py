"""Routes of projects: CRUD, limits, their files and their chats (X12)."""

from typing import Any

import httpx
import pytest

from shared.domain.app import App
from shared.domain.ids import AppId, FileId
from shared.domain.project import MAX_PROJECTS
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_files import store_file
from tests.functions.chat.test_message_routes import open_chat

PROJECTS = "/v2/projects"
CHATS = "/v2/chat-sessions"
NOT_FOUND = (404, "Project not found")


async def create_project(http: httpx.AsyncClient, **changes: Any) -> str:
    created = await http.post(PROJECTS, json={"name": "Boat", **changes})
    assert created.status_code == 200, created.text
    return str(created.json()["id"])


async def begin_chat(http: httpx.AsyncClient, **fields: Any) -> str:
    created = await http.post(CHATS, json=fields)
    assert created.status_code == 200, created.text
    return str(created.json()["id"])


async def list_chats(http: httpx.AsyncClient, **filters: Any) -> list[str]:
    return [chat["id"] for chat in (await http.get(CHATS, params=filters)).json()]


def read_refusal(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["detail"]


async def test_a_project_is_created_read_changed_and_deleted_x12(world: ChatFixture) -> None:
    keel, mast = [await store_file(world, name, "Oak.") for name in ("keel", "mast")]
    async with open_chat(world.deps()) as http:
        body = {"name": " Bo\u202eat ", "instructions": "Be exact.", "file_ids": [keel, mast, keel]}
        created = (await http.post(PROJECTS, json=body)).json()
        path = f"{PROJECTS}/{created['id']}"
        world.clock.advance(minutes=1)
        change = {"name": None, "file_ids": [mast], "instructions": ""}
        changed = (await http.patch(path, json=change)).json()
        read = (await http.get(path)).json()
        newer = await create_project(http, name="Garden")
        listed = [project["id"] for project in (await http.get(PROJECTS)).json()]
        deleted = await http.delete(path)
        missing = [
            await http.get(path),
            await http.patch(path, json={"name": "x"}),
            await http.delete(path),
        ]

    assert created == {
        "id": created["id"],
        "name": "Boat",
        "instructions": "Be exact.",
        "file_ids": ["keel", "mast"],
        "created_at": "2026-03-02T12:00:00Z",
        "updated_at": "2026-03-02T12:00:00Z",
    }
    assert read == changed
    later = {"updated_at": "2026-03-02T12:01:00Z", "file_ids": ["mast"], "instructions": ""}
    assert changed == {**created, **later}
    assert listed == [newer, created["id"]]
    assert deleted.json() == {"status": "ok"}
    assert list(map(read_refusal, missing)) == [NOT_FOUND] * 3


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"name": "\u202e"}, 422),
        ({"name": "x" * 101}, 422),
        ({"instructions": "x" * 4_001}, 422),
        ({"file_ids": ["x"] * 51}, 413),
        ({"file_ids": ["../x"]}, 422),
        ({"file_ids": ["gone"]}, 404),
    ],
)
async def test_a_project_keeps_to_its_limits_x12(
    world: ChatFixture, changes: dict[str, Any], status: int
) -> None:
    async with open_chat(world.deps()) as http:
        path = f"{PROJECTS}/{await create_project(http)}"
        before = (await http.get(PROJECTS)).json()
        answers = [
            await http.post(PROJECTS, json={"name": "Boat", **changes}),
            await http.patch(path, json=changes),
        ]
        assert (await http.get(PROJECTS)).json() == before

    assert [answer.status_code for answer in answers] == [status] * 2


async def test_there_are_only_so_many_projects_and_others_have_theirs_x12(
    world: ChatFixture,
) -> None:
    async with open_chat(world.deps()) as ada, open_chat(world.deps(), EVE) as eve:
        for _ in range(MAX_PROJECTS):
            mine = await create_project(ada)
        refusal = await ada.post(PROJECTS, json={"name": "Boat"})
        await create_project(eve)
        foreign = [
            await eve.get(f"{PROJECTS}/{mine}"),
            await eve.post(CHATS, json={"project_id": mine}),
        ]

    assert read_refusal(refusal) == (409, "You may have 40 projects; delete one first.")
    assert list(map(read_refusal, foreign)) == [NOT_FOUND] * 2


async def test_the_largest_projects_fit_into_their_document_x12(world: ChatFixture) -> None:
    names = [await store_file(world, f"{n:02}".ljust(64, "x"), "") for n in range(50)]
    async with open_chat(world.deps()) as http:
        for _ in range(MAX_PROJECTS):
            await create_project(http, name="🙂" * 100, instructions="🙂" * 4_000, file_ids=names)
        assert len((await http.get(PROJECTS)).json()) == MAX_PROJECTS


async def test_a_file_that_is_deleted_leaves_its_projects_x12(world: ChatFixture) -> None:
    deps = world.deps()
    keel, mast = [await store_file(world, name, "Oak.") for name in ("keel", "mast")]
    async with open_chat(deps) as http:
        both = await create_project(http, file_ids=[keel, mast])
        only = await create_project(http, file_ids=[keel])
        await deps.stores.files.take_out(ADA, keel)
        left = {project["id"]: project["file_ids"] for project in (await http.get(PROJECTS)).json()}
        again = await http.patch(f"{PROJECTS}/{only}", json={"file_ids": [keel]})

    assert left == {both: ["mast"], only: []}
    assert read_refusal(again) == (404, "File not found")


async def test_a_chat_joins_and_leaves_a_project_x12(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        boat, garden = await create_project(http), await create_project(http)
        first = await begin_chat(http, project_id=boat)
        second = await begin_chat(http, title="Roses")
        shown = []
        for project in (boat, garden, None, ""):
            change = {"title": "Tea", "project_id": project}
            changed = await http.patch(f"{CHATS}/{second}", json=change)
            shown.append((changed.json()["project_id"], await list_chats(http, project_id=boat)))
        starred = await list_chats(http, project_id=boat, starred=True)

    assert [name for name, _ in shown] == [boat, garden, garden, None]
    assert [set(chats) for _, chats in shown] == [{first, second}, {first}, {first}, {first}]
    assert starred == []


async def test_a_cleared_chat_stays_in_its_project_x12(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        boat = await create_project(http)
        chat = await begin_chat(http, project_id=boat)
        await http.delete("/v2/messages", params={"chat_session_id": chat})

        assert await list_chats(http, project_id=boat) == [chat]


async def test_the_chats_and_files_of_a_deleted_project_stay_x12(world: ChatFixture) -> None:
    deps = world.deps()
    keel = await store_file(world, "keel", "Oak.")
    async with open_chat(deps) as http:
        boat, garden = await create_project(http, file_ids=[keel]), await create_project(http)
        chats = {await begin_chat(http, project_id=boat) for _ in range(3)}
        other = await begin_chat(http, project_id=garden)
        await http.delete(f"{PROJECTS}/{boat}")
        read = [(await http.get(f"{CHATS}/{chat}")).json() for chat in chats]

        assert await list_chats(http, project_id=garden) == [other]
        assert set(await list_chats(http)) == {*chats, other}
    assert [chat["project_id"] for chat in read] == [None] * 3
    assert (await deps.stores.files.get(ADA, keel)).id == FileId("keel")


async def test_a_repeated_deletion_completes_an_interrupted_one_x12(world: ChatFixture) -> None:
    deps = world.deps()
    async with open_chat(deps) as http:
        boat = await create_project(http)
        chat = await begin_chat(http, project_id=boat)
        await deps.stores.projects.change(ADA, lambda stored: stored.remove(boat))

        assert read_refusal(await http.delete(f"{PROJECTS}/{boat}")) == NOT_FOUND
        assert (await http.get(f"{CHATS}/{chat}")).json()["project_id"] is None


async def test_no_chat_joins_what_is_gone_and_no_apps_chat_joins_x12(world: ChatFixture) -> None:
    deps = world.deps()
    app = App(
        id=AppId("CHESS"), owner=EVE, name="Chess", created_at=world.clock.now(), private=False
    )
    await deps.stores.apps.create(app)
    async with open_chat(deps) as http:
        boat = await create_project(http)
        chat, apps_chat = await begin_chat(http), await begin_chat(http, app_id="CHESS")
        refusals = [
            await http.post(CHATS, json={"project_id": "gone"}),
            await http.patch(f"{CHATS}/{chat}", json={"project_id": "gone"}),
            await http.post(CHATS, json={"project_id": boat, "app_id": "CHESS"}),
            await http.patch(f"{CHATS}/{apps_chat}", json={"project_id": boat}),
            await http.patch(f"{CHATS}/gone", json={"project_id": boat}),
            await http.patch(f"{CHATS}/gone", json={"project_id": ""}),
        ]
        assert len(await list_chats(http)) == 2

    no_apps = (422, "This chat belongs to an app, so it cannot be in a project.")
    no_chat = (404, "Chat session not found")
    assert list(map(read_refusal, refusals)) == [
        *[NOT_FOUND] * 2,
        *[no_apps] * 2,
        *[no_chat] * 2,
    ]

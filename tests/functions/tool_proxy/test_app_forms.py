"""The form of the released app for new apps: what it leaves empty, and what the server adds (R1)."""

from typing import Any

import pytest

from functions.tool_proxy.registry.registration import UNKNOWN_AUTHOR
from shared.domain.ids import UserId
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_proxy import ALICE

DEV = UserId("dev")
EMPTY_INTEGRATION: dict[str, Any] = {
    "triggers_on": None,
    "webhook_url": "",
    "setup_completed_url": " ",
    "setup_instructions_file_path": "",
    "app_home_url": "",
    "chat_tools_manifest_url": "",
    "auth_steps": [],
    "actions": [],
}


async def register(world: NotesFixture, **fields: Any) -> dict[str, Any]:
    answer = await world.request("POST", "/v1/apps", json={"name": "Notes", **fields})
    assert answer.status_code == 200, answer.text
    app: dict[str, Any] = answer.json()
    return app


async def test_what_is_left_empty_is_absent_r1(world: NotesFixture):
    app = await register(
        world,
        external_integration=EMPTY_INTEGRATION,
        chat_prompt="",
        memory_prompt=" ",
        source_code_url="",
        category="",
        proactive_notification=None,
    )

    integration = app["external_integration"]
    assert {integration[name] for name in EMPTY_INTEGRATION if not name.endswith("s")} == {None}
    assert (app["chat_prompt"], app["memory_prompt"], app["source_code_url"]) == (None, None, None)
    assert (app["category"], app["proactive_notification"]) == ("other", None)


@pytest.mark.parametrize(
    ("name", "author"),
    [
        ("Ann", "Ann"),
        ("Ann\u202e \n Smith", "Ann Smith"),
        ("", UNKNOWN_AUTHOR),
        ("Keepsake", UNKNOWN_AUTHOR),
    ],
)
async def test_the_author_is_the_developers_name_r1(world: NotesFixture, name: str, author: str):
    await world.deps.stores.profiles.change(DEV, name=name)

    app = await register(world, author="Somebody else", uid="alice")

    assert (app["author"], app["uid"]) == (author, DEV)


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"category": "cats"}, "There is no such category; /v1/app-categories lists them all"),
        ({"is_paid": True, "price": 9.0}, "Apps cannot be sold here; make it free"),
        ({"memory_prompt": "x" * 8_001}, "The memory prompt must be at most 8000"),
        (
            {"external_integration": {"actions": [{"action": ""}]}},
            "The action in entry 1 of the actions of the external integration must",
        ),
        (
            {"external_integration": {"actions": [{"action": "a"}] * 21}},
            "The actions of the external integration must have at most 20",
        ),
    ],
)
async def test_what_an_app_cannot_be_is_refused_with_the_reason_r1(
    world: NotesFixture, fields: dict[str, Any], detail: str
):
    answer = await world.request("POST", "/v1/apps", json={"name": "Notes", **fields})

    assert answer.status_code in (413, 422)
    assert answer.json()["detail"].startswith(detail)


async def test_prompts_are_visible_text_that_only_their_developer_reads_r1(world: NotesFixture):
    app = await register(world, chat_prompt="Be\u202e kind", memory_prompt="List\u200b it")

    public_app = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()

    assert (app["chat_prompt"], app["memory_prompt"]) == ("Be kind", "List it")
    assert (public_app["chat_prompt"], public_app["memory_prompt"]) == (None, None)


@pytest.mark.parametrize(
    ("path", "is_page"),
    [
        ("https://a.example.com/setup", True),
        ("https://a.example.com/setup.md?v=2", False),
        (None, False),
    ],
)
async def test_instructions_are_a_page_or_markdown_r1(
    world: NotesFixture, path: str | None, *, is_page: bool
):
    app = await register(world, external_integration={"setup_instructions_file_path": path})

    assert app["external_integration"]["is_instructions_url"] is is_page


async def test_a_changed_form_without_an_integration_removes_the_server_r1(world: NotesFixture):
    app = (await world.register()).json()
    change = {"capabilities": ["chat"], "external_integration": None, "chat_prompt": "Be kind"}

    changed = await world.request("PATCH", f"/v1/apps/{app['id']}", json=change)

    assert changed.status_code == 200
    assert (changed.json()["chat_tools"], changed.json()["chat_prompt"]) == ([], "Be kind")
    assert changed.json()["external_integration"]["webhook_url"] is None


async def test_only_its_developer_changes_who_sees_an_app_t4(world: NotesFixture):
    app = (await world.register()).json()
    path = f"/v1/apps/{app['id']}/change-visibility"

    statuses = [
        (await world.request("PATCH", path, uid=uid, params={"private": "true"})).status_code
        for uid in (ALICE, "dev", ALICE)
    ]

    hidden = (await world.request("GET", f"/v1/apps/{app['id']}")).json()
    assert statuses == [403, 200, 404]
    assert hidden == {**app, "private": True}


async def test_installations_are_counted_once_for_each_user_t4(world: NotesFixture):
    app = (await world.register()).json()

    async def press(button: str, uid: str) -> int:
        await world.request("POST", f"/v1/apps/{button}", uid=uid, params={"app_id": app["id"]})
        shown = await world.request("GET", f"/v1/apps/{app['id']}")
        return int(shown.json()["installs"])

    counts = [
        await press("enable", ALICE),
        await press("enable", ALICE),
        await press("enable", "bob"),
        await press("disable", ALICE),
        await press("disable", ALICE),
    ]

    assert counts == [1, 1, 2, 1, 1]

"""The capability `external_integration`: tools, keys and posts need it (T1)."""

from typing import Any

import pytest
from httpx import Response

from shared.data.apps.apps import app_path
from shared.domain.store.documents import Set
from tests.fixtures.notes_app import NotesFixture, list_tool_names
from tests.fixtures.tool_proxy import ALICE

NO_SERVER = "Tools, webhooks and actions need the capability external_integration"
NOT_JSON = "The manifest could not be read: The manifest is not valid JSON."
NO_KEYS = "App does not have the capability external_integration"


async def register(world: NotesFixture, capabilities: Any, **integration: Any) -> Response:
    return await world.register(capabilities=capabilities, external_integration=integration)


@pytest.mark.parametrize("capabilities", [[], ["chat"], ["persona", "memories"]])
@pytest.mark.parametrize(
    "integration",
    [
        {"chat_tools_manifest_url": "http://127.0.0.1:1/tools.json"},
        {"webhook_url": "https://a.example.com/hook"},
        {"actions": [{"action": "read_tasks"}]},
    ],
)
async def test_an_app_without_the_capability_has_no_server_t1(
    world: NotesFixture, capabilities: list[str], integration: dict[str, Any]
):
    response = await register(world, capabilities, **integration)

    assert (response.status_code, response.json()["detail"]) == (422, NO_SERVER)
    assert (await world.request("GET", "/v1/apps")).json() == []


async def test_an_app_that_names_no_capabilities_is_an_integration_t1(world: NotesFixture):
    app = (await world.register()).json()

    assert (app["capabilities"], list_tool_names(app)) == (["external_integration"], ["find"])


async def test_a_change_cannot_give_tools_without_the_capability_or_keep_them_t1(
    world: NotesFixture,
):
    chat_app = (await register(world, ["chat"])).json()
    tool_app = (await world.register()).json()
    manifest = {"chat_tools_manifest_url": f"{world.notes_url}/.well-known/omi-tools.json"}

    responses = [
        await world.request("PATCH", f"/v1/apps/{app['id']}", json=change)
        for app, change in (
            (chat_app, {"external_integration": manifest}),
            (tool_app, {"capabilities": ["chat"]}),
        )
    ]

    assert [(r.status_code, r.json()["detail"]) for r in responses] == [(422, NO_SERVER)] * 2


async def test_an_app_without_the_capability_gets_no_key_t1(world: NotesFixture):
    app = (await register(world, ["chat"])).json()

    response = await world.request("POST", f"/v1/apps/{app['id']}/keys")

    assert (response.status_code, response.json()["detail"]) == (403, NO_KEYS)


async def test_an_app_stored_before_capabilities_counted_goes_on_working_t1(world: NotesFixture):
    app = await world.install()
    document = await world.documents.get(app_path(app["id"]))
    assert document is not None
    fields = {name: field for name, field in document.fields.items() if name != "user_key"}
    await world.documents.write(Set(app_path(app["id"]), {**fields, "capabilities": []}))

    assert await world.call(app["id"], q="x") == "Milk, eggs."
    assert (await world.request("POST", f"/v1/apps/{app['id']}/keys")).status_code == 200
    renamed = await world.request("PATCH", f"/v1/apps/{app['id']}", json={"name": "Notes 2"})
    assert list_tool_names(renamed.json()) == ["find"]


async def test_an_app_with_only_a_home_page_is_asked_for_its_well_known_manifest_t2(
    world: NotesFixture,
):
    home = f"{world.notes_url}/start/page?x=1"
    app = (await register(world, ["external_integration"], app_home_url=home)).json()
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": app["id"]})

    assert list_tool_names(app) == ["find"]
    assert app["external_integration"]["chat_tools_manifest_url"] is None


@pytest.mark.parametrize(
    ("status", "body", "refused_tools"),
    [
        (404, "", []),
        (410, "", []),
        (
            200,
            "<html>Welcome</html>",
            [f"/.well-known/omi-tools.json: {NOT_JSON}"],
        ),
        (500, "", ["/.well-known/omi-tools.json: The manifest's address answered HTTP 500."]),
    ],
)
async def test_a_home_page_without_a_usable_manifest_is_no_error_t2(
    world: NotesFixture, status: int, body: str, refused_tools: list[str]
):
    world.notes.manifest_status, world.notes.manifest_body = status, body

    app = (await register(world, ["external_integration"], app_home_url=world.notes_url)).json()

    assert (list_tool_names(app), app["refused_tools"]) == ([], refused_tools)


async def test_a_home_page_that_may_not_be_asked_is_named_t2(world: NotesFixture):
    home = "http://notes.example.com"

    app = (await register(world, ["external_integration"], app_home_url=home)).json()

    assert app["refused_tools"] == [
        "/.well-known/omi-tools.json: `app_home_url` is refused: The address must start with https://."
    ]


async def test_only_an_integration_is_asked_for_its_well_known_manifest_t2(world: NotesFixture):
    app = (await register(world, ["chat"], app_home_url=world.notes_url)).json()

    assert list_tool_names(app) == []


async def test_tools_of_a_home_page_stay_while_its_server_fails_t2(world: NotesFixture):
    app = (await register(world, ["external_integration"], app_home_url=world.notes_url)).json()
    path = f"/v1/apps/{app['id']}"
    world.notes.manifest_status = 503
    failed = await world.request("PATCH", path, json={"name": "Other"})
    failed_refresh = await world.request("POST", f"{path}/refresh-manifest")
    world.notes.manifest_status, world.notes.manifest_body = 404, ""
    gone = await world.request("PATCH", path, json={"name": "Other"})

    assert (failed.status_code, failed_refresh.status_code) == (502, 502)
    assert (gone.json()["name"], list_tool_names(gone.json())) == ("Other", [])


async def test_a_long_raw_name_of_a_tool_is_called_as_it_is_t3(world: NotesFixture):
    name = "find_" + "x" * 200
    world.notes.tools = [{**world.notes.tools[0], "name": name}]
    app = await world.install()

    assert list_tool_names(app) == [name]
    assert await world.call(app["id"], name, q="x") == "Milk, eggs."

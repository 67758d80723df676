"""App registration, keys and installation over HTTP, by developers and by users."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.tool_proxy.registry.credentials import MAX_KEYS
from functions.tool_proxy.registry.registration import MAX_APPS
from shared.data.apps.apps import MAX_INSTALLED
from shared.domain.apps.app import App, InstalledApp
from shared.domain.errors import ToolRefused
from shared.domain.ids import AppId, UserId
from tests.fixtures.notes_app import FIND_TOOL, NotesFixture, build_tool, list_tool_names
from tests.fixtures.tool_proxy import ALICE


async def test_tools_of_a_visible_app_are_listed_with_their_classes_t4(
    world: NotesFixture,
):
    look = {**build_tool("look", "GET"), "read_only": True}
    world.notes.tools = [look, {**look, "name": "post", "method": "POST"}, build_tool("get", "GET")]
    app = (await world.register()).json()
    path = f"/v1/apps/{app['id']}/tools"

    listed_tools = (await world.request("GET", path, uid=ALICE)).json()
    await world.request("PATCH", f"/v1/apps/{app['id']}", json={"private": True})
    private_response = await world.request("GET", path, uid=ALICE)

    classes = {shown["name"]: shown["tool_class"] for shown in listed_tools}
    assert classes == {"look": "read", "post": "sensitive", "get": "read"}
    assert listed_tools[0].keys() == {"name", "description", "tool_class", "pin"}
    assert private_response.status_code == 404


async def test_an_app_is_registered_and_its_secret_shown_only_to_its_owner_t1(
    world: NotesFixture,
):
    world.notes.tools = [FIND_TOOL, {"name": "bad"}]

    app = (await world.register()).json()

    public_app = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()
    assert len(app["id"]) == 26
    assert list_tool_names(app) == list_tool_names(public_app) == ["find"]
    assert app["refused_tools"] == ["bad: `description` is missing"]
    assert app["signing_secret"].startswith("whsec_")
    assert {"signing_secret", "refused_tools", "persona_prompt"}.isdisjoint(public_app)
    assert (app["uid"], public_app["uid"]) == ("dev", None)
    assert public_app["chat_tools"][0]["endpoint"] == ""


@pytest.mark.parametrize("secret", ["/hooks/B00/x1", "?token=x1", "/?token=x1", ""])
async def test_others_see_only_the_origin_of_a_webhook_url_t18(world: NotesFixture, secret: str):
    url = f"https://hooks.example.com{secret}"
    app = (await world.register(external_integration={"webhook_url": url})).json()

    public_app = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()
    [listed_app] = (await world.request("GET", "/v1/apps", uid=ALICE)).json()

    assert app["external_integration"]["webhook_url"] == url
    for public_view in (public_app, listed_app):
        assert public_view["external_integration"]["webhook_url"] == "https://hooks.example.com"


async def test_others_see_only_the_addresses_that_their_clients_open_t1(world: NotesFixture):
    step = {"name": "Connect", "url": "https://a.example.com/connect?step=1"}
    opened = {
        "app_home_url": "https://a.example.com/?from=keepsake",
        "setup_instructions_file_path": "https://a.example.com/setup.md?v=2",
        "auth_steps": [step],
    }
    manifest_url = f"{world.notes_url}/.well-known/omi-tools.json?token=x1"
    hidden = {
        "chat_tools_manifest_url": manifest_url,
        "setup_completed_url": "https://a.example.com/done?token=x1",
    }
    app = (await world.register(external_integration={**opened, **hidden})).json()

    public_app = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()

    shown = public_app["external_integration"]
    assert {name: shown[name] for name in opened} == opened
    assert shown["chat_tools_manifest_url"] is None
    assert shown["setup_completed_url"] == "https://a.example.com/done"
    assert app["external_integration"]["setup_completed_url"] == hidden["setup_completed_url"]
    assert "x1" not in str(public_app)
    assert "user_key" not in app


async def test_an_app_whose_manifest_cannot_be_read_is_not_stored_t2(world: NotesFixture):
    world.notes.manifest_status = 500

    response = await world.register()

    assert response.status_code == 502
    assert response.json()["detail"] == "The manifest's address answered HTTP 500."
    assert (await world.request("GET", "/v1/apps")).json() == []


async def test_a_manifest_url_that_egress_rules_refuse_answers_400_t2(world: NotesFixture):
    url = "http://169.254.169.254/latest/meta-data"

    response = await world.register(external_integration={"chat_tools_manifest_url": url})

    assert response.status_code == 400


async def test_a_refresh_changes_tools_and_keeps_every_other_setting_t2(world: NotesFixture):
    app = (await world.register()).json()
    world.notes.tools = [FIND_TOOL, build_tool("look", "GET")]
    world.notes.chat_messages = {"enabled": True, "target": "main"}
    path = f"/v1/apps/{app['id']}"

    response = await world.request("POST", f"{path}/refresh-manifest")

    refreshed_app = (await world.request("GET", path)).json()
    chat = {"chat_messages_enabled": True, "chat_messages_target": "main"}
    integration = {**app["external_integration"], **chat}
    assert response.json() == {"status": "ok", "tools_count": 2}
    assert list_tool_names(refreshed_app) == ["find", "look"]
    assert refreshed_app == {
        **app,
        "chat_tools": refreshed_app["chat_tools"],
        "external_integration": integration,
    }


async def test_manifest_redirects_are_followed_and_each_hop_is_checked_by_egress_rules_t2(
    world: NotesFixture,
):
    home = f"{world.notes_url}/.well-known/omi-tools.json"
    world.notes.redirects = ["/.well-known/omi-tools.json", home, home]
    redirected = await world.register()
    world.notes.redirects = ["http://169.254.169.254/latest/meta-data"]
    to_internal_address = await world.register()
    world.notes.redirects = [home] * 4
    in_circles = await world.register()
    world.notes.redirects = ["http://[::"]
    to_invalid_url = await world.register()

    assert list_tool_names(redirected.json()) == ["find"]
    assert (
        to_internal_address.status_code,
        in_circles.status_code,
        to_invalid_url.status_code,
    ) == (400, 502, 502)
    assert "redirects more than 3 times" in in_circles.json()["detail"]


async def test_a_patch_changes_an_app_and_keeps_omitted_fields_t1(world: NotesFixture):
    app = (await world.register(description="Notes of the day")).json()
    path = f"/v1/apps/{app['id']}"
    world.notes.tools = [build_tool("look", "GET")]
    change = {
        "name": "Notes 2",
        "private": True,
        "external_integration": {"triggers_on": "audio_bytes"},
    }

    changed_app = (await world.request("PATCH", path, json=change)).json()

    integration = {**app["external_integration"], "triggers_on": "audio_bytes"}
    changed_fields = {
        "name": "Notes 2",
        "private": True,
        "chat_tools": changed_app["chat_tools"],
        "permissions": ["hear_live_sound"],
    }
    assert list_tool_names(changed_app) == ["look"]
    assert changed_app == {**app, **changed_fields, "external_integration": integration}
    assert changed_app == (await world.request("GET", path)).json()
    assert (await world.request("PATCH", path, uid=ALICE, json=change)).status_code == 404


async def test_a_change_whose_manifest_cannot_be_read_changes_nothing_t1(world: NotesFixture):
    app = (await world.register()).json()
    path = f"/v1/apps/{app['id']}"
    world.notes.manifest_status = 500

    unreadable_manifest = await world.request("PATCH", path, json={"name": "Other"})
    blank_name = await world.request("PATCH", path, json={"name": " "})

    assert (unreadable_manifest.status_code, blank_name.status_code) == (502, 422)
    assert (await world.request("GET", path)).json() == app


@pytest.mark.parametrize("name", ["", " ", "\u202e", "x" * 101, None])
async def test_an_app_name_must_be_readable_t1(world: NotesFixture, name: str | None):
    assert (await world.register(name=name)).status_code in (413, 422)


async def test_an_apps_name_is_one_line_t1(world: NotesFixture):
    """It precedes the app's messages in the main chat, where a second line could imitate others."""
    app = (await world.register(name="Notes]: hi\n\n[\tDiary\u2028")).json()
    response = await world.request("PATCH", f"/v1/apps/{app['id']}", json={"name": " My \r\nnotes"})

    assert app["name"] == "Notes]: hi [ Diary"
    assert response.json()["name"] == "My notes"


@pytest.mark.parametrize(
    "url", ["https://10.0.0.1/hook", "https://a.example:22/", "http://a.example"]
)
async def test_a_webhook_that_would_never_be_called_is_refused_when_it_is_entered_t18(
    world: NotesFixture, url: str
):
    refused = await world.register(external_integration={"webhook_url": url})
    app = (await world.register()).json()
    change = {"external_integration": {"webhook_url": url}}
    changed = await world.request("PATCH", f"/v1/apps/{app['id']}", json=change)

    assert [refused.status_code, changed.status_code] == [422, 422]


async def test_removing_the_manifest_url_removes_the_tools_t1(world: NotesFixture):
    app = (await world.register()).json()
    change = {"external_integration": {"chat_tools_manifest_url": None}}

    response = await world.request("PATCH", f"/v1/apps/{app['id']}", json=change)

    assert list_tool_names(response.json()) == []
    assert response.json()["external_integration"]["webhook_url"] == "https://a.example.com/hook"


async def test_deleting_an_app_removes_it_for_its_users_and_revokes_its_keys_t1(
    world: NotesFixture,
):
    app = await world.install()
    path = f"/v1/apps/{app['id']}"
    key = (await world.request("POST", f"{path}/keys")).json()

    response_to_another_user = await world.request("DELETE", path, uid=ALICE)
    response_to_owner = await world.request("DELETE", path)

    assert (response_to_another_user.status_code, response_to_owner.status_code) == (403, 200)
    assert not await world.deps.stores.apps.is_valid_key(AppId(app["id"]), key["secret"])
    assert (await world.request("GET", "/v1/apps", uid=ALICE)).json() == []
    with pytest.raises(ToolRefused, match="not installed"):
        await world.call(app["id"], q="x")


async def test_a_new_key_works_beside_the_old_one_until_that_is_deleted_t1(world: NotesFixture):
    app_id = AppId((await world.register()).json()["id"])
    path = f"/v1/apps/{app_id}/keys"
    first, second = [(await world.request("POST", path)).json() for _ in range(2)]

    before_deletion = [
        await world.deps.stores.apps.is_valid_key(app_id, key["secret"]) for key in (first, second)
    ]
    await world.request("DELETE", f"{path}/{first['id']}")
    after_deletion = [
        await world.deps.stores.apps.is_valid_key(app_id, key["secret"]) for key in (first, second)
    ]

    assert (before_deletion, after_deletion) == ([True, True], [False, True])


async def test_the_number_of_keys_per_app_is_limited_t1(world: NotesFixture):
    path = f"/v1/apps/{(await world.register()).json()['id']}/keys"
    statuses = [(await world.request("POST", path)).status_code for _ in range(MAX_KEYS + 1)]

    assert statuses == [200] * MAX_KEYS + [409]


async def test_only_the_owner_can_refresh_a_manifest_t2(world: NotesFixture):
    public = (await world.register()).json()
    private = (await world.register(private=True)).json()
    bare = (await world.register(external_integration={})).json()

    async def post_refresh(app: dict[str, Any], uid: str) -> int:
        path = f"/v1/apps/{app['id']}/refresh-manifest"
        return (await world.request("POST", path, uid=uid)).status_code

    assert await post_refresh(public, ALICE) == 403
    assert await post_refresh(private, ALICE) == 404
    assert await post_refresh({"id": "unknown"}, "dev") == 404
    assert await post_refresh(bare, "dev") == 400


async def test_a_key_is_shown_once_works_with_and_without_prefix_and_is_revoked_t1(
    world: NotesFixture,
):
    app_id = AppId((await world.register()).json()["id"])
    path = f"/v1/apps/{app_id}/keys"

    key = (await world.request("POST", path)).json()

    secret, raw = key["secret"], key["secret"].removeprefix("sk_")
    listed_keys = (await world.request("GET", path)).json()
    assert len(raw) == 32
    assert key["label"] == f"sk_{raw[:4]}...{raw[-4:]}"
    assert listed_keys == [{name: key[name] for name in ("id", "label", "created_at")}]
    assert await world.deps.stores.apps.is_valid_key(app_id, secret)
    assert await world.deps.stores.apps.is_valid_key(app_id, raw)
    assert (await world.request("DELETE", f"{path}/{key['id']}", uid=ALICE)).status_code == 403
    await world.request("DELETE", f"{path}/{key['id']}")
    assert not await world.deps.stores.apps.is_valid_key(app_id, secret)


async def test_the_number_of_apps_per_developer_is_limited_t1(world: NotesFixture):
    for _ in range(MAX_APPS):
        await world.register(external_integration={}, name="Not\u202ees")

    response = await world.register()

    assert (response.status_code, response.json()["detail"]) == (409, "You may have 20 apps.")
    assert {app["name"] for app in (await world.request("GET", "/v1/apps")).json()} == {"Notes"}


async def test_the_number_of_installed_apps_per_user_is_limited_t4(world: NotesFixture):
    app = (await world.register()).json()
    for n in range(MAX_INSTALLED):
        other = App(id=AppId(f"A{n}"), owner=ALICE, name="n", created_at=world.clock.now())
        await world.deps.stores.apps.create(other)
        installation = InstalledApp(app_id=AppId(f"A{n}"), installed_at=world.deps.clock.now())
        await world.deps.stores.installed_apps.add(ALICE, installation)

    query = {"app_id": app["id"]}
    response = await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    assert response.status_code == 409
    assert await world.deps.stores.installed_apps.get(ALICE, app["id"]) is None


async def test_permissions_added_later_are_granted_only_by_enabling_the_app_again_t4(
    world: NotesFixture,
):
    app = (await world.register()).json()
    query = {"app_id": app["id"]}
    for uid in ("dev", ALICE):
        await world.request("POST", "/v1/apps/enable", uid=uid, params=query)
    new_integration = {"actions": [{"action": "create_memories"}, {"action": "dance"}],
            "webhook_url": "https://notes.example/hook", "triggers_on": "memory_creation"}  # fmt: skip
    await world.request(
        "PATCH", f"/v1/apps/{app['id']}", json={"external_integration": new_integration}
    )

    async def read_granted_permissions(uid: str) -> list[str]:
        app_view = (await world.request("GET", f"/v1/apps/{app['id']}", uid=uid)).json()
        [listed_app] = (await world.request("GET", "/v1/apps", uid=uid)).json()
        assert app_view["permissions"] == ["create_facts", "hear_conversations"]
        assert listed_app["granted_permissions"] == app_view["granted_permissions"]
        return list(app_view["granted_permissions"])

    everything = await read_granted_permissions("dev")
    assert await read_granted_permissions(ALICE) == []
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)
    assert (
        await read_granted_permissions(ALICE)
        == everything
        == ["create_facts", "hear_conversations"]
    )


@pytest.mark.parametrize(
    ("shown", "granted"),
    [
        ("", []),
        ("create_facts", ["create_facts"]),
        ("create_facts,dance,read_tasks", ["create_facts"]),
        ("read_memories,create_facts", ["create_facts", "read_memories"]),
    ],
)
async def test_enabling_grants_only_the_permissions_that_the_user_was_shown_t4(
    world: NotesFixture, shown: str, granted: list[str]
):
    """The developer may have added permissions since the user saw the list of apps."""
    actions = [{"action": "create_facts"}, {"action": "read_memories"}]
    app = (await world.register(external_integration={"actions": actions})).json()
    query = {"app_id": app["id"], "permissions": shown}

    await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    enabled_app = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()
    assert (enabled_app["enabled"], enabled_app["granted_permissions"]) == (True, granted)


async def test_only_its_owner_can_see_and_enable_a_private_app_t4(world: NotesFixture):
    app = (await world.register(private=True)).json()
    query = {"app_id": app["id"]}

    statuses = {
        uid: (await world.request("POST", "/v1/apps/enable", uid=uid, params=query)).status_code
        for uid in ("dev", ALICE)
    }

    assert statuses == {"dev": 200, ALICE: 404}
    assert (await world.request("GET", "/v1/apps", uid=ALICE)).json() == []
    [own_app] = (await world.request("GET", "/v1/apps")).json()
    assert own_app["enabled"]


async def test_pagination_lists_every_public_app_once(world: NotesFixture):
    now = world.clock.now()
    for n in range(230):
        at = now - timedelta(minutes=n)
        owner = UserId("dev") if n == 200 else ALICE
        app = App(id=AppId(f"A{n}"), owner=owner, name="n", created_at=at, private=n % 23 == 0)
        await world.deps.stores.apps.create(app)
    own_id = (await world.register()).json()["id"]
    query = {"app_id": "A150"}
    await world.request("POST", "/v1/apps/enable", params=query)

    listed_ids: list[str] = []
    pages = 0
    cursor: dict[str, str] = {}
    while True:
        page = await world.request("GET", "/v1/apps", params=cursor)
        listed_ids += [app["id"] for app in page.json()]
        pages += 1
        if "x-next-cursor" not in page.headers:
            break
        cursor = {"cursor": page.headers["x-next-cursor"]}

    public_ids = {f"A{n}" for n in range(230) if n % 23}
    assert sorted(listed_ids) == sorted({*public_ids, own_id})
    assert pages == 3
    assert (await world.request("GET", "/v1/apps", params={"cursor": "x"})).status_code == 422


async def test_deleted_apps_do_not_count_towards_the_install_limit_t4(world: NotesFixture):
    app = (await world.register()).json()
    for n in range(MAX_INSTALLED):
        deleted_app = InstalledApp(app_id=AppId(f"GONE{n}"), installed_at=world.clock.now())
        await world.deps.stores.installed_apps.add(ALICE, deleted_app)

    query = {"app_id": app["id"]}
    response = await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    assert response.status_code == 200
    assert [entry.app_id for entry in await world.deps.stores.installed_apps.list_all(ALICE)] == [
        app["id"]
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Keepsake",
        "Ｏｍｉ",
        "Gооgle Calendar",
        "G-mail",
        "get_gmail_messages",
        "Find crisis contacts",
        "Ѕearch Chats!",
    ],
)
async def test_an_app_cannot_take_a_name_that_users_trust_s3(world: NotesFixture, name: str):
    app = (await world.register()).json()

    registered = await world.register(name=name)
    renamed = await world.request("PATCH", f"/v1/apps/{app['id']}", json={"name": name})
    connected = await world.request(
        "POST", "/v1/apps/mcp", json={"name": name, "mcp_server_url": "https://mcp.example.com"}
    )

    for response in (registered, renamed, connected):
        assert response.status_code == 422
        assert response.json()["detail"].endswith("is reserved. Please choose another.")
    [stored_app] = (await world.request("GET", "/v1/apps")).json()
    assert stored_app["name"] == "Notes"


async def test_an_app_that_has_a_reserved_name_already_keeps_it_s3(world: NotesFixture):
    app = (await world.register()).json()
    await world.deps.stores.apps.update_app(
        AppId(app["id"]), lambda stored: replace(stored, name="Notion")
    )

    response = await world.request(
        "PATCH", f"/v1/apps/{app['id']}", json={"name": "Notion", "description": "Old"}
    )

    assert response.status_code == 200
    assert response.json()["description"] == "Old"


@pytest.mark.parametrize(
    "url", ["https://ann:secret@a.example.com/hook", "javascript:alert(1)", "intent:#Intent;end"]
)
@pytest.mark.parametrize(
    "name", ["webhook_url", "setup_completed_url", "app_home_url", "source_code_url", "auth_steps"]
)
async def test_an_address_that_users_read_is_a_web_address_without_a_password_t1(
    world: NotesFixture, name: str, url: str
):
    fields: dict[str, Any] = {name: url}
    if name == "auth_steps":
        fields = {name: [{"name": "Sign in", "url": url}]}
    if name != "source_code_url":
        fields = {"external_integration": fields}

    answer = await world.request("POST", "/v1/apps", json={"name": "Notes", **fields})

    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(
        "must be an https:// address without a user name in it."
    )


@pytest.mark.parametrize("triggers", ["conversation_created", "memory_creation, edits", ","])
async def test_a_trigger_that_nothing_would_ever_fire_is_refused_t1(
    world: NotesFixture, triggers: str
):
    fields = {"external_integration": {"triggers_on": triggers}}

    answer = await world.request("POST", "/v1/apps", json={"name": "Notes", **fields})

    assert answer.status_code == 422
    assert "must be one of “audio_bytes”, “conversation_updated”, “memory_creation”" in answer.text


async def test_an_app_that_is_uninstalled_writes_no_more_summaries_r5(world: NotesFixture):
    app_id = AppId((await world.install())["id"])
    profiles = world.deps.stores.profiles
    preferred = []
    for wished_id in (app_id, AppId("another")):
        await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": app_id})
        await profiles.change(ALICE, summary_app=wished_id)
        await world.request("POST", "/v1/apps/disable", uid=ALICE, params={"app_id": app_id})
        preferred.append((await profiles.get(ALICE)).summary_app)

    assert preferred == [None, "another"]

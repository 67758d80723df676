"""Apps as their developers and users manage them, over HTTP."""

from datetime import timedelta
from typing import Any

import pytest

from functions.tool_proxy.apps.credentials import MAX_KEYS
from functions.tool_proxy.apps.registration import MAX_APPS
from shared.data.apps import MAX_INSTALLED
from shared.domain.app import App, InstalledApp
from shared.domain.errors import ToolRefused
from shared.domain.ids import AppId, UserId
from tests.functions.tool_proxy.world import ALICE, FIND, World, tool


async def test_t4_whoever_may_install_an_app_sees_which_of_its_tools_act(world: World):
    look = {**tool("look", "GET"), "read_only": True}
    world.notes.tools = [look, {**look, "name": "post", "method": "POST"}, tool("get", "GET")]
    app = (await world.register()).json()
    path = f"/v1/apps/{app['id']}/tools"

    seen = (await world.request("GET", path, uid=ALICE)).json()
    await world.request("PATCH", f"/v1/apps/{app['id']}", json={"private": True})
    hidden = await world.request("GET", path, uid=ALICE)

    acting = {shown["name"]: shown["side_effect"] for shown in seen}
    assert acting == {"look": False, "post": True, "get": True}
    assert seen[0] == {"name": "look", "description": "Find a note", "side_effect": False}
    assert hidden.status_code == 404


async def test_t1_an_app_is_registered_and_its_secret_shown_only_to_its_owner(world: World):
    world.notes.tools = [FIND, {"name": "bad"}]

    app = (await world.register()).json()

    seen = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()
    assert len(app["id"]) == 26
    assert app["chat_tools"] == seen["chat_tools"] == ["find"]
    assert app["refused_tools"] == ["bad: `description` is missing"]
    assert app["signing_secret"].startswith("whsec_")
    assert {"signing_secret", "refused_tools", "persona_prompt"}.isdisjoint(seen)


@pytest.mark.parametrize("secret", ["/hooks/B00/x1", "?token=x1", "/?token=x1", ""])
async def test_t18_only_its_owner_sees_more_of_a_webhooks_address_than_whose_server_it_is(
    world: World, secret: str
):
    url = f"https://hooks.example.com{secret}"
    app = (await world.register(external_integration={"webhook_url": url})).json()

    seen = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()
    [listed] = (await world.request("GET", "/v1/apps", uid=ALICE)).json()

    assert app["external_integration"]["webhook_url"] == url
    for shown in (seen, listed):
        assert shown["external_integration"]["webhook_url"] == "https://hooks.example.com"


async def test_t2_an_app_whose_manifest_cannot_be_read_is_not_stored(world: World):
    world.notes.manifest_status = 500

    refused = await world.register()

    assert refused.status_code == 502
    assert refused.json()["detail"] == "The manifest's address answered HTTP 500."
    assert (await world.request("GET", "/v1/apps")).json() == []


async def test_t2_a_manifest_at_a_refused_address_is_the_developers_mistake(world: World):
    url = "http://169.254.169.254/latest/meta-data"

    refused = await world.register(external_integration={"chat_tools_manifest_url": url})

    assert refused.status_code == 400


async def test_t2_a_refresh_changes_tools_and_keeps_every_other_setting(world: World):
    app = (await world.register()).json()
    world.notes.tools = [FIND, tool("look", "GET")]
    world.notes.chat_messages = {"enabled": True, "target": "main"}
    path = f"/v1/apps/{app['id']}"

    refreshed = await world.request("POST", f"{path}/refresh-manifest")

    now = (await world.request("GET", path)).json()
    chat = {"chat_messages_enabled": True, "chat_messages_target": "main"}
    integration = {**app["external_integration"], **chat}
    assert refreshed.json() == {"status": "ok", "tools_count": 2}
    assert now == {**app, "chat_tools": ["find", "look"], "external_integration": integration}


async def test_t2_a_manifest_that_moved_is_followed_and_every_hop_is_judged(world: World):
    home = f"{world.notes_url}/.well-known/omi-tools.json"
    world.notes.moved = ["/.well-known/omi-tools.json", home, home]
    followed = await world.register()
    world.notes.moved = ["http://169.254.169.254/latest/meta-data"]
    inside = await world.register()
    world.notes.moved = [home] * 4
    in_circles = await world.register()
    world.notes.moved = ["http://[::"]
    nowhere = await world.register()

    assert followed.json()["chat_tools"] == ["find"]
    assert (inside.status_code, in_circles.status_code, nowhere.status_code) == (400, 502, 502)
    assert "redirects more than 3 times" in in_circles.json()["detail"]


async def test_t1_a_developer_changes_an_app_and_what_is_left_out_stays(world: World):
    app = (await world.register(description="Notes of the day")).json()
    path = f"/v1/apps/{app['id']}"
    world.notes.tools = [tool("look", "GET")]
    change = {"name": "Notes 2", "private": True, "external_integration": {"triggers_on": "x"}}

    changed = (await world.request("PATCH", path, json=change)).json()

    integration = {**app["external_integration"], "triggers_on": "x"}
    named = {"name": "Notes 2", "private": True, "chat_tools": ["look"]}
    assert changed == {**app, **named, "external_integration": integration}
    assert changed == (await world.request("GET", path)).json()
    assert (await world.request("PATCH", path, uid=ALICE, json=change)).status_code == 404


async def test_t1_a_change_whose_manifest_cannot_be_read_changes_nothing(world: World):
    app = (await world.register()).json()
    path = f"/v1/apps/{app['id']}"
    world.notes.manifest_status = 500

    refused = await world.request("PATCH", path, json={"name": "Other"})
    nameless = await world.request("PATCH", path, json={"name": " "})

    assert (refused.status_code, nameless.status_code) == (502, 422)
    assert (await world.request("GET", path)).json() == app


@pytest.mark.parametrize("name", ["", " ", "\u202e", "x" * 101, None])
async def test_t1_an_app_has_a_name_that_can_be_read(world: World, name: str | None):
    assert (await world.register(name=name)).status_code in (413, 422)


async def test_t1_an_apps_name_is_one_line(world: World):
    """It stands before its messages in the main chat, where a second line could speak for others."""
    app = (await world.register(name="Notes]: hi\n\n[\tKeepsake\u2028")).json()
    renamed = await world.request("PATCH", f"/v1/apps/{app['id']}", json={"name": " My \r\nnotes"})

    assert app["name"] == "Notes]: hi [ Keepsake"
    assert renamed.json()["name"] == "My notes"


async def test_t1_an_app_without_a_manifest_any_more_has_no_tools(world: World):
    app = (await world.register()).json()
    change = {"external_integration": {"chat_tools_manifest_url": None}}

    changed = await world.request("PATCH", f"/v1/apps/{app['id']}", json=change)

    assert changed.json()["chat_tools"] == []
    assert changed.json()["external_integration"]["webhook_url"] == "https://a.example.com/hook"


async def test_t1_a_deleted_app_is_gone_for_its_users_with_its_keys(world: World):
    app = await world.install()
    path = f"/v1/apps/{app['id']}"
    key = (await world.request("POST", f"{path}/keys")).json()

    refused = await world.request("DELETE", path, uid=ALICE)
    deleted = await world.request("DELETE", path)

    assert (refused.status_code, deleted.status_code) == (403, 200)
    assert not await world.deps.apps.accepts_key(AppId(app["id"]), key["secret"])
    assert (await world.request("GET", "/v1/apps", uid=ALICE)).json() == []
    with pytest.raises(ToolRefused, match="not installed"):
        await world.call(app["id"], q="x")


async def test_t1_a_key_is_rotated_without_a_gap(world: World):
    app_id = AppId((await world.register()).json()["id"])
    path = f"/v1/apps/{app_id}/keys"
    first, second = [(await world.request("POST", path)).json() for _ in range(2)]

    both = [await world.deps.apps.accepts_key(app_id, key["secret"]) for key in (first, second)]
    await world.request("DELETE", f"{path}/{first['id']}")
    after = [await world.deps.apps.accepts_key(app_id, key["secret"]) for key in (first, second)]

    assert (both, after) == ([True, True], [False, True])


async def test_t1_an_app_has_room_for_so_many_keys(world: World):
    path = f"/v1/apps/{(await world.register()).json()['id']}/keys"
    statuses = [(await world.request("POST", path)).status_code for _ in range(MAX_KEYS + 1)]

    assert statuses == [200] * MAX_KEYS + [409]


async def test_t2_only_the_owner_refreshes(world: World):
    public = (await world.register()).json()
    private = (await world.register(private=True)).json()
    bare = (await world.register(external_integration={})).json()

    async def refresh(app: dict[str, Any], uid: str) -> int:
        path = f"/v1/apps/{app['id']}/refresh-manifest"
        return (await world.request("POST", path, uid=uid)).status_code

    assert await refresh(public, ALICE) == 403
    assert await refresh(private, ALICE) == 404
    assert await refresh({"id": "unknown"}, "dev") == 404
    assert await refresh(bare, "dev") == 400


async def test_t1_a_key_is_shown_once_works_with_and_without_prefix_and_is_revoked(world: World):
    app_id = AppId((await world.register()).json()["id"])
    path = f"/v1/apps/{app_id}/keys"

    key = (await world.request("POST", path)).json()

    secret, raw = key["secret"], key["secret"].removeprefix("sk_")
    listed = (await world.request("GET", path)).json()
    assert len(raw) == 32
    assert key["label"] == f"sk_{raw[:4]}...{raw[-4:]}"
    assert listed == [{name: key[name] for name in ("id", "label", "created_at")}]
    assert await world.deps.apps.accepts_key(app_id, secret)
    assert await world.deps.apps.accepts_key(app_id, raw)
    assert (await world.request("DELETE", f"{path}/{key['id']}", uid=ALICE)).status_code == 403
    await world.request("DELETE", f"{path}/{key['id']}")
    assert not await world.deps.apps.accepts_key(app_id, secret)


async def test_t1_a_developer_has_room_for_so_many_apps(world: World):
    for _ in range(MAX_APPS):
        await world.register(external_integration={}, name="Not\u202ees")

    refused = await world.register()

    assert (refused.status_code, refused.json()["detail"]) == (409, "You may have 20 apps.")
    assert {app["name"] for app in (await world.request("GET", "/v1/apps")).json()} == {"Notes"}


async def test_t4_a_user_installs_no_more_apps_than_are_offered(world: World):
    app = (await world.register()).json()
    for n in range(MAX_INSTALLED):
        other = App(id=AppId(f"A{n}"), owner=ALICE, name="n", created_at=world.clock.now())
        await world.deps.apps.create(other)
        installed = InstalledApp(app_id=AppId(f"A{n}"), installed_at=world.deps.clock.now())
        await world.deps.installed_apps.add(ALICE, installed)

    query = {"app_id": app["id"]}
    refused = await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    assert refused.status_code == 409
    assert await world.deps.installed_apps.get(ALICE, app["id"]) is None


async def test_t4_a_user_allows_what_an_app_asked_for_when_they_installed_it(world: World):
    app = (await world.register()).json()
    query = {"app_id": app["id"]}
    for uid in ("dev", ALICE):
        await world.request("POST", "/v1/apps/enable", uid=uid, params=query)
    more = {"actions": [{"action": "create_memories"}, {"action": "dance"}],
            "webhook_url": "https://notes.example/hook", "triggers_on": "memory_creation"}  # fmt: skip
    await world.request("PATCH", f"/v1/apps/{app['id']}", json={"external_integration": more})

    async def granted(uid: str) -> list[str]:
        seen = (await world.request("GET", f"/v1/apps/{app['id']}", uid=uid)).json()
        [listed] = (await world.request("GET", "/v1/apps", uid=uid)).json()
        assert seen["permissions"] == ["create_facts", "hear_conversations"]
        assert listed["granted_permissions"] == seen["granted_permissions"]
        return list(seen["granted_permissions"])

    everything = await granted("dev")
    assert await granted(ALICE) == []
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)
    assert await granted(ALICE) == everything == ["create_facts", "hear_conversations"]


@pytest.mark.parametrize(
    ("shown", "granted"),
    [
        ("", []),
        ("create_facts", ["create_facts"]),
        ("create_facts,dance,read_tasks", ["create_facts"]),
        ("read_memories,create_facts", ["create_facts", "read_memories"]),
    ],
)
async def test_t4_a_user_allows_no_more_than_they_were_shown(
    world: World, shown: str, granted: list[str]
):
    """Its developer may have asked for more since the list of apps was read."""
    actions = [{"action": "create_facts"}, {"action": "read_memories"}]
    app = (await world.register(external_integration={"actions": actions})).json()
    query = {"app_id": app["id"], "permissions": shown}

    await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    seen = (await world.request("GET", f"/v1/apps/{app['id']}", uid=ALICE)).json()
    assert (seen["enabled"], seen["granted_permissions"]) == (True, granted)


async def test_t4_a_private_app_exists_for_its_owner_only(world: World):
    app = (await world.register(private=True)).json()
    query = {"app_id": app["id"]}

    enabled = {
        uid: (await world.request("POST", "/v1/apps/enable", uid=uid, params=query)).status_code
        for uid in ("dev", ALICE)
    }

    assert enabled == {"dev": 200, ALICE: 404}
    assert (await world.request("GET", "/v1/apps", uid=ALICE)).json() == []
    [own] = (await world.request("GET", "/v1/apps")).json()
    assert own["enabled"]


async def test_every_public_app_is_found_page_by_page(world: World):
    now = world.clock.now()
    for n in range(230):
        at = now - timedelta(minutes=n)
        owner = UserId("dev") if n == 200 else ALICE
        app = App(id=AppId(f"A{n}"), owner=owner, name="n", created_at=at, private=n % 23 == 0)
        await world.deps.apps.create(app)
    own = (await world.register()).json()["id"]
    query = {"app_id": "A150"}
    await world.request("POST", "/v1/apps/enable", params=query)

    seen: list[str] = []
    pages = 0
    cursor: dict[str, str] = {}
    while True:
        page = await world.request("GET", "/v1/apps", params=cursor)
        seen += [app["id"] for app in page.json()]
        pages += 1
        if "x-next-cursor" not in page.headers:
            break
        cursor = {"cursor": page.headers["x-next-cursor"]}

    public = {f"A{n}" for n in range(230) if n % 23}
    assert sorted(seen) == sorted({*public, own})
    assert pages == 3
    assert (await world.request("GET", "/v1/apps", params={"cursor": "x"})).status_code == 422


async def test_t4_deleted_apps_take_no_room_from_others(world: World):
    app = (await world.register()).json()
    for n in range(MAX_INSTALLED):
        gone = InstalledApp(app_id=AppId(f"GONE{n}"), installed_at=world.clock.now())
        await world.deps.installed_apps.add(ALICE, gone)

    query = {"app_id": app["id"]}
    installed = await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    assert installed.status_code == 200
    assert [one.app_id for one in await world.deps.installed_apps.all(ALICE)] == [app["id"]]

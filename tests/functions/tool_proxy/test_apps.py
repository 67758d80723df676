"""Apps from registration to a signed call, over HTTP and against a real app's server."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient, Response
from standardwebhooks import Webhook
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.responses import Response as Served
from starlette.routing import Route

from functions.tool_proxy.credentials import MAX_KEYS
from functions.tool_proxy.endpoints import ENDPOINTS, TOOL_PROXY_ENDPOINTS
from functions.tool_proxy.registration import MAX_APPS
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.guarded_egress import GuardedEgress
from shared.adapters.http_toolbox import HttpToolbox
from shared.adapters.local_identity import LocalIdentity, LocalServiceIdentity
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.data.apps import MAX_INSTALLED, Apps, InstalledApps
from shared.data.call_log import CallLog
from shared.domain.app import InstalledApp
from shared.domain.documents import Update
from shared.domain.errors import ToolFailed, ToolRefused
from shared.domain.ids import AppId, UserId
from shared.edge.http import application
from shared.ports import Documents
from tests.doubles import CountingIds, FixedClock
from tests.functions.tool_proxy.services import services_deps
from tests.servers import running

SECRET = b"a secret of the tests, and of nobody else"
INDEXES = Path(__file__).parents[3] / "infra/firestore.indexes.json"
ALICE = UserId("alice")
FIND = {
    "name": "find",
    "description": "Find a note",
    "endpoint": "/find",
    "parameters": {
        "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["q"],
    },
}


def tool(name: str, method: str) -> dict[str, Any]:
    return {**FIND, "name": name, "method": method, "parameters": {"properties": {}}}


@dataclass
class NotesServer:
    """An app's server; remembers each call as it came."""

    tools: list[Any] = field(default_factory=lambda: [FIND])
    chat_messages: Any = None
    manifest_status: int = 200
    moved: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, bytes, dict[str, str]]] = field(default_factory=list)

    async def manifest(self, _: Request) -> Served:
        if self.moved:
            return RedirectResponse(self.moved.pop(0))
        content = {"tools": self.tools, "chat_messages": self.chat_messages}
        return JSONResponse(content, status_code=self.manifest_status)

    async def find(self, request: Request) -> JSONResponse:
        query, body = request.url.query, await request.body()
        self.calls.append((request.method, query, body, dict(request.headers)))
        return JSONResponse({"result": "Milk, eggs."})

    def app(self) -> Starlette:
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return Starlette(
            routes=[
                Route("/.well-known/omi-tools.json", self.manifest),
                Route("/find", self.find, methods=methods),
            ]
        )


@dataclass
class World:
    documents: Documents
    clock: FixedClock
    deps: ToolProxyDeps
    notes: NotesServer
    notes_url: str
    proxy_url: str
    toolbox: HttpToolbox

    async def request(self, method: str, path: str, *, uid: str = "dev", **more: Any) -> Response:
        headers = {"Authorization": f"Bearer {LocalIdentity(SECRET).issue(uid)}"}
        transport = ASGITransport(application("apps", ENDPOINTS, self.deps))
        async with AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, headers=headers, **more)

    async def register(self, **changes: Any) -> Response:
        url = f"{self.notes_url}/.well-known/omi-tools.json"
        integration = {"chat_tools_manifest_url": url, "webhook_url": "https://a.example.com/hook"}
        body = {"name": "Notes", "external_integration": integration, **changes}
        return await self.request("POST", "/v1/apps", json=body)

    async def install(self, uid: str = ALICE) -> dict[str, Any]:
        registered: dict[str, Any] = (await self.register()).json()
        await self.request("POST", "/v1/apps/enable", uid=uid, params={"app_id": registered["id"]})
        return registered

    async def call(self, app_id: str, name: str = "find", /, **arguments: Any) -> str:
        return await self.toolbox.call(ALICE, app_id, name, arguments)


@pytest.fixture
def notes() -> NotesServer:
    return NotesServer()


@pytest.fixture
def notes_url(notes: NotesServer) -> Iterator[str]:
    with running(notes.app()) as url:
        yield url


@pytest.fixture
async def world(notes: NotesServer, notes_url: str, tmp_path: Path) -> AsyncIterator[World]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    documents = SqliteDocuments(database, FirestoreIndexes.read(INDEXES))
    clock = FixedClock(datetime.now(UTC))  # a receiver compares the signature's time with now
    deps = ToolProxyDeps(
        identity=LocalIdentity(SECRET),
        service_identity=LocalServiceIdentity(SECRET),
        clock=clock,
        new_id=CountingIds(),
        egress=GuardedEgress(dev_origins=[notes_url]),
        apps=Apps(documents),
        installed_apps=InstalledApps(documents),
        services=services_deps(documents),
        calls=CallLog(documents),
    )
    with running(application("tool_proxy", TOOL_PROXY_ENDPOINTS, deps)) as proxy_url:
        toolbox = HttpToolbox(proxy_url, deps.service_identity, deps.clock)
        yield World(documents, clock, deps, notes, notes_url, proxy_url, toolbox)
        await toolbox.aclose()
    database.close()


async def test_t5_t8_a_call_arrives_signed_with_exactly_this_body(world: World):
    app = await world.install()

    text = await world.call(app["id"], q="Käse", limit=None)

    [(method, query, body, headers)] = world.notes.calls
    expected = f'{{"q":"Käse","uid":"alice","app_id":"{app["id"]}","tool_name":"find"}}'
    assert text == "Milk, eggs."
    assert (method, query, body) == ("POST", "", expected.encode())
    assert headers["content-type"] == "application/json"
    assert Webhook(app["signing_secret"]).verify(body, headers) == json.loads(body)


async def test_t5_our_fields_win_over_arguments_of_the_same_name(world: World):
    app = await world.install()

    await world.call(app["id"], q="x", uid="mallory", app_id="other", tool_name="drop")

    sent = json.loads(world.notes.calls[0][2])
    assert sent == {"q": "x", "uid": "alice", "app_id": app["id"], "tool_name": "find"}


async def test_t8_after_a_rotation_both_secrets_sign_for_a_day_and_then_the_new_one(world: World):
    app = await world.install()
    path = f"/v1/apps/{app['id']}/signing-secret"

    rotated = (await world.request("POST", path)).json()
    await world.call(app["id"], q="x")
    world.clock.pass_(hours=24)
    await world.call(app["id"], q="x")

    (*_, body, during), (*_, after) = world.notes.calls
    assert rotated["signing_secret"] != app["signing_secret"]
    for secret in (rotated["signing_secret"], app["signing_secret"]):
        assert Webhook(secret).verify(body, during) == json.loads(body)
    assert len(after["webhook-signature"].split()) == 1
    signed_at = datetime.fromtimestamp(int(after["webhook-timestamp"]), UTC)
    signer = Webhook(rotated["signing_secret"])
    assert signer.sign(after["webhook-id"], signed_at, body.decode()) == after["webhook-signature"]


async def test_t8_only_the_developer_rotates_the_secret_and_nobody_else_sees_it(world: World):
    app = await world.install()
    path = f"/v1/apps/{app['id']}"

    refused = await world.request("POST", f"{path}/signing-secret", uid=ALICE)
    seen = (await world.request("GET", path, uid=ALICE)).json()
    own = (await world.request("GET", path)).json()

    assert refused.status_code == 403
    assert own["signing_secret"] == app["signing_secret"]
    assert {"retired_secret_until", "checked_at"}.isdisjoint(seen)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_t5_get_and_delete_carry_a_query(world: World, method: str):
    world.notes.tools = [tool("look", method)]
    app = await world.install()

    await world.call(app["id"], "look", all=True, n=2, q="a b&c", none=None)

    [(arrived, query, body, headers)] = world.notes.calls
    ours = f"uid=alice&app_id={app['id']}&tool_name=look"
    assert (arrived, query, body) == (method, f"all=true&n=2&q=a+b%26c&{ours}", b"")
    Webhook(app["signing_secret"]).verify(body, headers, json_parse=False)


async def test_t8_a_repeated_call_carries_the_same_message_id(world: World):
    app = await world.install()
    token = await world.deps.service_identity.token("tool_proxy")
    body = {"uid": ALICE, "app_id": app["id"], "tool": "find", "arguments": {"q": "x"}}

    async with AsyncClient(headers={"Authorization": f"Bearer {token}"}) as client:
        for call_id in ("c1", "c1", "c2"):
            await client.post(world.proxy_url, json={**body, "call_id": call_id})

    first, again, other = (headers["webhook-id"] for *_, headers in world.notes.calls)
    assert first == again != other


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("drop", {}, "has no tool 'drop'"),
        ("find", {}, "'q' is a required property"),
        ("find", {"q": 3}, "3 is not of type 'string'"),
    ],
)
async def test_t5_a_wrong_call_is_refused_before_it_leaves(world: World, name, arguments, reason):
    app = await world.install()

    with pytest.raises(ToolRefused, match=reason):
        await world.call(app["id"], name, **arguments)

    assert world.notes.calls == []


async def test_t4_a_tool_is_gone_once_its_app_is_uninstalled(world: World):
    app = await world.install()
    query = {"app_id": app["id"]}
    done = await world.request("POST", "/v1/apps/disable", uid=ALICE, params=query)

    with pytest.raises(ToolRefused, match="not installed"):
        await world.call(app["id"], q="x")

    assert done.json() == {"status": "ok"}


async def test_t4_a_tool_is_gone_once_its_app_became_private(world: World):
    app = await world.install()
    await world.documents.write(Update(f"apps/{app['id']}", {"private": True}))

    with pytest.raises(ToolRefused, match="not installed"):
        await world.call(app["id"], q="x")

    assert world.notes.calls == []


async def test_t10_a_tool_at_an_address_inside_is_never_called(world: World):
    world.notes.tools = [{**FIND, "endpoint": "https://169.254.169.254/find"}]
    app = await world.install()

    with pytest.raises(ToolFailed, match="public DNS name"):
        await world.call(app["id"], q="x")


async def test_a_service_token_for_another_function_is_not_accepted(world: World):
    token = await world.deps.service_identity.token("chat")

    async with AsyncClient(headers={"Authorization": f"Bearer {token}"}) as client:
        response = await client.post(world.proxy_url, json={})

    assert response.status_code == 401


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
        installed = InstalledApp(app_id=AppId(f"A{n}"), installed_at=world.deps.clock.now())
        await world.deps.installed_apps.add(ALICE, installed)

    query = {"app_id": app["id"]}
    refused = await world.request("POST", "/v1/apps/enable", uid=ALICE, params=query)

    assert refused.status_code == 409
    assert not await world.deps.installed_apps.has(ALICE, app["id"])


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

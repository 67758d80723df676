"""Pairwise user ids of apps: which apps get them, and what they are told (T5, T18)."""

import json
from typing import Any
from urllib.parse import parse_qs

from shared.data.apps.apps import app_path, installed_path
from shared.domain.ids import AppId
from shared.domain.store.documents import Set
from shared.security.pairwise_id import read_pairwise_id
from tests.fixtures.notes_app import FIND_TOOL, NotesFixture
from tests.fixtures.tool_proxy import ALICE

WITHOUT_ACCOUNTS = {**FIND_TOOL, "auth_required": False}


async def install(world: NotesFixture, **integration: Any) -> AppId:
    """Register an app whose users need no account with it, and let Alice install it."""
    world.notes.tools = [WITHOUT_ACCOUNTS]
    manifest = {"chat_tools_manifest_url": f"{world.notes_url}/.well-known/omi-tools.json"}
    app = (await world.register(external_integration={**manifest, **integration})).json()
    await enable(world, app["id"])
    return AppId(app["id"])


async def enable(world: NotesFixture, app_id: str) -> None:
    await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": app_id})


async def call_and_read_uid(world: NotesFixture, app_id: AppId) -> str:
    """Call a tool and return the user's id that the app received."""
    await world.call(app_id, q="x")
    return str(json.loads(world.notes.calls[-1][2])["uid"])


async def test_two_apps_know_a_user_by_two_ids_t5(world: NotesFixture):
    first, second = await install(world), await install(world)

    uids = [await call_and_read_uid(world, app_id) for app_id in (first, second, first)]

    assert len({*uids, ALICE}) == 3
    assert uids[0] == uids[2]
    user_key = (await world.deps.stores.apps.get(first)).user_key
    assert read_pairwise_id(user_key, uids[0]) == ALICE


async def test_the_id_stays_through_new_permissions_and_a_new_installation_t5(
    world: NotesFixture,
):
    app_id = await install(world)
    before = await call_and_read_uid(world, app_id)

    await enable(world, app_id)
    after_enabling_again = await call_and_read_uid(world, app_id)
    await world.request("POST", "/v1/apps/disable", uid=ALICE, params={"app_id": app_id})
    await enable(world, app_id)

    assert before == after_enabling_again == await call_and_read_uid(world, app_id)


async def test_an_app_on_whose_pages_users_sign_in_knows_the_account_t5(world: NotesFixture):
    """Their phone opens these pages with the account's id, so a call must name the same user."""
    step = {"name": "Connect", "url": "https://notes.example.com/connect"}
    with_steps = await install(world, auth_steps=[step])
    with_setup = await install(world, setup_completed_url=f"{world.notes_url}/setup")
    with_home = await install(world, app_home_url=world.notes_url)

    assert await call_and_read_uid(world, with_home) == ALICE
    assert await call_and_read_uid(world, with_steps) == ALICE
    assert await call_and_read_uid(world, with_setup) == ALICE


async def test_a_tool_that_needs_an_account_knows_it_too_t5(world: NotesFixture):
    app = await world.install()

    assert await call_and_read_uid(world, AppId(app["id"])) == ALICE


async def test_an_app_installed_before_keeps_the_id_that_it_knows_t5(world: NotesFixture):
    app_id = await install(world)
    entry = {"installed_at": world.clock.now(), "granted": []}
    fields = {"apps": {app_id: entry}, "installed_at": world.clock.now()}
    await world.documents.write(Set(installed_path(ALICE), fields))

    before = await call_and_read_uid(world, app_id)
    await enable(world, app_id)

    assert (before, await call_and_read_uid(world, app_id)) == (ALICE, ALICE)


async def test_an_app_registered_before_is_told_the_account_t5(world: NotesFixture):
    app_id = await install(world)
    document = await world.documents.get(app_path(app_id))
    assert document is not None
    fields = {name: field for name, field in document.fields.items() if name != "user_key"}
    await world.documents.write(Set(app_path(app_id), fields))
    await world.request("POST", "/v1/apps/disable", uid=ALICE, params={"app_id": app_id})
    await enable(world, app_id)

    assert await call_and_read_uid(world, app_id) == ALICE


async def test_the_link_for_connecting_and_the_query_of_a_call_hold_the_same_id_t5(
    world: NotesFixture,
):
    app_id = await install(world)
    uid = await call_and_read_uid(world, app_id)
    world.notes.tools = [{**WITHOUT_ACCOUNTS, "method": "GET"}]
    await world.request("POST", f"/v1/apps/{app_id}/refresh-manifest")

    await world.call(app_id, q="x")

    assert parse_qs(world.notes.calls[-1][1])["uid"] == [uid]
    calls = (await world.request("GET", f"/v1/apps/{app_id}/calls")).json()
    assert len({entry["user"] for entry in calls}) == 1

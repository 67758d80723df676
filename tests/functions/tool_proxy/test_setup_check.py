"""Setup checks: an app whose setup its user has not completed is not installed (T1)."""

import pytest
from httpx import Response

from examples.shopping.shop import is_signed_request
from shared.data.apps.apps import app_path
from shared.domain.ids import AppId
from shared.domain.store.documents import Update
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_proxy import ALICE


async def register(world: NotesFixture, setup_url: str = "") -> str:
    url = setup_url or f"{world.notes_url}/setup"
    app = (await world.register(external_integration={"setup_completed_url": url})).json()
    return str(app["id"])


async def enable(world: NotesFixture, app_id: str) -> Response:
    return await world.request("POST", "/v1/apps/enable", uid=ALICE, params={"app_id": app_id})


async def test_a_completed_setup_is_asked_for_in_a_signed_call_s7(world: NotesFixture):
    app_id = await register(world)

    response = await enable(world, app_id)

    [(query, headers)] = world.notes.setup_checks
    secret = (await world.request("GET", f"/v1/apps/{app_id}")).json()["signing_secret"]
    assert (response.status_code, query) == (200, "uid=alice")
    assert is_signed_request(secret, "GET", "/setup?uid=alice", headers, b"")


@pytest.mark.parametrize(
    "setup_response",
    [
        (200, '{"is_setup_completed": false}'),
        (200, '{"is_setup_completed": "yes"}'),
        (200, "[true]"),
        (200, "<html>"),
        (200, "x" * 20_000),
        (404, '{"is_setup_completed": true}'),
        (500, ""),
    ],
)
async def test_an_app_without_a_completed_setup_is_not_installed_t1(
    world: NotesFixture, setup_response: tuple[int, str]
):
    world.notes.setup_response = setup_response

    response = await enable(world, await register(world))

    assert (response.status_code, response.json()["detail"]) == (400, "App setup is not completed")
    assert await world.deps.stores.installed_apps.list_all(ALICE) == []


async def test_a_setup_check_at_an_internal_address_is_never_made_t10(world: NotesFixture):
    """An app stored before its addresses were checked at registration."""
    app_id = await register(world)
    await world.documents.write(
        Update(
            app_path(AppId(app_id)),
            {"external_integration": {"setup_completed_url": "http://169.254.169.254/setup"}},
        )
    )

    assert (await enable(world, app_id)).status_code == 400


async def test_an_installed_app_is_not_asked_again_t1(world: NotesFixture):
    app_id = await register(world)
    await enable(world, app_id)
    world.notes.setup_response = (500, "")

    assert (await enable(world, app_id)).status_code == 200
    assert len(world.notes.setup_checks) == 1


async def test_each_setup_check_counts_for_its_user_s5(world: NotesFixture):
    app_id = await register(world)
    world.notes.setup_response = (500, "")
    world.deps.quotas.limits = {"outbound_calls": 1}

    statuses = [(await enable(world, app_id)).status_code for _ in range(2)]

    assert (statuses, len(world.notes.setup_checks)) == ([400, 429], 1)

"""Integrations as released apps know them: connections by old keys, and health figures (R1)."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from httpx import Response

from shared.ports import Documents
from tests.fixtures.accounts import ADA
from tests.fixtures.connections import (
    ConnectionsFixture,
    build_connections_fixture,
    build_google,
)
from tests.servers import run_server

CALENDAR = "/v1/integrations/google_calendar"
HEALTH = "/v1/integrations/apple-health/sync"
ORIGIN = "https://keepsake.example.com"
DISCONNECTED = {"connected": False, "app_key": "google_calendar"}


@pytest.fixture
def world(documents: Documents) -> Iterator[ConnectionsFixture]:
    google = build_google()
    with run_server(google.app) as url:
        yield build_connections_fixture(documents, google, url)


async def open_link(world: ConnectionsFixture) -> Response:
    """Ask for the link as the app does, and open it in a browser that is not signed in."""
    answer = await world.request("GET", f"{CALENDAR}/oauth-url")
    assert answer.status_code == 200, answer.text
    url = answer.json()["auth_url"]
    assert url.startswith(f"{ORIGIN}/v1/connections/start?token=")
    return await world.request("GET", url.removeprefix(ORIGIN), uid="")


async def press_continue(world: ConnectionsFixture, page: Response) -> Response:
    action = find_in(page, r'action="([^"]+)"')
    return await world.request("POST", f"/v1/connections/start{action}", uid="")


def find_in(page: Response, pattern: str) -> str:
    match = re.search(pattern, page.text)
    assert match is not None, page.text
    return unescape(match[1])


async def test_an_account_is_connected_in_a_browser_that_an_app_opened_r1(
    world: ConnectionsFixture,
):
    page = await press_continue(world, await open_link(world))
    callback = await world.allow(find_in(page, r'href="([^"]+)"'))
    arrival = await world.request("GET", callback, uid="")

    assert "Google Calendar is connected." in arrival.text
    status = (await world.request("GET", CALENDAR)).json()
    assert status == {"connected": True, "app_key": "google_calendar"}


async def test_the_page_behind_a_link_says_whose_account_it_is_about_r1(
    world: ConnectionsFixture,
):
    await world.deps.stores.profiles.change(ADA, name="Ada <Lovelace>")

    page = await open_link(world)

    assert "Google Calendar" in page.text
    assert f"Ada &lt;Lovelace&gt; ({ADA})" in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


async def test_a_link_of_somebody_else_goes_on_only_from_its_own_page_r1(
    world: ConnectionsFixture,
):
    """A page of an attacker can open the link, and send a form, but cannot read the nonce."""
    page = await open_link(world)
    action = find_in(page, r'action="([^"]+)"')
    forged_action = re.sub(r"nonce=.*", "nonce=guessed", action)

    forged = await world.request("POST", f"/v1/connections/start{forged_action}", uid="")
    world.cookies = {}
    elsewhere = await world.request("POST", f"/v1/connections/start{action}", uid="")

    for answer in (forged, elsewhere):
        assert "Not connected" in answer.text
        assert "href" not in answer.text


async def test_a_browser_that_was_not_asked_connects_nothing_r1(world: ConnectionsFixture):
    page = await press_continue(world, await open_link(world))
    callback = await world.allow(find_in(page, r'href="([^"]+)"'))
    world.cookies = {}

    arrival = await world.request("GET", callback, uid="")

    assert "Not connected" in arrival.text
    assert (await world.request("GET", CALENDAR)).json() == DISCONNECTED


@pytest.mark.parametrize("token", ["nonsense", "bm9uc2Vuc2U=", "é"])
async def test_a_forged_link_leads_nowhere_r1(world: ConnectionsFixture, token):
    page = await world.request("GET", "/v1/connections/start", uid="", params={"token": token})

    assert "This link is not one of ours." in page.text


async def test_a_service_that_is_not_set_up_is_refused_in_words_r1(world: ConnectionsFixture):
    answer = await world.request("GET", "/v1/integrations/whoop/oauth-url")

    assert answer.status_code == 409
    assert "Whoop" in answer.json()["detail"]


async def test_disconnecting_twice_is_no_error_r1(world: ConnectionsFixture):
    await world.connect()

    answers = [await world.request("DELETE", CALENDAR) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert (await world.request("GET", CALENDAR)).json() == DISCONNECTED


async def test_saying_that_an_account_is_connected_does_not_connect_it_r1(
    world: ConnectionsFixture,
):
    answer = await world.request("PUT", CALENDAR, json={"connected": True})

    assert (answer.status_code, answer.json()) == (200, DISCONNECTED)


async def test_a_service_is_known_by_its_old_key_too_r1(world: ConnectionsFixture):
    answer = await world.request("GET", "/v1/integrations/twitter")

    assert answer.json() == {"connected": False, "app_key": "twitter"}


@pytest.mark.parametrize("key", ["nonsense", "perplexity", "notification"])
async def test_what_is_no_service_to_connect_is_not_found_r1(world: ConnectionsFixture, key):
    for method, path, body in (
        ("GET", f"/v1/integrations/{key}", None),
        ("PUT", f"/v1/integrations/{key}", {}),
        ("DELETE", f"/v1/integrations/{key}", None),
        ("GET", f"/v1/integrations/{key}/oauth-url", None),
    ):
        answer = await world.request(method, path, json=body)
        assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such service")


async def test_health_figures_replace_those_before_r1(world: ConnectionsFixture):
    days = [{"date": "2026-03-01", "steps": 8200}, {"date": "2026-03-02", "steps": 6400}]
    first: dict[str, Any] = {"period_days": 7, "total_steps": 1, "workouts": []}
    second = {
        "period_days": 7,
        "total_steps": 14600,
        "heart_rate_average": 61.5,
        "daily_steps": days,
    }

    for body in (first, second):
        assert (await world.request("PUT", HEALTH, json=body)).status_code == 200

    figures = await world.deps.stores.health.get_apple(ADA)
    assert figures is not None
    assert figures.numbers == {"period_days": 7, "total_steps": 14600, "heart_rate_average": 61.5}
    assert figures.records == {"daily_steps": tuple(days)}
    assert figures.synced_at == world.clock.now()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"total_steps": "many"}, 422),
        ({"daily_steps": {"date": "2026-03-01"}}, 422),
        ({"daily_steps": [[1]]}, 422),
        ({"workouts": [{"route": [{"lat": 1.0}]}]}, 422),
        ({"workouts": [{"name": "x" * 201}]}, 422),
        ({"workouts": [{}] * 401}, 413),
        ({"workouts": [{"name": "x" * 199}] * 400}, 413),
    ],
)
async def test_health_figures_are_kept_within_limits_r1(world: ConnectionsFixture, body, status):
    answer = await world.request("PUT", HEALTH, json=body)

    assert answer.status_code == status
    assert isinstance(answer.json()["detail"], str)
    assert await world.deps.stores.health.get_apple(ADA) is None

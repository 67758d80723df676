"""Notification preferences, changed field by field (T16)."""

from typing import Any

import pytest
from httpx import Response

from tests.fixtures.callers import build_auth_headers
from tests.fixtures.notifications import ALICE, NotificationsFixture

PATH = "/v1/users/notification-preferences"
DEFAULTS = {
    "enabled": True,
    "muted_apps": [],
    "quiet_hours": None,
    "digest": True,
    "digest_hour": None,
}
NIGHT = {"from": "22:00", "to": "07:00"}


async def change_preferences(world: NotificationsFixture, body: Any) -> Response:
    return await world.request("PATCH", PATH, json=body, headers=build_auth_headers(ALICE))


async def test_the_default_preferences_mute_nothing_t16(world: NotificationsFixture):
    response = await world.request("GET", PATH, headers=build_auth_headers(ALICE))

    assert (response.status_code, response.json()) == (200, DEFAULTS)


async def test_an_omitted_preference_is_unchanged_and_null_clears_it_t16(
    world: NotificationsFixture,
):
    await change_preferences(world, {"quiet_hours": NIGHT, "digest_hour": 9})
    await change_preferences(world, {"muted_apps": ["weather", "news", "news"], "digest": False})
    stored_preferences = (
        await world.request("GET", PATH, headers=build_auth_headers(ALICE))
    ).json()
    cleared_preferences = (
        await change_preferences(world, {"quiet_hours": None, "digest_hour": None})
    ).json()

    assert stored_preferences == {
        "enabled": True,
        "muted_apps": ["news", "weather"],
        "quiet_hours": NIGHT,
        "digest": False,
        "digest_hour": 9,
    }
    assert cleared_preferences == {**stored_preferences, "quiet_hours": None, "digest_hour": None}


async def test_preferences_are_private_to_their_user_t16(world: NotificationsFixture):
    await change_preferences(world, {"enabled": False})

    other_response = await world.request("GET", PATH, headers=build_auth_headers("bob"))

    assert other_response.json() == DEFAULTS
    assert (await world.request("GET", PATH)).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"enabled": None},
        {"muted_apps": ["a/b"]},
        {"muted_apps": ["a"] * 201},
        {"quiet_hours": {"from": "22:00"}},
        {"quiet_hours": {"from": "24:00", "to": "07:00"}},
        {"quiet_hours": {"from": "7:00", "to": "08:00"}},
        {"quiet_hours": {"from": "07:00", "to": "07:00"}},
        {"digest_hour": 24},
        {"digest_hour": -1},
    ],
)
async def test_an_invalid_preference_is_rejected_t16(world: NotificationsFixture, body: Any):
    assert (await change_preferences(world, body)).status_code in (413, 422)
    assert (await world.request("GET", PATH, headers=build_auth_headers(ALICE))).json() == DEFAULTS

"""T16: an owner says what they want to hear, field by field."""

from typing import Any

import pytest
from httpx import Response

from tests.functions.notifications.world import ALICE, World, signed_in

PATH = "/v1/users/notification-preferences"
DEFAULTS = {
    "enabled": True,
    "muted_apps": [],
    "quiet_hours": None,
    "digest": True,
    "digest_hour": None,
}
NIGHT = {"from": "22:00", "to": "07:00"}


async def change(world: World, body: Any) -> Response:
    return await world.request("PATCH", PATH, json=body, headers=signed_in(ALICE))


async def test_t16_who_said_nothing_hears_everything(world: World):
    answer = await world.request("GET", PATH, headers=signed_in(ALICE))

    assert (answer.status_code, answer.json()) == (200, DEFAULTS)


async def test_t16_what_is_left_out_stays_and_null_takes_back(world: World):
    await change(world, {"quiet_hours": NIGHT, "digest_hour": 9})
    await change(world, {"muted_apps": ["weather", "news", "news"], "digest": False})
    kept = (await world.request("GET", PATH, headers=signed_in(ALICE))).json()
    changed = (await change(world, {"quiet_hours": None, "digest_hour": None})).json()

    assert kept == {
        "enabled": True,
        "muted_apps": ["news", "weather"],
        "quiet_hours": NIGHT,
        "digest": False,
        "digest_hour": 9,
    }
    assert changed == {**kept, "quiet_hours": None, "digest_hour": None}


async def test_t16_preferences_are_their_owners(world: World):
    await change(world, {"enabled": False})

    others = await world.request("GET", PATH, headers=signed_in("bob"))

    assert others.json() == DEFAULTS
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
async def test_t16_what_cannot_be_meant_is_refused(world: World, body: Any):
    assert (await change(world, body)).status_code in (413, 422)
    assert (await world.request("GET", PATH, headers=signed_in(ALICE))).json() == DEFAULTS

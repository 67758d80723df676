"""Key of Web Push: what a browser subscribes with is the same as what signs for its push service."""

from tests.fixtures.callers import build_auth_headers
from tests.fixtures.notifications import ALICE, NotificationsFixture

PATH = "/v1/users/web-push-key"


async def test_a_browser_of_a_user_gets_the_key_u7(world: NotificationsFixture):
    response = await world.request("GET", PATH, headers=build_auth_headers(ALICE))

    assert (response.status_code, response.json()) == (200, {"key": "BKey"})


async def test_nobody_else_gets_it_u7(world: NotificationsFixture):
    assert (await world.request("GET", PATH)).status_code == 401

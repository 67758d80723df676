"""T16: an app that posted a notification can ask what became of it, and nobody else."""

import pytest

from shared.domain.ids import AppId
from tests.functions.notifications.world import NOW, World

STAMP = NOW.isoformat().replace("+00:00", "Z")


async def test_t16_a_receipt_follows_the_notification(world: World):
    await world.register()
    name = (await world.post()).headers["X-Notification-Id"]

    accepted = (await world.receipt(name)).json()
    await world.deliver()
    sent = (await world.receipt(name)).json()
    world.clock.pass_(seconds=60)
    await world.read(name)
    read = (await world.receipt(name)).json()

    assert accepted == {
        "id": name,
        "state": "accepted",
        "accepted_at": STAMP,
        "sent_at": None,
        "failed_at": None,
        "read_at": None,
    }
    assert sent == {**accepted, "state": "sent", "sent_at": STAMP}
    assert read == {**sent, "state": "read", "read_at": "2026-03-02T12:41:00Z"}


async def test_t16_what_was_for_the_chat_alone_is_sent_when_it_is_there(world: World):
    await world.register(chat_messages_enabled=True)
    name = (await world.post()).headers["X-Notification-Id"]

    assert (await world.receipt(name)).json()["state"] == "sent"


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"aid": ""}, 400, "aid (app id) is required"),
        ({"uid": ""}, 400, "uid is required"),
        ({"key": "sk_wrong"}, 403, "Invalid API key"),
        ({"uid": "bob"}, 403, "User does not have this app installed"),
        ({"aid": "news"}, 404, "Notification not found"),
    ],
)
async def test_t16_a_receipt_is_for_the_app_that_posted_it(
    world: World, changes: dict[str, str], status: int, detail: str
):
    await world.register()
    await world.register(AppId("news"), name="News")
    name = (await world.post()).headers["X-Notification-Id"]

    refused = await world.receipt(name, **changes)

    assert (refused.status_code, refused.json()["detail"]) == (status, detail)


@pytest.mark.parametrize("name", ["unknown", "__x__", "a b"])
async def test_a_receipt_of_nothing_is_not_found(world: World, name: str):
    await world.register()

    assert (await world.receipt(name)).status_code == 404

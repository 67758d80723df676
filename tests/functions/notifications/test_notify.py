"""Posting: inbox, chat and push by the manifest (T13), and the hourly limit (T14)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from shared.data.apps.apps import Apps
from shared.data.apps.cached_apps import CallingApps
from shared.domain.apps.app import App
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Query
from shared.library.notify import MAX_PER_HOUR
from tests.fixtures.notifications import ALICE, WEATHER, NotificationsFixture


async def test_an_app_without_chat_messages_only_pushes(world: NotificationsFixture):
    await world.register_app()

    await world.post()
    await world.deliver()

    assert await world.list_chat_messages("weather") == await world.list_chat_messages("main") == []
    assert [message.data["text"] for _, message in world.push.sent_messages] == ["Rain at five."]


async def test_a_chat_message_stands_in_the_chat_of_its_app(world: NotificationsFixture):
    await world.register_app(chat_messages_enabled=True, chat_messages_notify=True)

    await world.post()
    await world.deliver()

    (message,) = await world.list_chat_messages("weather")
    assert (message.text, message.sender, message.app_id) == ("Rain at five.", "ai", "weather")
    assert message.from_integration
    assert await world.list_chat_messages("main") == []


async def test_a_chat_message_to_the_main_chat_names_its_app(world: NotificationsFixture):
    await world.register_app(
        chat_messages_enabled=True, chat_messages_target="main", chat_messages_notify=True
    )

    await world.post()
    await world.deliver()

    (message,) = await world.list_chat_messages("main")
    assert (message.text, message.app_id) == ("[Weather]: Rain at five.", None)
    (_, push), *others = world.push.sent_messages
    assert (push.body, push.data["text"]) == ("Rain at five.", message.text)
    assert (push.data["navigate_to"], others) == ("/chat/omi", [])


async def test_an_app_without_pushes_only_writes_into_the_chat(world: NotificationsFixture):
    await world.register_app(chat_messages_enabled=True, chat_messages_notify=False)

    await world.post()

    assert len(await world.list_chat_messages("weather")) == 1
    assert await world.deliver() == []
    assert (await world.get_inbox())["items"] == []


async def test_the_push_carries_the_data_of_the_chat_message(world: NotificationsFixture):
    await world.register_app(chat_messages_enabled=True, chat_messages_notify=True)

    await world.post()
    await world.deliver()

    (message,) = await world.list_chat_messages("weather")
    (_, push), *_ = world.push.sent_messages
    assert (push.title, push.body) == ("Weather says", "Rain at five.")
    assert push.data == {
        "id": message.id,
        "created_at": "2026-03-02T12:40:00+00:00",
        "sender": "ai",
        "from_integration": "true",
        "type": "text",
        "notification_type": "plugin",
        "plugin_id": "weather",
        "text": "Rain at five.",
        "navigate_to": "/chat/weather",
    }


async def test_invisible_characters_are_removed(world: NotificationsFixture):
    await world.register_app(chat_messages_enabled=True)

    await world.post(message="Rain\u202e at\U000e0041 five.\x00")

    assert (await world.list_chat_messages("weather"))[0].text == "Rain at five."


async def test_a_long_message_is_whole_in_the_chat(world: NotificationsFixture):
    await world.register_app(chat_messages_enabled=True)
    text = "x" * 4000

    await world.post(message=text)

    assert (await world.list_chat_messages("weather"))[0].text == text


async def test_the_task_carries_no_content(world: NotificationsFixture):
    await world.register_app()

    await world.post()

    (job,) = await world.queue.claim(10)
    assert (job.target, job.name) == ("deliver_notification", "notification-id0001")
    assert job.body == {"uid": ALICE, "id": "id0001"}


async def test_each_app_and_each_user_has_a_limit_of_their_own(world: NotificationsFixture):
    limits, hour = world.deps.stores.hourly_limits, world.clock.now()

    slots_left = [
        await limits.consume(ALICE, "weather", hour=hour, limit=1, consumer=n) for n in "ab"
    ]
    other_slots_left = [
        await limits.consume(ALICE, "news", hour=hour, limit=1, consumer="id"),
        await limits.consume(UserId("bob"), "weather", hour=hour, limit=1, consumer="id"),
    ]

    assert (slots_left, other_slots_left) == ([0, None], [0, 0])


async def test_of_200_concurrent_posts_exactly_10_are_admitted(world: NotificationsFixture):
    """T14, on SQLite."""
    await world.register_app(chat_messages_enabled=True)

    assert await count_outcomes(world, 200) == {"admitted": MAX_PER_HOUR, "429": 200 - MAX_PER_HOUR}


@pytest.mark.emulators
async def test_of_concurrent_posts_exactly_10_are_admitted_on_firestore(
    firestore_world: NotificationsFixture,
):
    """T14, on the real emulator, where the work grows with the square of their number."""
    await firestore_world.register_app(chat_messages_enabled=True)

    assert await count_outcomes(firestore_world, 40) == {
        "admitted": MAX_PER_HOUR,
        "429": 40 - MAX_PER_HOUR,
    }


async def count_outcomes(world: NotificationsFixture, count: int) -> Counter[str]:
    """Post `count` times at once, and return the statuses; check that the admitted ones are stored."""
    counts: Counter[str] = Counter()

    async def post() -> None:
        response = await world.post()
        counts["admitted" if response.status_code == 200 else str(response.status_code)] += 1

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(post)
    documents = await world.documents.query(Query(collection="users/alice/inbox"))
    assert len(documents) == len(await world.list_chat_messages("weather")) == counts["admitted"]
    return counts


async def test_a_cached_app_whose_key_is_revoked_or_that_was_removed_is_refused_at_once_d11(
    world: NotificationsFixture,
) -> None:
    stores = world.deps.stores
    await world.register_app()
    first = await world.post()
    await stores.installed_apps.remove(ALICE, WEATHER)
    not_installed = await world.post()
    await stores.apps.remove_key(WEATHER, "k1")
    revoked = await world.post()

    assert [response.status_code for response in (first, not_installed, revoked)] == [200, 403, 403]
    assert not_installed.json()["detail"] == "User does not have this app installed"
    assert revoked.json()["detail"] == "Invalid API key"


async def test_a_post_reads_its_app_once_in_half_a_minute_d11(world: NotificationsFixture) -> None:
    read_paths: list[str] = []

    class WatchedApps(Apps):
        async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
            read_paths.extend(app_ids)
            return await super().get_many(app_ids)

    apps = CallingApps(WatchedApps(world.documents), world.clock)
    watched = replace(world, deps=replace(world.deps, calling_apps=apps))
    await watched.register_app()
    for _ in range(3):
        await watched.post()
        world.clock.advance(seconds=14)
    before = len(read_paths)
    world.clock.advance(seconds=14)
    await watched.post()

    assert (before, len(read_paths)) == (1, 2)

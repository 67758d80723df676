"""T13 and T14: where a notification goes, and how many an app may send."""

from collections import Counter

import anyio
import pytest

from functions.notifications.notify import PER_HOUR
from shared.domain.documents import Query
from shared.domain.ids import UserId
from tests.functions.notifications.world import ALICE, World


async def test_an_app_without_chat_messages_only_pushes(world: World):
    await world.register()

    await world.post()
    await world.deliver()

    assert await world.chat("weather") == await world.chat("main") == []
    assert [message.data["text"] for _, message in world.push.sent] == ["Rain at five."]


async def test_a_chat_message_stands_in_the_chat_of_its_app(world: World):
    await world.register(chat_messages_enabled=True, chat_messages_notify=True)

    await world.post()
    await world.deliver()

    (message,) = await world.chat("weather")
    assert (message.text, message.sender, message.app_id) == ("Rain at five.", "ai", "weather")
    assert message.from_integration
    assert await world.chat("main") == []


async def test_a_chat_message_to_the_main_chat_names_its_app(world: World):
    await world.register(
        chat_messages_enabled=True, chat_messages_target="main", chat_messages_notify=True
    )

    await world.post()
    await world.deliver()

    (message,) = await world.chat("main")
    assert (message.text, message.app_id) == ("[Weather]: Rain at five.", None)
    (_, push), *others = world.push.sent
    assert (push.body, push.data["text"]) == ("Rain at five.", message.text)
    assert (push.data["navigate_to"], others) == ("/chat/omi", [])


async def test_an_app_that_wants_no_push_writes_into_the_chat_alone(world: World):
    await world.register(chat_messages_enabled=True, chat_messages_notify=False)

    await world.post()

    assert len(await world.chat("weather")) == 1
    assert await world.deliver() == []
    assert (await world.inbox())["items"] == []


async def test_the_push_carries_what_the_app_makes_the_same_message_of(world: World):
    await world.register(chat_messages_enabled=True, chat_messages_notify=True)

    await world.post()
    await world.deliver()

    (message,) = await world.chat("weather")
    (_, push), *_ = world.push.sent
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


async def test_what_cannot_be_seen_is_not_kept(world: World):
    await world.register(chat_messages_enabled=True)

    await world.post(message="Rain\u202e at\U000e0041 five.\x00")

    assert (await world.chat("weather"))[0].text == "Rain at five."


async def test_a_long_message_is_whole_in_the_chat(world: World):
    await world.register(chat_messages_enabled=True)
    text = "x" * 4000

    await world.post(message=text)

    assert (await world.chat("weather"))[0].text == text


async def test_the_task_carries_no_content(world: World):
    await world.register()

    await world.post()

    (job,) = await world.queue.claim(10)
    assert (job.target, job.name) == ("deliver_notification", "notification-id0001")
    assert job.body == {"uid": ALICE, "id": "id0001"}


async def test_each_app_and_each_user_has_a_limit_of_their_own(world: World):
    limits, hour = world.deps.limits, world.clock.now()

    taken = [await limits.take(ALICE, "weather", hour=hour, limit=1, taker=n) for n in "ab"]
    others = [
        await limits.take(ALICE, "news", hour=hour, limit=1, taker="id"),
        await limits.take(UserId("bob"), "weather", hour=hour, limit=1, taker="id"),
    ]

    assert (taken, others) == ([0, None], [0, 0])


async def test_of_200_concurrent_posts_exactly_10_are_admitted(world: World):
    """T14, on SQLite."""
    await world.register(chat_messages_enabled=True)

    assert await outcomes(world, 200) == {"admitted": PER_HOUR, "429": 200 - PER_HOUR}


@pytest.mark.emulators
async def test_of_200_concurrent_posts_exactly_10_are_admitted_on_firestore(firestore_world: World):
    """T14, on the real emulator."""
    await firestore_world.register(chat_messages_enabled=True)

    assert await outcomes(firestore_world, 200) == {"admitted": PER_HOUR, "429": 200 - PER_HOUR}


async def outcomes(world: World, count: int) -> Counter[str]:
    """Post `count` times at once, and say how it was answered; what was admitted is stored."""
    seen: Counter[str] = Counter()

    async def post() -> None:
        answer = await world.post()
        seen["admitted" if answer.status_code == 200 else str(answer.status_code)] += 1

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(post)
    stored = await world.documents.query(Query(collection="users/alice/inbox"))
    assert len(stored) == len(await world.chat("weather")) == seen["admitted"]
    return seen

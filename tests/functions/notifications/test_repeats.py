"""T15: an app that posts again under the same key tells its user once."""

from dataclasses import replace
from typing import Any

import pytest
from httpx import Response

from tests.faults import Fault, Faulty, error, lost
from tests.functions.notifications.world import ALICE, KEY, World

CHAT: Any = {"chat_messages_enabled": True, "chat_messages_notify": True}


async def told(world: World) -> tuple[int, int, int]:
    """Count chat messages, inbox entries and pushes once everything is delivered."""
    await world.deliver()
    inbox = (await world.inbox())["items"]
    return len(await world.chat("weather")), len(inbox), len(world.push.sent)


async def test_t15_the_same_post_gets_the_same_answer_and_is_told_once(world: World):
    await world.register(**CHAT)

    first = await world.post(idempotency_key="k1")
    world.clock.pass_(seconds=60)
    again = await world.post(idempotency_key="k1")

    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.content == b'{"status":"Ok"}'
    for header in ("X-Notification-Id", "X-RateLimit-Remaining", "RateLimit"):
        assert again.headers[header] == first.headers[header]
    assert (await world.post()).headers["X-RateLimit-Remaining"] == "8"
    assert await told(world) == (2, 2, 2)


async def test_t15_another_message_under_the_same_key_is_422(world: World):
    await world.register(**CHAT)
    await world.post(idempotency_key="k1")

    other = await world.post(idempotency_key="k1", message="Snow.")

    assert other.status_code == 422
    assert await told(world) == (1, 1, 1)


async def test_t15_a_caller_proves_who_it_is_before_its_key_is_looked_up(world: World):
    await world.register()
    await world.post(idempotency_key="k1")

    assert (await world.post(idempotency_key="k1", key="sk_wrong")).status_code == 403
    assert (await world.post(idempotency_key="k" * 256, key="sk_wrong")).status_code == 403
    assert (await world.post(idempotency_key="k" * 256)).status_code == 400


async def test_t15_a_post_that_was_over_the_limit_is_taken_under_its_key_in_the_next_hour(
    world: World,
):
    await world.register()
    for _ in range(10):
        await world.post()

    refused = await world.post(idempotency_key="k1")
    world.clock.pass_(seconds=1200)
    taken = await world.post(idempotency_key="k1")

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1200")
    assert (taken.status_code, taken.headers["X-RateLimit-Remaining"]) == (200, "9")


async def test_t15_the_second_version_knows_keys_too(world: World):
    await world.register()
    headers = {"Authorization": f"Bearer {KEY}", "Idempotency-Key": "k1"}

    async def post(message: str) -> Response:
        query = {"uid": ALICE, "message": message}
        path = "/v2/integrations/weather/notification"
        return await world.request("POST", path, params=query, headers=headers)

    answers = [await post("Rain."), await post("Rain."), await post("Snow.")]

    assert [a.status_code for a in answers] == [200, 200, 422]
    assert await told(world) == (0, 1, 1)


@pytest.mark.parametrize("fault", [error, lost])
async def test_t15_what_was_stored_but_not_queued_is_completed_and_not_doubled(
    world: World, fault: Fault
):
    await world.register(**CHAT)
    tasks: Any = Faulty(world.deps.tasks, create=[fault])
    world.deps = replace(world.deps, tasks=tasks)

    failed = await world.post(idempotency_key="k1")
    completed = await world.post(idempotency_key="k1")

    assert (failed.status_code, completed.status_code) == (503, 200)
    assert completed.headers["X-RateLimit-Remaining"] == "9"
    assert await told(world) == (1, 1, 1)

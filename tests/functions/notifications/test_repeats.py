"""Repeated posts under one Idempotency-Key notify once (T15)."""

from dataclasses import replace
from typing import Any

import pytest
from httpx import Response

from tests.fault_injection import Fault, FaultyPort, lose_response, raise_unavailable
from tests.fixtures.notifications import ALICE, KEY, NotificationsFixture

CHAT: Any = {"chat_messages_enabled": True, "chat_messages_notify": True}


async def count_deliveries(world: NotificationsFixture) -> tuple[int, int, int]:
    """Count chat messages, inbox entries and pushes once everything is delivered."""
    await world.deliver()
    inbox = (await world.get_inbox())["items"]
    return len(await world.list_chat_messages("weather")), len(inbox), len(world.push.sent_messages)


async def test_a_repeated_post_gets_the_same_answer_and_notifies_once_t15(
    world: NotificationsFixture,
):
    await world.register_app(**CHAT)

    first_response = await world.post(idempotency_key="k1")
    world.clock.advance(seconds=60)
    second_response = await world.post(idempotency_key="k1")

    assert (second_response.status_code, second_response.content) == (
        first_response.status_code,
        first_response.content,
    )
    assert second_response.content == b'{"status":"Ok"}'
    for header in ("X-Notification-Id", "X-RateLimit-Remaining", "RateLimit"):
        assert second_response.headers[header] == first_response.headers[header]
    assert (await world.post()).headers["X-RateLimit-Remaining"] == "8"
    assert await count_deliveries(world) == (2, 2, 2)


async def test_another_message_under_the_same_key_is_422_t15(world: NotificationsFixture):
    await world.register_app(**CHAT)
    await world.post(idempotency_key="k1")

    response = await world.post(idempotency_key="k1", message="Snow.")

    assert response.status_code == 422
    assert await count_deliveries(world) == (1, 1, 1)


async def test_a_caller_proves_who_it_is_before_its_key_is_looked_up_t15(
    world: NotificationsFixture,
):
    await world.register_app()
    await world.post(idempotency_key="k1")

    assert (await world.post(idempotency_key="k1", key="sk_wrong")).status_code == 403
    assert (await world.post(idempotency_key="k" * 256, key="sk_wrong")).status_code == 403
    assert (await world.post(idempotency_key="k" * 256)).status_code == 400


async def test_a_rate_limited_post_is_accepted_under_its_key_in_the_next_hour_t15(
    world: NotificationsFixture,
):
    await world.register_app()
    for _ in range(10):
        await world.post()

    rejected_response = await world.post(idempotency_key="k1")
    world.clock.advance(seconds=1200)
    accepted_response = await world.post(idempotency_key="k1")

    assert (rejected_response.status_code, rejected_response.headers["Retry-After"]) == (
        429,
        "1200",
    )
    assert (accepted_response.status_code, accepted_response.headers["X-RateLimit-Remaining"]) == (
        200,
        "9",
    )


async def test_the_v2_route_honours_idempotency_keys_t15(world: NotificationsFixture):
    await world.register_app()
    headers = {"Authorization": f"Bearer {KEY}", "Idempotency-Key": "k1"}

    async def post(message: str) -> Response:
        query = {"uid": ALICE, "message": message}
        path = "/v2/integrations/weather/notification"
        return await world.request("POST", path, params=query, headers=headers)

    answers = [await post("Rain."), await post("Rain."), await post("Snow.")]

    assert [a.status_code for a in answers] == [200, 200, 422]
    assert await count_deliveries(world) == (0, 1, 1)


@pytest.mark.parametrize("fault", [raise_unavailable, lose_response])
async def test_a_notification_stored_but_not_queued_is_completed_without_a_duplicate_t15(
    world: NotificationsFixture, fault: Fault
):
    await world.register_app(**CHAT)
    tasks: Any = FaultyPort(world.deps.tasks, create=[fault])
    world.deps = replace(world.deps, tasks=tasks)

    first_response = await world.post(idempotency_key="k1")
    second_response = await world.post(idempotency_key="k1")

    assert (first_response.status_code, second_response.status_code) == (503, 200)
    assert second_response.headers["X-RateLimit-Remaining"] == "9"
    assert await count_deliveries(world) == (1, 1, 1)

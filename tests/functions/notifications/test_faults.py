"""Faults of stores, tasks and pushes: the app's status and what the user sees (C55, T16)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

from shared.domain.store.operation import LEASE_TTL
from tests.fault_injection import (
    INTERNAL_DETAIL,
    Fault,
    FaultyPort,
    delay,
    deliver_twice,
    lose_response,
    raise_bug,
    raise_timed_out,
    raise_unavailable,
    succeed,
)
from tests.fixtures.notifications import NotificationsFixture, build_notifications_fixture

Calls = dict[str, list[Fault]]
TEXT = "Rain at five."


@pytest.fixture
async def world(world: NotificationsFixture) -> NotificationsFixture:
    await world.register_app()
    await world.add_devices("phone")
    return world


def list_shown_texts(world: NotificationsFixture) -> list[str]:
    """Return the texts on the phone, which shows one notification for each tag."""
    return list({message.tag: message.body for _, message in world.push.sent_messages}.values())


async def list_inbox_texts(world: NotificationsFixture) -> list[str]:
    return [item["body"] for item in (await world.get_inbox())["items"]]


@pytest.mark.parametrize(
    ("documents", "tasks", "status"),
    [
        ({"query": [raise_unavailable]}, [], 503),
        ({"get_many": [raise_unavailable]}, [], 503),
        ({"get": [succeed, raise_timed_out]}, [], 503),
        ({"get": [raise_bug]}, [], 500),
        ({"write": [raise_unavailable]}, [], 503),
        ({"write": [lose_response]}, [], 503),
        ({"write": [succeed, raise_unavailable]}, [], 503),
        ({"write": [succeed, lose_response]}, [], 503),
        ({"write": [succeed, raise_bug]}, [], 500),
        ({"write": [succeed, delay]}, [], 200),
        ({"transaction": [raise_unavailable]}, [], 503),
        ({"transaction": [lose_response]}, [], 503),
        ({"transaction": [deliver_twice]}, [], 200),
        ({}, [raise_unavailable], 503),
        ({}, [lose_response], 503),
        ({}, [raise_bug], 500),
        ({}, [deliver_twice], 200),
    ],
)
async def test_a_post_repeated_after_a_fault_under_its_key_notifies_once_c55(
    world: NotificationsFixture, documents: Calls, tasks: Sequence[Fault], status: int
):
    faulty = build_notifications_fixture(
        world.queue.database, FaultyPort(world.documents, **documents), clock=world.clock
    )
    faulty_tasks: Any = FaultyPort(faulty.deps.tasks, create=tasks)
    deps = replace(faulty.deps, tasks=faulty_tasks, push=world.push, new_id=world.deps.new_id)
    faulty = replace(faulty, deps=deps, push=world.push)

    first_response = await faulty.post(idempotency_key="k")
    world.clock.advance(seconds=LEASE_TTL.total_seconds())
    second_response = await faulty.post(idempotency_key="k")
    await world.deliver()

    assert (first_response.status_code, second_response.status_code) == (status, 200)
    assert INTERNAL_DETAIL not in first_response.text
    assert (await list_inbox_texts(world), list_shown_texts(world)) == ([TEXT], [TEXT])
    assert second_response.headers["X-RateLimit-Remaining"] == "9"


RETRIES_EXHAUSTED = ["push: Unavailable"]


@pytest.mark.parametrize(
    ("faults", "expected_statuses", "shown_texts", "reasons"),
    [
        ([raise_unavailable], [503, 200], [TEXT], []),
        ([raise_timed_out], [503, 200], [TEXT], []),
        ([lose_response], [503, 200], [TEXT], []),
        ([raise_bug], [500, 200], [TEXT], []),
        ([delay], [200], [TEXT], []),
        ([deliver_twice], [200], [TEXT], []),
        (repeat(raise_unavailable, 7), [503] * 7 + [200], [TEXT], []),
        (repeat(raise_unavailable), [503] * 7 + [200], [], RETRIES_EXHAUSTED),
        (repeat(lose_response), [503] * 7 + [200], [TEXT], RETRIES_EXHAUSTED),
    ],
)
async def test_after_any_push_fault_the_inbox_lists_it_and_the_phone_shows_it_once_t16(
    world: NotificationsFixture,
    faults: Iterable[Fault],
    expected_statuses: Sequence[int],
    shown_texts: Sequence[str],
    reasons: Sequence[str],
):
    await world.post()
    faulty_push: Any = FaultyPort(world.push, send=faults)
    world.deps = replace(world.deps, push=faulty_push)

    statuses = []
    for _ in range(10):
        statuses += [response.status_code for response in await world.deliver()]
        world.clock.advance(seconds=60)

    assert statuses == expected_statuses
    assert (await list_inbox_texts(world), list_shown_texts(world)) == ([TEXT], shown_texts)
    assert [
        letter.reason for letter in await world.deps.stores.dead_letters.list_newest()
    ] == reasons

"""C55, T16: what the app is told and what the user sees when a part fails: one row a case."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

from shared.domain.operation import LEASE
from tests.faults import SECRET, Fault, Faulty, bug, doubled, error, lost, slow, timeout, well
from tests.functions.notifications.world import World, world_on

Calls = dict[str, list[Fault]]
TEXT = "Rain at five."


@pytest.fixture
async def world(world: World) -> World:
    await world.register()
    await world.add_devices("phone")
    return world


def shown(world: World) -> list[str]:
    """Return what the phone shows: one notification a tag."""
    return list({message.tag: message.body for _, message in world.push.sent}.values())


async def inbox(world: World) -> list[str]:
    return [item["body"] for item in (await world.inbox())["items"]]


@pytest.mark.parametrize(
    ("documents", "tasks", "told"),
    [
        ({"query": [error]}, [], 503),
        ({"get_many": [error]}, [], 503),
        ({"get_many": [well, timeout]}, [], 503),
        ({"get": [bug]}, [], 500),
        ({"write": [error]}, [], 503),
        ({"write": [lost]}, [], 503),
        ({"write": [well, error]}, [], 503),
        ({"write": [well, lost]}, [], 503),
        ({"write": [well, bug]}, [], 500),
        ({"write": [well, slow]}, [], 200),
        ({"transaction": [error]}, [], 503),
        ({"transaction": [lost]}, [], 503),
        ({"transaction": [doubled]}, [], 200),
        ({}, [error], 503),
        ({}, [lost], 503),
        ({}, [bug], 500),
        ({}, [doubled], 200),
    ],
)
async def test_c55_an_app_that_posts_again_under_its_key_is_heard_once(
    world: World, documents: Calls, tasks: Sequence[Fault], told: int
):
    broken = world_on(world.queue.database, Faulty(world.documents, **documents), clock=world.clock)
    at_fault: Any = Faulty(broken.deps.tasks, create=tasks)
    deps = replace(broken.deps, tasks=at_fault, push=world.push, new_id=world.deps.new_id)
    broken = replace(broken, deps=deps, push=world.push)

    first = await broken.post(idempotency_key="k")
    world.clock.pass_(seconds=LEASE.total_seconds())
    again = await broken.post(idempotency_key="k")
    await world.deliver()

    assert (first.status_code, again.status_code) == (told, 200)
    assert SECRET not in first.text
    assert (await inbox(world), shown(world)) == ([TEXT], [TEXT])
    assert again.headers["X-RateLimit-Remaining"] == "9"


GIVEN_UP = ["push: Unavailable"]


@pytest.mark.parametrize(
    ("faults", "told", "seen", "letters"),
    [
        ([error], [503, 200], [TEXT], []),
        ([timeout], [503, 200], [TEXT], []),
        ([lost], [503, 200], [TEXT], []),
        ([bug], [500, 200], [TEXT], []),
        ([slow], [200], [TEXT], []),
        ([doubled], [200], [TEXT], []),
        (repeat(error, 7), [503] * 7 + [200], [TEXT], []),
        (repeat(error), [503] * 7 + [200], [], GIVEN_UP),
        (repeat(lost), [503] * 7 + [200], [TEXT], GIVEN_UP),
    ],
)
async def test_t16_whatever_befalls_the_push_the_inbox_shows_it_and_the_phone_once(
    world: World,
    faults: Iterable[Fault],
    told: Sequence[int],
    seen: Sequence[str],
    letters: Sequence[str],
):
    await world.post()
    at_fault: Any = Faulty(world.push, send=faults)
    world.deps = replace(world.deps, push=at_fault)

    statuses = []
    for _ in range(10):
        statuses += [response.status_code for response in await world.deliver()]
        world.clock.pass_(seconds=60)

    assert statuses == told
    assert (await inbox(world), shown(world)) == ([TEXT], seen)
    assert [letter.reason for letter in await world.deps.dead_letters.newest()] == letters

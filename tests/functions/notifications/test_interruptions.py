"""Crashes and outages between any two effects: repeats reach the same end state (T15, T16)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from shared.domain.errors import Unavailable
from shared.domain.store.documents import Query
from shared.domain.store.operation import LEASE_TTL
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.notifications import ALICE, NotificationsFixture, build_notifications_fixture
from tests.fixtures.storage import MemoryDatabase
from tests.functions.notifications.test_digest import QUIET

NOON = datetime(2026, 3, 2, 12, 10, tzinfo=UTC)
EVENING = datetime(2026, 3, 2, 21, 50, tzinfo=UTC)
NIGHT = datetime(2026, 3, 2, 22, 30, tzinfo=UTC)
MAX_CALLS = 80
KEYS = ("k0", "k1", "k2", "k3", "k4")


@dataclass
class Phones:
    """The notifications on each device, which shows one for each tag."""

    shown_by_token: dict[str, dict[str, str]] = field(default_factory=dict)

    def show(self, sent: Sequence[Any]) -> "Phones":
        for tokens, message in sent:
            for token in tokens:
                self.shown_by_token.setdefault(token, {})[message.tag] = message.body
        return self


async def build_fixture_at(time: datetime, injector: FaultInjector) -> NotificationsFixture:
    """Build a fixture in which Alice has quiet hours, a phone and a tablet with a dead token."""
    database = MemoryDatabase()
    world = build_notifications_fixture(database)
    world.clock.time = time
    await world.register_app(chat_messages_enabled=True, chat_messages_notify=True)
    await world.add_devices("phone", "tablet")
    await world.change_preferences(quiet_hours=QUIET)
    faulty = build_notifications_fixture(
        database, WatchedPort(world.documents, injector), clock=world.clock
    )
    parts: Any = {
        name: WatchedPort(getattr(faulty.deps, name), injector) for name in ("tasks", "push")
    }
    faulty.push.dead_tokens = frozenset({"tablet"})
    deps = replace(faulty.deps, **parts)
    return replace(faulty, deps=deps, documents=world.documents)


async def post_until_accepted(
    world: NotificationsFixture, injector: FaultInjector, key: str
) -> None:
    """Post until it is accepted, as an app does after an error or a timeout."""
    for _ in range(5):
        response = await world.post(idempotency_key=key, message=f"Message {key}.")
        injector.is_down = False
        if response.status_code == 200:
            return
        world.clock.advance(seconds=LEASE_TTL.total_seconds())
    raise AssertionError("never accepted")


async def deliver_until(
    world: NotificationsFixture, injector: FaultInjector, *, until: datetime
) -> None:
    """Deliver all tasks that become due until then."""
    while world.clock.now() < until:
        await world.deliver()
        injector.is_down = False
        world.clock.advance(seconds=1800)
    await world.deliver()
    injector.is_down = False
    await world.deliver()


async def collect_outcome(world: NotificationsFixture) -> dict[str, Any]:
    """Return what Alice and the app see in the end, without ids and times."""
    inbox = await world.documents.query(Query(collection=f"users/{ALICE}/inbox"))
    limits = await world.documents.query(Query(collection=f"users/{ALICE}/limits"))
    session = await world.documents.get(f"users/{ALICE}/chat_sessions/weather")
    assert session is not None
    receipts = [(await world.get_receipt(document.id)).json()["state"] for document in inbox]
    return {
        "chat": sorted(message.text for message in await world.list_chat_messages("weather")),
        "counted": session.fields["message_count"],
        "inbox": sorted(item["body"] for item in (await world.get_inbox())["items"]),
        "states": receipts,
        "slots": sum(len(limit.fields["consumers"]) for limit in limits),
        "phone": sorted(Phones().show(world.push.sent_messages).shown_by_token["phone"].values()),
        "devices": [device.id for device in await world.deps.stores.devices.list_all(ALICE)],
        "letters": await world.deps.stores.dead_letters.list_newest(),
    }


async def run_scenario(
    time: datetime, injector: FaultInjector, keys: Sequence[str]
) -> dict[str, Any]:
    world = await build_fixture_at(time, injector)
    injector.call_count = 0
    for key in keys:
        await post_until_accepted(world, injector, key)
    await deliver_until(world, injector, until=time + timedelta(hours=11))
    injector.fail_at_call = 0
    return await collect_outcome(world)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("failure", [Crash, Unavailable])
@pytest.mark.parametrize("time", [NOON, NIGHT], ids=["day", "night"])
async def test_an_interruption_at_any_call_leaves_the_same_result_t15_t16(
    time: datetime, failure: type[Exception], *, after: bool
):
    keys = KEYS[:2]
    expected = await run_scenario(time, FaultInjector(), keys)
    assert expected["phone"] == (
        ["Message k0.", "Message k1."] if time == NOON else ["2 notifications: Weather 2"]
    )

    for call_number in range(1, MAX_CALLS):
        injector = FaultInjector(call_number, fails_after_effect=after, failure=failure)
        assert await run_scenario(time, injector, keys) == expected, f"cut at call {call_number}"
        if not injector.failure_count:
            break

    assert 20 < call_number < MAX_CALLS


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("failure", [Crash, Unavailable])
async def test_a_digest_interrupted_while_deferring_is_pushed_when_the_longer_night_ends_t16(
    failure: type[Exception], *, after: bool
):
    for call_number in range(1, MAX_CALLS):
        injector = FaultInjector()
        world = await build_fixture_at(NIGHT, injector)
        await post_until_accepted(world, injector, "k0")
        await deliver_until(world, injector, until=NIGHT + timedelta(hours=1))
        await world.change_preferences(quiet_hours={"from": "22:00", "to": "09:00"})
        injector.fail_at_call, injector.fails_after_effect, injector.failure = (
            injector.call_count + call_number,
            after,
            failure,
        )
        await deliver_until(world, injector, until=NIGHT + timedelta(hours=12))

        texts_by_tag = Phones().show(world.push.sent_messages).shown_by_token.get("phone", {})
        assert [*texts_by_tag.values()] == ["1 notification: Weather 1"], (
            f"cut at call {call_number}"
        )
        if not injector.failure_count:
            break

    assert 5 < call_number < MAX_CALLS


ACTIONS = st.one_of(
    st.tuples(st.just("post"), st.sampled_from(KEYS)),
    st.tuples(st.just("deliver"), st.none()),
    st.tuples(st.just("again"), st.integers(0, 20)),
    st.tuples(st.just("wait"), st.sampled_from([1, 61, 600])),
    st.tuples(st.just("cut"), st.tuples(st.integers(1, 12), st.booleans())),
)


class Schedule:
    """Posts, repeats and deliveries in any order and number, and crashes at any call."""

    def __init__(self, world: NotificationsFixture, injector: FaultInjector) -> None:
        self.world = world
        self.injector = injector
        self.keys: set[str] = set()

    async def post(self, key: str) -> None:
        self.keys.add(key)
        await self.world.post(idempotency_key=key, message=f"Message {key}.")

    async def deliver(self, _: None) -> None:
        await self.world.deliver()

    async def again(self, number: int) -> None:
        """Deliver a stored notification, whether or not its task is due, ran or exists."""
        documents = await self.world.documents.query(Query(collection=f"users/{ALICE}/inbox"))
        if documents:
            body = {"uid": ALICE, "id": documents[number % len(documents)].id}
            await self.world.redeliver(body)

    async def wait(self, seconds: int) -> None:
        self.world.clock.advance(seconds=seconds)

    async def cut(self, where: tuple[int, bool]) -> None:
        calls, after = where
        self.injector.fail_at_call, self.injector.fails_after_effect = (
            self.injector.call_count + calls,
            after,
        )


@given(actions=st.lists(ACTIONS, min_size=3, max_size=25))
async def test_any_schedule_stores_and_pushes_each_key_once_t15_t16(
    actions: list[tuple[str, Any]],
):
    injector = FaultInjector()
    world = await build_fixture_at(EVENING, injector)
    schedule = Schedule(world, injector)
    for name, argument in [*actions, ("post", "k0")]:
        await getattr(schedule, name)(argument)
        injector.is_down = False
    injector.fail_at_call = 0
    for key in sorted(schedule.keys):
        await post_until_accepted(world, injector, key)
    await deliver_until(world, injector, until=EVENING + timedelta(hours=12))

    texts = sorted(f"Message {key}." for key in schedule.keys)
    outcome = await collect_outcome(world)
    event(f"cuts: {injector.failure_count}")
    assert (outcome["chat"], outcome["inbox"], outcome["counted"]) == (texts, texts, len(texts))
    assert outcome["slots"] == len(texts)
    assert outcome["states"] == ["sent"] * len(texts)
    pushed_count = sum(count_notifications(body) for body in outcome["phone"])
    assert pushed_count >= len(texts)
    if not injector.failure_count:
        assert pushed_count == len(texts)


def count_notifications(body: str) -> int:
    """Count the notifications in a push: a digest names the number."""
    return int(body.split(maxsplit=1)[0]) if body[0].isdigit() else 1

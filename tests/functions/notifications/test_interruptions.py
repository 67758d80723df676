"""T15 and T16: a crash or an outage between any two effects; sent again, it ends as if never cut."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from shared.adapters.sqlite_database import SqliteDatabase
from shared.domain.documents import Query
from shared.domain.errors import PreconditionFailed, Unavailable
from shared.domain.operation import LEASE
from tests.functions.notifications.test_digest import QUIET
from tests.functions.notifications.world import ALICE, World, world_on

NOON = datetime(2026, 3, 2, 12, 10, tzinfo=UTC)
EVENING = datetime(2026, 3, 2, 21, 50, tzinfo=UTC)
NIGHT = datetime(2026, 3, 2, 22, 30, tzinfo=UTC)
MOST_CALLS = 80
KEYS = ("k0", "k1", "k2", "k3", "k4")


class Crash(Exception):
    """The process ends here."""


@dataclass
class Power:
    """Counts what leaves the function. At call `at` it fails; a crash fails whatever comes after."""

    at: int = 0
    after: bool = False
    failure: type[Exception] = Crash
    calls: int = 0
    is_out: bool = False
    failed: int = 0

    async def around(self, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        if self.is_out:
            raise Crash
        if self.calls != self.at:
            return await call()
        if self.after:
            with suppress(PreconditionFailed):
                await call()
        self.is_out = self.failure is Crash
        self.failed += 1
        raise self.failure("as the test wants it")


@dataclass
class Watched:
    port: Any
    power: Power

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.port, name)

        async def call(*args: Any, **named: Any) -> Any:
            return await self.power.around(lambda: method(*args, **named))

        return call


@dataclass
class Phones:
    """What each device shows: one notification a tag."""

    shown: dict[str, dict[str, str]] = field(default_factory=dict)

    def show(self, sent: Sequence[Any]) -> "Phones":
        for tokens, message in sent:
            for token in tokens:
                self.shown.setdefault(token, {})[message.tag] = message.body
        return self


async def world_at(folder: Path, time: datetime, power: Power) -> World:
    """Let Weather tell Alice, who sleeps from ten to seven and has a phone and a dead tablet."""
    database = SqliteDatabase(folder / "keepsake.db")
    world = world_on(database)
    world.clock.time = time
    await world.register(chat_messages_enabled=True, chat_messages_notify=True)
    await world.add_devices("phone", "tablet")
    await world.prefer(quiet_hours=QUIET)
    watched = world_on(database, Watched(world.documents, power), clock=world.clock)
    parts: Any = {name: Watched(getattr(watched.deps, name), power) for name in ("tasks", "push")}
    watched.push.dead = frozenset({"tablet"})
    deps = replace(watched.deps, **parts)
    return replace(watched, deps=deps, documents=world.documents)


async def posted(world: World, power: Power, key: str) -> None:
    """Post until it is accepted, as an app does that hears of a failure, or of nothing."""
    for _ in range(5):
        answer = await world.post(idempotency_key=key, message=f"Message {key}.")
        power.is_out = False
        if answer.status_code == 200:
            return
        world.clock.pass_(seconds=LEASE.total_seconds())
    raise AssertionError("it is never accepted")


async def delivered(world: World, power: Power, *, until: datetime) -> None:
    """Let the queue deliver whatever becomes due until then."""
    while world.clock.now() < until:
        await world.deliver()
        power.is_out = False
        world.clock.pass_(seconds=1800)
    await world.deliver()
    power.is_out = False
    await world.deliver()


async def end(world: World) -> dict[str, Any]:
    """Return what Alice and the app have of it, without names and times."""
    inbox = await world.documents.query(Query(collection=f"users/{ALICE}/inbox"))
    slots = await world.documents.query(Query(collection=f"users/{ALICE}/limits"))
    session = await world.documents.get(f"users/{ALICE}/chat_sessions/weather")
    assert session is not None
    receipts = [(await world.receipt(document.id)).json()["state"] for document in inbox]
    return {
        "chat": sorted(message.text for message in await world.chat("weather")),
        "counted": session.fields["message_count"],
        "inbox": sorted(item["body"] for item in (await world.inbox())["items"]),
        "states": receipts,
        "slots": len(slots),
        "phone": sorted(Phones().show(world.push.sent).shown["phone"].values()),
        "devices": [device.id for device in await world.deps.devices.all(ALICE)],
        "letters": await world.deps.dead_letters.newest(),
    }


async def played(folder: Path, time: datetime, power: Power, keys: Sequence[str]) -> dict[str, Any]:
    world = await world_at(folder, time, power)
    power.calls = 0
    for key in keys:
        await posted(world, power, key)
    await delivered(world, power, until=time + timedelta(hours=11))
    power.at = 0
    return await end(world)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("failure", [Crash, Unavailable])
@pytest.mark.parametrize("time", [NOON, NIGHT], ids=["day", "night"])
async def test_t15_t16_cut_at_every_call_it_ends_as_if_never_cut(
    tmp_path: Path, time: datetime, failure: type[Exception], *, after: bool
):
    keys = KEYS[:2]
    wanted = await played(tmp_path / "wanted", time, Power(), keys)
    assert wanted["phone"] == (
        ["Message k0.", "Message k1."] if time == NOON else ["2 notifications: Weather 2"]
    )

    for at in range(1, MOST_CALLS):
        power = Power(at, after=after, failure=failure)
        assert await played(tmp_path / str(at), time, power, keys) == wanted, f"cut at call {at}"
        if not power.failed:
            break

    assert 20 < at < MOST_CALLS


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("failure", [Crash, Unavailable])
async def test_t16_a_digest_cut_while_it_holds_on_is_told_when_the_longer_night_ends(
    tmp_path: Path, failure: type[Exception], *, after: bool
):
    for at in range(1, MOST_CALLS):
        power = Power()
        world = await world_at(tmp_path / str(at), NIGHT, power)
        await posted(world, power, "k0")
        await delivered(world, power, until=NIGHT + timedelta(hours=1))
        await world.prefer(quiet_hours={"from": "22:00", "to": "09:00"})
        power.at, power.after, power.failure = power.calls + at, after, failure
        await delivered(world, power, until=NIGHT + timedelta(hours=12))

        shown = Phones().show(world.push.sent).shown.get("phone", {})
        assert [*shown.values()] == ["1 notification: Weather 1"], f"cut at call {at}"
        if not power.failed:
            break

    assert 5 < at < MOST_CALLS


ACTIONS = st.one_of(
    st.tuples(st.just("post"), st.sampled_from(KEYS)),
    st.tuples(st.just("deliver"), st.none()),
    st.tuples(st.just("again"), st.integers(0, 20)),
    st.tuples(st.just("wait"), st.sampled_from([1, 61, 600])),
    st.tuples(st.just("cut"), st.tuples(st.integers(1, 12), st.booleans())),
)


class Schedule:
    """Posts, repeats, deliveries in any order and number, and cuts at any call."""

    def __init__(self, world: World, power: Power) -> None:
        self.world = world
        self.power = power
        self.keys: set[str] = set()

    async def post(self, key: str) -> None:
        self.keys.add(key)
        await self.world.post(idempotency_key=key, message=f"Message {key}.")

    async def deliver(self, _: None) -> None:
        await self.world.deliver()

    async def again(self, number: int) -> None:
        """Deliver something that is stored, whether or not its task is due, ran or exists."""
        stored = await self.world.documents.query(Query(collection=f"users/{ALICE}/inbox"))
        if stored:
            body = {"uid": ALICE, "id": stored[number % len(stored)].id}
            await self.world.redeliver(body)

    async def wait(self, seconds: int) -> None:
        self.world.clock.pass_(seconds=seconds)

    async def cut(self, where: tuple[int, bool]) -> None:
        calls, after = where
        self.power.at, self.power.after = self.power.calls + calls, after


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(actions=st.lists(ACTIONS, min_size=3, max_size=25))
async def test_t15_t16_whatever_the_schedule_each_key_is_told_and_kept_once(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, Any]]
):
    power = Power()
    world = await world_at(tmp_path_factory.mktemp("schedule"), EVENING, power)
    schedule = Schedule(world, power)
    for name, argument in [*actions, ("post", "k0")]:
        await getattr(schedule, name)(argument)
        power.is_out = False
    power.at = 0
    for key in sorted(schedule.keys):
        await posted(world, power, key)
    await delivered(world, power, until=EVENING + timedelta(hours=12))

    said = sorted(f"Message {key}." for key in schedule.keys)
    seen = await end(world)
    event(f"cuts: {power.failed}")
    assert (seen["chat"], seen["inbox"], seen["counted"]) == (said, said, len(said))
    assert seen["slots"] == len(said)
    assert seen["states"] == ["sent"] * len(said)
    told = sum(heard(body) for body in seen["phone"])
    assert told >= len(said)
    if not power.failed:
        assert told == len(said)


def heard(body: str) -> int:
    """Count what a push tells of: a digest says how many."""
    return int(body.split(maxsplit=1)[0]) if body[0].isdigit() else 1

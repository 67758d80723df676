"""T9: how much goes out to an app, what is written down of it, and what becomes of one that fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest

from functions.tool_proxy.apps.verdict import FAILURES
from functions.tool_proxy.calls.call import call_tool
from functions.tool_proxy.calls.quota import PER_APP, PER_USER
from functions.tool_proxy.calls.traffic import MAX_AT_ONCE, PER_MINUTE
from functions.tool_proxy.wiring import ToolProxyDeps
from shared.data.app_calls import AppCalls
from shared.domain.app import AppCall
from shared.domain.breaker import FAILURES as IN_A_ROW
from shared.domain.documents import Set
from shared.domain.errors import (
    KeepsakeError,
    NotAllowed,
    TimedOut,
    TooLarge,
    ToolFailed,
    ToolRefused,
    Unavailable,
)
from shared.domain.hours import hour_of
from shared.domain.ids import AppId, UserId
from shared.ports import EgressRequest, EgressResponse
from tests.functions.tool_proxy.world import ALICE, World

BOB = UserId("bob")


async def install(world: World, uid: str = ALICE) -> AppId:
    return AppId((await world.install(uid))["id"])


async def failed(world: World, app_id: AppId) -> str:
    with pytest.raises(ToolFailed) as raised:
        await world.call(app_id, q="x")
    return str(raised.value)


async def logged(world: World, app_id: AppId) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = (await world.request("GET", f"/v1/apps/{app_id}/calls")).json()
    return listed


async def test_t9_after_five_failures_an_app_has_its_rest_and_others_do_not_notice(world: World):
    broken, sound = await install(world), await install(world)
    world.notes.statuses = {broken: 503}

    for _ in range(IN_A_ROW):
        assert "HTTP 503" in await failed(world, broken)
    resting = await failed(world, broken)
    other = await world.call(sound, q="x")

    assert "failed several times" in resting
    assert other == "Milk, eggs."
    assert len(world.notes.calls) == IN_A_ROW + 1


async def test_t9_after_its_rest_one_call_tries_whether_it_works_again(world: World):
    app_id = await install(world)
    world.notes.statuses = {app_id: 500}
    for _ in range(IN_A_ROW):
        await failed(world, app_id)
    world.clock.pass_(seconds=30)

    tried, refused = await failed(world, app_id), await failed(world, app_id)
    world.clock.pass_(seconds=30)
    world.notes.statuses = {}

    assert ("HTTP 500" in tried, "several times" in refused) == (True, True)
    assert [await world.call(app_id, q="x") for _ in range(2)] == ["Milk, eggs."] * 2


@pytest.mark.parametrize("status", [400, 401, 404, 429])
async def test_t9_an_app_that_refuses_is_at_work(world: World, status: int):
    app_id = await install(world)
    world.notes.statuses = {app_id: status}

    for _ in range(IN_A_ROW + 1):
        await failed(world, app_id)

    assert len(world.notes.calls) == IN_A_ROW + 1
    assert {(call["failed"], call["error"]) for call in await logged(world, app_id)} == {
        (False, f"HTTP {status}")
    }


class Failing:
    """A way out that leads nowhere."""

    def __init__(self, error: KeepsakeError) -> None:
        self._error = error

    async def send(self, request: EgressRequest) -> EgressResponse:
        raise self._error


@pytest.mark.parametrize(
    ("error", "text", "noted"),
    [
        (TimedOut(), "did not respond within 30 seconds", "timeout"),
        (Unavailable(), "may be unreachable", "unreachable"),
        (NotAllowed("The host is a local name."), "local name", "The host is a local name."),
        (TooLarge("The answer is over 9 bytes."), "over 9 bytes", "The answer is over 9 bytes."),
    ],
)
async def test_t6_t9_what_does_not_come_back_is_said_and_counts_against_the_app(
    world: World, error: KeepsakeError, text: str, noted: str
):
    app_id = await install(world)
    deps = replace(world.deps, egress=Failing(error))

    with pytest.raises(ToolFailed, match=text):
        await call_tool(deps, ALICE, app_id, "find", {"q": "x"})

    [call] = await logged(world, app_id)
    assert (call["failed"], call["error"]) == (True, noted)


@contextmanager
def holding(world: World, app_id: AppId) -> Iterator[None]:
    world.notes.slow.add(app_id)
    try:
        yield
    finally:
        world.notes.go_on.set()


async def test_t9_a_slow_app_holds_so_many_calls_and_no_other_app(world: World):
    slow, quick = await install(world), await install(world)
    answers: list[str] = []

    async def call() -> None:
        answers.append(await world.call(slow, q="x"))

    async with anyio.create_task_group() as tasks:
        with holding(world, slow):
            for _ in range(MAX_AT_ONCE):
                tasks.start_soon(call)
            for _ in range(MAX_AT_ONCE):
                await anyio.to_thread.run_sync(lambda: world.notes.waiting.get(timeout=30))
            crowded = await failed(world, slow)
            beside = await world.call(quick, q="x")

    assert "too many calls to answer" in crowded
    assert [beside, *answers] == ["Milk, eggs."] * (MAX_AT_ONCE + 1)
    assert await world.call(slow, q="x") == "Milk, eggs.", "the places are free again"


async def test_a_call_ends_when_the_turn_that_made_it_is_stopped(world: World):
    """A stop and a deadline reach the app: its connection is closed."""
    app_id = await install(world)
    with holding(world, app_id):
        async with anyio.create_task_group() as turn:
            turn.start_soon(partial(world.call, app_id, q="x"))
            await anyio.to_thread.run_sync(lambda: world.notes.waiting.get(timeout=30))
            turn.cancel_scope.cancel()

        left = await anyio.to_thread.run_sync(lambda: world.notes.left.get(timeout=30))

    assert left == app_id


async def test_a_call_that_was_broken_off_is_logged_and_blamed_on_nobody(world: World):
    app_id = await install(world)
    world.notes.statuses = {app_id: 500}
    for _ in range(IN_A_ROW - 1):
        await failed(world, app_id)
    world.clock.pass_(seconds=1)
    with holding(world, app_id):
        async with anyio.create_task_group() as turn:
            turn.start_soon(call_tool, world.deps, ALICE, app_id, "find", {"q": "x"})
            await anyio.to_thread.run_sync(lambda: world.notes.waiting.get(timeout=30))
            turn.cancel_scope.cancel()

    broken_off, *_ = await logged(world, app_id)
    assert (broken_off["failed"], broken_off["error"]) == (False, "broken off")
    assert "HTTP 500" in await failed(world, app_id)
    assert "several times in a row" in await failed(world, app_id), "one more was enough"


async def made(world: World, uid: UserId, counts: dict[AppId, int]) -> None:
    hour = hour_of(world.clock.now())
    fields = {"apps": counts, "expires_at": hour + timedelta(hours=1)}
    await world.documents.write(Set(f"users/{uid}/limits/calls-{hour:%Y-%m-%d-%H}", fields))


async def test_t9_a_user_calls_an_app_so_often_an_hour_and_hears_when_again(world: World):
    app_id = await install(world)
    await install(world, BOB)
    await world.request("POST", "/v1/apps/enable", uid=BOB, params={"app_id": app_id})
    world.clock.time = hour_of(world.clock.now()) + timedelta(minutes=48, seconds=30)
    await made(world, ALICE, {app_id: PER_APP - 1})

    last = await world.call(app_id, q="x")
    told = await failed(world, app_id)
    others = await world.toolbox.call(BOB, app_id, "find", {"q": "x"})
    world.clock.pass_(minutes=12)

    assert (last, others) == ("Milk, eggs.", "Milk, eggs.")
    assert told.startswith(f"The limit of {PER_APP} calls an hour to Notes is reached; 0 remain,")
    assert "begins in 12 minutes" in told
    assert await world.call(app_id, q="x") == "Milk, eggs."


async def test_t9_a_user_calls_all_apps_together_so_often(world: World):
    app_id = await install(world)
    await made(world, ALICE, {app_id: 0, **{AppId(f"A{n}"): PER_USER // 6 for n in range(6)}})

    assert "all apps and services together" in await failed(world, app_id)
    assert world.notes.calls == []


async def test_t9_an_app_gets_so_many_calls_a_minute_whoever_calls(world: World):
    lane, now = world.deps.traffic.lane(AppId("A")), world.clock.now()
    for _ in range(PER_MINUTE):
        lane.let_out(now)

    with pytest.raises(ToolFailed, match="takes the next in 1 s"):
        lane.let_out(now)

    world.deps.traffic.lane(AppId("B")).let_out(now)
    lane.let_out(now + timedelta(minutes=1) / PER_MINUTE)


async def test_t20_a_developer_sees_calls_and_nothing_of_what_was_said(world: World):
    app_id = await install(world)
    await world.call(app_id, q="a secret wish")
    world.notes.statuses = {app_id: 500}
    world.clock.pass_(seconds=1)
    await failed(world, app_id)

    newest, first = await logged(world, app_id)
    kept = str(await world.documents.get(f"apps/{app_id}/calls/{first['id']}"))

    assert (first["kind"], first["name"], first["failed"], first["error"]) == (
        "tool",
        "find",
        False,
        None,
    )
    assert (newest["failed"], newest["error"]) == (True, "HTTP 500")
    assert newest["user"] == first["user"] != ALICE
    assert "secret" not in kept
    assert ALICE not in kept
    refused = await world.request("GET", f"/v1/apps/{app_id}/calls", uid=ALICE)
    assert refused.status_code == 403


async def test_a_refused_call_leaves_no_trace_with_the_developer(world: World):
    app_id = await install(world)

    with pytest.raises(ToolRefused):
        await world.call(app_id, q=3)

    assert await logged(world, app_id) == []


class Unwritable(AppCalls):
    """A store that takes nothing."""

    async def note(self, *_: Any, **__: Any) -> None:
        raise Unavailable("no store")


async def test_an_answer_comes_though_nothing_can_be_written_down(world: World):
    app_id = await install(world)
    deps = replace(world.deps, app_calls=Unwritable(world.documents))

    assert await call_tool(deps, ALICE, app_id, "find", {"q": "x"}) == "Milk, eggs."


async def log_failures(world: World, app_id: AppId, count: int, *, hours: float) -> None:
    """Let so many failures begin so long ago."""
    for n in range(count):
        at = world.clock.now() - timedelta(hours=hours) + timedelta(minutes=n)
        call = AppCall(id=f"f{n}", at=at, kind="tool", name="t", ms=1, user="u", failed=True)
        await world.deps.calls.add(app_id, call)


async def seen(world: World, app_id: AppId, uid: str = "dev") -> Any:
    return (await world.request("GET", f"/v1/apps/{app_id}", uid=uid)).json()["switched_off"]


async def broken_app(world: World, *, hours: float, failures: int = FAILURES - 1) -> AppId:
    """Install an app, let time pass, and let it have failed so often since so long."""
    app_id = await install(world)
    world.clock.pass_(hours=48)
    await log_failures(world, app_id, failures, hours=hours)
    world.notes.statuses = {app_id: 500}
    return app_id


async def test_t9_an_app_that_failed_all_day_is_switched_off_and_its_developer_told(world: World):
    app_id = await broken_app(world, hours=24)

    await failed(world, app_id)
    told = await failed(world, app_id)

    assert "switched off" in told
    assert len(world.notes.calls) == 1
    off = await seen(world, app_id)
    assert "Every call failed for a day" in off["reason"]
    assert await seen(world, app_id, ALICE) == off
    [(target, ids)] = world.tasks.created.values()
    notice = await world.deps.inbox.get(UserId("dev"), ids["id"])
    assert (await world.deps.inbox.delivered(UserId("dev"), limit=9)).items == [notice]
    assert (target, ids["uid"]) == ("deliver_notification", "dev")
    assert notice is not None
    assert notice.title == "Notes was switched off"


async def test_t9_a_manifest_in_order_switches_the_app_on_and_forgives(world: World):
    app_id = await broken_app(world, hours=24)
    await failed(world, app_id)

    refreshed = await world.request("POST", f"/v1/apps/{app_id}/refresh-manifest")
    world.clock.pass_(minutes=11)
    again = await failed(world, app_id)

    assert refreshed.status_code == 200
    assert "HTTP 500" in again
    assert await seen(world, app_id) is None


async def test_t9_two_instances_come_to_one_verdict_and_tell_it_once(world: World):
    app_id = await broken_app(world, hours=24)
    others = replace(world.deps, traffic=type(world.deps.traffic)())
    app = await world.deps.apps.get(app_id)

    async def call(deps: ToolProxyDeps) -> None:
        with pytest.raises(ToolFailed):
            await call_tool(deps, ALICE, app_id, "find", {"q": "x"})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, world.deps)
        tasks.start_soon(call, others)

    assert app.switched_off is None
    assert await seen(world, app_id)
    assert len(world.tasks.created) == 1


@pytest.mark.parametrize(
    ("hours", "failures", "working"),
    [(23.9, FAILURES - 1, 0), (30, FAILURES - 2, 0), (30, FAILURES - 1, 1)],
    ids=["not for a day", "not often enough", "with a call that worked"],
)
async def test_t9_an_app_stays_on_that_did_not_fail_so_long(
    world: World, hours: float, failures: int, working: int
):
    app_id = await broken_app(world, hours=hours, failures=failures)
    for n in range(working):
        at = world.clock.now() - timedelta(hours=1)
        worked = AppCall(id=f"ok{n}", at=at, kind="tool", name="t", ms=1, user="u")
        await world.deps.calls.add(app_id, worked)

    await failed(world, app_id)

    assert await seen(world, app_id) is None

"""Outgoing calls: limits, circuit breaker, call log, and switch-off of failing apps (T9)."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest

from functions.tool_proxy.app_limiter import MAX_CALLS_PER_MINUTE, MAX_CONCURRENT_CALLS
from functions.tool_proxy.call_quota import MAX_CALLS_PER_APP_HOUR, MAX_CALLS_PER_USER_HOUR
from functions.tool_proxy.calls.call import call_tool
from functions.tool_proxy.deps import ToolProxyDeps
from functions.tool_proxy.registry.auto_disable import MIN_FAILURES
from shared.data.apps.app_calls import AppCalls
from shared.domain.apps.app import AppCall
from shared.domain.errors import (
    KeepsakeError,
    NotAllowed,
    TimedOut,
    TooLarge,
    ToolFailed,
    ToolRefused,
    Unavailable,
)
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Set
from shared.ports import EgressRequest, EgressResponse
from shared.resilience.circuit_breaker import FAILURE_THRESHOLD as IN_A_ROW
from shared.resilience.hour_windows import floor_to_hour
from tests.fakes import replace_stores
from tests.fixtures.notes_app import NotesFixture
from tests.fixtures.tool_pins import load_pin
from tests.fixtures.tool_proxy import ALICE, replace_egress

BOB = UserId("bob")


async def install_app(world: NotesFixture, uid: str = ALICE) -> AppId:
    return AppId((await world.install(uid))["id"])


async def call_and_read_failure(world: NotesFixture, app_id: AppId) -> str:
    with pytest.raises(ToolFailed) as raised:
        await world.call(app_id, q="x")
    return str(raised.value)


async def call_find(deps: ToolProxyDeps, app_id: AppId) -> str:
    pin = await load_pin(deps.stores, app_id, "find")
    result = await call_tool(deps, ALICE, app_id, "find", {"q": "x"}, pin=pin)
    return result.visible_text


async def read_call_log(world: NotesFixture, app_id: AppId) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (await world.request("GET", f"/v1/apps/{app_id}/calls")).json()
    return entries


async def test_the_circuit_breaker_opens_after_five_failures_for_that_app_alone_t9(
    world: NotesFixture,
):
    failing_app, working_app = await install_app(world), await install_app(world)
    world.notes.statuses = {failing_app: 503}

    for _ in range(IN_A_ROW):
        assert "HTTP 503" in await call_and_read_failure(world, failing_app)
    circuit_open_text = await call_and_read_failure(world, failing_app)
    answer = await world.call(working_app, q="x")

    assert "failed several times" in circuit_open_text
    assert answer == "Milk, eggs."
    assert len(world.notes.calls) == IN_A_ROW + 1


async def test_a_half_open_circuit_breaker_lets_one_call_through_t9(world: NotesFixture):
    app_id = await install_app(world)
    world.notes.statuses = {app_id: 500}
    for _ in range(IN_A_ROW):
        await call_and_read_failure(world, app_id)
    world.clock.advance(seconds=30)

    trial_error, circuit_open_text = (
        await call_and_read_failure(world, app_id),
        await call_and_read_failure(world, app_id),
    )
    world.clock.advance(seconds=30)
    world.notes.statuses = {}

    assert ("HTTP 500" in trial_error, "several times" in circuit_open_text) == (True, True)
    assert [await world.call(app_id, q="x") for _ in range(2)] == ["Milk, eggs."] * 2


@pytest.mark.parametrize("status", [400, 401, 404, 429])
async def test_client_error_statuses_do_not_open_the_circuit_breaker_t9(
    world: NotesFixture, status: int
):
    app_id = await install_app(world)
    world.notes.statuses = {app_id: status}

    for _ in range(IN_A_ROW + 1):
        await call_and_read_failure(world, app_id)

    assert len(world.notes.calls) == IN_A_ROW + 1
    assert {(call["failed"], call["error"]) for call in await read_call_log(world, app_id)} == {
        (False, f"HTTP {status}")
    }


class FailingEgress:
    """An egress that always fails."""

    def __init__(self, error: KeepsakeError) -> None:
        self._error = error

    def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None:
        """Refuse none."""

    async def send(self, request: EgressRequest) -> EgressResponse:
        raise self._error


@pytest.mark.parametrize(
    ("error", "text", "logged_error"),
    [
        (TimedOut(), "did not respond within 30 seconds", "timeout"),
        (Unavailable(), "may be unreachable", "unreachable"),
        (NotAllowed("The host is a local name."), "local name", "The host is a local name."),
        (TooLarge("The answer is over 9 bytes."), "over 9 bytes", "The answer is over 9 bytes."),
    ],
)
async def test_a_call_without_an_answer_is_explained_and_counts_as_a_failure_t6_t9(
    world: NotesFixture, error: KeepsakeError, text: str, logged_error: str
):
    app_id = await install_app(world)
    deps = replace_egress(world.deps, FailingEgress(error))

    with pytest.raises(ToolFailed, match=text):
        await call_find(deps, app_id)

    [call] = await read_call_log(world, app_id)
    assert (call["failed"], call["error"]) == (True, logged_error)


@contextmanager
def hold_responses(world: NotesFixture, app_id: AppId) -> Iterator[None]:
    world.notes.slow.add(app_id)
    try:
        yield
    finally:
        world.notes.go_on.set()


async def test_concurrent_calls_to_a_slow_app_are_limited_for_that_app_alone_t9(
    world: NotesFixture,
):
    slow, quick = await install_app(world), await install_app(world)
    answers: list[str] = []

    async def call() -> None:
        answers.append(await world.call(slow, q="x"))

    async with anyio.create_task_group() as tasks:
        with hold_responses(world, slow):
            for _ in range(MAX_CONCURRENT_CALLS):
                tasks.start_soon(call)
            for _ in range(MAX_CONCURRENT_CALLS):
                await anyio.to_thread.run_sync(lambda: world.notes.waiting.get(timeout=30))
            app_busy_text = await call_and_read_failure(world, slow)
            quick_answer = await world.call(quick, q="x")

    assert "too many calls to answer" in app_busy_text
    assert [quick_answer, *answers] == ["Milk, eggs."] * (MAX_CONCURRENT_CALLS + 1)
    assert await world.call(slow, q="x") == "Milk, eggs.", "the places are free again"


async def test_stopping_a_turn_closes_the_connection_of_its_call(world: NotesFixture):
    """A stop and a deadline reach the app: its connection is closed."""
    app_id = await install_app(world)
    with hold_responses(world, app_id):
        async with anyio.create_task_group() as turn:
            turn.start_soon(partial(world.call, app_id, q="x"))
            await anyio.to_thread.run_sync(lambda: world.notes.waiting.get(timeout=30))
            turn.cancel_scope.cancel()

        disconnected_app = await anyio.to_thread.run_sync(
            lambda: world.notes.disconnected.get(timeout=30)
        )

    assert disconnected_app == app_id


async def test_a_cancelled_call_is_logged_without_counting_as_a_failure(world: NotesFixture):
    app_id = await install_app(world)
    world.notes.statuses = {app_id: 500}
    for _ in range(IN_A_ROW - 1):
        await call_and_read_failure(world, app_id)
    world.clock.advance(seconds=1)
    with hold_responses(world, app_id):
        async with anyio.create_task_group() as turn:
            turn.start_soon(call_find, world.deps, app_id)
            await anyio.to_thread.run_sync(lambda: world.notes.waiting.get(timeout=30))
            turn.cancel_scope.cancel()

    cancelled_call, *_ = await read_call_log(world, app_id)
    assert (cancelled_call["failed"], cancelled_call["error"]) == (False, "broken off")
    assert "HTTP 500" in await call_and_read_failure(world, app_id)
    assert "several times in a row" in await call_and_read_failure(world, app_id), (
        "one more was enough"
    )


async def set_call_counts(world: NotesFixture, uid: UserId, counts: dict[AppId, int]) -> None:
    hour = floor_to_hour(world.clock.now())
    fields = {"apps": counts, "expires_at": hour + timedelta(hours=1)}
    await world.documents.write(Set(f"users/{uid}/limits/calls-{hour:%Y-%m-%d-%H}", fields))


async def test_calls_per_user_app_and_hour_are_limited_and_the_error_says_when_to_retry_t9(
    world: NotesFixture,
):
    app_id = await install_app(world)
    await install_app(world, BOB)
    await world.request("POST", "/v1/apps/enable", uid=BOB, params={"app_id": app_id})
    world.clock.time = floor_to_hour(world.clock.now()) + timedelta(minutes=48, seconds=30)
    await set_call_counts(world, ALICE, {app_id: MAX_CALLS_PER_APP_HOUR - 1})

    last_allowed_answer = await world.call(app_id, q="x")
    limit_text = await call_and_read_failure(world, app_id)
    answer_to_another_user = await world.toolbox.call(
        BOB,
        app_id,
        "find",
        {"q": "x"},
        call_id="c1",
        pin=await load_pin(world.deps.stores, app_id, "find"),
    )
    world.clock.advance(minutes=12)

    assert last_allowed_answer == answer_to_another_user.content == "Milk, eggs."
    assert limit_text.startswith(
        f"The limit of {MAX_CALLS_PER_APP_HOUR} calls an hour to Notes is reached; 0 remain,"
    )
    assert "begins in 12 minutes" in limit_text
    assert await world.call(app_id, q="x") == "Milk, eggs."


async def test_calls_per_user_and_hour_are_limited_across_all_apps_t9(world: NotesFixture):
    app_id = await install_app(world)
    await set_call_counts(
        world,
        ALICE,
        {app_id: 0, **{AppId(f"A{n}"): MAX_CALLS_PER_USER_HOUR // 6 for n in range(6)}},
    )

    assert "all apps and services together" in await call_and_read_failure(world, app_id)
    assert world.notes.calls == []


async def test_calls_per_app_and_minute_are_rate_limited_across_all_users_t9(
    world: NotesFixture,
):
    limiter, now = world.deps.app_limiters.get_limiter(AppId("A")), world.clock.now()
    for _ in range(MAX_CALLS_PER_MINUTE):
        limiter.admit(now)

    with pytest.raises(ToolFailed, match="takes the next in 1 s"):
        limiter.admit(now)

    world.deps.app_limiters.get_limiter(AppId("B")).admit(now)
    limiter.admit(now + timedelta(minutes=1) / MAX_CALLS_PER_MINUTE)


async def test_the_call_log_for_developers_holds_no_arguments_and_no_user_id_t20(
    world: NotesFixture,
):
    app_id = await install_app(world)
    await world.call(app_id, q="a secret wish")
    world.notes.statuses = {app_id: 500}
    world.clock.advance(seconds=1)
    await call_and_read_failure(world, app_id)

    newest, first = await read_call_log(world, app_id)
    stored_call = str(await world.documents.get(f"apps/{app_id}/calls/{first['id']}"))

    assert (first["kind"], first["name"], first["failed"], first["error"]) == (
        "tool",
        "find",
        False,
        None,
    )
    assert (newest["failed"], newest["error"]) == (True, "HTTP 500")
    assert newest["user"] == first["user"] != ALICE
    assert "secret" not in stored_call
    assert ALICE not in stored_call
    response_to_another_user = await world.request("GET", f"/v1/apps/{app_id}/calls", uid=ALICE)
    assert response_to_another_user.status_code == 403


async def test_a_refused_call_is_not_in_the_call_log(world: NotesFixture):
    app_id = await install_app(world)

    with pytest.raises(ToolRefused):
        await world.call(app_id, q=3)

    assert await read_call_log(world, app_id) == []


class UnwritableAppCalls(AppCalls):
    """A store that cannot be written."""

    async def record_call(self, *_: Any, **__: Any) -> None:
        raise Unavailable("no store")


async def test_a_failing_call_log_does_not_fail_the_call(world: NotesFixture):
    app_id = await install_app(world)
    stores = replace_stores(world.deps.stores, app_calls=UnwritableAppCalls(world.documents))
    deps = replace(world.deps, stores=stores)

    assert await call_find(deps, app_id) == "Milk, eggs."


async def log_failures(world: NotesFixture, app_id: AppId, count: int, *, hours: float) -> None:
    """Log `count` failures, a minute apart, the first so many hours ago."""
    for n in range(count):
        at = world.clock.now() - timedelta(hours=hours) + timedelta(minutes=n)
        call = AppCall(id=f"f{n}", at=at, kind="tool", name="t", ms=1, user="u", failed=True)
        await world.deps.stores.call_log.add(app_id, call)


async def read_switched_off(world: NotesFixture, app_id: AppId, uid: str = "dev") -> Any:
    return (await world.request("GET", f"/v1/apps/{app_id}", uid=uid)).json()["switched_off"]


async def install_failing_app(
    world: NotesFixture, *, hours: float, failures: int = MIN_FAILURES - 1
) -> AppId:
    """Install an app whose call log has so many failures, the first so many hours ago."""
    app_id = await install_app(world)
    world.clock.advance(hours=48)
    await log_failures(world, app_id, failures, hours=hours)
    world.notes.statuses = {app_id: 500}
    return app_id


async def test_an_app_that_failed_for_a_day_is_disabled_and_its_developer_notified_t9(
    world: NotesFixture,
):
    app_id = await install_failing_app(world, hours=24)

    await call_and_read_failure(world, app_id)
    disabled_text = await call_and_read_failure(world, app_id)

    assert "switched off" in disabled_text
    assert len(world.notes.calls) == 1
    switched_off = await read_switched_off(world, app_id)
    assert "Every call failed for a day" in switched_off["reason"]
    assert await read_switched_off(world, app_id, ALICE) == switched_off
    [task] = world.tasks.created
    notice = await world.deps.stores.inbox.get(UserId("dev"), task.body["id"])
    assert (await world.deps.stores.inbox.list_delivered(UserId("dev"), limit=9)).items == [notice]
    assert (task.target, task.body["uid"]) == ("deliver_notification", "dev")
    assert notice is not None
    assert notice.title == "Notes was switched off"


async def test_refreshing_the_manifest_enables_a_disabled_app_again_t9(world: NotesFixture):
    app_id = await install_failing_app(world, hours=24)
    await call_and_read_failure(world, app_id)

    response = await world.request("POST", f"/v1/apps/{app_id}/refresh-manifest")
    world.clock.advance(minutes=11)
    error_text = await call_and_read_failure(world, app_id)

    assert response.status_code == 200
    assert "HTTP 500" in error_text
    assert await read_switched_off(world, app_id) is None


async def test_two_instances_that_disable_an_app_notify_its_developer_once_t9(
    world: NotesFixture,
):
    app_id = await install_failing_app(world, hours=24)
    other_deps = replace(world.deps, app_limiters=type(world.deps.app_limiters)())
    app = await world.deps.stores.apps.get(app_id)

    async def call(deps: ToolProxyDeps) -> None:
        with pytest.raises(ToolFailed):
            await call_find(deps, app_id)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call, world.deps)
        tasks.start_soon(call, other_deps)

    assert app.switched_off is None
    assert await read_switched_off(world, app_id)
    assert len(world.tasks.created) == 1


@pytest.mark.parametrize(
    ("hours", "failures", "working"),
    [(23.9, MIN_FAILURES - 1, 0), (30, MIN_FAILURES - 2, 0), (30, MIN_FAILURES - 1, 1)],
    ids=["not for a day", "not often enough", "with a call that worked"],
)
async def test_an_app_without_a_full_day_of_failures_stays_enabled_t9(
    world: NotesFixture, hours: float, failures: int, working: int
):
    app_id = await install_failing_app(world, hours=hours, failures=failures)
    for n in range(working):
        at = world.clock.now() - timedelta(hours=1)
        successful_call = AppCall(id=f"ok{n}", at=at, kind="tool", name="t", ms=1, user="u")
        await world.deps.stores.call_log.add(app_id, successful_call)

    await call_and_read_failure(world, app_id)

    assert await read_switched_off(world, app_id) is None

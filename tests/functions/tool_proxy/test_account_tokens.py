"""Account tokens: refreshed once under concurrency, and never lost when they rotate (P6)."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest

from functions.tool_proxy.accounts import account_tokens, connections
from functions.tool_proxy.accounts.service_calls import call_service
from functions.tool_proxy.oauth.token_refresh import MAX_POLLS
from shared.adapters.system_clock import SystemClock
from shared.data.apps.refresh_claims import LEASE_TTL
from shared.data.apps.token_store import AccountTokenStore
from shared.domain.apps.connection import Tokens
from shared.domain.errors import ToolFailed
from shared.domain.ids import UserId
from shared.domain.store.documents import Set
from shared.integrations import load_integration
from shared.ports import Documents
from tests.fakes import AutoAdvanceClock
from tests.fault_injection import Crash, FaultInjector, WatchedPort
from tests.fixtures.accounts import (
    ADA,
    AccountsFixture,
    open_accounts_fixture,
    open_accounts_fixture_on,
)
from tests.fixtures.tool_proxy import KEYS
from tests.recorded import recorded
from tests.servers import run_server
from tests.servers.provider import FakeProvider

EVENTS = "/calendar/v3/calendars/primary/events"
EXPIRED_LIFETIME = timedelta(seconds=-1)
RECONNECT = "^Your Google Calendar connection has expired. Reconnect it in the settings.$"


@pytest.fixture
def provider() -> FakeProvider:
    answers = {f"GET {EVENTS}": [(200, recorded("google_calendar/no_events"))]}
    return FakeProvider(rotates=True, answers=answers)


@pytest.fixture
async def world(tmp_path: Path, provider: FakeProvider) -> AsyncIterator[AccountsFixture]:
    async with open_accounts_fixture(tmp_path, provider, clock=SystemClock()) as world:
        yield world


async def list_events(world: AccountsFixture, uid: UserId = ADA) -> str:
    result = await call_service(world.services, uid, "google_calendar", "get_calendar_events", {})
    return result.shown_text or result.visible_text


async def load_tokens(world: AccountsFixture) -> Tokens:
    stored_tokens = await world.services.tokens.get(ADA, "google_calendar")
    assert stored_tokens is not None
    return stored_tokens.tokens


async def load_health(world: AccountsFixture) -> str:
    connection = await world.services.stores.connections.get(ADA, "google_calendar")
    assert connection is not None
    return connection.health


async def test_200_calls_with_an_expired_token_refresh_it_once_p6(world: AccountsFixture):
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)

    service, services = load_integration("google_calendar"), world.services
    requests = (account_tokens.get_valid_tokens(services, ADA, service) for _ in range(200))
    stored_tokens = await asyncio.gather(*requests)

    assert {tokens.tokens.access_token for tokens in stored_tokens} == {"access-2"}
    assert world.provider.refresh_count == 1
    assert (await load_tokens(world)).refresh_token == "refresh-2"


@pytest.mark.emulators
async def test_20_calls_refresh_once_on_firestore_p6(firestore_documents: Documents):
    provider = FakeProvider(
        rotates=True, answers={f"GET {EVENTS}": [(200, recorded("google_calendar/no_events"))]}
    )
    with run_server(provider.app) as url:
        async with open_accounts_fixture_on(
            firestore_documents, provider, url, SystemClock()
        ) as world:
            await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)

            await asyncio.gather(*(list_events(world) for _ in range(20)))

    assert provider.refresh_count == 1


async def test_a_refused_token_is_refreshed_once_and_the_calls_succeed_p6(world: AccountsFixture):
    await world.connect("google_calendar", lifetime=timedelta(hours=1))
    world.provider.access_tokens.clear()

    answers = await asyncio.gather(*(list_events(world) for _ in range(20)))

    assert set(answers) == {"There are no such events in the calendar."}
    assert world.provider.refresh_count == 1


async def test_a_valid_token_is_not_refreshed(world: AccountsFixture):
    await world.connect("google_calendar", lifetime=timedelta(hours=1))

    await list_events(world)

    assert world.provider.refresh_count == 0


async def test_a_service_that_refuses_the_new_token_too_asks_to_reconnect_p7(
    world: AccountsFixture,
):
    world.provider.answers = {f"GET {EVENTS}": [(401, {"error": {"code": 401}})]}
    await world.connect("google_calendar")

    with pytest.raises(ToolFailed, match=RECONNECT):
        await list_events(world)

    assert len(world.provider.requests) == 2


@pytest.mark.parametrize("service_says", ["refused refresh token", "no refresh token"])
async def test_a_failed_refresh_asks_to_reconnect_and_is_not_repeated_p7(
    world: AccountsFixture, service_says: str
):
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
    if service_says == "no refresh token":
        stored_tokens = await world.services.tokens.get(ADA, "google_calendar")
        assert stored_tokens is not None
        bare = replace(stored_tokens.tokens, refresh_token=None)
        await world.services.tokens.replace(ADA, "google_calendar", stored_tokens, bare)
    world.provider.refresh_tokens.clear()

    for _ in range(2):
        with pytest.raises(ToolFailed, match=RECONNECT):
            await list_events(world)

    assert await load_health(world) == "expired"
    assert world.provider.refresh_count <= 1
    assert world.provider.requests == []


async def test_connecting_again_repairs_an_expired_connection(world: AccountsFixture):
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
    world.provider.refresh_tokens.clear()
    with suppress(ToolFailed):
        await list_events(world)

    await world.connect("google_calendar")

    assert await list_events(world) == "There are no such events in the calendar."
    assert await load_health(world) == "connected"


async def test_an_unavailable_provider_keeps_the_connection(world: AccountsFixture):
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
    world.provider.failure_status = 503

    with pytest.raises(ToolFailed, match="cannot be reached at the moment"):
        await list_events(world)
    world.provider.failure_status = None

    assert await list_events(world) == "There are no such events in the calendar."


async def test_a_rotated_token_is_stored_after_its_caller_was_cancelled(world: AccountsFixture):
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
    refreshing = asyncio.Event()
    real = world.services.egress

    class SignallingEgress:
        def check_url(self, url: str, *, local_origins: Collection[str] = ()) -> None: ...

        async def send(self, request):
            answer = await real.send(request)
            refreshing.set()
            return answer

    services = replace(world.services, egress=SignallingEgress())
    async with anyio.create_task_group() as calls:
        calls.start_soon(call_service, services, ADA, "google_calendar", "get_calendar_events", {})
        await refreshing.wait()
        calls.cancel_scope.cancel()

    assert world.provider.refresh_count == 1
    assert (await load_tokens(world)).refresh_token == "refresh-2"


async def test_a_refresh_lease_of_a_crashed_process_is_acquired_after_it_expires(
    world: AccountsFixture,
):
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
    now = world.clock.now()
    dead = "users/ada/integrations/google_calendar/claims/refresh"
    await world.documents.write(Set(dead, {"holder": "dead", "until": now - timedelta(seconds=1)}))

    assert await list_events(world) == "There are no such events in the calendar."
    assert world.provider.refresh_count == 1


@pytest.fixture
async def hasty(tmp_path: Path, provider: FakeProvider) -> AsyncIterator[AccountsFixture]:
    """Another call refreshes the tokens and does not finish within its lease."""
    async with open_accounts_fixture(tmp_path, provider, clock=AutoAdvanceClock()) as world:
        await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
        await world.services.tokens.claim(ADA, "google_calendar", "another", now=world.clock.now())
        yield world


async def test_waiting_for_another_refresh_is_bounded(hasty: AccountsFixture):
    with pytest.raises(ToolFailed, match="cannot be reached at the moment"):
        await list_events(hasty)

    assert hasty.clock.now() - AutoAdvanceClock().now() <= timedelta(seconds=MAX_POLLS)
    assert hasty.provider.refresh_count == 0


async def test_disconnecting_waits_a_bounded_time_for_a_refresh(hasty: AccountsFixture):
    assert await connections.disconnect(hasty.services, ADA, "google_calendar")

    assert hasty.provider.revoked_tokens == ["refresh-1"]
    assert await hasty.services.tokens.get(ADA, "google_calendar") is None


DOCUMENT_CALLS = 8
"""Document calls of a refresh: load, two to claim, load, STORING, load, two to release."""
STORE_CALL_NUMBER = 5


async def crash_during_refresh(world: AccountsFixture, *, at: int, after: bool) -> FaultInjector:
    """Crash in the middle of a refresh, and wait until its claim has expired."""
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
    injector = FaultInjector(at, fails_after_effect=after)
    documents: Any = WatchedPort(world.documents, injector)
    services = replace(world.services, tokens=AccountTokenStore(documents, KEYS))
    with suppress(Crash):
        await call_service(services, ADA, "google_calendar", "get_calendar_events", {})
    assert isinstance(world.clock, AutoAdvanceClock)
    world.clock.advance(seconds=LEASE_TTL.total_seconds() + 1)
    return injector


@pytest.mark.parametrize("rotates", [False, True])
async def test_after_a_crash_at_any_point_the_next_call_works_or_asks_to_reconnect(
    tmp_path: Path, provider: FakeProvider, *, rotates: bool
):
    """A token is lost only if it rotates, between the provider's answer and our write."""
    provider.rotates = rotates
    lost_at = []
    async with open_accounts_fixture(tmp_path, provider, clock=AutoAdvanceClock()) as world:
        for at, after in product(range(1, DOCUMENT_CALLS + 1), (False, True)):
            assert (await crash_during_refresh(world, at=at, after=after)).call_count >= at
            with suppress(ToolFailed):
                await list_events(world)
            if await load_health(world) == "expired":
                lost_at.append((at, after))
            else:
                assert await list_events(world) == "There are no such events in the calendar."

    assert lost_at == ([(STORE_CALL_NUMBER, False)] if rotates else [])


async def test_the_crash_simulation_covers_every_document_call_of_a_refresh(
    tmp_path: Path, provider: FakeProvider
):
    async with open_accounts_fixture(tmp_path, provider, clock=AutoAdvanceClock()) as world:
        assert (await crash_during_refresh(world, at=99, after=False)).call_count == DOCUMENT_CALLS


async def test_a_refresh_lease_has_one_holder_until_it_is_released_or_expires(
    world: AccountsFixture,
):
    store, now = world.services.tokens, world.clock.now()
    later = now + LEASE_TTL + timedelta(seconds=1)

    claims = [await store.claim(ADA, "google_calendar", holder, now=now) for holder in ("a", "b")]
    await store.release(ADA, "google_calendar", "b")
    is_acquired_after_foreign_release = await store.claim(ADA, "google_calendar", "b", now=now)
    is_acquired_after_expiry = await store.claim(ADA, "google_calendar", "b", now=later)
    await store.release(ADA, "google_calendar", "a")
    is_kept_by_new_holder = not await store.claim(ADA, "google_calendar", "c", now=later)

    assert (claims, is_acquired_after_foreign_release) == ([True, False], False)
    assert (is_acquired_after_expiry, is_kept_by_new_holder) == (True, True)


async def test_a_late_refresh_does_not_overwrite_newer_tokens(world: AccountsFixture):
    """A holder that paused for longer than its lease comes back with tokens of its own."""
    await world.connect("google_calendar", lifetime=EXPIRED_LIFETIME)
    service = load_integration("google_calendar")
    old = await world.services.tokens.get(ADA, "google_calendar")
    assert old is not None
    await world.connect("google_calendar")

    stored_tokens = await account_tokens.refresh_tokens(world.services, ADA, service, old)

    assert stored_tokens.tokens.access_token == "access-2"
    assert world.provider.refresh_count == 0


async def test_a_call_to_a_disconnected_account_fails(world: AccountsFixture):
    with pytest.raises(ToolFailed, match="Google Calendar is not connected"):
        await list_events(world)


async def test_one_user_cannot_read_anothers_tokens(world: AccountsFixture):
    await world.connect("google_calendar")
    document = await world.documents.get("users/ada/integrations/google_calendar")
    assert document is not None
    await world.documents.write(Set("users/eve/integrations/google_calendar", document.fields))

    with pytest.raises(ToolFailed, match=RECONNECT):
        await list_events(world, UserId("eve"))


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (400, "refused the request (HTTP 400)."),
        (403, "does not allow this for the connected account."),
        (429, "takes no more requests for now. Try again later."),
        (500, "does not work at the moment (HTTP 500)."),
        (302, "refused the request (HTTP 302)."),
    ],
)
async def test_an_error_status_of_a_service_is_reported_without_its_own_text(
    world: AccountsFixture, status: int, sentence: str
):
    secret = {"error": {"message": "Bearer ya29.secret at app.py line 3"}}
    world.provider.answers = {f"GET {EVENTS}": [(status, secret)]}
    await world.connect("google_calendar")

    with pytest.raises(ToolFailed, match=f"^Google Calendar {re.escape(sentence)}$"):
        await list_events(world)


@pytest.mark.parametrize("answer", ["text", [], {"items": 3}, {"items": [{"summary": "no id"}]}])
async def test_a_malformed_service_answer_fails_the_tool(world: AccountsFixture, answer: object):
    world.provider.answers = {f"GET {EVENTS}": [(200, answer)]}
    await world.connect("google_calendar")

    with pytest.raises(ToolFailed, match="answered in a way we do not understand"):
        await list_events(world)

"""Tokens are refreshed once under concurrency, and never lost when they rotate (P6)."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import pytest

from functions.tool_proxy.accounts import connections, grants
from functions.tool_proxy.accounts.services import call_service
from functions.tool_proxy.authorization.renewal import MOST_POLLS
from shared.adapters.system_clock import SystemClock
from shared.data.grants import Grants
from shared.data.refresh_claims import LEASE
from shared.domain.connection import Tokens
from shared.domain.documents import Set
from shared.domain.errors import ToolFailed
from shared.domain.ids import UserId
from shared.integrations import integration
from shared.ports import Documents
from tests.contracts.test_documents import firestore_documents
from tests.doubles import HastyClock
from tests.functions.tool_proxy.accounts import ADA, World, world_in, world_on
from tests.functions.tool_proxy.services import KEYS
from tests.recorded import recorded
from tests.servers import running
from tests.servers.provider import FakeProvider

EVENTS = "/calendar/v3/calendars/primary/events"
OVER = timedelta(seconds=-1)
RECONNECT = "^Your Google Calendar connection has expired. Reconnect it in the settings.$"


@pytest.fixture
def provider() -> FakeProvider:
    answers = {f"GET {EVENTS}": [(200, recorded("google_calendar/no_events"))]}
    return FakeProvider(rotates=True, answers=answers)


@pytest.fixture
async def world(tmp_path: Path, provider: FakeProvider) -> AsyncIterator[World]:
    async with world_in(tmp_path, provider, clock=SystemClock()) as world:
        yield world


async def look(world: World, uid: UserId = ADA) -> str:
    return await call_service(world.services, uid, "google_calendar", "get_calendar_events", {})


async def tokens(world: World) -> Tokens:
    grant = await world.services.grants.get(ADA, "google_calendar")
    assert grant is not None
    return grant.tokens


async def health(world: World) -> str:
    connection = await world.services.connections.get(ADA, "google_calendar")
    assert connection is not None
    return connection.health


async def test_p6_200_calls_with_an_expired_token_refresh_it_once(world: World):
    await world.connect("google_calendar", lasts=OVER)

    service, services = integration("google_calendar"), world.services
    wanted = (grants.current(services, ADA, service) for _ in range(200))
    found = await asyncio.gather(*wanted)

    assert {grant.tokens.access_token for grant in found} == {"access-2"}
    assert world.provider.refreshes == 1
    assert (await tokens(world)).refresh_token == "refresh-2"


@pytest.mark.emulators
async def test_p6_20_calls_refresh_once_on_firestore(
    firestore_emulator: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", firestore_emulator)
    provider = FakeProvider(
        rotates=True, answers={f"GET {EVENTS}": [(200, recorded("google_calendar/no_events"))]}
    )
    documents = firestore_documents()
    with running(provider.app) as url:
        async with world_on(documents, provider, url, SystemClock()) as world:
            await world.connect("google_calendar", lasts=OVER)

            await asyncio.gather(*(look(world) for _ in range(20)))

    assert provider.refreshes == 1


async def test_p6_a_refused_token_is_refreshed_once_and_the_calls_succeed(world: World):
    await world.connect("google_calendar", lasts=timedelta(hours=1))
    world.provider.access_tokens.clear()

    answers = await asyncio.gather(*(look(world) for _ in range(20)))

    assert set(answers) == {"There are no such events in the calendar."}
    assert world.provider.refreshes == 1


async def test_a_token_that_holds_is_not_refreshed(world: World):
    await world.connect("google_calendar", lasts=timedelta(hours=1))

    await look(world)

    assert world.provider.refreshes == 0


async def test_p7_a_service_that_refuses_the_new_token_too_asks_to_reconnect(world: World):
    world.provider.answers = {f"GET {EVENTS}": [(401, {"error": {"code": 401}})]}
    await world.connect("google_calendar")

    with pytest.raises(ToolFailed, match=RECONNECT):
        await look(world)

    assert len(world.provider.asked) == 2


@pytest.mark.parametrize("service_says", ["refused refresh token", "no refresh token"])
async def test_p7_what_cannot_be_refreshed_asks_to_reconnect_and_is_not_tried_again(
    world: World, service_says: str
):
    await world.connect("google_calendar", lasts=OVER)
    if service_says == "no refresh token":
        grant = await world.services.grants.get(ADA, "google_calendar")
        assert grant is not None
        bare = replace(grant.tokens, refresh_token=None)
        await world.services.grants.replace(ADA, "google_calendar", grant, bare)
    world.provider.refresh_tokens.clear()

    for _ in range(2):
        with pytest.raises(ToolFailed, match=RECONNECT):
            await look(world)

    assert await health(world) == "expired"
    assert world.provider.refreshes <= 1
    assert world.provider.asked == []


async def test_connecting_again_mends_what_expired(world: World):
    await world.connect("google_calendar", lasts=OVER)
    world.provider.refresh_tokens.clear()
    with suppress(ToolFailed):
        await look(world)

    await world.connect("google_calendar")

    assert await look(world) == "There are no such events in the calendar."
    assert await health(world) == "connected"


async def test_a_provider_that_is_down_costs_nobody_the_account(world: World):
    await world.connect("google_calendar", lasts=OVER)
    world.provider.broken = 503

    with pytest.raises(ToolFailed, match="cannot be reached at the moment"):
        await look(world)
    world.provider.broken = None

    assert await look(world) == "There are no such events in the calendar."


async def test_a_rotated_token_is_stored_though_whoever_asked_for_it_is_gone(world: World):
    await world.connect("google_calendar", lasts=OVER)
    refreshing = asyncio.Event()
    real = world.services.egress

    class Slow:
        async def send(self, request):
            answer = await real.send(request)
            refreshing.set()
            return answer

    services = replace(world.services, egress=Slow())
    async with anyio.create_task_group() as calls:
        calls.start_soon(call_service, services, ADA, "google_calendar", "get_calendar_events", {})
        await refreshing.wait()
        calls.cancel_scope.cancel()

    assert world.provider.refreshes == 1
    assert (await tokens(world)).refresh_token == "refresh-2"


async def test_who_died_while_refreshing_is_followed_when_the_lease_ends(world: World):
    await world.connect("google_calendar", lasts=OVER)
    now = world.clock.now()
    dead = "users/ada/integrations/google_calendar/claims/refresh"
    await world.documents.write(Set(dead, {"holder": "dead", "until": now - timedelta(seconds=1)}))

    assert await look(world) == "There are no such events in the calendar."
    assert world.provider.refreshes == 1


@pytest.fixture
async def hasty(tmp_path: Path, provider: FakeProvider) -> AsyncIterator[World]:
    """A world in which another call refreshes the tokens and does not finish within its lease."""
    async with world_in(tmp_path, provider, clock=HastyClock()) as world:
        await world.connect("google_calendar", lasts=OVER)
        await world.services.grants.claim(ADA, "google_calendar", "another", now=world.clock.now())
        yield world


async def test_nobody_waits_longer_for_another_than_a_call_lasts(hasty: World):
    with pytest.raises(ToolFailed, match="cannot be reached at the moment"):
        await look(hasty)

    assert hasty.clock.now() - HastyClock().now() <= timedelta(seconds=MOST_POLLS)
    assert hasty.provider.refreshes == 0


async def test_disconnecting_waits_for_a_refresh_but_not_for_ever(hasty: World):
    assert await connections.disconnect(hasty.services, ADA, "google_calendar")

    assert hasty.provider.revoked == ["refresh-1"]
    assert await hasty.services.grants.get(ADA, "google_calendar") is None


class Crash(Exception):
    """The process ends here; nothing after it runs."""


@dataclass
class Mortal:
    """Documents of a process that dies at its call number `at`, before or after it."""

    documents: Documents
    at: int
    after: bool
    calls: int = 0

    def __getattr__(self, name: str) -> Any:
        async def call(*arguments: Any) -> Any:
            self.calls += 1
            if self.calls > self.at or (self.calls == self.at and not self.after):
                raise Crash
            answer = await getattr(self.documents, name)(*arguments)
            if self.calls == self.at:
                raise Crash
            return answer

        return call


CALLS = 8
"""Of a call that refreshes: a look, two to claim, a look, STORING, a look, two to let go."""
STORING = 5


async def dies(world: World, *, at: int, after: bool) -> Mortal:
    """Let a process die in the middle of a refresh, and wait until its claim is over."""
    await world.connect("google_calendar", lasts=OVER)
    mortal = Mortal(world.documents, at, after)
    services = replace(world.services, grants=Grants(mortal, KEYS))
    with suppress(Crash):
        await call_service(services, ADA, "google_calendar", "get_calendar_events", {})
    assert isinstance(world.clock, HastyClock)
    world.clock.pass_(seconds=LEASE.total_seconds() + 1)
    return mortal


@pytest.mark.parametrize("rotates", [False, True])
async def test_wherever_a_process_dies_the_next_call_works_or_says_how_to_mend_it(
    tmp_path: Path, provider: FakeProvider, *, rotates: bool
):
    """A token is lost only if it rotates, between the provider's answer and our write."""
    provider.rotates = rotates
    lost = []
    async with world_in(tmp_path, provider, clock=HastyClock()) as world:
        for at, after in product(range(1, CALLS + 1), (False, True)):
            assert (await dies(world, at=at, after=after)).calls >= at
            with suppress(ToolFailed):
                await look(world)
            if await health(world) == "expired":
                lost.append((at, after))
            else:
                assert await look(world) == "There are no such events in the calendar."

    assert lost == ([(STORING, False)] if rotates else [])


async def test_a_refresh_makes_no_more_calls_than_are_cut(tmp_path: Path, provider: FakeProvider):
    async with world_in(tmp_path, provider, clock=HastyClock()) as world:
        assert (await dies(world, at=99, after=False)).calls == CALLS


async def test_a_claim_is_held_by_one_until_it_is_given_back_or_over(world: World):
    held, now = world.services.grants, world.clock.now()
    later = now + LEASE + timedelta(seconds=1)

    claims = [await held.claim(ADA, "google_calendar", who, now=now) for who in ("a", "b")]
    await held.release(ADA, "google_calendar", "b")
    after_anothers_release = await held.claim(ADA, "google_calendar", "b", now=now)
    taken_over = await held.claim(ADA, "google_calendar", "b", now=later)
    await held.release(ADA, "google_calendar", "a")
    still_held = not await held.claim(ADA, "google_calendar", "c", now=later)

    assert (claims, after_anothers_release) == ([True, False], False)
    assert (taken_over, still_held) == (True, True)


async def test_a_refresh_that_was_overtaken_does_not_take_the_place_of_newer_tokens(world: World):
    """A holder that stood still for longer than its lease comes back with tokens of its own."""
    await world.connect("google_calendar", lasts=OVER)
    service = integration("google_calendar")
    overtaken = await world.services.grants.get(ADA, "google_calendar")
    assert overtaken is not None
    await world.connect("google_calendar")

    grant = await grants.following(world.services, ADA, service, overtaken)

    assert grant.tokens.access_token == "access-2"
    assert world.provider.refreshes == 0


async def test_tokens_of_a_disconnected_account_open_nothing(world: World):
    with pytest.raises(ToolFailed, match="Google Calendar is not connected"):
        await look(world)


async def test_one_user_cannot_read_anothers_tokens(world: World):
    await world.connect("google_calendar")
    held = await world.documents.get("users/ada/integrations/google_calendar")
    assert held is not None
    await world.documents.write(Set("users/eve/integrations/google_calendar", held.fields))

    with pytest.raises(ToolFailed, match=RECONNECT):
        await look(world, UserId("eve"))


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
async def test_a_services_refusal_is_said_in_our_words(world: World, status: int, sentence: str):
    secret = {"error": {"message": "Bearer ya29.secret at app.py line 3"}}
    world.provider.answers = {f"GET {EVENTS}": [(status, secret)]}
    await world.connect("google_calendar")

    with pytest.raises(ToolFailed, match=f"^Google Calendar {re.escape(sentence)}$"):
        await look(world)


@pytest.mark.parametrize("answer", ["text", [], {"items": 3}, {"items": [{"summary": "no id"}]}])
async def test_an_answer_of_another_shape_is_a_failed_tool(world: World, answer: object):
    world.provider.answers = {f"GET {EVENTS}": [(200, answer)]}
    await world.connect("google_calendar")

    with pytest.raises(ToolFailed, match="answered in a way we do not understand"):
        await look(world)

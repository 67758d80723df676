"""Accounts are connected by OAuth 2 with PKCE, and disconnected again (P6, P7)."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx import ASGITransport, AsyncClient, Headers, Response

from functions.tool_proxy.accounts import connections, grants
from functions.tool_proxy.accounts.endpoints import CONNECTIONS
from functions.tool_proxy.wiring import ServicesDeps
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.guarded_egress import GuardedEgress
from shared.adapters.http_toolbox import HttpToolbox
from shared.adapters.local_identity import LocalIdentity, LocalServiceIdentity
from shared.adapters.local_keys import LocalKeys
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.domain.connection import OauthClient, Service, Tokens
from shared.domain.documents import Query
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.edge.http import application
from shared.integrations import integration
from shared.ports import Documents, Identity, ServiceIdentity
from shared.wiring import ROOT
from tests.doubles import FixedClock, HastyClock
from tests.functions.tool_proxy.accounts import world_in
from tests.functions.tool_proxy.services import REDIRECT_URI, services_deps
from tests.servers import running
from tests.servers.provider import CLIENT_ID, CLIENT_SECRET, WAYS, FakeProvider

ADA, EVE = UserId("ada"), UserId("eve")
SECRET = b"0" * 32
CALENDAR = "/v1/connections/google_calendar"


@dataclass(frozen=True)
class Deps:
    """What the routes of connected accounts ask for."""

    services: ServicesDeps
    identity: Identity
    service_identity: ServiceIdentity


@dataclass
class World:
    documents: Documents
    clock: FixedClock
    google: FakeProvider
    url: str
    services: ServicesDeps
    cookies: dict[str, str] = field(default_factory=dict)

    async def request(
        self, method: str, path: str, *, uid: str | None = ADA, **more: Any
    ) -> Response:
        """Ask as a browser does that keeps its cookies."""
        headers = Headers(encoding="latin-1")
        if uid:
            headers["Authorization"] = f"Bearer {LocalIdentity(SECRET).issue(uid)}"
        headers["Cookie"] = "; ".join(f"{name}={held}" for name, held in self.cookies.items())
        deps = Deps(self.services, LocalIdentity(SECRET), LocalServiceIdentity(SECRET))
        transport = ASGITransport(application("apps", CONNECTIONS, deps))
        async with AsyncClient(transport=transport, base_url="http://test") as client:
            answer = await client.request(method, path, headers=headers, **more)
        set_cookie = SimpleCookie(answer.headers.get("set-cookie", ""))
        self.cookies |= {name: morsel.value for name, morsel in set_cookie.items()}
        return answer

    async def sent(self, *, uid: str = ADA, path: str = CALENDAR) -> str:
        """Return where a user is sent to allow access."""
        answer = await self.request("POST", f"{path}/authorize", uid=uid)
        assert answer.status_code == 200, answer.text
        url: str = answer.json()["url"]
        return url

    async def allow(self, url: str) -> str:
        """Be the browser at the provider; returns where it sends the user back to."""
        async with AsyncClient(trust_env=False) as browser:
            answer = await browser.get(url)
        back = answer.headers["location"]
        assert back.startswith(REDIRECT_URI)
        return str(back).removeprefix("https://keepsake.example.com")

    async def connect(self, *, uid: str = ADA, path: str = CALENDAR) -> Response:
        back = await self.allow(await self.sent(uid=uid, path=path))
        return await self.request("GET", back, uid=None)

    async def tokens(self, uid: UserId = ADA) -> Tokens | None:
        grant = await self.services.grants.get(uid, "google_calendar")
        return grant.tokens if grant else None


@pytest.fixture
def google() -> FakeProvider:
    userinfo = {"sub": "110248495921238986420", "email": "ada@example.com", "email_verified": True}
    return FakeProvider(answers={"GET /v1/userinfo": [(200, userinfo)]})


@pytest.fixture
def google_url(google: FakeProvider) -> Iterator[str]:
    with running(google.app) as url:
        yield url


@pytest.fixture
def world(google: FakeProvider, google_url: str, tmp_path: Path) -> Iterator[World]:
    database = SqliteDatabase(tmp_path / "keepsake.db")
    indexes = FirestoreIndexes.read(ROOT / "infra/firestore.indexes.json")
    documents = SqliteDocuments(database, indexes)
    clock = FixedClock()
    services = services_deps(
        documents,
        clients={"google": OauthClient(id=CLIENT_ID, secret=CLIENT_SECRET, base_url=google_url)},
        clock=clock,
        egress=GuardedEgress(dev_origins=[google_url]),
    )
    yield World(documents, clock, google, google_url, services)
    database.close()


async def test_p6_a_connected_account_is_shown_without_its_tokens(world: World):
    page = await world.connect()

    shown = await world.request("GET", CALENDAR)
    assert "Google Calendar is connected. You can close this window." in page.text
    assert shown.json() == {
        "service": "google_calendar",
        "label": "Google Calendar",
        "available": True,
        "status": "connected",
        "account": "ada@example.com",
        "scopes": ["https://www.googleapis.com/auth/calendar.events"],
        "connected_at": "2026-03-02T12:00:00Z",
    }
    assert await world.tokens() == Tokens(
        access_token="access-1",
        refresh_token="refresh-1",
        expires_at=world.clock.now().replace(hour=13),
    )


async def test_p6_google_is_asked_for_what_the_calendar_needs_and_for_lasting_access(world: World):
    asked = parse_qs(urlsplit(await world.sent()).query)

    assert asked["scope"] == ["openid email https://www.googleapis.com/auth/calendar.events"]
    assert asked["access_type"] == ["offline"]
    assert asked["prompt"] == ["consent"]
    assert asked["include_granted_scopes"] == ["true"]
    assert asked["redirect_uri"] == [REDIRECT_URI]


async def test_no_token_stands_readable_in_any_document(world: World):
    await world.connect()

    [held] = await world.documents.query(Query(collection="users/ada/integrations"))
    [told] = await world.documents.query(Query(collection="users/ada/connections"))
    assert b"access-1" not in held.fields["tokens"]
    assert "access-1" not in repr(held) + repr(told)
    assert "tokens" not in told.fields


async def test_the_state_tells_the_provider_nothing_of_the_user(world: World):
    [state] = parse_qs(urlsplit(await world.sent(uid="ada-lovelace")).query)["state"]

    assert "ada" not in state
    assert len(state) < 2_000


async def test_a_user_comes_back_once(world: World):
    back = await world.allow(await world.sent())

    first = await world.request("GET", back, uid=None)
    again = await world.request("GET", back, uid=None)

    assert "is connected" in first.text
    assert "This link was used already" in again.text


async def test_who_is_talked_into_opening_anothers_link_connects_nothing(world: World):
    """Else whoever sent the link would read the account of whoever opened it."""
    back = await world.allow(await world.sent(uid=EVE))
    eves, world.cookies = world.cookies, {}

    for cookies in ({}, {"__session": "service0009"}, {"__session": "\xe9"}):
        world.cookies = dict(cookies)
        page = await world.request("GET", back, uid=None)
        assert "Start again in this browser, at https://keepsake.example.com." in page.text
    assert await world.tokens(EVE) is None

    world.cookies = eves
    assert "is connected" in (await world.request("GET", back, uid=None)).text


async def test_the_cookie_is_for_coming_back_alone(world: World):
    answer = await world.request("POST", f"{CALENDAR}/authorize")

    held = answer.headers["set-cookie"].partition("; ")[2]
    assert held == "HttpOnly; Max-Age=600; Path=/v1/connections; SameSite=lax; Secure"
    assert answer.headers["cache-control"] == "private, no-store"


async def test_an_app_takes_its_user_back_and_nobody_elses(world: World):
    back = parse_qs(urlsplit(await world.allow(await world.sent())).query)
    told = {name: values[0] for name, values in back.items()}
    world.cookies = {}

    anothers = await world.request("POST", "/v1/connections/complete", uid=EVE, json=told)
    own = await world.request("POST", "/v1/connections/complete", json=told)
    again = await world.request("POST", "/v1/connections/complete", json=told)

    assert [anothers.status_code, own.status_code, again.status_code] == [403, 200, 409]
    assert own.json()["status"] == "connected"
    assert await world.tokens(EVE) is None


async def test_who_comes_back_too_late_starts_again(world: World):
    back = await world.allow(await world.sent())
    world.clock.pass_(minutes=11)

    page = await world.request("GET", back, uid=None)

    assert "too old" in page.text
    assert await world.tokens() is None


@pytest.mark.parametrize("state", ["", "x", "é", "AAAA" * 20, "e30.e30.e30"])
async def test_a_forged_state_connects_nothing(world: World, state: str):
    page = await world.request("GET", f"/v1/connections/callback?code=c&state={state}", uid=None)

    assert "This link is not one of ours." in page.text


async def test_a_state_of_another_key_connects_nothing(world: World):
    back = await world.allow(await world.sent())
    world.services = replace(world.services, keys=LocalKeys(b"x" * 32))

    page = await world.request("GET", back, uid=None)

    assert "This link is not one of ours." in page.text


async def test_a_code_that_another_user_was_given_is_refused_by_pkce(world: World):
    ada, eve = [await world.allow(await world.sent(uid=uid)) for uid in (ADA, EVE)]
    [code] = parse_qs(urlsplit(ada).query)["code"]
    [state] = parse_qs(urlsplit(eve).query)["state"]

    back = f"/v1/connections/callback?code={code}&state={state}"
    page = await world.request("GET", back, uid=None)

    assert "it did not agree" in page.text
    assert await world.tokens(EVE) is None


async def test_who_does_not_allow_it_is_told_so(world: World):
    [state] = parse_qs(urlsplit(await world.sent()).query)["state"]

    back = f"/v1/connections/callback?error=access_denied&state={state}"
    page = await world.request("GET", back, uid=None)

    assert "Google Calendar was not connected: access was not allowed." in page.text


async def test_who_unticks_what_is_needed_is_told_so(world: World):
    world.google.grants_scope = "openid https://www.googleapis.com/auth/userinfo.email"

    page = await world.connect()

    assert "not everything it needs was allowed" in page.text
    assert await world.tokens() is None


async def test_the_page_runs_nothing_and_is_kept_by_nobody(world: World):
    page = await world.request("GET", "/v1/connections/callback?state=<script>", uid=None)

    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "<script" not in page.text


@pytest.mark.parametrize("broken", [500, 503])
async def test_a_provider_that_is_down_is_named_and_connects_nothing(world: World, broken: int):
    back = await world.allow(await world.sent())
    world.google.broken = broken

    page = await world.request("GET", back, uid=None)

    assert "The service does not answer. Please start again." in page.text
    assert await world.tokens() is None


async def test_an_account_without_a_name_is_connected_all_the_same(world: World):
    world.google.answers = {}

    await world.connect()

    shown = (await world.request("GET", CALENDAR)).json()
    assert (shown["status"], shown["account"]) == ("connected", "")


async def test_a_service_that_is_not_set_up_is_shown_so_and_cannot_be_connected(world: World):
    world.services = replace(world.services, clients={})

    shown = (await world.request("GET", CALENDAR)).json()
    asked = await world.request("POST", f"{CALENDAR}/authorize")

    assert (shown["available"], shown["status"]) == (False, "not_connected")
    assert asked.status_code == 409
    assert asked.json()["detail"] == "Google Calendar is not set up here."


@pytest.mark.parametrize("name", ["nothing", "perplexity", "..%2Fgrants", "service"])
async def test_an_unknown_service_is_not_found(world: World, name: str):
    for method, path in (("GET", name), ("POST", f"{name}/authorize"), ("DELETE", name)):
        assert (await world.request(method, f"/v1/connections/{path}")).status_code == 404


async def test_one_users_account_is_not_anothers(world: World):
    await world.connect(uid=ADA)

    assert (await world.request("GET", CALENDAR, uid=EVE)).json()["status"] == "not_connected"
    assert await world.tokens(EVE) is None


async def test_p6_disconnecting_revokes_and_forgets(world: World):
    await world.connect()

    answer = await world.request("DELETE", CALENDAR)

    assert answer.json() == {"status": "ok", "revoked": True}
    assert world.google.revoked == ["refresh-1"]
    assert await world.tokens() is None
    assert (await world.request("GET", CALENDAR)).json()["status"] == "not_connected"
    assert await world.documents.query(Query(collection="users/ada/integrations")) == []


async def test_disconnecting_forgets_even_if_the_provider_does_not_answer(world: World):
    await world.connect()
    world.google.broken = 503

    answer = await world.request("DELETE", CALENDAR)

    assert answer.json() == {"status": "ok", "revoked": False}
    assert await world.tokens() is None


async def test_disconnecting_what_is_not_connected_does_no_harm(world: World):
    answer = await world.request("DELETE", CALENDAR)

    assert answer.json() == {"status": "ok", "revoked": False}
    assert world.google.revoked == []


async def test_connecting_again_takes_the_place_of_what_was_there(world: World):
    await world.connect()
    await world.connect()

    tokens = await world.tokens()
    assert tokens is not None
    assert tokens.access_token == "access-2"


async def test_nobody_connects_without_a_token_of_ours(world: World):
    assert (await world.request("POST", f"{CALENDAR}/authorize", uid=None)).status_code == 401


NAMED = {
    "google_calendar": ("GET /v1/userinfo", {"email": "ada"}),
    "gmail": ("GET /v1/userinfo", {"email": "ada"}),
    "whoop": ("GET /developer/v2/user/profile/basic", {"user_id": 1, "email": "ada"}),
    "notion": ("GET /v1/users/me", {"object": "user", "bot": {"workspace_name": "ada"}}),
    "x": ("GET /2/users/me", {"data": {"id": "1", "username": "ada"}}),
    "github": ("GET /user", {"login": "ada", "id": 1}),
}


@pytest.mark.parametrize("name", WAYS)
async def test_p7_every_service_is_connected_refreshed_and_revoked_in_its_own_way(
    tmp_path: Path, name: Service
):
    place, answer = NAMED[name]
    provider = FakeProvider(answers={place: [(200, answer)]}, **WAYS[name])
    async with world_in(tmp_path, provider) as world:
        services = world.services
        async with AsyncClient(trust_env=False) as browser:
            allowed = await browser.get((await connections.authorize(services, ADA, name)).url)
        back = parse_qs(urlsplit(allowed.headers["location"]).query)

        who = await connections.returning(services, back["state"][0])
        await connections.complete(services, who, back["code"][0])
        connected = await services.connections.get(ADA, name)
        first = await grants.current(services, ADA, integration(name))
        second = await grants.following(services, ADA, integration(name), first)
        revoked = await connections.disconnect(services, ADA, name)

    assert connected is not None
    assert connected.account == "ada"
    assert (first.tokens.access_token, second.tokens.access_token) == ("access-1", "access-2")
    assert second.tokens.refresh_token == ("refresh-2" if provider.rotates else "refresh-1")
    assert revoked
    [ended] = provider.revoked
    assert ended in (second.tokens.access_token, second.tokens.refresh_token)


async def test_disconnecting_one_google_service_leaves_the_other_connected(tmp_path: Path):
    """Google ends all of an account's tokens at once."""
    async with world_in(tmp_path, FakeProvider()) as world:
        await world.connect("gmail")
        await world.connect("google_calendar")

        first = await connections.disconnect(world.services, ADA, "google_calendar")
        assert not world.provider.revoked
        second = await connections.disconnect(world.services, ADA, "gmail")

    assert (first, second) == (False, True)
    assert world.provider.revoked == ["refresh-1"]


async def test_of_two_google_accounts_each_is_revoked(tmp_path: Path):
    async with world_in(tmp_path, FakeProvider()) as world:
        await world.connect("gmail", account="ada@work.example")
        await world.connect("google_calendar", account="ada@home.example")

        assert await connections.disconnect(world.services, ADA, "google_calendar")

    assert world.provider.revoked == ["refresh-2"]


async def test_x_says_in_other_words_that_a_refresh_token_ended(tmp_path: Path):
    refused = FakeProvider(**WAYS["x"])
    async with world_in(tmp_path, refused) as world:
        await world.connect("x", lasts=timedelta(seconds=-1))
        refused.refusal = "invalid_request"

        with pytest.raises(grants.Expired):
            await grants.current(world.services, ADA, integration("x"))


async def test_an_erased_user_is_disconnected_from_everything_p6(tmp_path: Path):
    async with world_in(tmp_path, FakeProvider()) as world:
        await world.connect("gmail")
        await world.connect("google_calendar")
        await world.connect("gmail", uid=EVE)

        for _ in range(2):
            await world.toolbox.disconnect_all(ADA)

        assert await world.services.connections.all(ADA) == []
        assert [each.id for each in await world.services.connections.all(EVE)] == ["gmail"]
    assert len(world.provider.revoked) == 1


async def test_a_proxy_that_is_away_disconnects_nobody_and_says_so(tmp_path: Path):
    async with world_in(tmp_path, FakeProvider()) as world:
        gone = HttpToolbox("http://127.0.0.1:1", LocalServiceIdentity(SECRET), HastyClock())

        with pytest.raises(Unavailable):
            await gone.disconnect_all(ADA)
        await gone.aclose()
        assert world.provider.revoked == []

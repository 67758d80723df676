"""Accounts are connected by OAuth 2 with PKCE, and disconnected again (P6, P7)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx import AsyncClient

from functions.tool_proxy.accounts import account_tokens, connections
from shared.adapters.embedded.local_keys import LocalKeys
from shared.adapters.http_toolbox import HttpToolbox
from shared.domain.apps.connection import Service, Tokens
from shared.domain.errors import Unavailable
from shared.domain.ids import UserId
from shared.domain.store.documents import Query
from shared.integrations import load_integration
from shared.ports import Documents
from tests.fakes import AutoAdvanceClock
from tests.fixtures.accounts import ADA, open_accounts_fixture
from tests.fixtures.callers import DELEGATIONS, SERVICE_IDENTITY
from tests.fixtures.connections import (
    CALENDAR,
    ConnectionsFixture,
    build_connections_fixture,
    build_google,
)
from tests.fixtures.tool_proxy import REDIRECT_URI
from tests.servers import run_server
from tests.servers.provider import PROVIDER_OPTIONS, FakeProvider

EVE = UserId("eve")


@pytest.fixture
def google() -> FakeProvider:
    return build_google()


@pytest.fixture
def google_url(google: FakeProvider) -> Iterator[str]:
    with run_server(google.app) as url:
        yield url


@pytest.fixture
def world(google: FakeProvider, google_url: str, documents: Documents) -> ConnectionsFixture:
    return build_connections_fixture(documents, google, google_url)


async def test_a_connected_account_is_shown_without_its_tokens_p6(world: ConnectionsFixture):
    page = await world.connect()

    response = await world.request("GET", CALENDAR)
    assert "Google Calendar is connected. You can close this window." in page.text
    assert response.json() == {
        "service": "google_calendar",
        "label": "Google Calendar",
        "available": True,
        "status": "connected",
        "account": "ada@example.com",
        "scopes": ["https://www.googleapis.com/auth/calendar.events"],
        "connected_at": "2026-03-02T12:00:00Z",
    }
    assert await world.load_tokens() == Tokens(
        access_token="access-1",
        refresh_token="refresh-1",
        expires_at=world.clock.now().replace(hour=13),
    )


async def test_google_is_asked_for_the_calendar_scope_and_offline_access_p6(
    world: ConnectionsFixture,
):
    query = parse_qs(urlsplit(await world.start_authorization()).query)

    assert query["scope"] == ["openid email https://www.googleapis.com/auth/calendar.events"]
    assert query["access_type"] == ["offline"]
    assert query["prompt"] == ["consent"]
    assert query["include_granted_scopes"] == ["true"]
    assert query["redirect_uri"] == [REDIRECT_URI]


async def test_tokens_are_encrypted_in_every_document(world: ConnectionsFixture):
    await world.connect()

    [token_document] = await world.documents.query(Query(collection="users/ada/integrations"))
    [stored_connection] = await world.documents.query(Query(collection="users/ada/connections"))
    assert b"access-1" not in token_document.fields["tokens"]
    assert "access-1" not in repr(token_document) + repr(stored_connection)
    assert "tokens" not in stored_connection.fields


async def test_the_oauth_state_does_not_reveal_the_user(world: ConnectionsFixture):
    [state] = parse_qs(urlsplit(await world.start_authorization(uid="ada-lovelace")).query)["state"]

    assert "ada" not in state
    assert len(state) < 2_000


async def test_an_oauth_callback_works_once(world: ConnectionsFixture):
    callback_path = await world.allow(await world.start_authorization())

    first = await world.request("GET", callback_path, uid="")
    repeated_page = await world.request("GET", callback_path, uid="")

    assert "is connected" in first.text
    assert "This link was used already" in repeated_page.text


async def test_a_callback_in_another_browser_connects_nothing_csrf(world: ConnectionsFixture):
    """Otherwise the sender of a link could read the account of whoever opens it."""
    callback_path = await world.allow(await world.start_authorization(uid=EVE))
    eves_cookies, world.cookies = world.cookies, {}

    for cookies in ({}, {"__session": "service0009"}, {"__session": "\xe9"}):
        world.cookies = dict(cookies)
        page = await world.request("GET", callback_path, uid="")
        assert "Start again in this browser, at https://keepsake.example.com." in page.text
    assert await world.load_tokens(EVE) is None

    world.cookies = eves_cookies
    assert "is connected" in (await world.request("GET", callback_path, uid="")).text


async def test_the_binding_cookie_is_http_only_and_limited_to_the_callback_path(
    world: ConnectionsFixture,
):
    answer = await world.request("POST", f"{CALENDAR}/authorize")

    cookie_attributes = answer.headers["set-cookie"].partition("; ")[2]
    assert cookie_attributes == "HttpOnly; Max-Age=600; Path=/v1/connections; SameSite=lax; Secure"
    assert answer.headers["cache-control"] == "private, no-store"


async def test_only_the_user_who_started_can_complete_the_connection_in_the_app(
    world: ConnectionsFixture,
):
    callback_query = parse_qs(urlsplit(await world.allow(await world.start_authorization())).query)
    callback = {name: values[0] for name, values in callback_query.items()}
    world.cookies = {}

    response_to_another_user = await world.request(
        "POST", "/v1/connections/complete", uid=EVE, json=callback
    )
    response = await world.request("POST", "/v1/connections/complete", json=callback)
    repeated_response = await world.request("POST", "/v1/connections/complete", json=callback)

    assert [
        response_to_another_user.status_code,
        response.status_code,
        repeated_response.status_code,
    ] == [403, 200, 409]
    assert response.json()["status"] == "connected"
    assert await world.load_tokens(EVE) is None


async def test_an_expired_authorization_connects_nothing(world: ConnectionsFixture):
    callback_path = await world.allow(await world.start_authorization())
    world.clock.advance(minutes=11)

    page = await world.request("GET", callback_path, uid="")

    assert "too old" in page.text
    assert await world.load_tokens() is None


@pytest.mark.parametrize("state", ["", "x", "é", "AAAA" * 20, "e30.e30.e30"])
async def test_a_forged_state_connects_nothing(world: ConnectionsFixture, state: str):
    page = await world.request("GET", f"/v1/connections/callback?code=c&state={state}", uid="")

    assert "This link is not one of ours." in page.text


async def test_a_state_wrapped_with_another_key_connects_nothing(world: ConnectionsFixture):
    callback_path = await world.allow(await world.start_authorization())
    world.deps = replace(world.deps, services=replace(world.services, keys=LocalKeys(b"x" * 32)))

    page = await world.request("GET", callback_path, uid="")

    assert "This link is not one of ours." in page.text


async def test_pkce_rejects_the_code_of_another_user(world: ConnectionsFixture):
    ada, eve = [await world.allow(await world.start_authorization(uid=uid)) for uid in (ADA, EVE)]
    [code] = parse_qs(urlsplit(ada).query)["code"]
    [state] = parse_qs(urlsplit(eve).query)["state"]

    callback_path = f"/v1/connections/callback?code={code}&state={state}"
    page = await world.request("GET", callback_path, uid="")

    assert "it did not agree" in page.text
    assert await world.load_tokens(EVE) is None


async def test_a_denied_authorization_is_explained_to_the_user(world: ConnectionsFixture):
    [state] = parse_qs(urlsplit(await world.start_authorization()).query)["state"]

    callback_path = f"/v1/connections/callback?error=access_denied&state={state}"
    page = await world.request("GET", callback_path, uid="")

    assert "Google Calendar was not connected: access was not allowed." in page.text


async def test_a_missing_scope_is_explained_to_the_user(world: ConnectionsFixture):
    world.google.granted_scope = "openid https://www.googleapis.com/auth/userinfo.email"

    page = await world.connect()

    assert "not everything it needs was allowed" in page.text
    assert await world.load_tokens() is None


async def test_the_callback_page_runs_no_scripts_and_is_not_cached(world: ConnectionsFixture):
    page = await world.request("GET", "/v1/connections/callback?state=<script>", uid="")

    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "<script" not in page.text


@pytest.mark.parametrize("broken", [500, 503])
async def test_an_unavailable_provider_is_explained_and_connects_nothing(
    world: ConnectionsFixture, broken: int
):
    callback_path = await world.allow(await world.start_authorization())
    world.google.failure_status = broken

    page = await world.request("GET", callback_path, uid="")

    assert "The service does not answer. Please start again." in page.text
    assert await world.load_tokens() is None


async def test_an_account_without_a_name_is_connected(world: ConnectionsFixture):
    world.google.answers = {}

    await world.connect()

    connection = (await world.request("GET", CALENDAR)).json()
    assert (connection["status"], connection["account"]) == ("connected", "")


async def test_a_service_that_is_not_set_up_is_listed_as_unavailable_and_cannot_be_connected(
    world: ConnectionsFixture,
):
    world.deps = replace(world.deps, services=replace(world.services, clients={}))

    connection = (await world.request("GET", CALENDAR)).json()
    response = await world.request("POST", f"{CALENDAR}/authorize")

    assert (connection["available"], connection["status"]) == (False, "not_connected")
    assert response.status_code == 409
    assert response.json()["detail"] == "Google Calendar is not set up here."


@pytest.mark.parametrize("name", ["nothing", "perplexity", "..%2Fgrants", "service"])
async def test_an_unknown_service_is_not_found(world: ConnectionsFixture, name: str):
    for method, path in (("GET", name), ("POST", f"{name}/authorize"), ("DELETE", name)):
        assert (await world.request(method, f"/v1/connections/{path}")).status_code == 404


async def test_one_users_account_is_not_connected_for_another_user(world: ConnectionsFixture):
    await world.connect(uid=ADA)

    assert (await world.request("GET", CALENDAR, uid=EVE)).json()["status"] == "not_connected"
    assert await world.load_tokens(EVE) is None


async def test_disconnecting_revokes_and_deletes_the_tokens_p6(world: ConnectionsFixture):
    await world.connect()

    answer = await world.request("DELETE", CALENDAR)

    assert answer.json() == {"status": "ok", "revoked": True}
    assert world.google.revoked_tokens == ["refresh-1"]
    assert await world.load_tokens() is None
    assert (await world.request("GET", CALENDAR)).json()["status"] == "not_connected"
    assert await world.documents.query(Query(collection="users/ada/integrations")) == []


async def test_disconnecting_deletes_the_tokens_even_if_the_provider_is_unavailable(
    world: ConnectionsFixture,
):
    await world.connect()
    world.google.failure_status = 503

    answer = await world.request("DELETE", CALENDAR)

    assert answer.json() == {"status": "ok", "revoked": False}
    assert await world.load_tokens() is None


async def test_disconnecting_a_service_that_is_not_connected_succeeds(world: ConnectionsFixture):
    answer = await world.request("DELETE", CALENDAR)

    assert answer.json() == {"status": "ok", "revoked": False}
    assert world.google.revoked_tokens == []


async def test_connecting_again_replaces_the_tokens(world: ConnectionsFixture):
    await world.connect()
    await world.connect()

    tokens = await world.load_tokens()
    assert tokens is not None
    assert tokens.access_token == "access-2"


async def test_connecting_needs_an_authenticated_user(world: ConnectionsFixture):
    assert (await world.request("POST", f"{CALENDAR}/authorize", uid="")).status_code == 401


ACCOUNT_ANSWERS = {
    "google_calendar": ("GET /v1/userinfo", {"email": "ada"}),
    "gmail": ("GET /v1/userinfo", {"email": "ada"}),
    "whoop": ("GET /developer/v2/user/profile/basic", {"user_id": 1, "email": "ada"}),
    "notion": ("GET /v1/users/me", {"object": "user", "bot": {"workspace_name": "ada"}}),
    "x": ("GET /2/users/me", {"data": {"id": "1", "username": "ada"}}),
    "github": ("GET /user", {"login": "ada", "id": 1}),
}


@pytest.mark.parametrize("name", PROVIDER_OPTIONS)
async def test_every_service_can_be_connected_refreshed_and_revoked_p7(
    tmp_path: Path, name: Service
):
    route, answer = ACCOUNT_ANSWERS[name]
    provider = FakeProvider(answers={route: [(200, answer)]}, **PROVIDER_OPTIONS[name])
    async with open_accounts_fixture(tmp_path, provider) as world:
        services = world.services
        async with AsyncClient(trust_env=False) as browser:
            redirect = await browser.get((await connections.authorize(services, ADA, name)).url)
        callback_query = parse_qs(urlsplit(redirect.headers["location"]).query)

        callback = await connections.verify_state(services, callback_query["state"][0])
        await connections.complete(services, callback, callback_query["code"][0])
        connection = await services.stores.connections.get(ADA, name)
        first = await account_tokens.get_valid_tokens(services, ADA, load_integration(name))
        second = await account_tokens.refresh_tokens(services, ADA, load_integration(name), first)
        is_revoked = await connections.disconnect(services, ADA, name)

    assert connection is not None
    assert connection.account == "ada"
    assert (first.tokens.access_token, second.tokens.access_token) == ("access-1", "access-2")
    assert second.tokens.refresh_token == ("refresh-2" if provider.rotates else "refresh-1")
    assert is_revoked
    [revoked_token] = provider.revoked_tokens
    assert revoked_token in (second.tokens.access_token, second.tokens.refresh_token)


async def test_disconnecting_one_google_service_leaves_the_other_connected(tmp_path: Path):
    """Google revokes all tokens of an account at once."""
    async with open_accounts_fixture(tmp_path, FakeProvider()) as world:
        await world.connect("gmail")
        await world.connect("google_calendar")

        first = await connections.disconnect(world.services, ADA, "google_calendar")
        assert not world.provider.revoked_tokens
        second = await connections.disconnect(world.services, ADA, "gmail")

    assert (first, second) == (False, True)
    assert world.provider.revoked_tokens == ["refresh-1"]


async def test_connections_to_two_google_accounts_are_revoked_separately(tmp_path: Path):
    async with open_accounts_fixture(tmp_path, FakeProvider()) as world:
        await world.connect("gmail", account="ada@work.example")
        await world.connect("google_calendar", account="ada@home.example")

        assert await connections.disconnect(world.services, ADA, "google_calendar")

    assert world.provider.revoked_tokens == ["refresh-2"]


async def test_x_reports_an_expired_refresh_token_as_invalid_request(tmp_path: Path):
    provider = FakeProvider(**PROVIDER_OPTIONS["x"])
    async with open_accounts_fixture(tmp_path, provider) as world:
        await world.connect("x", lifetime=timedelta(seconds=-1))
        provider.refresh_error = "invalid_request"

        with pytest.raises(account_tokens.ConnectionExpired):
            await account_tokens.get_valid_tokens(world.services, ADA, load_integration("x"))


async def test_erasing_a_user_disconnects_all_their_services_p6(tmp_path: Path):
    async with open_accounts_fixture(tmp_path, FakeProvider()) as world:
        await world.connect("gmail")
        await world.connect("google_calendar")
        await world.connect("gmail", uid=EVE)

        for _ in range(2):
            await world.toolbox.disconnect_all(ADA)

        assert await world.services.stores.connections.list_all(ADA) == []
        assert [
            connection.id for connection in await world.services.stores.connections.list_all(EVE)
        ] == ["gmail"]
    assert len(world.provider.revoked_tokens) == 1


async def test_an_unavailable_tool_proxy_raises_and_disconnects_nothing(tmp_path: Path):
    async with open_accounts_fixture(tmp_path, FakeProvider()) as world:
        toolbox = HttpToolbox(
            "http://127.0.0.1:1", SERVICE_IDENTITY, DELEGATIONS, AutoAdvanceClock(), caller="chat"
        )

        with pytest.raises(Unavailable):
            await toolbox.disconnect_all(ADA)
        await toolbox.aclose()
        assert world.provider.revoked_tokens == []

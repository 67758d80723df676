"""MCP servers that want a token: asked for, bound, kept and renewed (T19)."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from httpx import AsyncClient, Response
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.responses import Response as Answer
from starlette.routing import Route

from functions.tool_proxy.authorization.away import AUTHORIZED_WITHIN
from functions.tool_proxy.calls.call import call_tool
from shared.data.apps import MAX_INSTALLED
from shared.domain.app import App, InstalledApp
from shared.domain.documents import Query
from shared.domain.errors import ToolFailed, ToolRefused
from shared.domain.ids import AppId, UserId
from tests.functions.tool_proxy.mcp_servers.world import ALICE, World, world_in
from tests.servers import running_at
from tests.servers.mcp_authorization import Provider, guarded_app
from tests.servers.mcp_server import NotesMcp


@pytest.fixture
def notes() -> NotesMcp:
    return NotesMcp()


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def url(notes: NotesMcp, provider: Provider) -> Iterator[str]:
    with running_at(lambda url: guarded_app(notes, provider, url)) as url:
        yield f"{url}/mcp"


@pytest.fixture
def world(url: str, tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path, [url.removesuffix("/mcp")]) as world:
        yield world


async def allowed(auth_url: str) -> str:
    """Be the browser at the authorization server; returns where it sends the user back to."""
    async with AsyncClient(trust_env=False) as browser:
        answer = await browser.get(auth_url)
    location: str = answer.headers["location"]
    return location


async def connected(world: World, url: str) -> str:
    """Add a server, allow access and come back; returns the app's id."""
    added = (await world.add(url)).json()
    page = await world.come_back(await allowed(added["auth_url"]))
    assert "Notes is connected" in page.text
    app_id: str = added["app_id"]
    return app_id


def bearers(notes: NotesMcp) -> list[str | None]:
    return [headers.get("authorization") for _, headers in notes.requests]


async def test_t19_a_server_that_wants_a_token_is_an_app_without_tools_at_first(world, url):
    added = (await world.add(url)).json()

    assert (added["requires_oauth"], added["tools_count"]) == (True, 0)
    asked = parse_qs(urlsplit(added["auth_url"]).query)
    assert asked["resource"] == [url]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["scope"] == ["notes"]
    assert asked["redirect_uri"] == ["https://keepsake.example.com/v1/apps/mcp/callback"]
    assert (await world.app(added["app_id"])).chat_tools == ()


async def test_t19_after_its_owner_allowed_access_its_tools_work(world, url, notes):
    app_id = await connected(world, url)

    assert await world.call(app_id, q="milk") == "Milk, eggs."
    assert [tool.name for tool in (await world.app(app_id)).chat_tools] == ["find"]
    assert set(bearers(notes)[-2:]) == {"Bearer access-1"}


async def test_t19_a_token_is_for_one_server(world, url, provider):
    app_id = await connected(world, url)
    await world.call(app_id, q="milk")

    assert {str(token.resource) for token in provider.access.values()} == {url}
    assert len(provider.clients) == 1


async def test_t19_tokens_are_stored_wrapped_below_their_user(world, url, tmp_path):
    await connected(world, url)

    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    grants = await world.documents.query(Query(collection=f"users/{ALICE}/mcp_grants"))

    assert len(grants) == 1
    assert b"access-1" not in stored
    assert b"refresh-1" not in stored


async def test_t19_a_token_opens_neither_another_server_nor_another_users(world, url):
    app_id = AppId(await connected(world, url))

    assert await world.deps.mcp.grants.get(ALICE, app_id, url) is not None
    assert await world.deps.mcp.grants.get(UserId("bob"), app_id, url) is None
    with pytest.raises(Exception, match="not wrapped here, or not for this"):
        await world.deps.mcp.grants.get(ALICE, app_id, f"{url}/elsewhere")


@pytest.mark.parametrize("state", ["", "forged", "AAAA" * 20, "%00"])
async def test_t19_a_state_that_is_not_ours_connects_nobody(world, url, state):
    await world.add(url)

    page = await world.come_back(f"http://test/v1/apps/mcp/callback?code=x&state={state}")

    assert "This link is not one of ours." in page.text


async def test_t19_a_user_comes_back_once(world, url, provider):
    added = (await world.add(url)).json()
    back = await allowed(added["auth_url"])
    await world.come_back(back)

    again = await world.come_back(back)

    assert "This link was used already" in again.text
    assert provider.given == 1


async def test_t19_who_is_talked_into_opening_anothers_link_connects_nothing(world, url, provider):
    """Else whoever sent the link would use the account of whoever opened it."""
    back = await allowed((await world.add(url)).json()["auth_url"])
    own = dict(world.cookies)

    for cookies in ({}, {"__session": "id0009"}):
        world.cookies = cookies
        assert "This was begun elsewhere." in (await world.come_back(back)).text
    assert provider.given == 0

    world.cookies = own
    assert "Notes is connected" in (await world.come_back(back)).text


async def test_t19_the_cookie_is_for_coming_back_alone(world, url):
    added = await world.add(url)

    held = added.headers["set-cookie"].partition("; ")[2]
    assert held == "HttpOnly; Max-Age=600; Path=/v1/apps/mcp; SameSite=lax; Secure"


async def test_t19_an_app_takes_its_user_back_and_nobody_elses(world, url):
    back = parse_qs(urlsplit(await allowed((await world.add(url)).json()["auth_url"])).query)
    told = {name: values[0] for name, values in back.items()}
    path = "/v1/apps/mcp/complete"

    anothers = await world.request("POST", path, uid="bob", json=told)
    own = await world.request("POST", path, json=told)
    again = await world.request("POST", path, json=told)

    assert [anothers.status_code, own.status_code, again.status_code] == [403, 200, 409]
    assert own.json()["tool_names"] == ["find"]


async def test_t19_a_user_comes_back_in_time(world, url, provider):
    back = await allowed((await world.add(url)).json()["auth_url"])
    world.clock.time += AUTHORIZED_WITHIN

    late = await world.come_back(back)

    assert "it is too old" in late.text
    assert provider.given == 0


async def test_t19_another_servers_answer_is_not_believed(world, url, provider):
    back = await allowed((await world.add(url)).json()["auth_url"])

    page = await world.come_back(f"{back}&iss=https://evil.example")

    assert "not from the server that was asked" in page.text
    assert provider.given == 0


async def test_t19_a_named_issuer_that_was_asked_is_believed(world, url):
    back = await allowed((await world.add(url)).json()["auth_url"])

    page = await world.come_back(f"{back}&iss={url.removesuffix('/mcp')}")

    assert "Notes is connected" in page.text


async def test_t19_access_that_was_not_allowed_is_said(world, url):
    asked = parse_qs(urlsplit((await world.add(url)).json()["auth_url"]).query)

    page = await world.come_back(
        f"http://test/v1/apps/mcp/callback?error=access_denied&state={asked['state'][0]}"
    )

    assert "access was not allowed" in page.text


async def test_t19_who_has_room_for_no_more_apps_reads_so_in_the_browser(world, url):
    added = (await world.add(url)).json()
    for n in range(MAX_INSTALLED):
        other = App(id=AppId(f"A{n}"), owner=ALICE, name="n", created_at=world.clock.now())
        await world.deps.apps.create(other)
        await world.deps.installed_apps.add(ALICE, InstalledApp.of(other, other.created_at))

    page = await world.come_back(await allowed(added["auth_url"]))

    assert page.headers["content-type"].startswith("text/html")
    assert "You may install 100 apps; remove one first." in page.text


async def test_t19_the_page_holds_no_markup_of_others(world, url):
    body = {"name": "<script>alert(1)</script>", "mcp_server_url": url}
    added = (await world.request("POST", "/v1/apps/mcp", json=body)).json()

    page = await world.come_back(await allowed(added["auth_url"]))

    assert "&lt;script&gt;" in page.text
    assert "<script>" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_t19_of_many_calls_one_renews_a_token_that_ends(world, url, notes, provider):
    app_id = await connected(world, url)
    world.clock.pass_(seconds=provider.lasts_s - 30)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(partial(world.call, app_id, q="milk"))

    assert provider.given == 2
    assert len(notes.calls) == 20


async def test_t19_a_token_that_is_refused_is_renewed_and_the_call_made_once(
    world, url, notes, provider
):
    app_id = await connected(world, url)
    provider.access.clear()

    assert await world.call(app_id, q="milk") == "Milk, eggs."
    assert provider.given == 2
    assert len(notes.calls) == 1


async def test_t19_where_nothing_can_be_renewed_the_owner_is_asked_again(world, url, provider):
    app_id = await connected(world, url)
    provider.access.clear()
    provider.refresh.clear()

    with pytest.raises(ToolFailed, match="Notes needs its user to connect an account first"):
        await world.call(app_id, q="milk")

    refreshed = await world.request("POST", f"/v1/apps/{app_id}/mcp/refresh")
    assert refreshed.json()["requires_oauth"]
    await world.come_back(await allowed(refreshed.json()["auth_url"]))
    assert await world.call(app_id, q="milk") == "Milk, eggs."


async def test_t19_with_its_app_a_server_is_forgotten(world, url):
    app_id = await connected(world, url)

    await world.request("DELETE", f"/v1/apps/{app_id}")

    assert await world.deps.mcp.grants.get(ALICE, AppId(app_id), url) is None


async def test_t19_nobody_else_calls_with_it(world, url):
    app_id = await connected(world, url)

    with pytest.raises(ToolRefused, match="not installed"):
        await call_tool(world.deps, UserId("bob"), AppId(app_id), "find", {"q": "milk"})


Change = Callable[[dict[str, Any]], dict[str, Any]]


def authorizing(
    url: str,
    about_server: Change,
    about_issuer: Change,
    challenge: bytes = b"Bearer",
    token: Any = None,
) -> Starlette:
    """Describe a server that asks for authorization, and its authorization server, as told."""

    async def mcp(_: Request) -> Answer:
        answer = Answer(status_code=401)
        answer.raw_headers.append((b"www-authenticate", challenge))
        return answer

    async def resource(_: Request) -> Answer:
        return JSONResponse(
            about_server({"resource": f"{url}/mcp", "authorization_servers": [url]})
        )

    async def issuer(_: Request) -> Answer:
        return JSONResponse(
            about_issuer(
                {
                    "issuer": url,
                    "authorization_endpoint": f"{url}/authorize",
                    "token_endpoint": f"{url}/token",
                    "registration_endpoint": f"{url}/register",
                    "code_challenge_methods_supported": ["S256"],
                }
            )
        )

    async def register(_: Request) -> Answer:
        return JSONResponse({"client_id": "us"}, status_code=201)

    async def give(_: Request) -> Answer:
        return JSONResponse(token)

    return Starlette(
        routes=[
            Route("/token", give, methods=["POST"]),
            Route("/mcp", mcp, methods=["POST"]),
            Route("/.well-known/oauth-protected-resource/mcp", resource),
            Route("/.well-known/oauth-authorization-server", issuer),
            Route("/register", register, methods=["POST"]),
        ]
    )


def same(described: dict[str, Any]) -> dict[str, Any]:
    return described


def but(**changes: Any) -> Change:
    return lambda described: {**described, **changes}


async def added_to(tmp_path: Path, about_server: Change, about_issuer: Change) -> Response:
    with (
        running_at(lambda url: authorizing(url, about_server, about_issuer)) as url,
        world_in(tmp_path, [url]) as world,
    ):
        return await world.add(f"{url}/mcp")


@pytest.mark.parametrize(
    ("about_server", "about_issuer", "told"),
    [
        (but(resource="https://bank.example/mcp"), same, "It speaks for another server."),
        (but(authorization_servers=["http://169.254.169.254"]), same, "must start with https"),
        (but(authorization_servers=["https://10.0.0.1"]), same, "public DNS name"),
        (same, but(issuer="https://bank.example"), "goes by another name."),
        (same, but(code_challenge_methods_supported=["plain"]), "does not support PKCE."),
        (same, but(code_challenge_methods_supported=None), "does not support PKCE."),
        (same, but(registration_endpoint=None), "lets no client register."),
        (same, but(registration_endpoint="http://127.0.0.1:1/register"), "https"),
        (same, but(authorization_endpoint="http://bank.example/"), "not at an https:// address."),
        (same, but(authorization_endpoint="javascript:alert(1)"), "does not describe itself."),
        (same, but(issuer=3), "does not describe itself."),
    ],
)
async def test_t19_an_authorization_server_that_does_not_fit_is_not_used(
    tmp_path, about_server, about_issuer, told
):
    added = await added_to(tmp_path, about_server, about_issuer)

    assert added.status_code == 502
    assert added.json()["detail"].startswith("The MCP server asks for authorization. ")
    assert told in added.json()["detail"]


@pytest.mark.parametrize(
    ("challenge", "told"),
    [
        (b'Bearer resource_metadata="http://a:port/"', "an address that is none."),
        (b'Bearer resource_metadata="http://169.254.169.254/"', "must start with https://."),
        ('Bearer resource_metadata="höhle"'.encode(), "not a plain http(s) URL."),
        (b"Bearer resource_metadata=" + b"x" * 20_000, "not a plain http(s) URL."),
    ],
)
async def test_t19_a_challenge_that_leads_nowhere_is_not_followed(tmp_path, challenge, told):
    with (
        running_at(lambda url: authorizing(url, same, same, challenge)) as url,
        world_in(tmp_path, [url]) as world,
    ):
        added = await world.add(f"{url}/mcp")

    assert added.status_code == 502
    assert told in added.json()["detail"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"access_token": "ok", "expires_in": 1e300}, "asks for authorization"),
        ({"access_token": "ok", "expires_in": "3600"}, "asks for authorization"),
        ({"access_token": "ok", "expires_in": -5}, "does not answer"),
        ({"access_token": "ok", "expires_in": "soon"}, "does not answer"),
        ({"access_token": "ok", "scope": {"a": 1}}, "does not answer"),
        ({"access_token": "a\r\nX-Evil: 1"}, "does not answer"),
        ({"access_token": "clé"}, "does not answer"),
        ({"access_token": ["a"]}, "does not answer"),
        ({"access_token": "x" * 9_000}, "does not answer"),
        ({"access_token": "ok", "refresh_token": "\n"}, "does not answer"),
        ({}, "does not answer"),
        ([], "does not answer"),
        ({"access_token": "x" * 20_000}, "does not answer"),
        ({"error": "invalid_grant<script>"}, "it did not agree"),
    ],
)
async def test_t19_what_is_no_token_is_not_kept(tmp_path, answer, told):
    with (
        running_at(lambda url: authorizing(url, same, same, token=answer)) as url,
        world_in(tmp_path, [url]) as world,
    ):
        auth_url = (await world.add(f"{url}/mcp")).json()["auth_url"]
        state = parse_qs(urlsplit(auth_url).query)["state"][0]
        page = await world.come_back(f"http://test/v1/apps/mcp/callback?code=x&state={state}")

    assert page.status_code == 200
    assert told in page.text
    assert "script" not in page.text


async def test_t19_a_client_without_a_secret_is_one_too(tmp_path):
    added = await added_to(tmp_path, same, same)

    assert parse_qs(urlsplit(added.json()["auth_url"]).query)["client_id"] == ["us"]

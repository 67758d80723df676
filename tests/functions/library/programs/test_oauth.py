"""Programs that their owner lets in by OAuth: how they are let in, and what is refused (R8)."""

import json
from asyncio import gather
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx
import pytest

from functions.library.programs.mcp_server.routes import MCP_ROUTES
from functions.library.programs.mcp_server.tools import TOOLS
from functions.library.programs.oauth.deps import ProgramDeps
from functions.library.programs.oauth.routes import OAUTH_ROUTES
from shared.adapters.guarded_egress import GuardedEgress
from shared.data.account.connected_programs import MAX_PROGRAMS
from shared.domain.ids import UserId
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.library import build_program_deps
from tests.fixtures.oauth import VERIFIER, build_authorization, build_code_exchange
from tests.fixtures.processing import ProcessingFixture

ORIGIN = "https://keepsake.example"
RESOURCE = f"{ORIGIN}/v1/mcp"
CALLBACK = "http://127.0.0.1:4711/callback"
DOCUMENT_URL = "https://editor.example/oauth/client.json"
DOCUMENT = {
    "client_id": DOCUMENT_URL,
    "client_name": "Editor",
    "redirect_uris": ["https://editor.example/callback"],
    "token_endpoint_auth_method": "none",
}
ACCEPT = {"accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Page:
    """What a server answers with."""

    content: str = ""
    status: int = 200
    media_type: str = "application/json"
    location: str = "https://editor.example/other.json"


@dataclass
class Strangers:
    """Servers of strangers: each address answers with what stands here, others with 404."""

    pages: dict[str, Page] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def resolve(self, host: str, _: int) -> list[str]:
        return [self.addresses.get(host, "93.184.215.14")]

    async def answer(self, request: httpx.Request) -> httpx.Response:
        if self.meanwhile:
            await self.meanwhile()
        url = f"https://{request.headers['host']}{request.url.path}"
        page = self.pages.get(url, Page(status=404))
        headers = {"content-type": page.media_type, "location": page.location}
        stream = httpx.ByteStream(page.content.encode())
        return httpx.Response(page.status, stream=stream, headers=headers)


@dataclass
class Programs:
    """The routes of MCP and OAuth, as a stranger and as users call them."""

    deps: ProgramDeps
    strangers: Strangers
    http: httpx.AsyncClient

    async def register(self, *redirect_uris: str, name: str = "Editor") -> str:
        body = {"client_name": name, "redirect_uris": list(redirect_uris or (CALLBACK,))}
        answer = await self.http.post("/v1/mcp/register", json=body)
        assert answer.status_code == 201, answer.text
        client_id: str = answer.json()["client_id"]
        return client_id

    async def post_as(self, uid: str, path: str, body: Any) -> httpx.Response:
        return await self.http.post(path, json=body, headers=build_auth_headers(uid))

    async def preview(self, asked: dict[str, str], uid: str = "alice") -> httpx.Response:
        return await self.post_as(uid, "/v1/mcp/authorizations/preview", asked)

    async def decide(
        self, asked: dict[str, str], allows: str = "write", uid: str = "alice"
    ) -> dict[str, str]:
        """Return what the program reads from the address to which the browser takes it."""
        body = {"request": asked, "allows": allows}
        answer = await self.post_as(uid, "/v1/mcp/authorizations", body)
        assert answer.status_code == 200, answer.text
        return dict(parse_qsl(urlsplit(answer.json()["return_url"]).query))

    async def exchange(self, client_id: str, code: str, /, **changes: str) -> httpx.Response:
        form = build_code_exchange(client_id, CALLBACK, code)
        return await self.http.post("/v1/mcp/token", data={**form, "resource": RESOURCE, **changes})

    async def refresh(self, client_id: str, token: str, /, **changes: str) -> httpx.Response:
        form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token}
        return await self.http.post("/v1/mcp/token", data={**form, **changes})

    async def connect(self, allows: str = "write", uid: str = "alice") -> dict[str, str]:
        """Let a program in; return its tokens and its client id."""
        client_id = await self.register()
        asked = build_request(client_id)
        code = (await self.decide(asked, allows, uid))["code"]
        answer = await self.exchange(client_id, code)
        assert answer.status_code == 200, answer.text
        return {**answer.json(), "client_id": client_id}

    async def call(
        self, token: str, method: str = "tools/list", path: str = "/v1/mcp", **params: Any
    ) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {**ACCEPT, "Authorization": f"Bearer {token}"}
        return await self.http.post(path, json=body, headers=headers)

    async def list_for(self, uid: str = "alice") -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = (
            await self.http.get("/v1/mcp/programs", headers=build_auth_headers(uid))
        ).json()
        return listed


def build_request(client_id: str, **changes: str) -> dict[str, str]:
    asked = build_authorization(client_id, CALLBACK)
    return {**asked, "scope": "read write", "state": "s1", "resource": RESOURCE, **changes}


@asynccontextmanager
async def open_programs(deps: ProgramDeps, strangers: Strangers) -> AsyncIterator[Programs]:
    async with open_client("mcp", (*MCP_ROUTES, *OAUTH_ROUTES), deps) as http:
        yield Programs(deps, strangers, http)


@pytest.fixture
async def programs(world: ProcessingFixture) -> AsyncIterator[Programs]:
    strangers = Strangers()
    egress = GuardedEgress(
        resolve=strangers.resolve, transport=httpx.MockTransport(strangers.answer)
    )
    async with open_programs(build_program_deps(world, egress), strangers) as opened:
        yield opened


async def test_a_program_finds_out_how_it_is_let_in_r8(programs):
    refused = await programs.http.post("/v1/mcp", json={})
    challenge = refused.headers["www-authenticate"]
    metadata_url = challenge.partition('resource_metadata="')[2].partition('"')[0]
    resource = (await programs.http.get(urlsplit(metadata_url).path)).json()
    server = (await programs.http.get("/.well-known/oauth-authorization-server")).json()

    assert (refused.status_code, 'scope="read"' in challenge) == (401, True)
    assert (resource["resource"], resource["authorization_servers"]) == (RESOURCE, [ORIGIN])
    assert server["issuer"] == ORIGIN
    assert server["code_challenge_methods_supported"] == ["S256"]
    paths = {row.path for row in OAUTH_ROUTES}
    assert {
        urlsplit(url).path for name, url in server.items() if name.endswith("_endpoint")
    } <= paths


async def test_the_way_to_the_owner_leads_to_the_console_alone_r8(programs):
    asked = build_request("c", redirect_uri="https://evil.example/")

    answer = await programs.http.get("/v1/mcp/authorize", params=asked)

    page, _, query = answer.headers["location"].partition("/#/connect/")
    assert (answer.status_code, page) == (303, ORIGIN)
    assert dict(parse_qsl(unquote(query))) == asked


async def test_a_program_that_was_let_in_uses_the_library_r8(programs, world):
    client_id = await programs.register()
    asked = build_request(client_id)
    shown = (await programs.preview(asked)).json()
    answer = await programs.decide(asked)
    tokens = (await programs.exchange(client_id, answer["code"])).json()
    listed = await programs.call(tokens["access_token"])
    (program,) = await programs.list_for()

    assert (shown["name"], shown["host"], shown["is_local"]) == ("Editor", "127.0.0.1", True)
    assert (shown["scope"], shown["refusal"], shown["document_host"]) == ("write", None, None)
    assert (answer["state"], answer["iss"]) == ("s1", ORIGIN)
    assert (tokens["scope"], tokens["token_type"]) == ("read write", "Bearer")
    assert len(listed.json()["result"]["tools"]) == len(TOOLS)
    assert (program["name"], program["scope"]) == ("Editor", "write")
    stored = json.dumps(await world.load_everything(), default=str)
    secrets = (answer["code"], tokens["access_token"], tokens["refresh_token"])
    assert not [secret for secret in secrets if secret.rpartition(".")[2] in stored]


@pytest.mark.parametrize(
    "changes",
    [
        {"code_verifier": f"{VERIFIER}x"},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:4712/callback"},
        {"client_id": "another"},
    ],
    ids=lambda changes: next(iter(changes)),
)
async def test_a_code_without_its_proof_serves_nobody_any_more_r8(programs, changes):
    client_id = await programs.register()
    code = (await programs.decide(build_request(client_id)))["code"]

    first = await programs.exchange(client_id, code, **changes)
    second = await programs.exchange(client_id, code)

    assert [(a.status_code, a.json()["error"]) for a in (first, second)] == [
        (400, "invalid_grant")
    ] * 2
    assert await programs.list_for() == []


async def test_a_code_that_is_brought_twice_ends_what_came_of_it_r8(programs):
    client_id = await programs.register()
    code = (await programs.decide(build_request(client_id)))["code"]
    tokens = (await programs.exchange(client_id, code)).json()

    again = await programs.exchange(client_id, code)

    assert again.json()["error"] == "invalid_grant"
    assert (await programs.call(tokens["access_token"])).status_code == 401
    assert (await programs.refresh(client_id, tokens["refresh_token"])).status_code == 400


async def test_a_code_ends_after_two_minutes_r8(programs, world):
    client_id = await programs.register()
    code = (await programs.decide(build_request(client_id)))["code"]
    world.clock.advance(minutes=2)

    assert (await programs.exchange(client_id, code)).json()["error"] == "invalid_grant"


async def test_tokens_are_refreshed_and_the_old_ones_end_r8(programs, world):
    old = await programs.connect()
    world.clock.advance(hours=1)
    ended = await programs.call(old["access_token"])

    new = (await programs.refresh(old["client_id"], old["refresh_token"])).json()

    assert (ended.status_code, 'error="invalid_token"' in ended.headers["www-authenticate"]) == (
        401,
        True,
    )
    assert (await programs.call(new["access_token"])).status_code == 200
    assert new["refresh_token"] != old["refresh_token"]


async def test_a_refresh_is_answered_alike_to_two_devices_and_where_the_answer_was_lost_r8(
    programs, world
):
    old = await programs.connect()
    at_once = await gather(
        *[programs.refresh(old["client_id"], old["refresh_token"]) for _ in range(2)]
    )
    world.clock.advance(seconds=59)
    late = await programs.refresh(old["client_id"], old["refresh_token"])

    (tokens, *others) = [answer.json() for answer in (*at_once, late)]
    assert others == [tokens, tokens]
    assert (await programs.call(tokens["access_token"])).status_code == 200
    assert (await programs.refresh(old["client_id"], tokens["refresh_token"])).status_code == 200


@pytest.mark.parametrize("changes", [{}, {"client_id": "another"}], ids=["again", "by another"])
async def test_a_refresh_token_in_two_hands_ends_the_program_r8(programs, world, changes):
    old = await programs.connect()
    new = (await programs.refresh(old["client_id"], old["refresh_token"])).json()
    world.clock.advance(minutes=1)
    stolen = old["refresh_token"] if not changes else new["refresh_token"]

    answer = await programs.refresh(old["client_id"], stolen, **changes)

    assert answer.json()["error"] == "invalid_grant"
    assert (await programs.call(new["access_token"])).status_code == 401
    assert (await programs.refresh(old["client_id"], new["refresh_token"])).status_code == 400
    assert await programs.list_for() == []


async def test_a_program_that_does_not_come_back_is_not_connected_any_more_r8(programs, world):
    tokens = await programs.connect()
    world.clock.advance(days=60)

    assert await programs.list_for() == []
    assert (await programs.refresh(tokens["client_id"], tokens["refresh_token"])).status_code == 400


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "too-short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"resource": "https://other.example/v1/mcp"}, "invalid_target"),
        ({"resource": f"{RESOURCE}evil"}, "invalid_target"),
        ({"resource": "https://["}, "invalid_target"),
    ],
)
async def test_a_request_that_cannot_be_allowed_goes_back_with_its_error_r8(
    programs, changes, error
):
    asked = build_request(await programs.register(), **changes)

    shown = (await programs.preview(asked)).json()
    answer = await programs.decide(asked)

    assert shown["refusal"]
    assert answer == {"error": error, "state": "s1", "iss": ORIGIN}


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        (CALLBACK, ""),
        (CALLBACK, "http://127.0.0.1:4711/other"),
        (CALLBACK, "http://localhost:4711/callback"),
        (CALLBACK, "http://127.0.0.1:4711/callback?more=1"),
        (CALLBACK, "http://127.0.0.1:4711@evil.example/callback"),
        ("https://editor.example/callback", "https://editor.example:8443/callback"),
        ("https://editor.example/callback", "https://editor.example/callback/"),
        ("https://editor.example/callback", "https://evil.example/callback"),
        ("https://editor.example/callback", "http://editor.example/callback"),
    ],
)
async def test_nothing_is_sent_to_an_address_that_is_not_registered_r8(programs, registered, asked):
    request = build_request(await programs.register(registered), redirect_uri=asked)

    shown = await programs.preview(request)
    decided = await programs.post_as(
        "alice", "/v1/mcp/authorizations", {"request": request, "allows": "write"}
    )

    assert [shown.status_code, decided.status_code] == [422, 422]
    assert await programs.list_for() == []


@pytest.mark.parametrize("registered", ["http://127.0.0.1/callback", "http://[::1]:1/callback"])
async def test_on_the_owners_machine_the_port_is_free_r8(programs, registered):
    asked = registered.replace("127.0.0.1", "127.0.0.1:5000").replace(":1/", ":5000/")
    request = build_request(await programs.register(registered), redirect_uri=asked)

    assert (await programs.preview(request)).status_code == 200


@pytest.mark.parametrize(
    "uri",
    [
        "http://editor.example/callback",
        "javascript:alert(1)",
        "editor:callback",
        "https://editor.example/#fragment",
        "https://editor.example\\@evil.example/",
        "https://editor.example@evil.example/",
        "https://пример.example/",
        "https:///callback",
        "https://editor.example:port/",
        "https://editor.example%E3%80%82evil.example/",
        "http://[::1].evil.example/callback",
        "http://evil.example[::1]/callback",
        "https://[editor]/",
        "https://editor.example/" + "a" * 500,
        7,
    ],
)
async def test_an_address_that_no_code_may_go_to_is_not_registered_r8(programs, uri):
    answer = await programs.http.post("/v1/mcp/register", json={"redirect_uris": [uri]})

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


async def test_a_name_is_one_short_line_of_what_can_be_seen_r8(programs):
    name = "Keepsake\u202e\n\u200b Support " + "x" * 200
    asked = build_request(
        await programs.register("https://evil.example/", name=name),
        redirect_uri="https://evil.example/",
    )

    shown = (await programs.preview(asked)).json()

    assert shown["name"].startswith("Keepsake Support xxx")
    assert (len(shown["name"]), shown["host"]) == (100, "evil.example")


@pytest.mark.parametrize("name", ["", "\u2800", "\u034f", "\u180e\ufe0f", "\u200b \u202e"])
async def test_a_name_that_nobody_can_read_is_none_r8(programs, name):
    asked = build_request(await programs.register(name=name))

    assert (await programs.preview(asked)).json()["name"] == "A program without a name"


async def test_a_registration_is_nobody_elses_to_write_and_ends_r8(programs, world):
    client_id = await programs.register()
    forged = client_id[:-2] + ("AA" if client_id[-2:] != "AA" else "BB")

    before = await programs.preview(build_request(client_id))
    forgery = await programs.preview(build_request(forged))
    world.clock.advance(days=365)

    assert [before.status_code, forgery.status_code] == [200, 422]
    assert (await programs.preview(build_request(client_id))).status_code == 422


async def test_a_program_with_a_document_of_its_own_needs_no_registration_r8(programs):
    programs.strangers.pages[DOCUMENT_URL] = Page(json.dumps(DOCUMENT))
    uri = DOCUMENT["redirect_uris"][0]
    asked = build_request(DOCUMENT_URL, redirect_uri=uri)

    shown = (await programs.preview(asked)).json()
    code = (await programs.decide(asked))["code"]
    tokens = await programs.exchange(DOCUMENT_URL, code, redirect_uri=uri)

    assert (shown["name"], shown["host"]) == ("Editor", "editor.example")
    assert (shown["document_host"], shown["is_local"]) == ("editor.example", False)
    assert tokens.status_code == 200


@pytest.mark.parametrize(
    "page",
    [
        Page(status=404),
        Page(json.dumps(DOCUMENT), status=302),
        Page(json.dumps({**DOCUMENT, "client_id": "https://other.example/c.json"})),
        Page(json.dumps({**DOCUMENT, "redirect_uris": []})),
        Page(json.dumps({**DOCUMENT, "token_endpoint_auth_method": "private_key_jwt"})),
        Page(json.dumps({**DOCUMENT, "more": "x" * 20_000})),
        Page(json.dumps(DOCUMENT), media_type="text/html"),
        Page("[]"),
    ],
    ids=["none", "elsewhere", "of another", "no address", "a key", "too long", "a page", "a list"],
)
async def test_a_document_that_does_not_stand_for_its_address_is_refused_r8(programs, page):
    programs.strangers.pages[DOCUMENT_URL] = page
    asked = build_request(DOCUMENT_URL, redirect_uri=DOCUMENT["redirect_uris"][0])

    assert (await programs.preview(asked)).status_code == 422


@pytest.mark.parametrize(
    "client_id",
    [
        "https://inside.example/client.json",
        "https://127.0.0.1/client.json",
        "https://editor.example",
        "https://editor.example/a/../client.json",
        "https://user:secret@editor.example/client.json",
    ],
)
async def test_a_document_is_not_looked_for_where_nothing_public_is_r8(programs, client_id):
    programs.strangers.addresses["inside.example"] = "10.0.0.1"
    programs.strangers.pages[client_id] = Page(json.dumps({**DOCUMENT, "client_id": client_id}))
    asked = build_request(client_id, redirect_uri=DOCUMENT["redirect_uris"][0])

    assert (await programs.preview(asked)).status_code == 422


async def test_a_program_that_may_only_read_is_told_to_ask_for_more_r8(programs):
    token = (await programs.connect("read"))["access_token"]
    arguments = {"content": "Likes trains."}

    tools = (await programs.call(token)).json()["result"]["tools"]
    read = await programs.call(token, "tools/call", name="get_memories", arguments={})
    refusals = [
        await programs.call(token, "tools/call", path, name="create_memory", arguments=arguments)
        for path in ("/v1/mcp", "/v1/mcp/sse")
    ]
    refusals.append(
        await programs.http.post(
            "/v1/mcp/memories", json=arguments, headers={"Authorization": f"Bearer {token}"}
        )
    )

    assert [tool["name"] for tool in tools] == list(TOOLS)
    assert json.loads(read.json()["result"]["content"][0]["text"]) == {"memories": []}
    for refusal in refusals:
        challenge = refusal.headers["www-authenticate"]
        assert refusal.status_code == 403
        assert 'error="insufficient_scope", scope="read write"' in challenge


async def test_a_program_that_asks_to_read_gets_no_more_r8(programs):
    client_id = await programs.register()
    code = (await programs.decide(build_request(client_id, scope="read")))["code"]

    assert (await programs.exchange(client_id, code)).json()["scope"] == "read"


async def test_a_program_that_was_let_in_again_takes_the_place_of_what_it_was_r8(programs):
    client_id = await programs.register()
    old, new = [
        (await programs.exchange(client_id, (await programs.decide(asked))["code"])).json()
        for asked in (build_request(client_id, scope="read"), build_request(client_id))
    ]

    assert [program["scope"] for program in await programs.list_for()] == ["write"]
    statuses = [(await programs.call(t["access_token"])).status_code for t in (old, new)]
    assert statuses == [401, 200]


async def test_what_was_allowed_before_signing_out_everywhere_is_not_let_in_after_it_r8(
    programs, world
):
    stores, alice = world.deps.stores, UserId("alice")

    async def sign_out() -> None:
        await stores.sign_outs.put(alice, world.clock.now() + timedelta(seconds=1))
        await stores.connected_programs.remove_all(alice)

    programs.strangers.pages[DOCUMENT_URL] = Page(json.dumps(DOCUMENT))
    programs.strangers.meanwhile = sign_out
    uri = DOCUMENT["redirect_uris"][0]
    code = (await programs.decide(build_request(DOCUMENT_URL, redirect_uri=uri)))["code"]
    world.clock.advance(seconds=2)

    answer = await programs.exchange(DOCUMENT_URL, code, redirect_uri=uri)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert await programs.list_for() == []


async def test_a_refusal_goes_back_to_the_program_r8(programs):
    answer = await programs.decide(build_request(await programs.register()), "nothing")

    assert answer == {"error": "access_denied", "state": "s1", "iss": ORIGIN}
    assert await programs.list_for() == []


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_a_program_ends_itself_by_either_token_r8(programs, kind):
    tokens = await programs.connect()
    form = {"token": tokens[kind], "client_id": tokens["client_id"]}

    by_another = await programs.http.post("/v1/mcp/revoke", data={**form, "client_id": "another"})
    still = await programs.call(tokens["access_token"])
    answers = [await programs.http.post("/v1/mcp/revoke", data=form) for _ in range(2)]

    assert [by_another.status_code, still.status_code] == [200, 200]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert (await programs.call(tokens["access_token"])).status_code == 401
    assert (await programs.refresh(tokens["client_id"], tokens["refresh_token"])).status_code == 400


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"grant_type=password", "unsupported_grant_type"),
        (b"", "unsupported_grant_type"),
        (b"\xff", "invalid_request"),
        (b"grant_type=refresh_token&grant_type=refresh_token", "invalid_request"),
        (b"grant_type=refresh_token&refresh_token=ks_ort_alice.p.s", "invalid_grant"),
        (b"grant_type=refresh_token&refresh_token=ks_oat_alice.p.s", "invalid_grant"),
        (b"grant_type=authorization_code&code=ks_oac_a%2Fb.p.s", "invalid_grant"),
        (b"grant_type=refresh_token&refresh_token=" + b"x" * 3_000, "invalid_request"),
        (b"grant_type=refresh_token&resource=https://other.example", "invalid_target"),
    ],
)
async def test_a_bad_form_is_refused_in_the_words_of_oauth_r8(programs, body, error):
    answer = await programs.http.post("/v1/mcp/token", content=body)

    assert (answer.status_code, answer.json()["error"]) == (400, error)


async def test_a_program_opens_the_library_of_whoever_let_it_in_only_r8(programs):
    tokens = await programs.connect(uid="bob")
    (program,) = await programs.list_for("bob")
    forged = tokens["access_token"].replace("bob", "alice")

    foreign = await programs.http.delete(
        f"/v1/mcp/programs/{program['id']}", headers=build_auth_headers("alice")
    )
    before = await programs.call(tokens["access_token"])
    own = await programs.http.delete(
        f"/v1/mcp/programs/{program['id']}", headers=build_auth_headers("bob")
    )

    assert await programs.list_for("alice") == []
    assert (await programs.call(forged)).status_code == 401
    assert [foreign.status_code, before.status_code, own.status_code] == [404, 200, 204]
    assert (await programs.call(tokens["access_token"])).status_code == 401


async def test_a_token_is_for_the_address_that_it_was_asked_for_r8(programs):
    token = (await programs.connect())["access_token"]
    moved = replace(programs.deps, public_url="https://moved.example")

    async with open_programs(moved, programs.strangers) as elsewhere:
        assert (await elsewhere.call(token)).status_code == 401


async def test_a_user_connects_a_bounded_number_and_expired_ones_make_room_r8(programs, world):
    asked = build_request(await programs.register())
    for _ in range(MAX_PROGRAMS):
        await programs.decide(asked)
    body = {"request": asked, "allows": "write"}

    full = await programs.post_as("alice", "/v1/mcp/authorizations", body)
    world.clock.advance(minutes=2)
    later = await programs.post_as("alice", "/v1/mcp/authorizations", body)

    assert [full.status_code, later.status_code] == [409, 200]


async def test_an_export_names_connected_programs_without_their_secrets_r8(programs, alice):
    await programs.connect()

    (exported,) = (await alice.get("/v1/users/export")).json()["connected_programs"]

    assert exported["name"] == "Editor"
    assert not [name for name in exported if name.endswith(("hash", "challenge"))]

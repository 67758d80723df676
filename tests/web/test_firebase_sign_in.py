"""Firebase sign-in in the console: with the Auth emulator, and a library that verifies its tokens (U6).

The browser meets the policy and the files of the cloud's console. Requests to Google's addresses are
led to the emulator on their way out, so the console has no switch for tests.
"""

import dataclasses
import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route as Path
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from functions.library.routes import LIBRARY_ROUTES
from shared.adapters.cloud.firebase_identity import FirebaseIdentity
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.edge.serve.http import build_application
from tests.conftest import ROOT
from tests.e2e.waiting import wait_until
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import build_processing_fixture
from tests.servers import run_server

pytestmark = pytest.mark.emulators

PROJECT = "demo-keepsake"
PASSWORD = "of a test"
CONFIG = {
    "sign_in": "firebase",
    "apiKey": "any",
    "authDomain": "demo-keepsake.firebaseapp.com",
    "providers": ["password", "google.com"],
    "googleClientId": "client-id",
    "signUp": True,
}
GOOGLE = "https://accounts.google.com/o/oauth2/v2/auth"
CONSOLE_HEADERS: dict[str, str] = json.loads((ROOT / "infra/console_headers.json").read_text())[
    "**"
]


class CloudConsole:
    """The console's files with the load balancer's headers, and the library behind the same address."""

    def __init__(self, library: ASGIApp) -> None:
        self._library = library
        self._files = Starlette(routes=[Path("/config.json", lambda _: JSONResponse(CONFIG))])
        self._files.mount("/", StaticFiles(directory=ROOT / "web", html=True))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path", "").startswith(("/v1/", "/v3/")):
            await self._library(scope, receive, send)
        else:
            await self._files(scope, receive, add_hosting_headers(send))


def add_hosting_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(k.lower().encode(), v.encode()) for k, v in CONSOLE_HEADERS.items()]
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return send_with_headers


@pytest.fixture
def address(
    database: SqliteDatabase, auth_emulator: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", auth_emulator)
    identity = FirebaseIdentity(project=PROJECT)
    world = build_processing_fixture(database, OfflineModel())
    deps = dataclasses.replace(build_library_deps(world), identity=identity)
    with run_server(CloudConsole(build_application("library", LIBRARY_ROUTES, deps))) as url:
        yield url


@pytest.fixture
def page(context: BrowserContext, address: str, auth_emulator: str) -> Page:
    """Open the sign-in page; what it asks of Google's servers is answered by the emulator."""
    for host in ("identitytoolkit.googleapis.com", "securetoken.googleapis.com"):
        context.route(f"https://{host}/**", lambda route: answer_by(auth_emulator, route))
    page = context.new_page()
    page.goto(address)
    page.get_by_label("E-mail").wait_for()
    return page


def answer_by(emulator: str, route: Route) -> None:
    route.fulfill(response=route.fetch(url=f"http://{emulator}/{route.request.url[8:]}"))


def create_account(emulator: str) -> str:
    """Create an account at the emulator; returns its address."""
    email = f"{uuid4().hex}@example.com"
    url = f"http://{emulator}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any"
    httpx.post(url, json={"email": email, "password": PASSWORD}).raise_for_status()
    return email


def enter(page: Page, email: str, password: str, button: str = "Sign in") -> None:
    page.get_by_label("E-mail").fill(email)
    page.locator("#account-password").fill(password)
    page.get_by_role("button", name=button).click()


def expect_library(page: Page, name: str) -> None:
    """Expect the library of an account, read with a token that the server verified."""
    expect(page.locator("#account-button")).to_have_text(name)
    expect(page.locator("#empty")).to_be_visible()


def test_e_mail_and_password_open_the_library_also_after_a_reload_u6(
    page: Page, auth_emulator: str
) -> None:
    email = create_account(auth_emulator)

    enter(page, email, PASSWORD)

    expect_library(page, email)
    page.reload()
    expect_library(page, email)


def test_a_new_account_can_be_made_where_the_host_allows_it_u6(page: Page) -> None:
    email = f"{uuid4().hex}@example.com"

    enter(page, email, PASSWORD, "Create an account")

    expect_library(page, email)


def test_what_was_refused_is_said_in_words_u6(page: Page, auth_emulator: str) -> None:
    email, problem = create_account(auth_emulator), page.locator(".problem:visible")

    enter(page, email, "a wrong one")
    expect(problem).to_contain_text("The e-mail address or the password is wrong.")

    enter(page, email, PASSWORD, "Create an account")
    expect(problem).to_contain_text("There is an account with this e-mail address already.")


def test_a_forgotten_password_sends_the_same_answer_for_every_address_u6(
    page: Page, auth_emulator: str
) -> None:
    for email in (create_account(auth_emulator), "nobody@example.com"):
        page.reload()
        page.get_by_label("E-mail").fill(email)
        page.get_by_role("button", name="Forgot your password?").click()
        expect(
            page.get_by_text("If there is such an account, a mail is on its way.")
        ).to_be_visible()


def test_a_token_that_ends_is_renewed_and_a_deleted_account_is_signed_out_u6(
    page: Page, auth_emulator: str
) -> None:
    email = create_account(auth_emulator)
    enter(page, email, PASSWORD)
    expect_library(page, email)
    let_the_token_end(page)

    with page.expect_request("https://securetoken.googleapis.com/**"):
        page.reload()
    expect_library(page, email)

    token = page.evaluate("JSON.parse(sessionStorage['keepsake.session']).token")
    url = f"http://{auth_emulator}/identitytoolkit.googleapis.com/v1/accounts:delete?key=any"
    httpx.post(url, json={"idToken": token}).raise_for_status()
    let_the_token_end(page)
    page.reload()
    expect(page.get_by_label("E-mail")).to_be_visible()
    wait_until(lambda: page.evaluate("sessionStorage.length") == 0 or None)


def let_the_token_end(page: Page) -> None:
    page.evaluate(
        """() => {
          const session = JSON.parse(sessionStorage["keepsake.session"]);
          sessionStorage["keepsake.session"] = JSON.stringify({ ...session, expiresAt: 0 });
        }"""
    )


def test_signing_out_forgets_every_token_u6(page: Page, auth_emulator: str) -> None:
    email = create_account(auth_emulator)
    enter(page, email, PASSWORD)
    expect_library(page, email)
    page.locator("#sign-out").click()

    expect(page.get_by_label("E-mail")).to_be_visible()
    wait_until(lambda: page.evaluate("sessionStorage.length") == 0 or None)


def test_google_signs_in_and_its_token_leaves_the_address_bar_u6(page: Page, address: str) -> None:
    page.context.route(f"{GOOGLE}**", answer_as_google)

    page.get_by_role("button", name="Continue with Google").click()

    expect_library(page, "ann@gmail.com")
    expect(page.locator("#welcome")).to_be_hidden()
    assert page.url == f"{address}/"


def test_a_token_that_this_tab_did_not_ask_for_signs_nobody_in_u6(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}/#{build_google_answer('of another tab')}")

    expect(page.get_by_label("E-mail")).to_be_visible()
    assert page.url == f"{address}/"
    assert page.evaluate("sessionStorage.length") == 0


def answer_as_google(route: Route) -> None:
    """Consent, and lead back to where the request says."""
    query = parse_qs(urlsplit(route.request.url).query)
    assert (query["client_id"], query["response_type"]) == (["client-id"], ["token"])
    target = f"{query['redirect_uri'][0]}#{build_google_answer(query['state'][0])}"
    route.fulfill(status=302, headers={"Location": target})


def build_google_answer(state: str) -> str:
    """Build the fragment with which Google leads back; the emulator reads claims as a token."""
    claims = {"sub": "4711", "email": "ann@gmail.com", "email_verified": True}
    return urlencode({"access_token": json.dumps(claims), "state": state})

"""Programs that ask to be let in: the page that asks, and the list of those that were (R8)."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import BrowserContext, Route, expect

from tests.fixtures.oauth import build_authorization, build_code_exchange
from tests.web.console import Console

CALLBACK = "http://127.0.0.1:9/callback"
PREVIEWS = "**/v1/mcp/authorizations/preview"


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    return own_context


def open_request(console: Console, name: str, **changes: str) -> str:
    """Open the page that a program sends its user to; return the program's client id."""
    body = {"client_name": name, "redirect_uris": [CALLBACK]}
    client_id: str = httpx.post(f"{console.origin}/v1/mcp/register", json=body).json()["client_id"]
    asked = {
        **build_authorization(client_id, CALLBACK),
        "scope": "read write",
        "state": "s1",
        **changes,
    }
    console.page.goto(f"{console.origin}/v1/mcp/authorize?{urlencode(asked)}")
    return client_id


def press(console: Console, button: str) -> dict[str, list[str]]:
    """Press a button that leads back to the program; return what the program reads there."""
    console.page.get_by_role("button", name=button).wait_for()
    console.page.clock.fast_forward(500)
    with console.page.expect_request(f"{CALLBACK}**") as request:
        console.page.get_by_role("button", name=button).press("Enter")
    return parse_qs(urlsplit(request.value.url).query)


def exchange(console: Console, client_id: str, code: str) -> str:
    form = build_code_exchange(client_id, CALLBACK, code)
    answer = httpx.post(f"{console.origin}/v1/mcp/token", data=form)
    token: str = answer.raise_for_status().json()["access_token"]
    return token


def ask_for_tools(console: Console, token: str) -> int:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    return httpx.post(f"{console.origin}/v1/mcp", json=message, headers=headers).status_code


@pytest.fixture(autouse=True)
def program(console: Console) -> None:
    """Play the program's own page, by a clock of the test's."""
    console.page.clock.install()
    console.page.route(f"{CALLBACK}**", lambda route: route.fulfill(body="Done"))


def test_whoever_signs_in_lets_a_program_in_and_disconnects_it_r8(console: Console) -> None:
    page = console.page
    page.goto(console.address)
    client_id = open_request(console, "<b>Keepsake</b> Support")
    page.get_by_label("Who are you?").fill(console.uid)
    page.get_by_role("button", name="Sign in").click()
    asks = page.get_by_role("region", name="Connect a program")
    expect(asks).to_contain_text(
        f"<b>Keepsake</b> Support wants to use the library of {console.uid}."
    )
    expect(asks.locator(".facts")).to_contain_text("127.0.0.1")
    expect(asks.locator(".facts")).to_contain_text("nobody: any program can take this name")

    answer = press(console, "Allow all of it")
    token = exchange(console, client_id, *answer["code"])
    connected = ask_for_tools(console, token)
    page.goto(f"{console.origin}/#/account/programs")
    programs = page.get_by_role("region", name="Connected programs")
    expect(programs.get_by_role("listitem")).to_contain_text("<b>Keepsake</b> Support")
    programs.get_by_role("button", name="Disconnect").press("Enter")
    expect(programs.get_by_role("listitem")).to_have_count(0)

    assert (answer["state"], answer["iss"]) == (["s1"], [console.origin])
    assert (connected, ask_for_tools(console, token)) == (200, 401)
    assert console.page_errors == []


def test_a_program_that_is_not_allowed_hears_so_r8(console: Console) -> None:
    console.sign_in(console.uid)
    open_request(console, "Editor")

    answer = press(console, "Do not allow it")

    assert answer["error"] == ["access_denied"]


def test_a_program_that_asks_wrongly_is_not_let_in_r8(console: Console) -> None:
    console.sign_in(console.uid)
    open_request(console, "Editor", code_challenge_method="plain")

    expect(console.page.get_by_role("button", name="Allow")).to_have_count(0)
    answer = press(console, "Back to 127.0.0.1")

    assert answer["error"] == ["invalid_request"]
    open_request(console, "Editor", redirect_uri="https://evil.example/")
    expect(console.problem).to_contain_text("an address that it has not registered")


def test_a_press_that_was_meant_for_another_page_lets_nobody_in_r8(console: Console) -> None:
    console.sign_in(console.uid)
    open_request(console, "Editor")
    allow = console.page.get_by_role("button", name="Allow all of it")
    allow.wait_for()
    console.page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))

    console.page.evaluate("dispatchEvent(new Event('focus'))")
    allow.press("Enter")

    assert press(console, "Do not allow it")["error"] == ["access_denied"]


def test_a_late_answer_does_not_replace_the_request_that_is_shown_r8(console: Console) -> None:
    page, held = console.page, list[Route]()
    console.sign_in(console.uid)
    asks = page.get_by_role("region", name="Connect a program")
    open_request(console, "Second")
    expect(asks).to_contain_text("Second wants")  # else its own preview would be held
    second = urlsplit(page.url).fragment
    page.route(PREVIEWS, lambda route: held.append(route), times=1)  # noqa: PLW0108 - Playwright takes no method of C
    with page.expect_request(PREVIEWS):
        open_request(console, "First")

    page.evaluate("address => { location.hash = address }", second)
    expect(asks).to_contain_text("Second wants")
    with page.expect_response(PREVIEWS) as late:
        held[0].continue_()
    late.value.finished()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    assert "Second wants" in asks.inner_text()

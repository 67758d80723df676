"""Console at the one origin of the cloud: a person signs in by Firebase, adds a conversation, and reads its citation (D3)."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from infra.local.browser import run_chromium
from tests.cloud_local.cloud import Cloud
from tests.conftest import run_or_skip
from tests.web.console import Console
from tests.web.test_firebase_sign_in import PASSWORD, answer_by, enter

pytestmark = [pytest.mark.browser, pytest.mark.emulators, pytest.mark.timeout(600)]

TIMEOUT_MS = 60_000
GOOGLE_HOSTS = ("identitytoolkit.googleapis.com", "securetoken.googleapis.com")
TRANSCRIPT = "Ann: The Lisbon offsite moves to Friday.\nMe: Good, I will book the train."


@pytest.fixture
def page(cloud: Cloud) -> Iterator[Page]:
    """A browser at the console; what it asks of Google's servers is answered by the Auth emulator."""
    with run_or_skip(run_chromium) as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
        context.set_default_timeout(TIMEOUT_MS)
        for host in GOOGLE_HOSTS:
            context.route(f"https://{host}/**", lambda route: answer_by(cloud.auth, route))
        page = context.new_page()
        page.goto(cloud.origin)
        yield page


def test_the_console_signs_in_adds_a_conversation_and_cites_it_d3(cloud: Cloud, page: Page) -> None:
    email = f"{uuid4().hex}@example.com"
    console = Console(page, cloud.origin, [], [])
    page.on("pageerror", lambda error: console.page_errors.append(str(error)))

    enter(page, email, PASSWORD, "Create an account")
    expect(page.locator("#account-button")).to_have_text(email, timeout=TIMEOUT_MS)
    page.get_by_label("Transcript", exact=True).fill(TRANSCRIPT)
    page.get_by_role("button", name="Add", exact=True).click()
    card = page.locator("#conversations .card").first
    expect(card).to_have_attribute("aria-busy", "false", timeout=TIMEOUT_MS)
    answer = console.ask("When is the Lisbon offsite?")

    expect(answer.locator(".marker").first).to_have_text("1")
    answer.locator(".source").first.click()
    reader = page.locator("#reader")
    expect(reader.locator(".transcript li").first).to_contain_text("Lisbon", timeout=TIMEOUT_MS)
    assert console.page_errors == []

"""Notifications in the browser: what its push service hands over is shown by the service worker."""

import json

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect

from tests.web.console import Console
from tests.web.test_install import IS_CONTROLLED

SHOWN = """async () => {
  const registration = await navigator.serviceWorker.ready;
  let shown = [];
  for (let look = 0; look < 500 && !shown.length; look++) shown = await registration.getNotifications();
  return shown.map(({ title, body, tag }) => ({ title, body, tag }));
}"""
DELIVERIES = 20
"""One delivery by the developer tools was not always shown; the same push again stands in its place."""


@pytest.fixture(scope="module")
def browser(whole_browser: Browser) -> Browser:
    return whole_browser


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    return own_context


@pytest.fixture
def service_workers() -> str:
    return "allow"


def find_registration(session: CDPSession, page: Page) -> str:
    found: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: found.extend(row["registrationId"] for row in event["registrations"]),
    )
    session.send("ServiceWorker.enable")
    while not found:
        page.evaluate("1")
    return found[-1]


def test_a_push_is_shown_by_the_browser_u7(console: Console) -> None:
    page = console.page
    page.context.grant_permissions(["notifications"], origin=console.origin)
    console.sign_in("notified")
    page.wait_for_function(IS_CONTROLLED)
    session = page.context.new_cdp_session(page)
    message = {"title": "Dentist says", "body": "Tomorrow at nine", "tag": "t1"}
    registration = find_registration(session, page)

    delivery = {"origin": console.origin, "registrationId": registration}
    shown: list[dict[str, str]] = []
    for _ in range(DELIVERIES):
        session.send("ServiceWorker.deliverPushMessage", {**delivery, "data": json.dumps(message)})
        shown = page.evaluate(SHOWN)
        if shown:
            break

    assert shown == [message]


def test_settings_offer_notifications_in_this_browser_u7(console: Console) -> None:
    console.sign_in("asked")
    console.page.wait_for_function(IS_CONTROLLED)
    console.page.locator("#account-button").click()

    expect(console.page.get_by_label("Show notifications in this browser")).to_be_enabled()


def test_a_push_service_that_refuses_is_named_in_a_sentence_u7(console: Console) -> None:
    """A private window has none, as the browser of these tests."""
    page = console.page
    page.context.grant_permissions(["notifications"], origin=console.origin)
    console.sign_in("refused")
    page.wait_for_function(IS_CONTROLLED)
    page.locator("#account-button").click()
    box = page.get_by_label("Show notifications in this browser")
    box.click()

    expect(page.get_by_text("The browser's push service refused.")).to_be_visible()
    expect(box).not_to_be_checked()

"""Installed console: its manifest, its service worker, and what is shown without a connection."""

import json

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.e2e.waiting import wait_until
from tests.web.console import Console
from tests.web.test_accessibility import list_findings

IS_CONTROLLED = "() => navigator.serviceWorker.controller?.state === 'activated'"
CACHED_PATHS = """async () => {
  const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const requests = (await Promise.all(caches_.map((cache) => cache.keys()))).flat();
  return requests.map(({ url }) => new URL(url).pathname).sort();
}"""
SHELL = [
    "/favicon.svg",
    "/i18n.js",
    "/offline.html",
    "/offline.js",
    "/style/base.css",
    "/style/offline.css",
]


@pytest.fixture(scope="module")
def browser(whole_browser: Browser) -> Browser:
    return whole_browser


@pytest.fixture
def context(own_context: BrowserContext) -> BrowserContext:
    return own_context


@pytest.fixture
def service_workers() -> str:
    return "allow"


def test_the_console_can_be_installed_u7(console: Console) -> None:
    page = console.page
    console.sign_in("installer")
    page.wait_for_function(IS_CONTROLLED)

    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert json.loads(manifest["data"])["display"] == "standalone"
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors] == ["in-incognito"]  # as every test context is


def test_without_a_connection_a_page_says_so_and_retries_u7(console: Console) -> None:
    page = console.page
    console.sign_in("traveller")
    page.wait_for_function(IS_CONTROLLED)
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_role("heading", name="You are offline")).to_be_visible()
    assert list_findings(page) == []

    page.evaluate("document.body.dataset.old = ''")
    page.get_by_role("button", name="Retry").click()
    expect(page.locator("body:not([data-old])")).to_be_attached()
    expect(page.get_by_role("heading", name="You are offline")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator("#account-button")).to_have_text("traveller")


def test_a_server_that_is_back_is_found_though_no_browser_says_so_u7(console: Console) -> None:
    page = console.page
    console.sign_in("patient")
    page.wait_for_function(IS_CONTROLLED)
    page.add_init_script(
        "addEventListener('online', (event) => event.stopImmediatePropagation(), true)"
    )
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_role("heading", name="You are offline")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator("#account-button")).to_have_text("patient")


def test_the_page_without_a_connection_has_the_readers_language_u7(
    browser: Browser, origin: str
) -> None:
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    page.goto(origin)
    page.wait_for_function(IS_CONTROLLED)
    wait_until(lambda: "/languages/de.json" in page.evaluate(CACHED_PATHS) or None)
    context.set_offline(True)
    page.reload()

    expect(page.get_by_role("heading", name="Du bist offline")).to_be_visible()
    context.close()


def test_nothing_of_the_library_is_cached_u7(console: Console) -> None:
    console.sign_in("secretive")
    console.page.wait_for_function(IS_CONTROLLED)
    console.add_transcript("Ann: The safe opens with 4711.")
    console.ask("What does the safe open with?")

    assert console.page.evaluate(CACHED_PATHS) == SHELL

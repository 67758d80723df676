"""Screenshots for the README: `python -m infra.local.screenshot` writes docs/*.png."""

import json
import secrets
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page

from infra.emulators.process import CannotRunError, find_free_port, run_server
from infra.local.browser import run_chromium, run_product

ROOT = Path(__file__).parents[2]
CONSOLE_PICTURE = ROOT / "docs/console.png"
SEARCH_PICTURE = ROOT / "docs/search.png"
APPS_PICTURE = ROOT / "docs/apps.png"
CONVERSATIONS = Path(__file__).with_name("screenshot.json")
QUESTIONS = ("How much is the pottery course?", "What did Nora say about the lake house?")
LOCAL_KEY = secrets.token_urlsafe()
EXAMPLE_CALLS = 2
"""The number of questions that the example asks."""


def main() -> int:
    try:
        with run_chromium() as browser, TemporaryDirectory() as folder:
            _picture_the_library(browser, Path(folder))
        with run_chromium() as browser, TemporaryDirectory() as folder:
            _picture_the_apps(browser, Path(folder))
    except CannotRunError as error:
        print(f"screenshot: {error}", file=sys.stderr)
        return 1
    return 0


def _picture_the_library(browser: Browser, folder: Path) -> None:
    with run_product(folder, LOCAL_KEY=LOCAL_KEY) as origin:
        page = _open_page(browser, origin)
        for position, conversation in enumerate(json.loads(CONVERSATIONS.read_text())):
            _add_conversation(page, conversation)
            page.locator(".card[aria-busy=false]").nth(position).wait_for()
        for question in QUESTIONS:
            _ask(page, question)
        _open_source(page)
        page.screenshot(path=CONSOLE_PICTURE)
        _search(page, "lake house key")
        _open_diagnostics(page)
        page.screenshot(path=SEARCH_PICTURE)


def _picture_the_apps(browser: Browser, folder: Path) -> None:
    """Show the example to its developer, after it was called."""
    port = find_free_port()
    settings = {"EGRESS_DEV_ORIGINS": f"http://127.0.0.1:{port}", "LOCAL_KEY": LOCAL_KEY}
    with run_product(folder, **settings) as origin:
        command = ["env", f"LOCAL_KEY={LOCAL_KEY}", sys.executable, "-m", "examples.shopping"]
        example = [*command, "--origin", origin]
        log = folder / "example.log"
        with run_server([*example, "--port", str(port)], port=port, log=log, cwd=ROOT):
            page = _open_page(browser, origin)
            _wait_for_calls(page)
        page.locator("#apps").get_by_text("What it may do").click()
        page.get_by_role("button", name="New key").click()
        page.locator(".keys li").wait_for()
        page.mouse.move(640, 20)
        page.screenshot(path=APPS_PICTURE)


def _open_page(browser: Browser, origin: str) -> Page:
    page = browser.new_page(
        viewport={"width": 1280, "height": 800}, locale="en-GB", timezone_id="Europe/Berlin"
    )
    page.goto(f"{origin}/#key={LOCAL_KEY}")
    page.get_by_label("Who are you?").fill("alice")
    page.get_by_role("button", name="Sign in").click()
    page.locator(".message.ai").first.wait_for()
    return page


def _wait_for_calls(page: Page) -> None:
    while page.locator("#developer tbody tr").count() < EXAMPLE_CALLS:
        page.locator("#views [data-to=developer]").click()
        page.wait_for_timeout(500)


def _add_conversation(page: Page, conversation: object) -> None:
    page.get_by_label("Transcript", exact=True).fill(json.dumps(conversation))
    page.get_by_role("button", name="Add", exact=True).click()


def _ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.locator(".message.ai[aria-busy]").wait_for(state="detached")


def _open_source(page: Page) -> None:
    page.locator(".message.ai").last.locator(".source").first.click()
    page.locator("#reader .cited").first.wait_for()
    page.mouse.move(640, 20)


def _search(page: Page, words: str) -> None:
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Search your library").fill(words)
    page.keyboard.press("Enter")
    page.locator("#hits mark").first.wait_for()


def _open_diagnostics(page: Page) -> None:
    page.get_by_text("Details of this answer").last.click()
    last = page.locator(".diagnostics").last
    last.locator("meter").last.scroll_into_view_if_needed()
    page.mouse.move(640, 20)


if __name__ == "__main__":
    sys.exit(main())

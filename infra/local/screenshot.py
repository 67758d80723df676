"""Screenshots for the README: `python -m infra.local.screenshot` writes docs/*.png."""

import secrets
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, FilePayload, Page, ViewportSize

from infra.emulators.process import CannotRunError, find_free_port, run_server
from infra.local.browser import run_chromium, run_product

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
QUESTIONS = ("What did we decide about the wall?", "Where is the key of the flat in Cascais?")
CHAT_FILE = FilePayload(
    name="WhatsApp Chat with Hikers.txt",
    mimeType="text/plain",
    buffer=(
        b"27.01.26, 17:03 - Ann: The train leaves at nine, platform four.\n"
        b"27.01.26, 17:04 - Bo: I bring the map and two thermos flasks.\n"
        b"27.01.26, 17:05 - Ann: Then I bring the sandwiches.\n"
    ),
)
NOTES_FILE = FilePayload(
    name="shopping.log", mimeType="text/plain", buffer=b"Milk, bread, two lemons"
)
PHONE = ViewportSize(width=390, height=780)
LOCAL_KEY = secrets.token_urlsafe()
SAMPLES = 29
"""Conversations of the sample library."""
EXAMPLE_CALLS = 2
"""The number of questions that the example asks."""


def main() -> int:
    try:
        _require_emoji()
        with run_chromium() as browser, TemporaryDirectory() as folder:
            _picture_the_library(browser, Path(folder))
        with run_chromium() as browser, TemporaryDirectory() as folder:
            _picture_the_apps(browser, Path(folder))
    except CannotRunError as error:
        print(f"screenshot: {error}", file=sys.stderr)
        return 1
    return 0


def _require_emoji() -> None:
    """Raises CannotRunError where no font has emoji: the pictures would show boxes."""
    fonts = subprocess.run(["fc-list", ":lang=und-zsye"], capture_output=True, check=False)
    if not fonts.stdout:
        raise CannotRunError("no font has emoji: install fonts-noto-color-emoji")


def _picture_the_library(browser: Browser, folder: Path) -> None:
    with run_product(folder, LOCAL_KEY=LOCAL_KEY) as origin:
        page = _open_page(browser, origin)
        page.get_by_role("button", name="Load the sample library").click()
        page.locator(".card[aria-busy=false]").nth(SAMPLES - 1).wait_for()
        for question in QUESTIONS:
            _ask(page, question)
        _open_source(page)
        page.screenshot(path=DOCS / "console.png")
        _search(page, "kitchen wall")
        _open_diagnostics(page)
        page.screenshot(path=DOCS / "search.png")
        _choose_files(page)
        page.screenshot(path=DOCS / "import.png")
        page.set_viewport_size(PHONE)
        page.goto(f"{origin}/#/tasks")
        page.locator("#tasks li").first.wait_for()
        page.screenshot(path=DOCS / "phone.png")


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
        page.screenshot(path=DOCS / "apps.png")


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


def _choose_files(page: Page) -> None:
    page.reload()
    page.locator("#conversations .card").first.wait_for()
    page.locator("#file").set_input_files([CHAT_FILE, NOTES_FILE])
    page.locator("#import").get_by_role("button").first.wait_for()
    page.mouse.move(640, 20)


def _open_diagnostics(page: Page) -> None:
    page.get_by_text("Details of this answer").last.click()
    last = page.locator(".diagnostics").last
    last.locator("meter").last.scroll_into_view_if_needed()
    page.mouse.move(640, 20)


if __name__ == "__main__":
    sys.exit(main())

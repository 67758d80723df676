"""Takes the README's pictures: `python -m infra.local.screenshot` writes docs/console.png and docs/search.png."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page

from infra.emulators.process import CannotRunError
from infra.local.browser import chromium, product

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs/console.png"
SEARCH_PICTURE = ROOT / "docs/search.png"
CONVERSATIONS = Path(__file__).with_name("screenshot.json")
QUESTIONS = ("How much is the pottery course?", "What did Nora say about the lake house?")


def main() -> int:
    try:
        with TemporaryDirectory() as folder, product(Path(folder)) as origin, chromium() as browser:
            page = browser.new_page(
                viewport={"width": 1280, "height": 800}, locale="en-GB", timezone_id="Europe/Berlin"
            )
            page.goto(origin)
            _sign_in(page)
            for before, conversation in enumerate(json.loads(CONVERSATIONS.read_text())):
                _keep(page, conversation)
                page.locator(".card[aria-busy=false]").nth(before).wait_for()
            for question in QUESTIONS:
                _ask(page, question)
            _open_source(page)
            page.screenshot(path=PICTURE)
            _search(page, "lake house key")
            _look_behind(page)
            page.screenshot(path=SEARCH_PICTURE)
    except CannotRunError as missing:
        print(f"screenshot: {missing}", file=sys.stderr)
        return 1
    return 0


def _sign_in(page: Page) -> None:
    page.get_by_label("Who are you?").fill("alice")
    page.get_by_role("button", name="Sign in").click()
    page.locator(".message.ai").wait_for()


def _keep(page: Page, conversation: object) -> None:
    page.get_by_label("Transcript", exact=True).fill(json.dumps(conversation))
    page.get_by_role("button", name="Keep it").click()


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


def _look_behind(page: Page) -> None:
    page.get_by_text("How this answer came about").last.click()
    last = page.locator(".diagnostics").last
    last.locator("meter").last.scroll_into_view_if_needed()
    page.mouse.move(640, 20)


if __name__ == "__main__":
    sys.exit(main())

"""The console in a real browser, on the real product: one gateway and one Chromium for the run."""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from infra.emulators.process import free_port, running

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_MS = 15_000
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        missing = f"none of {', '.join(BROWSERS)} is on the PATH"
        pytest.fail(missing) if os.environ.get("REQUIRE_ALL") == "1" else pytest.skip(missing)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the whole product on an empty DATA_DIR, without a key."""
    folder = tmp_path_factory.mktemp("console")
    port = free_port()
    command = [
        "env", "-u", "OPENAI_API_KEY", f"PORT={port}", f"DATA_DIR={folder / 'data'}",
        "PYTHONPATH=.", sys.executable, "-m", "infra.local",
    ]  # fmt: skip
    with running(command, port=port, log=folder / "gateway.log") as address:
        yield f"http://{address}"


@dataclass
class Console:
    """A page that remembers what it asked for and what it complained of."""

    page: Page
    origin: str
    requests: list[str]
    complaints: list[str]

    def sign_in(self, uid: str) -> None:
        self.page.goto(self.origin)
        self.page.get_by_label("Who are you?").fill(uid)
        self.page.get_by_role("button", name="Sign in").click()
        self.greeting.wait_for()

    def keep(self, transcript: str) -> Locator:
        """Paste a transcript; returns its card once it is processed."""
        self.page.get_by_label("Transcript", exact=True).fill(transcript)
        self.page.get_by_role("button", name="Keep it").click()
        card = self.page.locator("#conversations .card").first
        expect(card).to_have_attribute("aria-busy", "false")
        return card

    def ask(self, question: str) -> Locator:
        """Ask; returns the answer once it is complete."""
        before = self.answers.count()
        self.page.get_by_label("Your question").fill(question)
        self.page.keyboard.press("Enter")
        answer = self.answers.nth(before)
        answer.wait_for()
        return answer

    @property
    def greeting(self) -> Locator:
        return self.answers.first

    @property
    def answers(self) -> Locator:
        return self.page.locator(".message.ai:not([aria-busy])")

    @property
    def problem(self) -> Locator:
        return self.page.locator(".problem:visible")

    @property
    def foreign_requests(self) -> list[str]:
        return [url for url in self.requests if not url.startswith(f"{self.origin}/")]

    def answer_with(self, *frames: str) -> None:
        """From now on, let every question be answered by these frames."""
        body = "".join(f"{frame}\n\n" for frame in frames)
        self.page.route(
            lambda url: urlsplit(url).path == "/v2/messages",
            lambda route: (
                route.fulfill(body=body, content_type="text/event-stream")
                if route.request.method == "POST"
                else route.continue_()
            ),
        )


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def console(context: BrowserContext, origin: str) -> Console:
    page = context.new_page()
    console = Console(page, origin, [], [])
    page.on("request", lambda request: console.requests.append(request.url))
    page.on("pageerror", lambda error: console.complaints.append(str(error)))
    return console


@pytest.fixture
def module_page(console: Console) -> Page:
    """Give a page of our origin on which single modules can be imported."""
    console.page.goto(console.origin)
    return console.page

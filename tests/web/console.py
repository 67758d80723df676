"""Console as its tests use it: a person's actions, and the page's requests and errors meanwhile."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.local_key import KEY_HEADER, LOCAL_KEY

CONVERSATION = re.compile(r"/v1/conversations/[^/?]+$")
"""What the console loads once a transcript is added, and once more while it is processed."""


@dataclass
class Console:
    """A page, its requests and its errors."""

    page: Page
    origin: str
    requests: list[str]
    page_errors: list[str]
    uid: str = ""
    """A user whom no other test has, where a file shares a product."""

    @property
    def address(self) -> str:
        """The address that `make run` prints, with the local key."""
        return f"{self.origin}/#key={LOCAL_KEY}"

    def sign_in(self, uid: str) -> None:
        self.page.goto(self.address)
        self.page.get_by_label("Who are you?").fill(uid)
        self.page.get_by_role("button", name="Sign in").click()
        self.greeting.wait_for()

    def sign_out(self) -> None:
        self.page.get_by_role("button", name="Sign out").click()
        expect(self.page.locator("#welcome")).to_be_visible()

    def sign_in_beside(self, context: BrowserContext, uid: str) -> dict[str, str]:
        """Sign in without the page; returns the headers of requests."""
        url = f"{self.origin}/local/token"
        answer = context.request.post(url, data={"uid": uid}, headers=KEY_HEADER)
        return {"Authorization": f"Bearer {answer.json()['token']}"}

    def add_transcript(self, transcript: str) -> Locator:
        """Paste a transcript; returns its card once it is processed."""
        self.page.get_by_label("Transcript", exact=True).fill(transcript)
        with self.page.expect_response(CONVERSATION) as loaded:
            self.page.get_by_role("button", name="Add", exact=True).click()
        name = loaded.value.url.rpartition("/")[2]
        card = self.page.locator(f'#conversations [data-id="{name}"] .card')
        expect(card).to_have_attribute("aria-busy", "false")
        return card

    def ask(self, question: str) -> Locator:
        """Ask; returns the answer once it is complete."""
        before = self.answers.count()
        self.start_question(question)
        answer = self.answers.nth(before)
        answer.wait_for()
        return answer

    def start_question(self, question: str) -> Locator:
        """Ask; returns the answer while it streams."""
        self.page.get_by_label("Your question").fill(question)
        self.page.keyboard.press("Enter")
        return self.page.locator(".message.ai").last

    def answer_dialog(self, label: str) -> None:
        """Press a button of the open dialog."""
        self.page.get_by_role("dialog").get_by_role("button", name=label, exact=True).click()

    def show_view(self, view: str) -> None:
        """Press the view's tab, and wait until it is loaded; on a phone some of them stand under More."""
        tab = self.page.locator(f"#views [data-to={view}]")
        if not tab.is_visible():
            self.page.locator("#views [data-to=menu]").click()
            tab = self.page.locator(f"#menu [data-to={view}]")
        tab.click()
        expect(self.page.locator(f"#console[data-view={view}]")).to_be_attached()

    def find_app(self, name: str) -> Locator:
        """Return an app's entry in the directory."""
        return self.page.locator("#apps .groups li[data-id]").filter(has_text=name)

    def find_section(self, title: str) -> Locator:
        """Return a section of the developer page."""
        heading = self.page.get_by_role("heading", name=title)
        return self.page.locator("#developer section").filter(has=heading)

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

    def make_streams_cuttable(self) -> None:
        """Let answers be cut from now on: `cut()` breaks off the current one, as a network does."""
        self.page.evaluate(
            """() => {
              const real = window.fetch;
              window.resumedAfter = [];
              window.fetch = async (path, options = {}) => {
                if (path.endsWith("/stream")) resumedAfter.push(Number(options.headers["Last-Event-ID"]));
                const response = await real(path, options);
                if (!path.startsWith("/v2/messages?") || options.method !== "POST") return response;
                const { readable, writable } = new TransformStream();
                const broken = new AbortController();
                window.cutNow = () => broken.abort(new TypeError("network error"));
                response.body.pipeTo(writable, { signal: broken.signal }).catch(() => {});
                return new Response(readable, response);
              };
            }"""
        )

    def cut_stream(self) -> None:
        self.page.evaluate("cutNow()")

    @property
    def resume_positions(self) -> list[int]:
        """The number of the last event before each resumption."""
        numbers: list[int] = self.page.evaluate("resumedAfter")
        return numbers

    def answer_with(self, *chunks: dict[str, Any]) -> None:
        """Answer every question from now on with these chunks, an event each."""
        body = "".join(
            f"data: {json.dumps(chunk)}\nid: {seq}\n\n" for seq, chunk in enumerate(chunks, start=1)
        )
        self.page.route(
            lambda url: urlsplit(url).path == "/v2/messages",
            lambda route: (
                route.fulfill(body=body, content_type="text/event-stream")
                if route.request.method == "POST"
                else route.continue_()
            ),
        )

"""The console as its tests see it: what a person does, and what the page did meanwhile."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Locator, Page, expect


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

    def owner(self, context: BrowserContext, uid: str) -> dict[str, str]:
        """Sign in beside the page; returns the headers that say so."""
        answer = context.request.post(f"{self.origin}/local/token", data={"uid": uid})
        return {"Authorization": f"Bearer {answer.json()['token']}"}

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

"""Visible texts of the console: what a person reads or hears in a view, and a walk through all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from tests.fixtures.imports import CHAT, CHAT_NAME, TABLE
from tests.web.app_server import ADD_TOOL, LOOK_TOOL, AppServer, register_app
from tests.web.console import Console

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)

COUNT_REQUESTS = """(() => {
  const real = window.fetch;
  window.pendingRequests = 0;
  window.fetch = async (...request) => {
    pendingRequests += 1;
    try {
      const response = await real(...request);
      const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
      if (!isStream) await response.clone().arrayBuffer();
      return response;
    } finally {
      requestAnimationFrame(() => requestAnimationFrame(() => (pendingRequests -= 1)));
    }
  };
})()"""

READ_TEXTS = """({ marks, inside }) => {
  const ATTRIBUTES = ["aria-label", "title", "placeholder", "alt"];
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement: parent } = walker.currentNode;
    const isRead = parent.checkVisibility() && !parent.closest(`script, style, noscript, ${inside}`);
    if (data.trim() && isRead && !parent.matches(marks)) found.push(data.trim());
  }
  for (const node of document.querySelectorAll(ATTRIBUTES.map((name) => `[${name}]`).join(","))) {
    if (!node.checkVisibility() || node.closest(inside)) continue;
    found.push(...ATTRIBUTES.map((name) => node.getAttribute(name)?.trim()));
  }
  return found.filter(Boolean);
}"""

LIST_VIEWS = "(buttons) => [...new Set(buttons.map((button) => button.dataset.to))]"

OPEN_DETAILS = """() => {
  for (const node of document.querySelectorAll("details")) if (node.checkVisibility()) node.open = true;
}"""

CONFIRMATION_REASONS = (
    *("sensitive", "first_use", "new_tool"),
    *("changed_tool", "disclosure", "private_text"),
)
CONFIRMATION_STATES = ("asked", "approved", "always", "refused", "expired")


@dataclass
class VisibleTexts:
    """Collects the texts for which `is_wrong`, with the place where each stands.

    Left out are texts whose element matches `marks`, and those anywhere inside of an element that
    matches `inside` (CSS selectors).
    """

    page: Page
    is_wrong: Callable[[str], bool]
    marks: str
    inside: str
    found: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.add_init_script(COUNT_REQUESTS)

    def read(self, place: str) -> None:
        """Read the page once nothing is being loaded, with all its details open."""
        self._settle()
        self.page.evaluate(OPEN_DETAILS)
        self._settle()
        selectors = {"marks": self.marks, "inside": self.inside}
        texts: list[str] = self.page.evaluate(READ_TEXTS, selectors)
        self.found |= {(place, text) for text in texts if self.is_wrong(text)}

    def _settle(self) -> None:
        self.page.wait_for_function("() => window.pendingRequests === 0")


def walk(
    console: Console,
    context: BrowserContext,
    app_server: AppServer,
    texts: VisibleTexts,
    uid: str,
) -> None:
    """Visit every view and dialog as a new user, whatever the language of the page is."""
    sign_in(console.page, console.address, uid, texts)
    fill_library(console.page, texts)
    install_app(console, context, app_server, uid)
    look_at_views(console.page, texts)
    look_at_dialogs(console.page, texts)
    look_at_chat(console, texts)


def sign_in(page: Page, address: str, uid: str, texts: VisibleTexts) -> None:
    page.goto(address.partition("#")[0])
    page.locator("#uid").fill(uid)
    texts.read("sign-in without a key")
    page.goto(address)
    page.locator("#uid").fill(uid)
    page.locator("#sign-in .primary").click()
    page.locator(".message.ai:not([aria-busy])").first.wait_for()


def fill_library(page: Page, texts: VisibleTexts) -> None:
    for view in page.locator("[data-to]").evaluate_all(LIST_VIEWS):
        show_view(page, view)
        texts.read(f"empty {view}")
    show_view(page, "library")
    files = {CHAT_NAME: CHAT.encode(), "a.png": PNG, "table.csv": TABLE.encode()}
    payloads: list[FilePayload] = [
        {"name": name, "mimeType": "", "buffer": data} for name, data in files.items()
    ]
    page.locator("#file").set_input_files(payloads)
    page.locator("#import .row .primary").wait_for()
    texts.read("preview of an import")
    page.locator("#import .row .primary").click()
    page.locator("#conversations .card[aria-busy=false]").first.wait_for()
    texts.read("kept import")
    page.reload()
    page.locator("#conversations .card").first.wait_for()


def install_app(console: Console, context: BrowserContext, app_server: AppServer, uid: str) -> None:
    """Install an app of the user's own, and give the user a task of somebody else."""
    manifest = app_server.declare(f"visible-{uid}", LOOK_TOOL, ADD_TOOL)
    actions = [{"action": "read_memories"}, {"action": "create_conversation"}]
    integration = {"actions": actions}
    app = register_app(
        console, context, uid, manifest, name="Grocer", private=True, integration=integration
    )
    owner = console.sign_in_beside(context, uid)
    enable = f"{console.origin}/v1/apps/enable?app_id={app['id']}"
    assert context.request.post(enable, headers=owner).ok
    due = {"description": "water the tulips", "due_at": "2026-05-04T10:00:00Z"}
    other = {"description": "bring the ladder", "owner": "other", "owner_name": "Mara"}
    for task in (due, other):
        url = f"{console.origin}/v1/action-items"
        assert context.request.post(url, data=task, headers=owner).ok
    for memory in ("I like green tea", "I live in Bergen"):
        url = f"{console.origin}/v3/memories"
        assert context.request.post(url, data={"content": memory}, headers=owner).ok


def look_at_views(page: Page, texts: VisibleTexts) -> None:
    for view, box in (("goals", "#goal"), ("folders", "#folder-name")):
        show_view(page, view)
        page.locator(box).fill("Read more")
        page.keyboard.press("Enter")
        page.locator(f"#{view} .rows li").first.wait_for()
    show_view(page, "summaries")
    page.locator("#summaries .make").first.click()
    texts.read("summary of today")
    for view in page.locator("[data-to]").evaluate_all(LIST_VIEWS):
        show_view(page, view)
        texts.read(view)
    show_view(page, "account")
    page.locator(".programs section header button").first.click()
    page.locator("dialog input").fill("a script")
    texts.read("question for a name")
    page.keyboard.press("Enter")
    page.locator(".programs [role=status] .secret").wait_for()
    texts.read("account")
    show_view(page, "developer")
    page.locator("#own-app").select_option("")
    texts.read("new app")
    show_view(page, "library")
    page.locator("#words").fill("the")
    page.keyboard.press("Enter")
    page.locator("#hits .card").first.wait_for()
    texts.read("hits of a search")
    page.locator("#hits .card").first.click()
    page.locator("#reader .transcript li").first.wait_for()
    texts.read("conversation")
    page.keyboard.press("Escape")


def show_view(page: Page, view: str) -> None:
    """Follow the address of a view; not every view has a tab at each width."""
    page.evaluate("view => { location.hash = `#/${view}`; }", view)
    page.locator(f"#console[data-view={view}]").wait_for()


def look_at_dialogs(page: Page, texts: VisibleTexts) -> None:
    show_view(page, "tasks")
    row = page.locator("#tasks .rows > li").first
    row.locator(".tools button:has([href$=timeline])").click()
    texts.read("form of a task")
    page.keyboard.press("Escape")
    show_view(page, "memories")
    page.locator("#memories .rows[aria-busy=false]").first.wait_for()  # a choice ends with a reload
    for box in page.locator("#memories .rows .check input").all()[:2]:
        box.check()
    page.locator("#merge").click()
    texts.read("merging")
    page.keyboard.press("Escape")
    page.locator("#memories-title").click()
    page.keyboard.press("?")
    page.locator(".shortcuts").wait_for()
    texts.read("shortcuts")
    page.keyboard.press("Escape")


def look_at_chat(console: Console, texts: VisibleTexts) -> None:
    page = console.page
    ask(page, "When do we take the train?")
    texts.read("answer")
    page.locator(".message.ai button:has([href$=again])").last.click()
    page.locator(".message .versions").first.wait_for()
    texts.read("versions of an answer")
    page.locator(".edit-question").last.click()
    texts.read("form of a question")
    page.keyboard.press("Escape")
    show_view(page, "chats")
    page.locator("#chat-search input").fill("train")
    page.keyboard.press("Enter")
    page.locator("#chat-hits li").first.wait_for()
    texts.read("hits in chats")
    show_view(page, "library")
    changes = [{"id": "1", "text": "Added a task", "state": "done"}]
    message = {
        "id": "m9",
        "text": "See hxxps://known(.)example/a",
        "sender": "ai",
        "memories": [],
        "metadata": {"outcome": "interrupted", "changes": changes},
    }
    app_call = {"toolCallId": "2", "toolName": "look_up_0123456789abcdef", "input": {"q": "tea"}}
    console.answer_with(
        {"type": "start", "messageId": "m9"},
        {"type": "reasoning-start"},
        {"type": "reasoning-delta", "delta": "It may know."},
        {
            "type": "tool-input-available",
            "toolCallId": "1",
            "toolName": "search_memories",
            "input": {},
        },
        {"type": "tool-output-available", "toolCallId": "1", "output": "Nothing."},
        {"type": "tool-input-available", **app_call},
        {"type": "tool-output-error", "toolCallId": "2", "errorText": "It is down."},
        {"type": "data-connect", "data": {"url": "https://grocer.example/", "name": "Grocer"}},
        *[confirmation(reason, state) for reason, state in confirmations()],
        {"type": "data-message", "id": "m9", "data": message},
        {"type": "finish"},
    )
    ask(page, "What else?")
    texts.read("answer with steps")
    page.locator("button.address").click()
    texts.read("opening an address")
    page.keyboard.press("Escape")


def ask(page: Page, question: str) -> None:
    answers = page.locator(".message.ai:not([aria-busy])")
    before = answers.count()
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")
    expect(answers).to_have_count(before + 1)


def confirmations() -> list[tuple[str, str]]:
    """Ask for each reason, then answer in each way."""
    asked = [(reason, "asked") for reason in CONFIRMATION_REASONS]
    return asked + list(zip(CONFIRMATION_REASONS, CONFIRMATION_STATES[1:], strict=False))


def confirmation(reason: str, state: str) -> dict[str, object]:
    data = {
        "id": reason,
        "state": state,
        "tool": "add_to_basket",
        "source": {"kind": "app", "id": "01JBCDEFGHJKMNPQRSTVWXYZ01", "name": "Grocer"},
        "maker": "developer me",
        "question": "May “Grocer” do “add to basket” with exactly this?",
        "details": ["delivery note: at the door"],
        "reason": reason,
        "allows_always": True,
        "expires_at": "2030-01-01T00:00:00Z",
    }
    return {"type": "data-confirmation", "id": reason, "data": data}

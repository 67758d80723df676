"""Sealed chats in the console: its browsers have the key, the server has ciphertexts (M83)."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.product import run_product
from tests.web.conftest import new_context
from tests.web.console import Console

SECRET = "xylophone"
QUESTION = f"Where is my {SECRET}?"
EXPORT_KEYS = """async (uid) => {
  const { loadKeys } = await import(moduleAt("/sealed/keys.js"));
  const keys = (await loadKeys(uid)).flatMap((each) => Object.values(each)).filter((each) => each instanceof CryptoKey);
  const exported = await Promise.allSettled(keys.map((key) => crypto.subtle.exportKey("raw", key)));
  return exported.map(({ status }) => status);
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sealed")


@pytest.fixture(scope="module")
def origin(folder: Path) -> Iterator[str]:
    """Serve a product whose data are searched."""
    with run_product(folder) as product:
        yield product.origin


@pytest.fixture
def other_context(browser: Browser) -> Iterator[BrowserContext]:
    with closing(new_context(browser)) as context:
        yield context


def open_console(context: BrowserContext, origin: str, uid: str) -> Console:
    console = Console(context.new_page(), origin, [], [], uid)
    console.page.on("pageerror", lambda error: console.page_errors.append(str(error)))
    console.page.on("request", lambda sent: console.requests.append(f"{sent.url} {sent.post_data}"))
    console.sign_in(uid)
    console.show_view("chats")
    return console


def begin_sealed(console: Console) -> None:
    console.page.get_by_role("switch", name="Sealed").check()
    console.page.get_by_role("button", name="New chat", exact=True).click()
    expect(console.page.locator("#messages")).to_contain_text("What is stored of a sealed chat")


def show_code(console: Console) -> str:
    console.page.get_by_role("button", name="Show a code").click()
    return console.page.locator("#pairing .secret code").inner_text()


def enter_code(page: Page, code: str) -> None:
    page.get_by_role("switch", name="Sealed").check()
    page.get_by_label("Enter a code").fill(code)
    page.get_by_role("button", name="Pair", exact=True).click()


def list_files_with(folder: Path, *texts: str) -> list[tuple[Path, str]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    contents = [(path, path.read_bytes()) for path in files]
    return [(path, text) for path, found in contents for text in texts if text.encode() in found]


def test_two_browsers_read_a_sealed_chat_and_the_server_does_not_m83(
    context: BrowserContext, other_context: BrowserContext, origin: str, folder: Path
) -> None:
    first = open_console(context, origin, "sealer")
    begin_sealed(first)
    first.ask(QUESTION)
    expect(first.page.locator("#chat-title")).to_have_text(QUESTION)
    answer = first.answers.last.locator(".prose").inner_text()

    second = open_console(other_context, origin, "sealer")
    row = second.page.locator("#chat-list li").filter(has_text="Sealed chat")
    expect(row).to_contain_text("This browser has no key to it.")
    row.locator(".pick").click()
    second.start_question("Who is there?")
    expect(second.problem).to_contain_text("This browser has no key to this chat.")
    expect(second.page.get_by_label("Your question")).to_have_value("Who is there?")
    first.show_view("chats")
    code = show_code(first)
    enter_code(second.page, code)
    expect(second.page.get_by_text("Paired: this browser can read")).to_be_visible()
    second.page.locator("#chat-list .pick").filter(has_text=SECRET).click()
    expect(second.page.locator(".message.human")).to_have_text(QUESTION)
    expect(second.answers.last.locator(".prose")).to_have_text(answer)

    headers = first.sign_in_beside(context, "sealer")
    forgotten = context.request.delete(f"{origin}/v2/sealed-cache", headers=headers)
    assert forgotten.ok
    second.ask("And the other one?")
    first.page.reload()
    expect(first.page.locator(".message.human")).to_have_text([QUESTION, "And the other one?"])

    assert list_files_with(folder, SECRET, code, *code.split()) == []
    assert list_files_with(folder, "sealed-") != []
    assert any("/resend" in sent for sent in second.requests)
    for console in (first, second):
        assert console.page_errors == []
        assert not any(word in sent for sent in console.requests for word in code.split())
        assert set(console.page.evaluate(EXPORT_KEYS, "sealer")) == {"rejected"}
        assert SECRET not in console.page.evaluate(
            "JSON.stringify([{...sessionStorage}, {...localStorage}])"
        )


def test_browsers_that_began_apart_read_each_other_once_paired_m83(
    context: BrowserContext, other_context: BrowserContext, origin: str
) -> None:
    first = open_console(context, origin, "apart")
    begin_sealed(first)
    first.ask("Where are the tulips?")
    second = open_console(other_context, origin, "apart")
    begin_sealed(second)
    second.ask("Where are the ferries?")
    titles = second.page.locator("#chat-list .title")
    problem = second.page.locator("#pairing .problem")

    first.show_view("chats")
    code = show_code(first)
    enter_code(second.page, code.removesuffix(code[-1]))
    expect(problem).to_have_text("This is no code: a code has eight words of five letters.")
    enter_code(second.page, code.upper().replace(" ", "-"))
    expect(titles.filter(has_text="Sealed chat")).to_have_count(0)
    expect(titles.filter(has_text="tulips")).to_have_count(1)
    expect(titles.filter(has_text="ferries")).to_have_count(1)
    enter_code(second.page, code)
    expect(problem).to_contain_text("No key waits for this code: it was used")

    rename(second.page, "Where are the tulips?", "Bulbs")
    expect(titles.filter(has_text="Bulbs")).to_have_count(1)
    rename(first.page, "Where are the tulips?", "Tulips")
    expect(first.page.locator("#chat-title")).to_have_text("Tulips")
    second.page.reload()
    expect(titles.filter(has_text="Tulips")).to_have_count(1)
    assert first.page_errors == second.page_errors == []


def rename(page: Page, title: str, other: str) -> None:
    page.get_by_role("button", name=f"Rename {title}").click()
    page.get_by_label("Title", exact=True).fill(other)
    page.keyboard.press("Enter")


def test_an_answer_that_no_browser_awaited_is_stored_at_the_next_visit_m83(
    context: BrowserContext, origin: str
) -> None:
    console = open_console(context, origin, "absent")
    begin_sealed(console)
    chat = console.page.evaluate("sessionStorage.getItem('keepsake.chat')")
    headers = console.sign_in_beside(context, "absent")
    question = f"{origin}/v2/messages?protocol=ui-message-stream&chat_session_id={chat}"
    assert context.request.post(question, headers=headers, data={"text": "Where are they?"}).ok

    stored = f"{origin}/v2/chat-sessions/{chat}/ciphertexts"
    console.page.route(stored, lambda route: route.fulfill(status=429))
    console.page.reload()
    expect(console.page.locator(".message.human")).to_have_text("Where are they?")
    assert context.request.get(stored, headers=headers).json()["messages"] == []
    console.page.unroute(stored)
    console.page.reload()
    expect(console.page.locator(".message.human")).to_have_text("Where are they?")
    assert len(context.request.get(stored, headers=headers).json()["messages"]) == 2
    assert context.request.delete(f"{origin}/v2/sealed-cache", headers=headers).ok
    console.page.reload()
    expect(console.page.locator(".message.human")).to_have_text("Where are they?")
    expect(console.answers).to_have_count(1)
    assert console.page_errors == []


def test_an_erasure_deletes_the_key_of_this_browser_m83(console: Console) -> None:
    page = console.page
    console.sign_in("leaver")
    console.show_view("chats")
    begin_sealed(console)
    assert page.evaluate(EXPORT_KEYS, "leaver") == ["rejected", "rejected"]

    page.get_by_role("button", name="leaver").click()
    page.get_by_label("Type your name to confirm").fill("leaver")
    page.get_by_role("button", name="Erase everything").click()
    expect(page.get_by_label("Who are you?")).to_be_visible()

    assert page.evaluate(EXPORT_KEYS, "leaver") == []

"""Sealed chats in the console: its browsers have the key, the server has ciphertexts (M83)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from infra.local.browser import run_product
from infra.local.routing import ROOT
from tests.local_key import LOCAL_KEY
from tests.web.console import Console

VECTORS = json.loads((ROOT / "tests/vectors/private-chats.json").read_text())
SECRET = "xylophone"
QUESTION = f"Where is my {SECRET}?"
ENCRYPT = """async (vector) => {
  const { decrypt, encrypt } = await import("/sealed/encryption.js");
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (digits) => parseInt(digits, 16));
  const key = await crypto.subtle.importKey("raw", bytes(vector.key_hex), "AES-GCM", false, ["encrypt", "decrypt"]);
  const place = { uid: vector.uid, chat: vector.chat_id, message: vector.message_id, version: vector.version };
  return {
    ciphertext: await encrypt(key, vector.text, place, bytes(vector.nonce_hex)),
    text: await decrypt(key, vector.ciphertext, place),
    elsewhere: await decrypt(key, vector.ciphertext, { ...place, version: vector.version + 1 }),
  };
}"""
READ_WORDS = """async (text) => {
  const { parseWords, toWords } = await import("/sealed/code_words.js");
  const code = parseWords(text);
  return code && toWords(code);
}"""
EXPORT_KEYS = """async (uid) => {
  const { loadKeys } = await import("/sealed/keys.js");
  const keys = (await loadKeys(uid)).flatMap((each) => Object.values(each)).filter((each) => each instanceof CryptoKey);
  const exported = await Promise.allSettled(keys.map((key) => crypto.subtle.exportKey("raw", key)));
  return exported.map(({ status }) => status);
}"""
WORDS = "babab dabid fabof gabug hajar kajir lajor majur"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sealed")


@pytest.fixture(scope="module")
def origin(folder: Path) -> Iterator[str]:
    """Serve a product whose data are searched."""
    with run_product(folder, LOCAL_KEY=LOCAL_KEY) as address:
        yield address


@pytest.fixture
def other_context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(locale="en-GB", service_workers="block")
    context.set_default_timeout(15_000)
    yield context
    context.close()


def open_console(context: BrowserContext, origin: str, uid: str) -> Console:
    console = Console(context.new_page(), origin, [], [], uid)
    console.page.on("pageerror", lambda error: console.page_errors.append(str(error)))
    console.page.on("request", lambda sent: console.requests.append(f"{sent.url} {sent.post_data}"))
    console.sign_in(uid)
    console.show_view("chats")
    return console


def begin_sealed(console: Console) -> None:
    console.page.get_by_label("Sealed").check()
    console.page.get_by_role("button", name="New chat", exact=True).click()
    expect(console.page.locator("#messages")).to_contain_text("What is stored of a sealed chat")


def show_code(console: Console) -> str:
    console.page.get_by_role("button", name="Show a code").click()
    return console.page.locator("#pairing .secret code").inner_text()


def enter_code(page: Page, code: str) -> None:
    page.get_by_label("Sealed").check()
    page.get_by_label("Code from another browser").fill(code)
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
        assert SECRET not in console.page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}])")

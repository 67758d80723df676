"""Habits of people in any chat (U7): copy, ask again, shortcuts, right-to-left, addresses."""

from playwright.sync_api import BrowserContext, expect

from tests.web.console import Console

DEFANGED = "See [the page] (hxxps://known(.)example/a?b=1), or `hxxps://code(.)example`."

OFFER_ADDRESSES = """
async (text) => {
  const { render } = await import(moduleAt("/markdown.js"));
  const { offerAddresses } = await import(moduleAt("/views/addresses.js"));
  const box = document.createElement("div");
  box.id = "offered";
  box.append(offerAddresses(render(text)));
  document.body.append(box);
}
"""

OFFER_CODE = """
async (text) => {
  const { render } = await import(moduleAt("/markdown.js"));
  const { offerCode } = await import(moduleAt("/views/copying.js"));
  const box = document.createElement("div");
  box.id = "coded";
  box.append(render(text));
  offerCode(box, (act) => act());
  document.body.append(box);
}
"""


def read_clipboard(console: Console) -> str:
    text: str = console.page.evaluate("navigator.clipboard.readText()")
    return text


def allow_clipboard(console: Console) -> None:
    console.page.context.grant_permissions(["clipboard-read", "clipboard-write"])


def test_sign_in_to_question_needs_no_pointer_u7(console: Console) -> None:
    console.page.goto(console.address)
    console.page.get_by_label("Who are you?").fill("keys-only")
    console.page.keyboard.press("Enter")
    console.greeting.wait_for()

    expect(console.page.get_by_label("Your question")).to_be_focused()
    console.page.keyboard.type("ferries?")
    console.page.keyboard.press("Enter")

    expect(console.answers).to_have_count(2)
    console.page.keyboard.press("ArrowUp")
    expect(console.page.get_by_label("Your question")).to_have_value("ferries?")


def test_an_answer_is_copied_and_its_question_asked_again(console: Console) -> None:
    allow_clipboard(console)
    console.sign_in("copier")
    answer = console.ask("What about tulips?")

    answer.get_by_role("button", name="Copy this answer").click()
    expect(answer.get_by_role("button", name="Copied")).to_be_visible()
    assert read_clipboard(console).strip()

    answer.get_by_role("button", name="Ask again").click()
    expect(console.page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    expect(console.answers).to_have_count(2)
    expect(console.page.locator(".message.human p")).to_have_text(["What about tulips?"])


def test_code_is_copied_alone(console: Console) -> None:
    allow_clipboard(console)
    console.page.goto(console.origin)
    console.page.evaluate(OFFER_CODE, "Run:\n\n```\nls -l\n```\n")

    console.page.get_by_role("button", name="Copy this code").click()
    expect(console.page.get_by_role("button", name="Copied")).to_be_visible()
    assert read_clipboard(console).strip() == "ls -l"


def test_code_is_coloured_once_there_is_some_u7(console: Console) -> None:
    page = console.page
    page.goto(console.origin)
    page.evaluate(OFFER_CODE, "Run `ls`:\n\n```\nls -l\n```\n")
    assert not [url for url in console.requests if "/vendor/highlight" in url]

    page.evaluate("document.querySelector('#coded').remove()")
    code = 'def greet():  # <b>hi</b>\n    return "<img src=x onerror=alert(1)>"'
    page.evaluate(OFFER_CODE, f"```python\n{code}\n```\n\n```nosuch\nplain\n```\n")

    block = page.locator("#coded pre code").first
    expect(block.locator(".hljs-keyword")).to_have_text(["def", "return"])
    assert block.inner_text().strip() == code
    expect(block.locator("img, b")).to_have_count(0)
    expect(page.locator("#coded pre code").last.locator("span")).to_have_count(0)
    expect(block.locator(".hljs-keyword").first).to_have_css("color", "rgb(138, 26, 94)")
    page.emulate_media(color_scheme="dark")
    expect(block.locator(".hljs-keyword").first).to_have_css("color", "rgb(234, 160, 203)")
    assert console.foreign_requests == []
    assert console.page_errors == []


def test_shortcuts_reach_the_search_and_their_list(console: Console) -> None:
    console.sign_in("shortcuts")
    console.page.keyboard.press("Control+k")
    expect(console.page.locator("#words")).to_be_focused()

    console.page.keyboard.type("a/b?")
    expect(console.page.locator("#words")).to_have_value("a/b?")
    console.page.locator("#words").blur()
    console.page.keyboard.press("?")
    expect(console.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    console.page.keyboard.press("Escape")
    expect(console.page.get_by_role("dialog")).to_have_count(0)

    console.page.keyboard.press("/")
    expect(console.page.locator("#words")).to_be_focused()


def test_an_address_of_the_model_opens_after_a_question(console: Console) -> None:
    console.page.goto(console.origin)
    console.page.evaluate(OFFER_ADDRESSES, DEFANGED)
    offered = console.page.locator("#offered")

    expect(offered.locator("a")).to_have_count(0)
    expect(offered).to_contain_text("See [the page] (https://known.example/a?b=1), or hxxps://code")
    offered.get_by_role("button").click()
    dialog = console.page.get_by_role("dialog", name="Open this address?")
    expect(dialog).to_contain_text("https://known.example/a?b=1")
    opening = dialog.get_by_role("link", name="Open")
    expect(opening).to_have_attribute("href", "https://known.example/a?b=1")
    expect(opening).to_have_attribute("rel", "noopener noreferrer")
    dialog.get_by_role("button", name="Cancel").click()
    expect(console.page.get_by_role("dialog")).to_have_count(0)


def test_an_address_with_foreign_letters_is_shown_as_the_browser_asks_for_it(
    console: Console,
) -> None:
    console.sign_in("look-alike")
    console.page.evaluate(OFFER_ADDRESSES, "See hxxps://p\u0430ypal(.)example/\u2066a")

    console.page.locator("#offered").get_by_role("button").click()

    dialog = console.page.get_by_role("dialog", name="Open this address?")
    expect(dialog.locator(".whole")).to_have_text("https://xn--pypal-4ve.example/%E2%81%A6a")


def test_right_to_left_prose_starts_at_the_right(console: Console) -> None:
    console.sign_in("rtl")
    console.page.evaluate("document.querySelector('.message.ai .prose').textContent = 'שלום עולם'")
    assert console.page.locator(".prose").first.evaluate("n => getComputedStyle(n).direction") == (
        "rtl"
    )


def test_escape_stops_what_was_asked(console: Console, context: BrowserContext) -> None:
    console.sign_in("escaping")
    context.set_offline(True)
    console.start_question("Anything?")
    expect(console.page.get_by_role("button", name="Stop", exact=True)).to_be_visible()

    console.page.keyboard.press("Escape")

    expect(console.page.get_by_label("Your question")).to_have_value("Anything?")
    expect(console.page.locator(".message.human")).to_have_count(0)


def test_what_is_not_sent_yet_survives_a_reload_and_not_a_sign_out(console: Console) -> None:
    console.sign_in("drafter")
    question = console.page.get_by_label("Your question")
    transcript = console.page.get_by_label("Transcript", exact=True)
    question.fill("When does the")
    transcript.fill("Ann: It leaks.")

    console.page.reload()

    expect(question).to_have_value("When does the")
    expect(transcript).to_have_value("Ann: It leaks.")
    console.sign_out()
    console.sign_in("drafter")
    expect(question).to_have_value("")
    expect(transcript).to_have_value("")
    assert console.page_errors == []

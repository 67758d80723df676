"""Several chats in the console (P15): begin, pick, rename, star, delete, by keyboard and on a phone."""

from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.waiting import wait_until
from tests.web.console import Console

BACKGROUND_CODE = "getComputedStyle(document.querySelector('#chat')).backgroundColor"
REST_PX = "(log) => log.scrollHeight - log.scrollTop - log.clientHeight"
QUESTION_PX = """(log) => [...log.querySelectorAll(".human")].at(-1).getBoundingClientRect().top
  - log.getBoundingClientRect().top"""
GROW = """async () => {
  const log = document.querySelector("#messages");
  for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
  log.lastElementChild.append(Object.assign(document.createElement("p"), { textContent: "x\\n".repeat(40), style: "white-space: pre" }));
  for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
}"""
IS_SUMMARISED = """async ([path, headers]) => {
  const messages = await (await fetch(path, { headers })).json();
  return messages.some(({ metadata }) => metadata.summarised);
}"""


def show_chats(page: Page) -> None:
    page.get_by_role("button", name="Chats", exact=True).click()


def begin_chat(console: Console, question: str) -> None:
    console.page.get_by_role("button", name="New chat", exact=True).click()
    expect(console.page.get_by_label("Your question")).to_be_focused()
    expect(console.answers).to_have_count(1)
    console.ask(question)


def test_every_chat_keeps_its_own_history_p15(console: Console) -> None:
    console.sign_in("talker")
    console.ask("What about tulips?")
    show_chats(console.page)
    begin_chat(console, "What about ferries?")

    expect(console.page.locator(".message.human")).to_have_text("What about ferries?")
    console.page.reload()
    expect(console.page.locator(".message.human")).to_have_text("What about ferries?")

    show_chats(console.page)
    expect(console.page.locator(".pick")).to_have_count(2)
    console.page.locator(".pick:not([aria-current])").click()
    expect(console.page.locator(".message.human")).to_have_text("What about tulips?")
    expect(console.page.locator(".pick[aria-current=true]")).to_have_count(1)


def test_a_chat_is_renamed_starred_and_deleted_p15(console: Console) -> None:
    console.sign_in("tidy")
    show_chats(console.page)
    begin_chat(console, "What about ferries?")
    page = console.page

    row = page.locator("#chat-list li").filter(has=page.locator("[aria-current]"))
    row.get_by_role("button", name="Rename").click()
    page.get_by_label("Title", exact=True).fill("Ferries")
    page.keyboard.press("Enter")
    expect(row.locator(".title")).to_have_text("Ferries")
    expect(page.locator("#chat-title")).to_have_text("Ferries")

    page.get_by_role("button", name="Star Ferries").press("Enter")
    expect(page.get_by_role("button", name="Star Ferries")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.locator("#chat-list .title").first).to_have_text("Ferries")

    page.get_by_role("button", name="Delete Ferries").click()
    expect(page.locator("#chat-list .title").filter(has_text="Ferries")).to_have_count(0)
    expect(page.locator(".message.human")).to_have_count(0)
    assert console.page_errors == []


def hold_histories(page: Page) -> None:
    """Hold back every history that is requested from now on."""
    page.evaluate(
        """() => {
          const real = window.fetch;
          window.held = [];
          window.fetch = async (path, options = {}) => {
            const isHistory = options.method === "GET" && path.startsWith("/v2/messages?");
            if (isHistory) await new Promise((resolve) => held.push(resolve));
            return real(path, options);
          };
        }"""
    )


def wait_for_held(page: Page, count: int) -> None:
    page.wait_for_function("count => held.length === count", arg=count)


def release(page: Page, position: int) -> None:
    """Release a history, and wait for its answer."""
    with page.expect_response("**/v2/messages?*") as answer:
        page.evaluate("position => held[position]()", position)
    answer.value.finished()


def test_a_question_waits_for_the_history_of_its_chat_p15(console: Console) -> None:
    """Asked before it, the question's answer would be replaced by the older history."""
    console.sign_in("hasty")
    page, box = console.page, console.page.get_by_label("Your question")
    hold_histories(page)
    show_chats(page)
    page.get_by_role("button", name="New chat", exact=True).click()
    wait_for_held(page, 1)
    expect(page.locator(".message")).to_have_count(0)

    box.fill("What about ferries?")
    page.keyboard.press("Enter")
    expect(box).to_have_value("What about ferries?")
    release(page, 0)

    expect(page.locator(".message.human")).to_have_text("What about ferries?")
    expect(console.answers).to_have_count(2)
    expect(box).to_have_value("")
    assert console.page_errors == []


def test_the_history_of_a_chat_left_meanwhile_is_not_shown_p15(console: Console) -> None:
    console.sign_in("wanderer")
    console.ask("What about tulips?")
    page, new_chat = console.page, console.page.get_by_role("button", name="New chat", exact=True)
    show_chats(page)
    new_chat.click()
    expect(page.locator(".pick")).to_have_count(2)
    hold_histories(page)
    page.locator(".pick:not([aria-current])").click()
    new_chat.click()
    wait_for_held(page, 2)

    release(page, 1)
    expect(console.answers).to_have_count(1)
    release(page, 0)

    expect(page.locator(".message.human")).to_have_count(0)
    expect(console.answers).to_have_count(1)


def test_a_long_chat_shows_from_where_the_assistant_reads_it_word_by_word_m124(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("long-talker")
    owner = console.sign_in_beside(context, "long-talker")
    path = f"{console.origin}/v2/messages?protocol=ui-message-stream"
    for n in range(64):
        context.request.post(path, headers=owner, data={"text": f"Hello, number {n}"})
    page = console.page
    wait_until(lambda: page.evaluate(IS_SUMMARISED, [path, owner]) or None)

    with page.expect_response(lambda response: "ui-message-stream" in response.url) as loaded:
        page.reload()
    read = [each for each in loaded.value.json() if not each["metadata"].get("summarised")]
    boundary = page.get_by_text("The assistant reads a summary of what stands above.")
    expect(boundary).to_be_visible()
    assert 0 < len(read) < 100
    expect(page.locator(".boundary ~ .message")).to_have_count(len(read))
    expect(page.locator(".message")).to_have_count(100)  # the newest
    assert console.page_errors == []


def test_escape_leaves_a_title_as_it_was(console: Console) -> None:
    console.sign_in("hesitant")
    show_chats(console.page)
    title = console.page.locator("#chat-list .title")
    before = title.inner_text()

    console.page.get_by_role("button", name="Rename").click()
    console.page.get_by_label("Title", exact=True).fill("Something else")
    console.page.keyboard.press("Escape")

    expect(title).to_have_text(before)
    expect(console.page.get_by_role("button", name="Rename")).to_be_focused()


def test_a_chat_gets_a_title_after_its_first_answer(console: Console) -> None:
    console.sign_in("titled")
    console.ask("What about the tulip auction?")

    expect(console.page.locator("#chat-title")).to_contain_text("tulip", ignore_case=True)


def test_a_phone_shows_the_list_or_the_chat(console: Console) -> None:
    console.page.set_viewport_size({"width": 390, "height": 800})
    console.page.goto(console.address)
    console.page.get_by_label("Who are you?").fill("mobile")
    console.page.keyboard.press("Enter")
    console.page.get_by_role("button", name="Chat", exact=True).click()

    console.page.get_by_role("button", name="All chats").click()
    expect(console.page.locator("#chat")).to_be_hidden()
    console.page.get_by_role("button", name="New chat", exact=True).click()

    expect(console.page.locator("#chats")).to_be_hidden()
    expect(console.page.get_by_label("Your question")).to_be_visible()
    assert console.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_incognito_chat_goes_on_and_stands_in_no_list_c68(console: Console) -> None:
    page = console.page
    console.sign_in("discreet")
    ordinary = page.evaluate(BACKGROUND_CODE)
    show_chats(page)
    page.get_by_role("button", name="Incognito chat", exact=True).click()
    expect(page.get_by_text("Nothing of this chat is stored.")).to_be_visible()
    expect(page.locator("#chat")).not_to_have_css("background-color", ordinary)
    console.ask("What about tulips?")
    expect(console.answers).to_have_count(2)
    page.locator("#ask [type=file]").set_input_files(
        {"name": "n.txt", "mimeType": "text/plain", "buffer": b"tulips"}
    )
    expect(console.problem).to_contain_text("An incognito chat takes no files")

    page.reload()

    expect(page.locator(".message.human")).to_have_text("What about tulips?")
    expect(page.locator("#chat-title")).to_have_text("Incognito chat")
    expect(page.locator("#share-chat")).to_be_hidden()
    assert "tulips" not in page.evaluate("JSON.stringify(sessionStorage)")
    show_chats(page)
    expect(page.locator(".pick")).to_have_count(1)
    expect(page.locator(".pick")).not_to_contain_text("tulips")


def test_a_long_answer_leaves_its_question_at_the_top_and_nobody_else_is_moved_u7(
    console: Console,
) -> None:
    page = console.page
    page.set_viewport_size({"width": 1280, "height": 640})
    console.sign_in("scroller")
    log = page.locator("#messages")
    for n in range(4):
        console.ask(f"What about ferry {n}?")
    wait_until(lambda: log.evaluate(REST_PX) < 2)

    page.evaluate(GROW)
    wait_until(lambda: 0 <= log.evaluate(QUESTION_PX) <= 8)
    log.evaluate("(log) => (log.scrollTop = log.scrollHeight)")
    page.evaluate(GROW)
    wait_until(lambda: log.evaluate(REST_PX) < 2)
    log.evaluate("(log) => (log.scrollTop = 0)")
    page.evaluate(GROW)
    assert log.evaluate("(log) => log.scrollTop") == 0

    page.reload()
    expect(page.locator(".message.human")).to_have_count(4)
    wait_until(lambda: log.evaluate(REST_PX) < 2)

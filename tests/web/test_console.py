"""Console on the real product: a person's ordinary actions, and hostile text that does nothing."""

import re

from playwright.sync_api import BrowserContext, expect

from tests.e2e.waiting import wait_until
from tests.web.console import Console

TRANSCRIPT = """Me: The lake house is ours from the twelfth of June, four nights.
Nora: Lovely. Is Theo still allergic to walnuts?
Me: Yes, Theo is allergic to walnuts and pecans. Almonds are fine.
Nora: Then I will bake the lemon cake with almonds.
Me: I need to book the ferry by Friday."""

HOSTILE_TRANSCRIPT = """Mallory: <img src=x onerror="window.owned = 1"> <script>window.owned = 1</script>
Mallory: The tulip auction ![](https://evil.example/pixel.png) starts at noon.
Mallory: [the tulip auction](javascript:window.owned=1) <svg onload="window.owned = 1">
Mallory: <iframe src="https://evil.example"></iframe> bids for tulip bulbs are due."""


def build_message_chunk(text: str, **fields: object) -> dict[str, object]:
    message = {"id": "m1", "text": text, "sender": "ai", "memories": [], **fields}
    return {"type": "data-message", "id": "m1", "data": message}


def test_a_pasted_transcript_becomes_a_cited_answer_that_opens_it(console: Console) -> None:
    console.sign_in("keeper")

    card = console.add_transcript(TRANSCRIPT)
    title = card.locator(".title").inner_text()
    answer = console.ask("What is Theo allergic to?")

    expect(answer).to_contain_text("pecans")
    expect(answer.locator(".badge")).to_have_text("offline model")
    expect(answer.locator(".marker").first).to_have_text("1")
    expect(answer.locator(".source .title").first).to_have_text(title)

    answer.locator(".source").first.click()
    reader = console.page.locator("#reader")
    expect(reader.get_by_role("heading", level=2)).to_contain_text(title)
    expect(reader.locator(".transcript li")).to_have_count(5)
    expect(reader.locator(".cited").filter(has_text="pecans")).to_be_visible()

    console.page.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    expect(answer.locator(".source").first).to_be_focused()
    assert console.page_errors == []


def test_messages_and_conversations_survive_a_reload(console: Console) -> None:
    console.sign_in("returner")
    card = console.add_transcript(TRANSCRIPT)
    title = card.locator(".title").inner_text()
    console.ask("What is Theo allergic to?")

    console.page.reload()

    expect(console.page.locator(".message.human")).to_have_text("What is Theo allergic to?")
    expect(console.page.locator(".card .title")).to_have_text(title)
    console.page.locator(".marker").first.click()
    expect(console.page.locator("#reader h2")).to_contain_text(title)


def test_an_empty_library_offers_the_sample_library_and_questions_about_it_u4(
    console: Console,
) -> None:
    console.sign_in("newcomer")
    expect(console.page.locator("#suggestions")).to_contain_text("load the sample library")

    console.page.get_by_role("button", name="Load the sample library").click()
    expect(console.page.locator(".card[aria-busy=false]")).to_have_count(29, timeout=30_000)
    expect(console.page.locator("#empty")).to_be_hidden()
    console.page.get_by_role("button", name="What do I have to do?").click()
    expect(console.answers.last).to_contain_text("You have")
    expect(console.page.locator("#suggestions")).to_be_hidden()

    console.page.get_by_role("button", name="Remove it").click()
    expect(console.page.locator("#empty")).to_be_visible()


def test_a_chat_begins_with_what_the_library_holds_by_now_u4(console: Console) -> None:
    console.sign_in("grower")
    suggestions = console.page.locator("#suggestions")
    expect(suggestions).to_contain_text("Your library is empty")

    card = console.add_transcript("Ann: Please water the tulips.\nMe: Good, I will do it tonight.")
    expect(suggestions.get_by_role("button", name="What do I have to do?")).to_be_visible()

    card.click()
    console.page.get_by_role("button", name="Delete this conversation").click()
    expect(console.page.locator("#empty")).to_be_visible()


def test_hostile_transcripts_run_no_code_and_reach_no_other_origin(console: Console) -> None:
    console.sign_in("victim")

    console.add_transcript(HOSTILE_TRANSCRIPT).click()
    expect(console.page.locator("#reader .transcript")).to_contain_text("<script>window.owned")
    answer = console.ask("When does the tulip auction start?")
    expect(answer).to_contain_text("tulip")
    console.page.reload()
    expect(console.answers.last).to_contain_text("tulip")

    assert console.page.evaluate("window.owned") is None
    assert console.page.locator("img:not([src='/favicon.svg']), iframe, a[href^=java]").count() == 0
    assert console.foreign_requests == []
    assert console.page_errors == []


def test_a_hostile_answer_runs_no_code_while_it_streams_and_when_it_is_done(
    console: Console,
) -> None:
    console.sign_in("streamed")
    card = {
        "id": '"><img src=x onerror="window.owned=1">',
        "created_at": "2026-03-02T12:00:00Z",
        "structured": {"title": "<img src=x onerror='window.owned=1'>", "emoji": "<b>"},
    }
    console.answer_with(
        {"type": "data-status", "data": {"text": HOSTILE_TRANSCRIPT.splitlines()[0]}},
        {"type": "reasoning-start"},
        {"type": "reasoning-delta", "delta": HOSTILE_TRANSCRIPT},
        {
            "type": "tool-input-available",
            "toolCallId": "1",
            "toolName": HOSTILE_TRANSCRIPT,
            "input": HOSTILE_TRANSCRIPT,
        },
        {"type": "tool-output-error", "toolCallId": "1", "errorText": HOSTILE_TRANSCRIPT},
        {
            "type": "data-connect",
            "data": {"url": "javascript:window.owned=1", "name": HOSTILE_TRANSCRIPT},
        },
        {"type": "text-delta", "delta": HOSTILE_TRANSCRIPT},
        build_message_chunk(f"{HOSTILE_TRANSCRIPT} [1]", memories=[card], memories_id=[card["id"]]),
        {"type": "finish"},
    )

    answer = console.ask("Anything?")
    answer.locator(".source").click()

    expect(console.page.locator("#reader h2")).to_have_text("This conversation cannot be opened")
    expect(answer.locator(".source .title")).to_have_text("<img src=x onerror='window.owned=1'>")
    assert console.page.evaluate("window.owned") is None
    assert console.foreign_requests == []


def test_an_answer_links_to_the_account_that_a_tool_needs_t7(console: Console) -> None:
    console.sign_in("unconnected")
    connect = {"url": "https://grocer.example/connect?uid=unconnected", "name": "Grocer"}
    console.answer_with(
        {"type": "data-connect", "data": connect},
        build_message_chunk("Please connect."),
        {"type": "finish"},
    )

    link = console.ask("Buy melons").get_by_role("link", name="Connect your account at Grocer")

    expect(link).to_have_attribute("href", connect["url"])
    expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_every_page_forbids_foreign_content_and_runs_no_inline_script(console: Console) -> None:
    """The content security policy holds by itself, even if the sanitiser fails."""
    response = console.page.goto(console.origin)

    assert response is not None
    assert "default-src 'self'" in response.headers["content-security-policy"]
    refused = console.page.evaluate(
        """() => {
          const script = document.createElement("script");
          try { script.textContent = "window.owned = 1"; } catch { return true; }
          document.body.append(script);
          return window.owned === undefined;
        }"""
    )

    assert refused
    assert console.page.evaluate("window.owned") is None


def test_a_question_asked_offline_is_sent_when_the_connection_is_back(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("offline")
    context.set_offline(True)

    answer = console.start_question("Anything?")
    expect(answer.get_by_role("status")).to_have_text("No connection. Trying again…")
    context.set_offline(False)

    expect(console.answers).to_have_count(2)
    expect(console.page.locator(".message.human")).to_have_text("Anything?")
    assert console.page_errors == []


def test_an_unsent_question_can_be_withdrawn(console: Console, context: BrowserContext) -> None:
    console.sign_in("doubtful")
    context.set_offline(True)
    console.start_question("Anything?")

    console.page.get_by_role("button", name="Stop", exact=True).click()

    expect(console.page.get_by_label("Your question")).to_have_value("Anything?")
    expect(console.page.locator(".message.human")).to_have_count(0)


def test_a_refused_question_returns_to_the_input(console: Console) -> None:
    console.sign_in("longwinded")
    question = "Why? " * 5_000

    console.start_question(question)

    expect(console.problem).to_be_visible()
    expect(console.page.get_by_label("Your question")).to_have_value(question.strip())
    expect(console.page.locator(".message.human")).to_have_count(0)


def test_a_refusal_is_shown_in_the_servers_words(console: Console) -> None:
    console.sign_in("early")
    console.page.get_by_label("Transcript", exact=True).fill(TRANSCRIPT)
    console.page.get_by_label("When").fill("2999-01-01T10:00")

    console.page.get_by_role("button", name="Add", exact=True).click()

    expect(console.problem).to_have_text("This was not added: its date lies in the future.")
    expect(console.page.get_by_label("Transcript", exact=True)).to_have_value(TRANSCRIPT)


def test_an_answer_is_rated_reported_and_the_chat_cleared_p23(console: Console) -> None:
    console.sign_in("critic")
    console.add_transcript(TRANSCRIPT)
    answer = console.ask("What is Theo allergic to?")

    answer.get_by_role("button", name="Bad answer").click()
    expect(answer.get_by_role("button", name="Bad answer")).to_have_attribute(
        "aria-pressed", "true"
    )
    answer.get_by_role("button", name="Report this answer").click()
    expect(answer.get_by_role("button", name="Reported")).to_be_disabled()
    console.page.reload()
    expect(console.answers.last.get_by_role("button", name="Reported")).to_be_disabled()
    expect(console.answers.last.get_by_role("button", name="Bad answer")).to_have_attribute(
        "aria-pressed", "true"
    )

    console.page.get_by_role("button", name="Clear chat").click()
    console.answer_dialog("Clear chat")
    expect(console.page.locator(".message.human")).to_have_count(0)
    expect(console.page.locator(".message.ai")).to_have_count(1)


def test_show_more_adds_the_next_page_of_the_library(
    console: Console, context: BrowserContext
) -> None:
    owner = console.sign_in_beside(context, "page-collector")
    for walk in range(51):
        hour = f"2026-01-{1 + walk // 24:02}T{walk % 24:02}"
        body = {
            "started_at": f"{hour}:00:00Z",
            "finished_at": f"{hour}:05:00Z",
            "transcript_segments": [{"text": f"We walked to the lighthouse, walk number {walk}."}],
        }
        url = f"{console.origin}/v1/conversations"
        assert context.request.post(url, data=body, headers=owner).ok
    console.sign_in("page-collector")

    expect(console.page.locator(".card")).to_have_count(50)
    console.page.get_by_role("button", name="Show more").press("Enter")

    expect(console.page.locator(".card")).to_have_count(51)
    expect(console.page.locator("#conversations > li").last).to_be_focused()
    expect(console.page.locator(".card .meta").last).to_contain_text("1 Jan 2026")
    expect(console.page.get_by_role("button", name="Show more")).to_be_hidden()


def test_a_phone_shows_one_view_at_a_time(console: Console) -> None:
    console.page.set_viewport_size({"width": 390, "height": 800})
    console.page.goto(console.address)
    console.page.get_by_label("Who are you?").fill("walker")
    console.page.keyboard.press("Enter")

    expect(console.page.locator("#views button:visible")).to_have_count(5)
    for view in ("Library", "Chat", "Memories", "Tasks", "People", "Apps", "Inbox"):
        button = console.page.get_by_role("button", name=view, exact=True)
        if not button.is_visible():
            console.page.get_by_role("button", name="More", exact=True).click()
        button.click()
        section = console.page.locator("#content > section:visible")
        expect(section).to_have_attribute("id", view.lower())
        expect(console.page.locator("#views [aria-pressed=true]:visible")).to_have_count(1)
    assert console.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_control_has_a_name(console: Console) -> None:
    console.sign_in("listener")
    console.add_transcript(TRANSCRIPT).click()
    console.ask("What is Theo allergic to?")

    views = console.page.locator("#views button:visible").all()
    assert len(views) > 3
    for view in views:
        view.click()
        tree = console.page.locator("body").aria_snapshot()
        nameless = r"- (?:button|textbox|checkbox|searchbox|combobox|link)(?::|$| \[)"
        assert re.findall(nameless, tree, flags=re.MULTILINE) == []


def test_signing_out_leaves_nothing_on_the_page(console: Console) -> None:
    console.sign_in("leaver")
    console.add_transcript(TRANSCRIPT)

    console.sign_out()

    expect(console.page.get_by_label("Who are you?")).to_be_visible()
    expect(console.page.locator("body")).not_to_contain_text("Theo")
    wait_until(lambda: console.page.evaluate("sessionStorage.length") == 0 or None)


def test_an_expired_token_leads_to_the_sign_in_form(console: Console) -> None:
    console.page.goto(console.origin)
    console.page.evaluate(
        """() => sessionStorage.setItem("keepsake.session", '{"uid":"old","token":"old"}')"""
    )

    console.page.reload()

    expect(console.page.get_by_label("Who are you?")).to_be_visible()

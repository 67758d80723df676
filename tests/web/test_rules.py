"""Rules in the console: written, changed, archived and deleted, with the words that each comes from (C61)."""

import json

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.console import Console


def write_rule(page: Page, text: str) -> None:
    page.get_by_label("A new rule").fill(text)
    page.keyboard.press("Enter")


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def test_a_rule_is_written_changed_and_deleted_c61(console: Console) -> None:
    console.sign_in("ruler")
    page = console.page
    console.show_view("memories")
    rows = page.locator("#rules > .rows > li")
    expect(page.locator("#rules .empty")).to_be_visible()

    write_rule(page, "Answer in one sentence.")
    expect(rows).to_contain_text("written by you")
    rows.get_by_role("button", name="Edit: Answer in one sentence.").press("Enter")
    field = page.get_by_label("Rule", exact=True)
    expect(field).to_have_attribute("maxlength", "280")
    field.fill("Answer in two sentences.")
    page.keyboard.press("Enter")
    expect(rows).to_contain_text("Answer in two sentences.")
    page.reload()
    expect(rows).to_contain_text("Answer in two sentences.")

    rows.get_by_role("button", name="Delete: Answer in two sentences.").press("Enter")
    expect(rows).to_have_count(0)
    expect(page.locator("#rules .empty")).to_be_visible()
    assert console.page_errors == []


def test_a_rule_of_too_many_words_says_so_and_stays_in_its_field_c61(console: Console) -> None:
    console.sign_in("rambler")
    page = console.page
    console.show_view("memories")

    write_rule(page, "so " * 25)

    expect(page.locator("#rules .problem")).to_contain_text("at most 24 words")
    expect(page.get_by_label("A new rule")).not_to_have_value("")


def test_the_oldest_of_too_many_rules_stands_apart_c61(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("lawmaker")
    owner = console.sign_in_beside(context, "lawmaker")
    for number in range(21):
        body = {"text": f"Keep to rule {number}."}
        assert context.request.post(f"{console.origin}/v2/rules", headers=owner, data=body).ok
    page = console.page

    console.show_view("memories")

    expect(page.locator("#rules > .rows > li")).to_have_count(20)
    page.locator("#rules .archived summary").press("Enter")
    expect(page.locator("#rules .archived li")).to_have_count(1)
    expect(page.locator("#rules .archived li")).to_contain_text("Keep to rule 0.")


def test_a_rule_that_was_said_stands_with_its_words_c61(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("speaker")
    arguments = {"text": "Answer in one sentence.", "user_quote": "answer me in only one sentence"}
    model.play(
        Script(tool_calls=(ScriptedCall(name="save_rule", arguments=json.dumps(arguments)),)),
        Script(text="I will."),
    )
    answer = console.start_question("From now on always answer me in only one sentence.")
    answer.locator(".confirmation").get_by_role("button", name="Once").click()
    expect(answer).to_contain_text("I will.")

    console.show_view("memories")

    rule = console.page.locator("#rules > .rows > li")
    expect(rule).to_contain_text("said in a chat")
    expect(rule.locator("blockquote")).to_have_text("answer me in only one sentence")

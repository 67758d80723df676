"""Guided exercises in a chat of the console: begun, followed step by step and ended (C79)."""

import json

import pytest
from playwright.sync_api import expect

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.console import Console


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def test_an_exercise_is_begun_followed_and_ended_in_a_chat_c79(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("breather")
    page = console.page
    support = page.locator("#chat-support")
    summary = support.locator("summary")
    expect(summary).to_have_text("Help in a crisis, exercises")

    summary.press("Enter")
    headings = support.get_by_role("heading")
    expect(headings).to_have_text(["Somebody to talk to", "Guided exercises"])
    support.get_by_role("button", name="Begin: Slow breathing").press("Enter")
    expect(summary).to_have_text("Slow breathing: step 1 of 4")
    expect(support.get_by_role("status")).to_contain_text("Let the shoulders sink.")
    expect(support.get_by_role("button", name="End: Slow breathing")).to_be_focused()

    done = json.dumps({"step": 1})
    model.play(
        Script(tool_calls=(ScriptedCall(name="finish_exercise_step", arguments=done),)),
        Script(text="Now breathe in while you count to four."),
    )
    console.ask("I sit.")
    expect(summary).to_have_text("Slow breathing: step 2 of 4")

    page.reload()
    expect(summary).to_have_text("Slow breathing: step 2 of 4")
    summary.press("Enter")
    support.get_by_role("button", name="End: Slow breathing").press("Enter")
    expect(summary).to_have_text("Help in a crisis, exercises")
    page.reload()
    expect(page.locator("#chat-guides")).to_be_hidden()
    expect(summary).to_have_text("Help in a crisis, exercises")
    assert console.page_errors == []

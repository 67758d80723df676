"""Waiting conversations in the console: while a model is away, their cards say since when (D6)."""

import re

import pytest
from playwright.sync_api import expect

from infra.local.routing import ROOT
from tests.servers.openai import Script, ScriptedOpenai
from tests.web.console import Console
from tests.web.test_accessibility import list_findings
from tests.web.test_console import TRANSCRIPT

WAITING = r"Waiting since \w+, .* for a service that is down. It goes on by itself."


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def test_a_conversation_that_waits_for_its_model_says_since_when_d6(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("patient")
    page = console.page
    prompts = (ROOT / "shared/prompts/process_conversation").glob("*.md")
    model.play(*(Script(schema=each.stem, status=503, sticky=True) for each in prompts))

    page.get_by_label("Transcript", exact=True).fill(TRANSCRIPT)
    page.get_by_role("button", name="Add", exact=True).click()

    card = page.locator("#conversations .card")
    expect(card.locator(".state")).to_have_text(re.compile(WAITING))
    expect(card).to_have_attribute("aria-busy", "true")
    assert list_findings(page) == []
    card.press("Enter")
    expect(page.locator("#reader .hint").filter(has_text="It goes on by itself")).to_be_visible()
    page.reload()
    expect(card.locator(".state")).to_have_text(re.compile(WAITING))
    assert console.page_errors == []

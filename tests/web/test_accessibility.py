"""Accessibility: no view of the console has a finding of axe-core above minor."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from tests.web.console import Console

PHONE = ViewportSize(width=390, height=844)
DESK = ViewportSize(width=1280, height=800)
TALK = (
    "Ann: The tiles arrive on Friday, I will call the plumber.\nMe: Thanks, then I paint on Sunday."
)
VIOLATIONS = {"resultTypes": ["violations"]}
VIEWS_SCRIPT = "nodes => [...new Set(nodes.map(node => node.dataset.to))]"


def list_findings(page: Page, options: dict[str, Any] = VIOLATIONS) -> list[str]:
    """Run axe-core; returns what it found on this page, without what it calls minor."""
    violations: list[dict[str, Any]] = Axe().run(page, options=options).response["violations"]
    return [
        f"{violation['impact']} {violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] != "minor"
        for node in violation["nodes"]
    ]


def list_findings_in_both_schemes(page: Page) -> list[str]:
    """Run axe-core, and in the dark scheme its rule about colours alone: nothing else differs there."""
    findings = list_findings(page)
    page.emulate_media(color_scheme="dark")
    findings += list_findings(page, {**VIOLATIONS, "runOnly": ["color-contrast"]})
    page.emulate_media(color_scheme="light")
    return findings


def walk_views(page: Page, origin: str) -> dict[str, list[str]]:
    """Return the findings of every view that a button opens, and of an open conversation."""
    findings = {}
    for view in page.locator("[data-to]").evaluate_all(VIEWS_SCRIPT):
        page.goto(f"{origin}/#/{view}")
        expect(page.locator(f"#{view}").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        findings[view] = list_findings_in_both_schemes(page)
    page.goto(f"{origin}/#/library")
    page.locator("#conversations .card").first.click()
    page.wait_for_load_state("networkidle")
    findings["conversation"] = list_findings_in_both_schemes(page)
    return findings


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_no_view_has_a_finding_above_minor_u7(console: Console, size: ViewportSize) -> None:
    page = console.page
    page.goto(console.origin)
    page.get_by_role("button", name="Sign in").wait_for()
    page.set_viewport_size(size)
    findings = {"sign-in": list_findings_in_both_schemes(page)}
    page.set_viewport_size(DESK)
    console.sign_in("accessible")
    console.add_transcript(TALK)
    console.ask("When do the tiles arrive?")
    page.set_viewport_size(size)
    findings |= walk_views(page, console.origin)

    assert {view: found for view, found in findings.items() if found} == {}


def test_no_part_of_a_chat_has_a_finding_above_minor_u7(console: Console) -> None:
    page = console.page
    console.sign_in("accessible-chat")
    console.ask("What about tulips?")
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Share this chat by a link").click()
    link = page.locator("#chat-link code").inner_text()
    page.get_by_role("button", name="Chats", exact=True).click()
    page.get_by_label("Search in chats").fill("tulips")
    page.keyboard.press("Enter")
    expect(page.locator("#chat-hits mark").first).to_be_visible()
    findings = {"chat": list_findings_in_both_schemes(page)}
    page.get_by_role("button", name="Edit this question").click()
    findings["form"] = list_findings_in_both_schemes(page)
    page.goto(f"{console.origin}/read/#{link.rpartition('#')[2]}")
    expect(page.get_by_label("Question")).to_be_visible()
    findings["shared"] = list_findings_in_both_schemes(page)

    assert {part: found for part, found in findings.items() if found} == {}

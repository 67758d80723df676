"""Timeline in the console: conversations, events and tasks by day."""

import json
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.waiting import wait_until
from tests.servers.openai import Script, ScriptedOpenai
from tests.web.console import Console
from tests.web.test_accessibility import list_findings

STARTED_AT = "2024-03-05T09:30"
EXTRACTION = {
    "structure": {
        "title": "Cake and ferry",
        "overview": "Nora bakes.",
        "events": [
            {"title": "Ferry <b>home</b>", "start": "2024-03-09T16:05", "duration": 60},
            {"title": "Nora's party", "start": "2999-07-01T18:00", "duration": 60},
        ],
    },
    "memories": [],
}


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def test_the_timeline_shows_conversations_events_and_tasks_by_day_p30(
    console: Console, context: BrowserContext, model: ScriptedOpenai
) -> None:
    console.sign_in("chronicler")
    page = console.page
    task = {"description": "Water the tulips", "due_at": "2030-05-01T12:00:00Z"}
    owner = console.sign_in_beside(context, "chronicler")
    context.request.post(f"{console.origin}/v1/action-items", headers=owner, data=task)
    model.play(
        Script(schema="extraction", text=json.dumps(EXTRACTION)),
    )
    page.get_by_label("Transcript", exact=True).fill("Nora: I will bake a cake.")
    page.get_by_label("When", exact=True).fill(STARTED_AT)
    console.add_transcript("Nora: I will bake a cake.")

    console.show_view("timeline")

    days = page.locator("#timeline .days > li")
    expect(days.get_by_role("heading")).to_have_text(
        ["Mon, 1 Jul 2999", "Wed, 1 May 2030", "Sat, 9 Mar 2024", "Tue, 5 Mar 2024"]
    )
    expect(days.nth(0)).to_contain_text("Coming up")
    expect(days.nth(1)).to_contain_text("Water the tulips")
    expect(days.nth(2).get_by_role("time")).to_have_text("16:05")
    expect(days.nth(2)).to_contain_text("Past event")
    days.nth(2).get_by_role("button", name="Ferry <b>home</b>").press("Enter")
    expect(page.locator("#reader h2")).to_contain_text("Cake and ferry")
    page.keyboard.press("Escape")
    days.nth(3).get_by_role("button", name="Cake and ferry").press("Enter")
    expect(page.locator("#reader .transcript")).to_contain_text("I will bake a cake.")
    assert console.page_errors == []


def test_show_more_adds_older_days_and_focuses_the_first_p30(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("archivist")
    owner = console.sign_in_beside(context, "archivist")
    for number in range(1, 61):
        due = f"2031-01-01T{number * 7 % 60 // 3:02}:{number * 7 % 60 % 3:02}:00Z"
        task = {"description": f"Task {number}.", "due_at": due}
        context.request.post(f"{console.origin}/v1/action-items", headers=owner, data=task)
    page = console.page
    console.show_view("timeline")
    entries = page.locator("#timeline .days ul > li")
    expect(entries).to_have_count(50)

    page.locator("#timeline .more").press("Enter")

    expect(entries).to_have_count(60)
    expect(entries.filter(has_text="Task 8.")).to_be_focused()
    expect(page.locator("#timeline .more")).to_be_hidden()
    assert console.page_errors == []


ABOUT: dict[str, Any] = {
    "summary": "A hike with Ann was planned.",
    "statements": [],
}


def test_what_a_chat_was_about_leads_to_it_and_is_forgotten_c60(
    console: Console, context: BrowserContext, model: ScriptedOpenai
) -> None:
    console.sign_in("hiker")
    page = console.page
    owner = console.sign_in_beside(context, "hiker")
    model.play(
        Script(text="Lovely."), Script(schema="stretch", text=json.dumps(ABOUT), sticky=True)
    )
    console.ask("In June I want to hike along the Rhine with my sister Ann.")
    arcs = f"{console.origin}/v2/arcs"
    context.request.post(f"{console.origin}/v2/chat-sessions/main/end", headers=owner)
    wait_until(lambda: context.request.get(arcs, headers=owner).json()["items"] or None)

    console.show_view("timeline")

    entry = page.locator("#timeline .days li li")
    expect(entry).to_contain_text("What a chat was about")
    assert list_findings(page) == []
    entry.get_by_role("button", name=ABOUT["summary"]).press("Enter")
    expect(page.locator("#messages .human")).to_contain_text("hike along the Rhine")
    entry.get_by_role("button", name="Forget what this chat was about").press("Enter")
    expect(entry).to_have_count(0)
    expect(page.locator("#timeline-title")).to_be_focused()
    assert context.request.get(arcs, headers=owner).json()["items"] == []
    assert console.page_errors == []

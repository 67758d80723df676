"""Timeline in the console: conversations, events and tasks by day."""

import json

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.servers.openai import Script, ScriptedOpenai
from tests.web.console import Console
from tests.web.served import ProductServer

pytestmark = pytest.mark.browser

STARTED_AT = "2024-03-05T09:30"
STRUCTURE = {
    "title": "Cake and ferry",
    "overview": "Nora bakes.",
    "events": [
        {"title": "Ferry <b>home</b>", "start": "2024-03-09T16:05", "duration": 60},
        {"title": "Nora's party", "start": "2999-07-01T18:00", "duration": 60},
    ],
}


@pytest.fixture
def origin(product_server: ProductServer) -> str:
    """Serve these tests at an address of their own."""
    return product_server.origin


def test_the_timeline_shows_conversations_events_and_tasks_by_day_p30(
    console: Console, context: BrowserContext, product_server: ProductServer, model: ScriptedOpenai
) -> None:
    with product_server.start():
        console.sign_in("chronicler")
        page = console.page
        task = {"description": "Water the tulips", "due_at": "2030-05-01T12:00:00Z"}
        owner = console.sign_in_beside(context, "chronicler")
        context.request.post(f"{console.origin}/v1/action-items", headers=owner, data=task)
        model.play(
            Script(schema="discard", text='{"discard": false}'),
            Script(schema="structure", text=json.dumps(STRUCTURE)),
            Script(schema="memories", text='{"memories": []}'),
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
    console: Console, context: BrowserContext, product_server: ProductServer
) -> None:
    with product_server.start():
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

"""Connections in the console: accounts are connected in a window of their own, and disconnected."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.servers.provider import FakeProvider
from tests.web.console import Console

CALENDAR = "Google Calendar"


def connect(console: Console, context: BrowserContext) -> Page:
    console.show_view("apps")
    with context.expect_page() as opened:
        console.page.get_by_role("button", name=f"Connect {CALENDAR}").press("Enter")
    return opened.value


def test_a_service_is_connected_in_another_window_and_disconnected_p6(
    console: Console, context: BrowserContext, provider: FakeProvider
) -> None:
    console.sign_in("planner")
    page = console.page

    window = connect(console, context)

    expect(window.get_by_role("heading")).to_have_text("Connected")
    assert window.evaluate("window.opener") is None
    disconnect = page.get_by_role("button", name=f"Disconnect {CALENDAR}")
    expect(disconnect).to_be_focused()
    status = page.locator("#connections").get_by_role("status")
    expect(status).to_have_text(f"{CALENDAR} is connected.")
    row = page.locator("#connections .rows li").filter(has_text=CALENDAR)
    expect(row).to_contain_text("Connected since")
    expect(page.get_by_label("Calls of delete calendar event")).to_contain_text("asks each time")

    disconnect.press("Enter")
    console.answer_dialog("Disconnect")
    expect(status).to_have_text(f"{CALENDAR} is disconnected.")
    expect(page.get_by_role("button", name=f"Connect {CALENDAR}")).to_be_focused()
    expect(page.locator("#grants .empty")).to_be_visible()
    assert provider.revoked_tokens
    assert console.page_errors == []


def test_a_connection_survives_a_reload_and_unavailable_services_are_named_p6(
    console: Console, context: BrowserContext
) -> None:
    console.sign_in("planner2")
    connect(console, context)
    expect(console.page.get_by_role("button", name=f"Disconnect {CALENDAR}")).to_be_visible()

    console.page.reload()

    expect(console.page.get_by_role("button", name=f"Disconnect {CALENDAR}")).to_be_visible()
    expect(console.page.locator("#connections .missing")).to_have_text(
        re.compile("^Not set up on this server: ")
    )

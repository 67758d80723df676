"""Inbox in the console: notifications of apps, and the preferences for them."""

import re
from typing import Any

from playwright.sync_api import BrowserContext, expect

from tests.e2e.waiting import wait_until
from tests.web.app_server import LOOK_TOOL, AppServer, register_app
from tests.web.console import Console

LONG_TEXT = "Your <b>order</b> is ready:\n" + "a loaf of bread, " * 50 + "and butter."


def install_app(
    console: Console, context: BrowserContext, uid: str, manifest: str
) -> dict[str, Any]:
    app = register_app(console, context, uid, manifest, name="Grocer", private=True)
    owner = console.sign_in_beside(context, uid)
    enable = f"{console.origin}/v1/apps/enable?app_id={app['id']}"
    assert context.request.post(enable, headers=owner).ok
    return app


def post_notification(
    console: Console, context: BrowserContext, uid: str, app: str, message: str
) -> None:
    """Let the app post with a key of its own, and wait for the delivery."""
    api, owner = context.request, console.sign_in_beside(context, uid)
    key = api.post(f"{console.origin}/v1/apps/{app}/keys", headers=owner).json()["secret"]
    response = api.post(
        f"{console.origin}/v1/integrations/notification",
        data={"aid": app, "uid": uid, "message": message},
        headers={"Authorization": f"Bearer {key}"},
    )
    assert response.ok, response.text()
    inbox = f"{console.origin}/v1/inbox"
    wait_until(lambda: api.get(inbox, headers=owner).json()["items"] or None)


def test_a_notification_arrives_whole_and_counts_until_it_is_read_t16(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    app = install_app(console, context, "notified", app_server.declare("inbox", LOOK_TOOL))
    post_notification(console, context, "notified", app["id"], LONG_TEXT)
    console.sign_in("notified")
    page = console.page

    expect(page.get_by_label("1 unread")).to_be_visible()
    page.get_by_role("button", name=re.compile("Inbox")).press("Enter")

    arrived = page.locator("#notifications li")
    expect(arrived.locator(".body")).to_have_text(LONG_TEXT)
    expect(arrived.locator(".badge")).to_have_text("new")
    expect(page.get_by_label("1 unread")).to_be_hidden()
    page.reload()
    page.get_by_role("button", name=re.compile("Inbox")).click()
    expect(arrived.locator(".title")).to_have_text("Grocer says")
    expect(arrived.locator(".badge")).to_have_count(0)
    assert console.page_errors == []


def test_notification_preferences_are_set_by_keyboard_and_saved_at_once_t16(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    app = install_app(console, context, "sleeper", app_server.declare("quiet", LOOK_TOOL))
    console.sign_in("sleeper")
    page = console.page
    page.get_by_role("button", name=re.compile("Inbox")).click()
    page.get_by_text("Notification settings").press("Enter")
    expect(page.get_by_label("Apps may notify me")).to_be_checked()
    expect(page.locator("#preferences").get_by_label("From", exact=True)).to_be_disabled()

    page.get_by_label("Keep quiet hours").press("Space")
    page.locator("#preferences").get_by_label("From", exact=True).fill("21:30")
    page.get_by_label("Deliver what arrives meanwhile").select_option(
        "in one notification, at 08:00"
    )
    page.get_by_label("Grocer").press("Space")
    expect(page.locator("#preferences").get_by_role("status")).to_have_text("Saved.")
    wanted = {
        "enabled": True,
        "muted_apps": [app["id"]],
        "quiet_hours": {"from": "21:30", "to": "07:00"},
        "digest": True,
        "digest_hour": 8,
    }
    owner = console.sign_in_beside(context, "sleeper")
    kept = f"{console.origin}/v1/users/notification-preferences"
    wait_until(lambda: context.request.get(kept, headers=owner).json() == wanted or None)

    page.reload()
    page.get_by_role("button", name=re.compile("Inbox")).click()
    page.get_by_text("Notification settings").click()
    expect(page.get_by_label("Grocer")).not_to_be_checked()
    expect(page.locator("#preferences").get_by_label("From", exact=True)).to_have_value("21:30")
    expect(page.get_by_label("Deliver what arrives meanwhile")).to_have_value("8")
    assert console.page_errors == []


def test_a_preference_that_is_refused_says_why_t16(console: Console) -> None:
    console.sign_in("timeless")
    page = console.page
    page.get_by_role("button", name=re.compile("Inbox")).click()
    page.get_by_text("Notification settings").click()
    page.get_by_label("Keep quiet hours").check()

    page.locator("#preferences").get_by_label("From", exact=True).fill("07:00")

    expect(console.problem).to_contain_text("begin and end at the same time")

"""Apps in the console: found, looked into, installed."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.web.app_server import LOOK, ORDER, AppServer, register
from tests.web.console import Console

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror='window.owned=1'>"


def test_t4_an_app_is_looked_into_installed_and_uninstalled_by_keyboard(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare("grocer", LOOK, ORDER)
    steps = {"auth_steps": [{"name": "Sign in at the grocer", "url": "https://grocer.example"}]}
    reads = {"actions": [{"action": "read_memories"}]}
    register(console, context, "maker", manifest, name="Grocer", integration={**steps, **reads})
    console.sign_in("buyer")
    page = console.page
    console.show("apps")
    grocer = console.app("Grocer")

    grocer.get_by_text("What it may do").press("Enter")
    may = grocer.locator(".may > li")
    expect(may.filter(has_text="look up")).to_contain_text("reads")
    expect(may.filter(has_text="Order it")).to_contain_text("acts")
    expect(may.filter(has_text="reads your memories")).to_be_visible()
    page.get_by_role("button", name="Install Grocer").press("Enter")

    expect(page.get_by_role("button", name="Uninstall Grocer")).to_be_focused()
    expect(page.locator("#apps > [role=status]")).to_contain_text("Grocer is installed")
    expect(page.get_by_role("heading", name="Installed")).to_be_visible()
    expect(grocer.get_by_role("link", name="Sign in at the grocer")).to_have_attribute(
        "rel", "noopener noreferrer"
    )
    page.reload()
    console.show("apps")
    page.get_by_role("button", name="Uninstall Grocer").press("Enter")
    expect(page.get_by_role("button", name="Install Grocer")).to_be_focused()
    assert console.complaints == []


def test_t4_what_an_app_asks_for_later_is_shown_and_waits_to_be_allowed(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    made = register(console, context, "maker2", app_server.declare("baker", LOOK), name="Baker")
    console.sign_in("eater")
    page = console.page
    console.show("apps")
    page.get_by_role("button", name="Install Baker").click()
    expect(page.get_by_role("button", name="Uninstall Baker")).to_be_focused()
    more = {"external_integration": {"actions": [{"action": "read_memories"}]}}
    address, owner = f"{console.origin}/v1/apps/{made['id']}", console.owner(context, "maker2")
    assert context.request.patch(address, data=more, headers=owner).ok

    page.reload()
    console.show("apps")
    baker = console.app("Baker")
    expect(baker).to_contain_text("Not allowed yet: it reads your memories.")
    page.get_by_role("button", name="Allow Baker that").press("Enter")

    expect(page.locator("#apps > [role=status]")).to_have_text("Baker may do that from now on.")
    expect(page.get_by_role("button", name="Uninstall Baker")).to_be_focused()
    expect(baker).not_to_contain_text("Not allowed yet")
    assert console.complaints == []


def test_t4_what_an_app_asks_for_while_its_user_reads_is_not_allowed_with_the_rest(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    reads = {"actions": [{"action": "read_memories"}]}
    manifest = app_server.declare("fishmonger", LOOK)
    named = {"name": "Fishmonger", "capabilities": ["chat"]}
    made = register(console, context, "maker3", manifest, integration=reads, **named)
    console.sign_in("fisher")
    page = console.page
    console.show("apps")
    app = console.app("Fishmonger")
    app.get_by_text("What it may do").click()
    expect(app.locator(".may")).to_contain_text("may send you notifications")
    more = {"external_integration": {"actions": [*reads["actions"], {"action": "read_tasks"}]}}
    address, owner = f"{console.origin}/v1/apps/{made['id']}", console.owner(context, "maker3")
    assert context.request.patch(address, data=more, headers=owner).ok

    page.get_by_role("button", name="Install Fishmonger").click()

    expect(app).to_contain_text("Not allowed yet: it reads your tasks.")
    page.get_by_role("button", name="Allow Fishmonger that").click()
    expect(app).not_to_contain_text("Not allowed yet")
    assert console.complaints == []


def test_t4_a_private_app_is_marked_for_its_maker_and_hidden_from_others(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare("diary", LOOK)
    register(console, context, "diarist", manifest, name="Diary", private=True)
    register(console, context, "diarist", manifest, name="Almanac")

    console.sign_in("diarist")
    console.show("apps")
    expect(console.app("Diary").locator(".badge").first).to_have_text("private")
    console.page.get_by_role("button", name="Sign out").click()
    console.sign_in("stranger")
    console.show("apps")

    expect(console.app("Almanac")).to_be_visible()
    expect(console.app("Diary")).to_have_count(0)


def test_t19_an_mcp_server_becomes_an_app_and_is_asked_for_its_tools_again(
    console: Console, mcp_server: str
) -> None:
    console.sign_in("notetaker")
    page = console.page
    console.show("apps")
    page.get_by_text("Add an MCP server").press("Enter")
    page.get_by_label("Name of the server").fill("Notes")
    page.get_by_label("Address of the server").fill(mcp_server)
    page.keyboard.press("Enter")

    expect(page.locator("#mcp").get_by_role("status")).to_have_text(
        "Notes is added with 1 tool: install it to use them."
    )
    console.app("Notes").get_by_role("button", name="Develop").click()
    server = console.section("MCP server")
    expect(server).to_contain_text("acts")
    server.get_by_role("button", name="Check again").press("Enter")
    expect(server.get_by_role("button")).to_be_focused()
    assert console.complaints == []


def test_t19_an_mcp_server_is_signed_in_at_in_another_window(
    console: Console, context: BrowserContext, guarded_mcp_server: str
) -> None:
    console.sign_in("vaultkeeper")
    page = console.page
    console.show("apps")
    page.get_by_text("Add an MCP server").press("Enter")
    page.get_by_label("Name of the server").fill("Vault")
    page.get_by_label("Address of the server").fill(guarded_mcp_server)

    with context.expect_page() as opened:
        page.keyboard.press("Enter")

    expect(opened.value.get_by_role("heading")).to_have_text("Connected")
    assert opened.value.evaluate("window.opener") is None
    expect(page.locator("#mcp").get_by_role("status")).to_have_text(
        "Vault is added with 1 tool: install it to use them."
    )
    assert console.complaints == []


def test_t19_an_mcp_server_that_is_none_says_why(console: Console, app_server: AppServer) -> None:
    console.sign_in("mistaken2")
    console.show("apps")
    console.page.get_by_text("Add an MCP server").click()
    console.page.get_by_label("Name of the server").fill("Nothing")
    console.page.get_by_label("Address of the server").fill(f"{app_server.url}/nothing")

    console.page.get_by_role("button", name="Add it").click()

    expect(console.problem).not_to_be_empty()
    expect(console.page.get_by_label("Name of the server")).to_have_value("Nothing")


def test_t20_hostile_words_of_an_app_stay_words(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    tool = {**LOOK, "name": HOSTILE[:60], "description": HOSTILE}
    manifest = app_server.declare("hostile", tool, {"name": HOSTILE})
    steps = {"auth_steps": [{"name": "Click me", "url": "javascript:window.owned=1"}]}
    made = register(
        console, context, "mallory", manifest, name=HOSTILE, description=HOSTILE, integration=steps
    )
    console.sign_in("mallory")
    page = console.page
    console.show("apps")
    page.get_by_role("button", name=f"Install {HOSTILE}").click()
    app = page.locator(f"[data-id='{made['id']}']")
    app.get_by_text("What it may do").click()
    expect(app.locator(".may")).to_contain_text(HOSTILE)
    expect(app).to_contain_text("Click me")
    expect(app.get_by_role("link")).to_have_count(0)

    app.get_by_role("button", name="Develop").click()
    expect(page.get_by_label("Refused tools")).to_contain_text(HOSTILE[:40])

    assert page.evaluate("window.owned") is None
    assert page.locator("#apps img, #developer img").count() == 0
    assert console.foreign_requests == []
    assert console.complaints == []

"""Apps in the console: found, looked into, installed; registered and looked after by who makes them."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.web.app_server import LOOK, ORDER, AppServer, register
from tests.web.console import Console

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror='window.owned=1'>"


def show(console: Console, view: str) -> None:
    console.page.locator(f"#views [data-to={view}]").click()


def row(console: Console, name: str) -> Locator:
    return console.page.locator("#apps .rows > li").filter(has_text=name)


def section(console: Console, title: str) -> Locator:
    heading = console.page.get_by_role("heading", name=title)
    return console.page.locator("#developer section").filter(has=heading)


def test_t4_an_app_is_looked_into_installed_and_uninstalled_by_keyboard(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare("grocer", LOOK, ORDER)
    steps = {"auth_steps": [{"name": "Sign in at the grocer", "url": "https://grocer.example"}]}
    reads = {"actions": [{"action": "read_memories"}]}
    register(console, context, "maker", manifest, name="Grocer", integration={**steps, **reads})
    console.sign_in("buyer")
    page = console.page
    show(console, "apps")
    grocer = row(console, "Grocer")

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
    show(console, "apps")
    page.get_by_role("button", name="Uninstall Grocer").press("Enter")
    expect(page.get_by_role("button", name="Install Grocer")).to_be_focused()
    assert console.complaints == []


def test_t4_a_private_app_is_marked_for_its_maker_and_hidden_from_others(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare("diary", LOOK)
    register(console, context, "diarist", manifest, name="Diary", private=True)
    register(console, context, "diarist", manifest, name="Almanac")

    console.sign_in("diarist")
    show(console, "apps")
    expect(row(console, "Diary").locator(".badge").first).to_have_text("private")
    console.page.get_by_role("button", name="Sign out").click()
    console.sign_in("stranger")
    show(console, "apps")

    expect(row(console, "Almanac")).to_be_visible()
    expect(row(console, "Diary")).to_have_count(0)


def test_t20_an_app_is_registered_and_its_refused_tools_say_why(
    console: Console, app_server: AppServer
) -> None:
    manifest = app_server.declare("bakery", LOOK, {"name": "nameless"})
    console.sign_in("baker")
    page = console.page
    show(console, "apps")
    page.get_by_role("button", name="Make one").press("Enter")
    expect(page.get_by_label("App", exact=True)).to_be_focused()

    page.get_by_label("Name of the app").fill("Bakery")
    page.get_by_label("Home address").fill(f"{app_server.url}/bakery")
    page.get_by_label("Manifest address").fill(manifest)
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Bakery")).to_contain_text("private")
    expect(section(console, "Manifest")).to_contain_text("1 tool is offered, 1 refused.")
    refused = page.get_by_label("Refused tools").get_by_role("listitem")
    expect(refused).to_have_text("nameless: `description` is missing")
    expect(row(console, "Bakery")).to_be_visible()

    app_server.declare("bakery", LOOK, ORDER)
    section(console, "Manifest").get_by_role("button", name="Check again").press("Enter")
    expect(section(console, "Manifest")).to_contain_text("2 tools are offered.")
    expect(section(console, "Manifest").get_by_role("button")).to_be_focused()
    expect(refused).to_have_count(0)

    del app_server.declared["bakery"]
    section(console, "Manifest").get_by_role("button", name="Check again").press("Enter")
    expect(console.problem).to_have_text("The manifest's address answered HTTP 404.")
    assert console.complaints == []


def test_t20_an_app_that_cannot_be_registered_says_why_and_keeps_what_was_typed(
    console: Console,
) -> None:
    console.sign_in("unlucky")
    page = console.page
    show(console, "developer")
    page.get_by_label("Name of the app").fill("Intranet")
    page.get_by_label("Manifest address").fill("http://10.0.0.7/tools.json")

    page.get_by_role("button", name="Register").click()

    expect(console.problem).to_contain_text("chat_tools_manifest_url is refused")
    expect(page.get_by_label("Name of the app")).to_have_value("Intranet")


def test_t1_a_key_is_shown_once_listed_and_revoked(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    register(console, context, "locksmith", app_server.declare("locks", LOOK), name="Locks")
    console.sign_in("locksmith")
    page = console.page
    show(console, "developer")

    page.get_by_role("button", name="New key").press("Enter")
    shown = section(console, "Keys").get_by_role("status")
    expect(shown.locator("code")).to_have_text(re.compile(r"^sk_[0-9a-f]{32}$"))
    page.reload()
    show(console, "developer")
    expect(section(console, "Keys").locator(".keys li")).to_have_count(1)
    expect(shown).to_be_empty()

    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke sk_").press("Enter")
    expect(section(console, "Keys").locator(".keys li")).to_have_count(0)
    expect(page.get_by_role("button", name="New key")).to_be_focused()
    assert console.complaints == []


def test_t8_the_signing_secret_is_hidden_until_asked_for_and_rotated(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    made = register(console, context, "signer", app_server.declare("seal", LOOK), name="Seal")
    console.sign_in("signer")
    page = console.page
    show(console, "developer")
    secret = section(console, "Signing secret").locator("code")
    expect(secret).to_be_hidden()
    page.get_by_text("Show it").press("Enter")
    expect(secret).to_have_text(made["signing_secret"])

    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Rotate").press("Enter")

    expect(section(console, "Signing secret")).to_contain_text("The one before signs as well until")
    page.get_by_text("Show it").click()
    expect(secret).to_have_text(re.compile("^whsec_"))
    expect(secret).not_to_have_text(made["signing_secret"])


def test_t20_the_last_calls_and_their_errors_are_shown_to_the_maker(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare(
        "gardener", {**LOOK, "name": "water", "description": "Water the plants in the garden"}
    )
    register(console, context, "gardener", manifest, name="Garden")
    console.sign_in("gardener")
    page = console.page
    show(console, "developer")
    expect(section(console, "Last calls")).to_contain_text("Not called in the last seven days.")
    page.get_by_role("button", name="Install Garden").click()
    expect(page.get_by_role("button", name="Uninstall Garden")).to_be_visible()
    show(console, "apps")
    console.ask("Please water the plants in the garden.")
    app_server.failing.add("gardener")
    console.ask("Please water the plants in the garden.")

    show(console, "developer")

    calls = section(console, "Last calls").locator("tbody tr")
    expect(calls).to_have_count(2)
    expect(calls.nth(0)).to_contain_text("water")
    expect(calls.nth(0).locator("td").last).to_have_text("HTTP 500")
    expect(calls.nth(1).locator("td").last).to_have_text("ok")
    assert console.complaints == []


def test_t20_an_apps_settings_are_changed_and_its_manifest_read_again(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    register(console, context, "mover", app_server.declare("old", LOOK), name="Mover")
    console.sign_in("mover")
    page = console.page
    show(console, "developer")
    page.get_by_text("Change its settings").press("Enter")
    expect(page.get_by_label("Name of the app")).to_have_value("Mover")

    page.get_by_label("Manifest address").fill(app_server.declare("new", LOOK, ORDER))
    page.get_by_label("Webhook address").fill(f"{app_server.url}/hook")
    page.get_by_label("Read memories").press("Space")
    page.get_by_role("button", name="Save").press("Enter")

    expect(section(console, "Manifest")).to_contain_text("2 tools are offered.")
    expect(page.get_by_label("App", exact=True)).to_be_focused()
    row(console, "Mover").get_by_text("What it may do").click()
    may = row(console, "Mover").locator(".may")
    expect(may).to_contain_text("is told of your new conversations")
    expect(may).to_contain_text("reads your memories")


def test_t20_an_app_is_deleted(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    register(console, context, "quitter", app_server.declare("gone", LOOK), name="Gone soon")
    console.sign_in("quitter")
    page = console.page
    show(console, "developer")
    page.on("dialog", lambda dialog: dialog.accept())

    page.get_by_role("button", name="Delete this app").press("Enter")

    expect(page.get_by_role("button", name="Register")).to_be_visible()
    expect(row(console, "Gone soon")).to_have_count(0)
    assert console.complaints == []


def test_t19_an_mcp_server_becomes_an_app_and_is_asked_for_its_tools_again(
    console: Console, mcp_server: str
) -> None:
    console.sign_in("notetaker")
    page = console.page
    show(console, "apps")
    page.get_by_text("Add an MCP server").press("Enter")
    page.get_by_label("Name of the server").fill("Notes")
    page.get_by_label("Address of the server").fill(mcp_server)
    page.keyboard.press("Enter")

    expect(page.locator("#mcp").get_by_role("status")).to_have_text(
        "Notes is added with 1 tool: install it to use them."
    )
    row(console, "Notes").get_by_role("button", name="Develop").click()
    server = section(console, "MCP server")
    expect(server).to_contain_text("acts")
    server.get_by_role("button", name="Check again").press("Enter")
    expect(server.get_by_role("button")).to_be_focused()
    assert console.complaints == []


def test_t19_an_mcp_server_that_is_none_says_why(console: Console, app_server: AppServer) -> None:
    console.sign_in("mistaken2")
    show(console, "apps")
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
    show(console, "apps")
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

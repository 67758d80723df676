"""Apps in the console: found, inspected, installed."""

from playwright.sync_api import BrowserContext, expect

from tests.web.app_server import ADD_TOOL, LOOK_TOOL, ORDER_TOOL, AppServer, register_app
from tests.web.console import Console

HOSTILE_TEXT = "<img src=x onerror='window.owned=1'>"


def test_an_app_is_inspected_installed_and_uninstalled_by_keyboard_t4(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare("grocer", LOOK_TOOL, ADD_TOOL, ORDER_TOOL)
    steps = {"auth_steps": [{"name": "Sign in at the grocer", "url": "https://grocer.example"}]}
    reads = {"actions": [{"action": "read_memories"}]}
    register_app(console, context, "maker", manifest, name="Grocer", integration={**steps, **reads})
    console.sign_in("buyer")
    page = console.page
    console.show_view("apps")
    grocer = console.find_app("Grocer")

    grocer.get_by_text("What it may do").press("Enter")
    may = grocer.locator(".permissions > li")
    expect(may.filter(has_text="look up")).to_contain_text("only reads")
    expect(may.filter(has_text="Add it to the basket")).to_contain_text("asks first")
    expect(may.filter(has_text="Order it")).to_contain_text("asks each time")
    expect(may.filter(has_text="reads your memories")).to_be_visible()
    page.get_by_role("button", name="Install Grocer").press("Enter")

    expect(page.get_by_role("button", name="Uninstall Grocer")).to_be_focused()
    expect(page.locator("#apps > [role=status]")).to_contain_text("Grocer is installed")
    expect(page.get_by_role("heading", name="Installed")).to_be_visible()
    expect(may.filter(has_text="look up")).to_be_visible()
    expect(grocer.get_by_role("link", name="Sign in at the grocer")).to_have_attribute(
        "rel", "noopener noreferrer"
    )
    page.reload()
    page.get_by_role("button", name="Uninstall Grocer").press("Enter")
    expect(page.get_by_role("button", name="Install Grocer")).to_be_focused()
    assert console.page_errors == []


def test_a_permission_requested_later_waits_to_be_allowed_t4(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    app = register_app(
        console, context, "maker2", app_server.declare("baker", LOOK_TOOL), name="Baker"
    )
    console.sign_in("eater")
    page = console.page
    console.show_view("apps")
    page.get_by_role("button", name="Install Baker").click()
    expect(page.get_by_role("button", name="Uninstall Baker")).to_be_focused()
    more = {"external_integration": {"actions": [{"action": "read_memories"}]}}
    address, owner = (
        f"{console.origin}/v1/apps/{app['id']}",
        console.sign_in_beside(context, "maker2"),
    )
    assert context.request.patch(address, data=more, headers=owner).ok

    page.reload()
    baker = console.find_app("Baker")
    expect(baker).to_contain_text("Not allowed yet: reads your memories.")
    page.get_by_role("button", name="Allow Baker that").press("Enter")

    expect(page.locator("#apps > [role=status]")).to_have_text("Baker is now allowed to do that.")
    expect(page.get_by_role("button", name="Uninstall Baker")).to_be_focused()
    expect(baker).not_to_contain_text("Not allowed yet")
    assert console.page_errors == []


def test_a_permission_requested_while_the_user_reads_is_not_granted_on_install_t4(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    reads = {"actions": [{"action": "read_memories"}]}
    manifest = app_server.declare("fishmonger", LOOK_TOOL)
    fields = {"name": "Fishmonger", "capabilities": ["chat", "external_integration"]}
    registered_app = register_app(console, context, "maker3", manifest, integration=reads, **fields)
    console.sign_in("fisher")
    page = console.page
    console.show_view("apps")
    app = console.find_app("Fishmonger")
    app.get_by_text("What it may do").click()
    expect(app.locator(".permissions")).to_contain_text("may send you notifications")
    more = {"external_integration": {"actions": [*reads["actions"], {"action": "read_tasks"}]}}
    address, owner = (
        f"{console.origin}/v1/apps/{registered_app['id']}",
        console.sign_in_beside(context, "maker3"),
    )
    assert context.request.patch(address, data=more, headers=owner).ok

    page.get_by_role("button", name="Install Fishmonger").click()

    expect(app).to_contain_text("Not allowed yet: reads your tasks.")
    page.get_by_role("button", name="Allow Fishmonger that").click()
    expect(app).not_to_contain_text("Not allowed yet")
    assert console.page_errors == []


def test_a_private_app_is_marked_for_its_maker_and_hidden_from_others_t4(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare("diary", LOOK_TOOL)
    register_app(console, context, "diarist", manifest, name="Diary", private=True)
    register_app(console, context, "diarist", manifest, name="Almanac")

    console.sign_in("diarist")
    console.show_view("apps")
    expect(console.find_app("Diary").locator(".badge").first).to_have_text("private")
    console.sign_out()
    console.sign_in("stranger")
    console.show_view("apps")

    expect(console.find_app("Almanac")).to_be_visible()
    expect(console.find_app("Diary")).to_have_count(0)


def test_an_mcp_server_becomes_an_app_whose_tools_can_be_refreshed_t19(
    console: Console, mcp_server: str
) -> None:
    console.sign_in("notetaker")
    page = console.page
    console.show_view("apps")
    page.get_by_text("Add an MCP server").press("Enter")
    page.get_by_label("Name of the server").fill("Notes")
    page.get_by_label("Address of the server").fill(mcp_server)
    page.keyboard.press("Enter")

    expect(page.locator("#mcp").get_by_role("status")).to_have_text(
        "Notes is added with 1 tool: install it to use it."
    )
    console.find_app("Notes").get_by_role("button", name="Develop").click()
    server = console.find_section("MCP server")
    expect(server).to_contain_text("only reads")
    server.get_by_role("button", name="Check again").press("Enter")
    expect(server.get_by_role("button")).to_be_focused()
    assert console.page_errors == []


def test_signing_in_to_an_mcp_server_opens_another_window_t19(
    console: Console, context: BrowserContext, guarded_mcp_server: str
) -> None:
    console.sign_in("vaultkeeper")
    page = console.page
    console.show_view("apps")
    page.get_by_text("Add an MCP server").press("Enter")
    page.get_by_label("Name of the server").fill("Vault")
    page.get_by_label("Address of the server").fill(guarded_mcp_server)

    with context.expect_page() as opened:
        page.keyboard.press("Enter")

    expect(opened.value.get_by_role("heading")).to_have_text("Connected")
    assert opened.value.evaluate("window.opener") is None
    expect(page.locator("#mcp").get_by_role("status")).to_have_text(
        "Vault is added with 1 tool: install it to use it."
    )
    assert console.page_errors == []


def test_an_address_without_an_mcp_server_says_why_t19(
    console: Console, app_server: AppServer
) -> None:
    console.sign_in("mistaken2")
    console.show_view("apps")
    console.page.get_by_text("Add an MCP server").click()
    console.page.get_by_label("Name of the server").fill("Nothing")
    console.page.get_by_label("Address of the server").fill(f"{app_server.url}/nothing")

    console.page.get_by_role("button", name="Add server").click()

    expect(console.problem).not_to_be_empty()
    expect(console.page.get_by_label("Name of the server")).to_have_value("Nothing")


def test_hostile_text_of_an_app_stays_text_t20(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    tool = {**LOOK_TOOL, "name": HOSTILE_TEXT[:60], "description": HOSTILE_TEXT}
    manifest = app_server.declare("hostile", tool, {"name": HOSTILE_TEXT})
    registered_app = register_app(
        console,
        context,
        "mallory",
        manifest,
        name=HOSTILE_TEXT,
        description=HOSTILE_TEXT,
    )
    console.sign_in("mallory")
    page = console.page
    console.show_view("apps")
    page.get_by_role("button", name=f"Install {HOSTILE_TEXT}").click()
    app = page.locator(f"[data-id='{registered_app['id']}']")
    app.get_by_text("What it may do").click()
    expect(app.locator(".permissions")).to_contain_text(HOSTILE_TEXT)
    expect(app.get_by_role("link")).to_have_count(0)

    app.get_by_role("button", name="Develop").click()
    expect(page.get_by_label("Refused tools")).to_contain_text(HOSTILE_TEXT[:40])

    assert page.evaluate("window.owned") is None
    assert page.locator('#apps img:not([src^="/v1/apps/logos/"]), #developer img').count() == 0
    assert console.foreign_requests == []
    assert console.page_errors == []

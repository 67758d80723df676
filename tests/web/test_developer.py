"""Developer page: apps are registered, checked, changed and maintained by their developers (T20)."""

import re

from playwright.sync_api import BrowserContext, expect

from tests.web.app_server import LOOK_TOOL, ORDER_TOOL, AppServer, register_app
from tests.web.console import Console


def test_an_app_is_registered_and_its_refused_tools_say_why_t20(
    console: Console, app_server: AppServer
) -> None:
    manifest = app_server.declare("bakery", LOOK_TOOL, {"name": "nameless"})
    console.sign_in("baker")
    page = console.page
    console.show_view("apps")
    page.get_by_role("button", name="Create an app").press("Enter")
    expect(page.get_by_label("App", exact=True)).to_be_focused()

    page.get_by_label("Name of the app").fill("Bakery")
    page.get_by_label("Home address").fill(f"{app_server.url}/bakery")
    page.get_by_label("Manifest address").fill(manifest)
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Bakery")).to_contain_text("private")
    expect(console.find_section("Manifest")).to_contain_text("1 tool is offered, 1 refused.")
    refused = page.get_by_label("Refused tools").get_by_role("listitem")
    expect(refused).to_have_text("nameless: `description` is missing")
    expect(console.find_app("Bakery")).to_be_visible()

    app_server.declare("bakery", LOOK_TOOL, ORDER_TOOL)
    console.find_section("Manifest").get_by_role("button", name="Check again").press("Enter")
    expect(console.find_section("Manifest")).to_contain_text("2 tools are offered.")
    expect(console.find_section("Manifest").get_by_role("button")).to_be_focused()
    expect(refused).to_have_count(0)

    del app_server.tools_by_app["bakery"]
    console.find_section("Manifest").get_by_role("button", name="Check again").press("Enter")
    expect(console.problem).to_have_text("The manifest's address answered HTTP 404.")
    assert console.page_errors == []


def test_a_refused_registration_says_why_and_keeps_the_input_t20(
    console: Console,
) -> None:
    console.sign_in("unlucky")
    page = console.page
    console.show_view("developer")
    page.get_by_label("Name of the app").fill("Intranet")
    page.get_by_label("Manifest address").fill("http://10.0.0.7/tools.json")

    page.get_by_role("button", name="Register").click()

    expect(console.problem).to_contain_text("`chat_tools_manifest_url` is refused")
    expect(page.get_by_label("Name of the app")).to_have_value("Intranet")


def test_an_app_on_the_servers_machine_is_registered_after_a_question_t21(
    console: Console, app_server: AppServer
) -> None:
    home = app_server.declare("cellar", LOOK_TOOL).replace("127.0.0.1", "localhost")
    console.sign_in("neighbour")
    page = console.page
    console.show_view("developer")
    page.get_by_label("Name of the app").fill("Cellar")
    page.get_by_label("Manifest address").fill(home)

    page.get_by_role("button", name="Register").click()

    question = page.get_by_role("dialog").get_by_role("heading")
    expect(question).to_contain_text(f"at {home.removesuffix('/cellar/tools.json')}.")
    console.answer_dialog("Allow")
    expect(console.find_section("Manifest")).to_contain_text("1 tool is offered.")


def test_pressing_register_twice_registers_one_app_t20(
    console: Console, app_server: AppServer
) -> None:
    console.sign_in("hasty")
    console.show_view("developer")
    console.page.get_by_label("Name of the app").fill("Once")
    console.page.get_by_label("Manifest address").fill(app_server.declare("once", LOOK_TOOL))

    console.page.evaluate(
        """() => {
          const form = document.querySelector("#developer form");
          form.requestSubmit();
          form.requestSubmit();
        }"""
    )

    expect(console.page.get_by_role("heading", name="Once")).to_be_visible()
    console.page.reload()
    expect(console.page.get_by_label("App", exact=True).get_by_role("option")).to_have_text(
        ["Once", "Register an app…"]
    )


def test_a_key_is_shown_once_listed_and_revoked_t1(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    register_app(
        console, context, "locksmith", app_server.declare("locks", LOOK_TOOL), name="Locks"
    )
    console.sign_in("locksmith")
    page = console.page
    console.show_view("developer")

    page.get_by_role("button", name="New key").press("Enter")
    status = console.find_section("Keys").get_by_role("status")
    expect(status.locator("code")).to_have_text(re.compile(r"^sk_[0-9a-f]{32}$"))
    page.reload()
    expect(console.find_section("Keys").locator(".keys li")).to_have_count(1)
    expect(status).to_be_empty()

    page.get_by_role("button", name="Revoke sk_").press("Enter")
    console.answer_dialog("Revoke")
    expect(console.find_section("Keys").locator(".keys li")).to_have_count(0)
    expect(page.get_by_role("button", name="New key")).to_be_focused()
    assert console.page_errors == []


def test_the_signing_secret_is_hidden_until_shown_and_can_be_rotated_t8(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    app = register_app(
        console, context, "signer", app_server.declare("seal", LOOK_TOOL), name="Seal"
    )
    console.sign_in("signer")
    page = console.page
    console.show_view("developer")
    secret = console.find_section("Signing secret").locator("code")
    expect(secret).to_be_hidden()
    page.get_by_text("Show it").press("Enter")
    expect(secret).to_have_text(app["signing_secret"])

    page.get_by_role("button", name="Rotate").press("Enter")
    console.answer_dialog("Rotate")

    expect(console.find_section("Signing secret")).to_contain_text(
        "The previous secret stays valid until"
    )
    page.get_by_text("Show it").click()
    expect(secret).to_have_text(re.compile("^whsec_"))
    expect(secret).not_to_have_text(app["signing_secret"])


def test_the_maker_reads_which_tools_a_model_refuses_and_why_n3(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare("cobbler", LOOK_TOOL)
    register_app(console, context, "cobbler", manifest, name="Cobbler")
    refusal = {
        "at": "2026-03-02T12:00:00Z",
        "tool": "look_up",
        "model": "tiny-1",
        "words": "array schema missing items <img src=x onerror='window.owned=1'>",
    }
    console.page.route("**/model-refusals", lambda route: route.fulfill(json=[refusal]))
    console.sign_in("cobbler")

    console.show_view("developer")

    item = console.find_section("Manifest").locator(".refused li")
    expect(item).to_contain_text(f"The model tiny-1 refuses the tool look_up: {refusal['words']}")
    assert console.page.evaluate("window.owned") is None
    assert console.page_errors == []


def test_the_last_calls_and_their_errors_are_shown_to_the_maker_t20(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    manifest = app_server.declare(
        "gardener", {**LOOK_TOOL, "name": "water", "description": "Water the plants in the garden"}
    )
    register_app(console, context, "gardener", manifest, name="Garden")
    console.sign_in("gardener")
    page = console.page
    console.show_view("developer")
    expect(console.find_section("Last calls")).to_contain_text("Not called in the last seven days.")
    page.get_by_role("button", name="Install Garden").click()
    expect(page.get_by_role("button", name="Uninstall Garden")).to_be_visible()
    console.show_view("apps")
    console.ask("Please water the plants in the garden.")
    app_server.failing_apps.add("gardener")
    console.ask("Please water the plants in the garden.")

    console.show_view("developer")

    calls = console.find_section("Last calls").locator("tbody tr")
    expect(calls).to_have_count(2)
    expect(calls.nth(0)).to_contain_text("water")
    expect(calls.nth(0).locator("td").last).to_have_text("HTTP 500")
    expect(calls.nth(1).locator("td").last).to_have_text("ok")
    assert console.page_errors == []


def test_an_apps_settings_are_changed_and_its_manifest_read_again_t20(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    register_app(console, context, "mover", app_server.declare("old", LOOK_TOOL), name="Mover")
    console.sign_in("mover")
    page = console.page
    console.show_view("developer")
    page.get_by_text("App settings").press("Enter")
    expect(page.get_by_label("Name of the app")).to_have_value("Mover")

    page.get_by_label("Description").fill("Moves furniture")
    page.get_by_label("Manifest address").fill(app_server.declare("new", LOOK_TOOL, ORDER_TOOL))
    page.get_by_label("Webhook address").fill(f"{app_server.url}/hook")
    page.get_by_label("Read memories").press("Space")
    page.get_by_role("button", name="Save").press("Enter")

    expect(console.find_section("Manifest")).to_contain_text("2 tools are offered.")
    expect(page.get_by_label("App", exact=True)).to_be_focused()
    expect(console.find_app("Mover")).to_contain_text("Moves furniture")
    console.find_app("Mover").get_by_text("What it may do").click()
    may = console.find_app("Mover").locator(".permissions")
    expect(may).to_contain_text("receives your new conversations")
    expect(may).to_contain_text("reads your memories")


def test_an_app_is_deleted_t20(
    console: Console, context: BrowserContext, app_server: AppServer
) -> None:
    register_app(
        console, context, "quitter", app_server.declare("gone", LOOK_TOOL), name="Gone soon"
    )
    console.sign_in("quitter")
    page = console.page
    console.show_view("developer")

    page.get_by_role("button", name="Delete this app").press("Enter")
    console.answer_dialog("Delete this app")

    expect(page.get_by_role("button", name="Register")).to_be_visible()
    expect(console.find_app("Gone soon")).to_have_count(0)
    assert console.page_errors == []


def test_a_phone_shows_the_developer_page_from_the_directory_t20(console: Console) -> None:
    page = console.page
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(console.address)
    page.get_by_label("Who are you?").fill("pocket")
    page.keyboard.press("Enter")
    console.show_view("apps")

    page.get_by_role("button", name="Create an app").click()

    expect(page.locator("#content > section:visible")).to_have_attribute("id", "developer")
    expect(page.get_by_label("Name of the app")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

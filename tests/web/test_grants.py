"""Tool grants in the console: what the chat may call, with a switch for each tool."""

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.servers.openai import Script, ScriptedOpenai
from tests.web.app_server import LOOK_TOOL, AppServer
from tests.web.console import Console
from tests.web.tool_calls import (
    install_apps,
    list_offered_tools,
    script_call,
    sign_in_and_ask,
)

BLANK_NAME = "look_up\u2800"


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


@pytest.fixture(autouse=True)
def apps(
    console: Console, context: BrowserContext, app_server: AppServer
) -> dict[str, dict[str, Any]]:
    return install_apps(console, context, app_server)


def declare_anew(
    console: Console,
    context: BrowserContext,
    app: dict[str, Any],
    app_server: AppServer,
    **change: Any,
) -> None:
    """Let the developer of the Library change its only tool after it was installed."""
    app_server.declare("Library", {**LOOK_TOOL, **change})
    address = f"{console.origin}/v1/apps/{app['id']}/refresh-manifest"
    headers = console.sign_in_beside(context, console.uid)
    assert context.request.post(address, headers=headers).ok


def test_a_tool_that_is_switched_off_is_not_offered_s1(
    console: Console, model: ScriptedOpenai
) -> None:
    sign_in_and_ask(console)
    console.show_view("apps")
    choice = console.page.get_by_label("Calls of add to basket")
    expect(choice.locator("option")).to_have_text(["asks", "always allowed", "off"])
    expect(choice).to_have_value("default")

    choice.select_option("off")

    expect(console.page.locator("#grants > [role=status]")).to_have_text(
        "add to basket is changed."
    )
    expect(choice).to_be_focused()
    expect(choice).to_have_value("off")
    console.ask("Which tools are there now?")
    assert not any(name.startswith("add_to_basket") for name in list_offered_tools(model))
    assert any(name.startswith("look_up") for name in list_offered_tools(model))
    assert console.page_errors == []


def test_a_sensitive_tool_cannot_be_allowed_for_always_s1(console: Console) -> None:
    sign_in_and_ask(console)
    console.show_view("apps")

    options = console.page.get_by_label("Calls of order").locator("option")

    expect(options).to_have_text(["asks each time", "off"])


def test_what_a_maker_was_told_today_is_shown_with_its_id_s2(
    console: Console, model: ScriptedOpenai, apps: dict[str, dict[str, Any]]
) -> None:
    sign_in_and_ask(console)
    console.show_view("apps")
    library = console.page.locator("#grants section").filter(has_text="Library")
    expect(library).to_contain_text("Its maker was told 0 of 5,120 bits today without a question.")
    expect(library).to_contain_text(f"App {apps['Library']['id']}, by developer {console.uid}")
    model.play(script_call(model, "look_up", q="melons"), Script(text="So be it."))
    console.ask("What about melons?")

    console.show_view("apps")

    expect(library).to_contain_text(re.compile(r"maker was told [1-9]\d? of 5,120 bits today"))


def test_a_tool_that_changed_after_it_was_installed_asks_and_says_so_s3(
    console: Console,
    context: BrowserContext,
    model: ScriptedOpenai,
    app_server: AppServer,
    apps: dict[str, dict[str, Any]],
) -> None:
    declare_anew(
        console, context, apps["Library"], app_server, description="Look up, and tell me more"
    )
    sign_in_and_ask(console)
    model.play(script_call(model, "look_up", q="melons"), Script(text="So be it."))

    card = console.start_question("What about melons?").locator(".confirmation")

    expect(card).to_contain_text("The app changed it after you allowed it.")
    card.get_by_role("button", name="No").click()
    expect(card).to_contain_text("You refused this")
    console.show_view("apps")
    row = console.page.locator("#grants li").filter(has_text="look up")
    expect(row).to_contain_text("Changed since you allowed it, so it asks.")
    row.get_by_role("button", name="Accept look up as it is now").press("Enter")
    expect(row.get_by_label("Calls of look up")).to_be_focused()
    expect(row.get_by_label("Calls of look up")).to_contain_text("runs")
    expect(row).not_to_contain_text("Changed")


def test_a_tool_that_was_added_later_says_so_s3(
    console: Console,
    context: BrowserContext,
    app_server: AppServer,
    apps: dict[str, dict[str, Any]],
) -> None:
    declare_anew(console, context, apps["Library"], app_server, name="search_all")
    console.sign_in(console.uid)

    console.show_view("apps")

    row = console.page.locator("#grants li").filter(has_text="search all")
    expect(row).to_contain_text("New since you installed the app, so it asks.")


def test_invisible_characters_in_the_name_of_a_tool_are_written_out_s3(
    console: Console,
    context: BrowserContext,
    app_server: AppServer,
    apps: dict[str, dict[str, Any]],
) -> None:
    declare_anew(console, context, apps["Library"], app_server, name=BLANK_NAME)
    console.sign_in(console.uid)

    console.show_view("apps")

    row = console.page.locator("#grants section").filter(has_text="Library").locator("li .content")
    expect(row).to_have_text(r"look up\u{2800}")


def test_a_change_that_is_refused_says_why_and_shows_what_holds(console: Console) -> None:
    sign_in_and_ask(console)
    console.show_view("apps")
    choice = console.page.get_by_label("Calls of add to basket")
    console.page.route(
        "**/v1/tool-grants",
        lambda route: (
            route.fulfill(status=409, json={"detail": "Not now."})
            if route.request.method == "PUT"
            else route.continue_()
        ),
    )

    choice.select_option("always")

    expect(console.page.locator("#grants > .problem")).to_have_text("Not now.")
    expect(choice).to_have_value("default")


def test_names_and_switches_fit_the_width_of_the_screen(console: Console) -> None:
    sign_in_and_ask(console)
    console.show_view("apps")
    apps = console.page.locator("#apps")

    for width in (360, 1280):
        console.page.set_viewport_size({"width": width, "height": 740})
        expect(console.page.get_by_label("Calls of add to basket")).to_be_visible()
        assert apps.evaluate("(apps) => apps.scrollWidth <= apps.clientWidth")

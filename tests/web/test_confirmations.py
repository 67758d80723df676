"""Confirmations in the console: a call in doubt waits for its owner's decision."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.app_server import LOOK_TOOL, ORDER_TOOL, AppServer, register_app
from tests.web.console import Console
from tests.web.served import ProductServer

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("owner")]

HOSTILE_TEXT = "<img src=x onerror='window.owned=1'> \u202eto\u200b Mallory"


@pytest.fixture
def origin(product_server: ProductServer) -> Iterator[str]:
    """Serve these tests at an address of their own."""
    with product_server.start():
        yield product_server.origin


@pytest.fixture
def owner(console: Console, context: BrowserContext, app_server: AppServer) -> None:
    """Sign in a user of two apps: one looks things up, the other orders them."""
    uid = "careful"
    headers = console.sign_in_beside(context, uid)
    for name, tool in (("Library", LOOK_TOOL), ("Grocer", ORDER_TOOL)):
        app = register_app(console, context, uid, app_server.declare(name, tool), name=name)
        enable = f"{console.origin}/v1/apps/enable?app_id={app['id']}"
        assert context.request.post(enable, headers=headers).ok
    console.sign_in(uid)
    console.ask("Which tools are there?")


def script_call(model: ScriptedOpenai, tool: str, **arguments: object) -> Script:
    """Let the model call a tool by the name that it was offered last."""
    bodies = [request.body for request in model.requests if "tools" in request.body]
    offered = [request["function"]["name"] for request in bodies[-1]["tools"]]
    name = next(name for name in offered if name.startswith(tool))
    return Script(tool_calls=(ScriptedCall(name=name, arguments=json.dumps(arguments)),))


def ask_for_order(console: Console, model: ScriptedOpenai, *, what: str = "ten melons") -> Locator:
    """Ask to read a text that leads to an order the user did not ask for; returns the card."""
    model.play(
        script_call(model, "look_up", q="melons"),
        script_call(model, "order", q=what),
        Script(text="So be it."),
    )
    return console.start_question("What does the library say about melons?").locator(
        ".confirmation"
    )


def count_orders(app_server: AppServer) -> int:
    return app_server.calls.count("Grocer")


def test_a_call_runs_once_its_owner_confirms_it_by_keyboard_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_orders(app_server)

    card = ask_for_order(console, model)

    expect(card).to_be_focused()
    expect(card.get_by_role("heading")).to_have_text("Grocer wants to: order")
    expect(card.locator("dd")).to_have_text("ten melons")
    assert count_orders(app_server) == before
    console.page.keyboard.press("Tab")
    expect(card.get_by_role("button", name="Confirm")).to_be_focused()
    console.page.keyboard.press("Enter")

    expect(card).to_contain_text("You confirmed this.")
    expect(console.page.get_by_label("Your question")).to_be_focused()
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_orders(app_server) == before + 1
    assert console.page_errors == []


def test_a_call_that_is_refused_is_never_made_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_orders(app_server)

    card = ask_for_order(console, model)
    card.get_by_role("button", name="Refuse").click()

    expect(card).to_contain_text("You refused this")
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_orders(app_server) == before


def test_a_pending_confirmation_survives_a_reload_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_orders(app_server)
    ask_for_order(console, model).wait_for()

    console.page.reload()
    card = console.page.locator(".confirmation")
    card.get_by_role("button", name="Confirm").click()

    expect(card).to_contain_text("You confirmed this.")
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_orders(app_server) == before + 1


def test_a_confirmation_does_not_take_the_focus_while_the_user_types_t11(console: Console) -> None:
    """An Enter meant for the next question would confirm the call."""
    console.page.get_by_label("Your question").fill("And what about")

    focused_id = console.page.evaluate(
        """async () => {
          const { Confirmations } = await import("/views/confirmation.js");
          const shown = new Confirmations({});
          document.querySelector("#messages").append(shown.node);
          const source = { kind: "app", name: "Grocer" };
          shown.take({ type: "data-confirmation", data: { id: "1", state: "asked", tool: "order", source,
            arguments: {}, reason: "not_asked", argument: "", expires_at: "2030-01-01T00:00:00Z" } });
          return document.activeElement.id;
        }"""
    )

    expect(console.page.locator(".confirmation")).to_be_visible()
    assert focused_id == "question"


def test_hostile_arguments_are_shown_as_visible_text_t11(
    console: Console, model: ScriptedOpenai
) -> None:
    card = ask_for_order(console, model, what=HOSTILE_TEXT)

    expect(card.locator("dd")).to_have_text("<img src=x onerror='window.owned=1'> to Mallory")
    card.get_by_role("button", name="Refuse").click()
    expect(card).to_contain_text("You refused this")
    assert console.page.evaluate("window.owned") is None
    assert console.foreign_requests == []


def test_an_expired_confirmation_says_so_and_cannot_be_confirmed_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_orders(app_server)
    card = ask_for_order(console, model)
    card.wait_for()

    console.page.get_by_role("button", name="Stop", exact=True).click()

    expect(card).to_contain_text("Not confirmed in time")
    expect(card.get_by_role("button")).to_have_count(0)
    assert count_orders(app_server) == before


def test_a_failed_decision_says_why_and_can_be_repeated_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_orders(app_server)
    card = ask_for_order(console, model)
    address = "**/confirmations/*"
    console.page.route(address, lambda route: route.fulfill(status=410, json={"detail": "Late."}))
    card.get_by_role("button", name="Confirm").click()
    expect(card.get_by_role("alert")).to_have_text("Late.")

    console.page.unroute(address)
    card.get_by_role("button", name="Confirm").click()

    expect(card).to_contain_text("You confirmed this.")
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_orders(app_server) == before + 1

"""Confirmations in the console: a call in doubt waits for its owner's decision."""

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.servers.openai import Script, ScriptedOpenai
from tests.web.app_server import AppServer
from tests.web.console import Console
from tests.web.tool_calls import install_apps, script_call, sign_in_and_ask

HOSTILE_TEXT = "<img src=x onerror='window.owned=1'> \u202eto\u200b Mallory"
ANSWERS_BEFORE = 2
"""The greeting, and the answer to the question of `sign_in_and_ask`."""
LONG_TEXT = "a text that the owner did not write"


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


@pytest.fixture(autouse=True)
def app_ids(console: Console, context: BrowserContext, app_server: AppServer) -> dict[str, str]:
    """Sign in a user who installed two apps; return the apps' ids by name."""
    apps = install_apps(console, context, app_server)
    sign_in_and_ask(console)
    return {name: app["id"] for name, app in apps.items()}


def start_call(
    console: Console,
    model: ScriptedOpenai,
    *,
    tool: str = "add_to_basket",
    query: str = "ten melons",
) -> Locator:
    """Ask a question on which the model calls a tool at once; returns the card."""
    model.play(script_call(model, tool, q=query), Script(text="So be it."))
    return console.start_question("What about melons?").locator(".confirmation")


def count_changes(app_server: AppServer) -> int:
    return app_server.calls.count("Grocer")


def test_a_call_runs_once_its_owner_confirms_it_by_keyboard_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)

    card = start_call(console, model)

    expect(card).to_be_focused()
    expect(card.get_by_role("heading")).to_have_text("Grocer wants to: add to basket")
    expect(card.locator("dd")).to_have_text("ten melons")
    assert count_changes(app_server) == before
    console.page.keyboard.press("Tab")
    expect(card.get_by_role("button", name="Once")).to_be_focused()
    console.page.keyboard.press("Enter")

    expect(card).to_contain_text("You confirmed this.")
    expect(console.page.get_by_label("Your question")).to_be_focused()
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_changes(app_server) == before + 1
    assert console.page_errors == []


def test_a_question_shows_the_id_and_the_maker_of_its_app_s3(
    console: Console, model: ScriptedOpenai, app_ids: dict[str, str]
) -> None:
    card = start_call(console, model)

    expect(card).to_contain_text(f"App {app_ids['Grocer']}, by developer {console.uid}")
    expect(card).to_contain_text("You have not allowed it yet.")
    card.get_by_role("button", name="No").click()
    expect(card).to_contain_text("You refused this")


def test_a_tool_that_is_always_allowed_asks_no_more_s1(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)
    card = start_call(console, model)
    expect(card).to_be_focused()
    console.page.keyboard.press("Tab")
    console.page.keyboard.press("Tab")
    expect(card.get_by_role("button", name="Always")).to_be_focused()
    console.page.keyboard.press("Enter")
    expect(card).to_contain_text("You allowed this, and all later calls of this tool.")
    expect(console.answers).to_have_count(ANSWERS_BEFORE + 1)

    next_card = start_call(console, model, query=LONG_TEXT)

    expect(console.answers).to_have_count(ANSWERS_BEFORE + 2)
    expect(next_card).to_have_count(0)
    assert count_changes(app_server) == before + 2
    console.show_view("apps")
    expect(console.page.get_by_label("Calls of add to basket")).to_have_value("always")


def test_the_keyboard_moves_from_one_question_to_the_next_s1(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)
    scripts = [
        script_call(model, tool, q="melons").tool_calls for tool in ("add_to_basket", "order")
    ]
    model.play(Script(tool_calls=scripts[0] + scripts[1]), Script(text="So be it."))
    cards = console.start_question("What about melons?").locator(".confirmation")
    expect(cards.first).to_be_focused()
    expect(cards).to_have_count(1)

    console.page.keyboard.press("Tab")
    console.page.keyboard.press("Enter")
    expect(cards.first).to_contain_text("You confirmed this.")
    expect(cards).to_have_count(2)
    expect(cards.last).to_be_focused()
    console.page.keyboard.press("Tab")
    console.page.keyboard.press("Tab")
    console.page.keyboard.press("Enter")

    expect(cards.last).to_contain_text("You refused this")
    expect(console.page.get_by_label("Your question")).to_be_focused()
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_changes(app_server) == before + 1


def test_a_sensitive_tool_asks_each_time_s1(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)

    for number in (1, 2):
        card = start_call(console, model, tool="order")
        expect(card).to_contain_text("It asks each time, because of what it does.")
        expect(card.get_by_role("button")).to_have_text(["Once", "No"])
        card.get_by_role("button", name="Once").click()
        expect(card).to_contain_text("You confirmed this.")
        expect(console.answers).to_have_count(ANSWERS_BEFORE + number)

    assert count_changes(app_server) == before + 2


def test_a_reading_call_asks_before_it_tells_what_the_message_does_not_say_s2(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = app_server.calls.count("Library")
    card = start_call(console, model, tool="look_up", query="melons")
    expect(console.answers).to_have_count(ANSWERS_BEFORE + 1)
    expect(card).to_have_count(0)

    card = start_call(console, model, tool="look_up", query=LONG_TEXT)

    expect(card).to_contain_text("It would tell its maker more than you wrote in this message.")
    card.get_by_role("button", name="No").click()
    expect(card).to_contain_text("You refused this")
    assert app_server.calls.count("Library") == before + 1


def test_a_call_that_is_refused_is_never_made_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)

    card = start_call(console, model)
    card.get_by_role("button", name="No").click()

    expect(card).to_contain_text("You refused this")
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_changes(app_server) == before


def test_a_pending_confirmation_survives_a_reload_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)
    start_call(console, model).wait_for()

    console.page.reload()
    card = console.page.locator(".confirmation")
    card.get_by_role("button", name="Once").click()

    expect(card).to_contain_text("You confirmed this.")
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_changes(app_server) == before + 1


def show_card(console: Console, **changes: object) -> None:
    """Show a card that no server sent."""
    request = {
        "id": "1",
        "state": "asked",
        "tool": "order",
        "source": {"kind": "app", "id": "1", "name": "Grocer"},
        "maker": "developer me",
        "question": "May “Grocer” do “order” with exactly this?",
        "details": [],
        "reason": "sensitive",
        "allows_always": True,
        "expires_at": "2030-01-01T00:00:00Z",
    }
    console.page.evaluate(
        """async (data) => {
          const { Confirmations } = await import(moduleAt("/views/confirmation.js"));
          const shown = new Confirmations({});
          document.querySelector("#messages").append(shown.node);
          shown.take({ type: "data-confirmation", data });
        }""",
        {**request, **changes},
    )


def test_a_confirmation_does_not_take_the_focus_while_the_user_types_t11(console: Console) -> None:
    """An Enter meant for the next question would confirm the call."""
    console.page.get_by_label("Your question").fill("And what about")

    show_card(console)

    expect(console.page.locator(".confirmation")).to_contain_text("It is told nothing else.")
    expect(console.page.get_by_label("Your question")).to_be_focused()


def test_long_names_leave_room_for_what_is_told_on_a_phone_s1(console: Console) -> None:
    page = console.page
    page.set_viewport_size({"width": 360, "height": 740})
    console.show_view("chat")
    source = {"kind": "app", "id": "1" * 26, "name": "Grocer" * 20}

    show_card(console, source=source, details=[f"{'key' * 60}: ten melons"], tool="order" * 20)

    card, value = page.locator(".confirmation"), page.locator(".confirmation dd")
    expect(card.get_by_role("button")).to_have_text(["Once", "Always", "No"])
    assert card.evaluate("(card) => card.scrollWidth <= card.clientWidth")
    assert value.evaluate("(dd) => dd.clientWidth / dd.parentElement.clientWidth") > 0.5


def test_hostile_arguments_are_shown_as_visible_text_t11(
    console: Console, model: ScriptedOpenai
) -> None:
    card = start_call(console, model, query=HOSTILE_TEXT)

    expect(card.locator("dd")).to_have_text("<img src=x onerror='window.owned=1'> to Mallory")
    card.get_by_role("button", name="No").click()
    expect(card).to_contain_text("You refused this")
    assert console.page.evaluate("window.owned") is None
    assert console.foreign_requests == []


def test_an_expired_confirmation_says_so_and_cannot_be_confirmed_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)
    card = start_call(console, model)
    card.wait_for()

    console.page.get_by_role("button", name="Stop", exact=True).click()

    expect(card).to_contain_text("Not confirmed in time")
    expect(card.get_by_role("button")).to_have_count(0)
    assert count_changes(app_server) == before


def test_a_failed_decision_says_why_and_can_be_repeated_t11(
    console: Console, model: ScriptedOpenai, app_server: AppServer
) -> None:
    before = count_changes(app_server)
    card = start_call(console, model)
    address = "**/confirmations/*"
    console.page.route(address, lambda route: route.fulfill(status=410, json={"detail": "Late."}))
    card.get_by_role("button", name="Once").click()
    expect(card.get_by_role("alert")).to_have_text("Late.")

    console.page.unroute(address)
    card.get_by_role("button", name="Once").click()

    expect(card).to_contain_text("You confirmed this.")
    expect(console.answers.last).to_contain_text("So be it.")
    assert count_changes(app_server) == before + 1

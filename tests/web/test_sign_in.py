"""Sign-in form: the local key comes from the printed address, or is asked for (S9)."""

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.product import run_product
from tests.local_key import KEY_HEADER, LOCAL_KEY
from tests.web.app_server import AppServer
from tests.web.console import Console


def sign_in(page: Page, uid: str) -> None:
    page.get_by_label("Who are you?").fill(uid)
    page.get_by_role("button", name="Sign in").click()


def enter_key(page: Page, key: str) -> None:
    page.get_by_label("Local key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_the_printed_address_signs_in_and_its_key_leaves_the_address_bar_s9(
    console: Console,
) -> None:
    page = console.page
    page.goto(console.address)

    expect(page.get_by_label("Who are you?")).to_be_visible()
    expect(page.get_by_label("Local key")).to_be_hidden()
    assert page.url == f"{console.origin}/"
    assert page.evaluate("history.length") <= 2
    sign_in(page, "printed")
    console.greeting.wait_for()
    assert not any(LOCAL_KEY in url for url in console.requests)


def test_without_a_key_the_form_asks_for_it_and_says_where_it_is_s9(console: Console) -> None:
    page = console.page
    page.goto(console.origin)

    field = page.get_by_label("Local key")
    expect(field).to_have_attribute("type", "password")
    expect(field).to_have_accessible_description(
        "It is in the address that make run prints, and in the file local_key of the data folder, "
        ".keepsake. If the server was started with LOCAL_KEY, it is that."
    )
    sign_in(page, "unkeyed")
    expect(console.greeting).to_have_count(0)
    enter_key(page, LOCAL_KEY)

    console.greeting.wait_for()
    assert console.page_errors == []


@pytest.mark.parametrize("key", ["outdated", 'of"another & server'])
def test_a_wrong_key_is_forgotten_and_asked_for_again_s9(console: Console, key: str) -> None:
    page = console.page
    page.goto(f"{console.origin}/#key={quote(key, safe='')}")
    sign_in(page, "mistyped")

    expect(console.problem).to_contain_text("The local key is missing or wrong.")
    enter_key(page, LOCAL_KEY)
    console.greeting.wait_for()


def test_the_key_of_the_address_counts_on_an_open_form_too_s9(console: Console) -> None:
    page = console.page
    page.goto(console.origin)
    expect(page.get_by_label("Local key")).to_be_visible()

    page.goto(console.address)

    expect(page.get_by_label("Local key")).to_be_hidden()
    assert page.url == f"{console.origin}/"


def test_signing_out_forgets_the_key_s9(console: Console) -> None:
    console.sign_in("shared-computer")

    console.sign_out()

    expect(console.page.get_by_label("Local key")).to_be_visible()
    assert console.page.evaluate("[...Object.values(sessionStorage)].join()") == ""


def test_a_page_of_another_origin_reads_no_token_s9(
    console: Console, app_server: AppServer
) -> None:
    """Even a page that knows the key: the browser lets none of its requests read an answer."""
    console.page.goto(f"{app_server.url}/")

    for headers in ({}, KEY_HEADER):
        outcome = console.page.evaluate(
            """async ([url, headers]) => {
              const options = { method: "POST", headers, body: '{"uid":"alice"}' };
              return fetch(url, options).then((answer) => answer.text(), (error) => error.name);
            }""",
            [f"{console.origin}/local/token", headers],
        )
        assert outcome == "TypeError"


def test_where_others_reach_the_server_a_name_and_a_password_sign_in_u6(
    context: BrowserContext, tmp_path: Path
) -> None:
    settings = {"ALLOW_REMOTE": "1", "KEEPSAKE_USER": "ann", "KEEPSAKE_PASSWORD": "Grüße an Opa"}
    with run_product(tmp_path, **settings) as product:
        page = context.new_page()
        console = Console(page, product.origin, [], [])
        page.goto(product.origin)
        expect(page.get_by_label("Local key")).to_be_hidden()
        page.get_by_label("Who are you?").fill("ann")
        page.locator("#password").fill("wrong password")
        page.get_by_role("button", name="Sign in").click()
        expect(console.problem).to_have_text("The name or the password is wrong.")

        page.locator("#password").fill("Grüße an Opa")
        page.keyboard.press("Enter")

        console.greeting.wait_for()
        expect(page.locator("#account-button")).to_have_text("ann")
        page.reload()
        console.greeting.wait_for()


def sign_in_with(page: Page, uid: str, password: str) -> None:
    page.get_by_label("Who are you?").fill(uid)
    page.locator("#password").fill(password)
    page.keyboard.press("Enter")


def test_a_list_of_people_that_comes_late_hides_nobody_who_was_invited_since_u6(
    context: BrowserContext, tmp_path: Path
) -> None:
    settings = {"ALLOW_REMOTE": "1", "KEEPSAKE_USER": "ann", "KEEPSAKE_PASSWORD": "Grüße an Opa"}
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if route.request.method == "GET" and not held:
            held.append(route)
        else:
            route.continue_()

    with run_product(tmp_path, **settings) as product:
        page = context.new_page()
        page.goto(f"{product.origin}/#/account/accounts")
        sign_in_with(page, "ann", "Grüße an Opa")
        people = page.locator("#accounts").locator("li")
        expect(people).to_have_text(["ann"])
        page.route("**/local/accounts", hold_first)
        page.locator("#account-button").click()
        page.get_by_label("Who is invited?").fill("bob")
        page.keyboard.press("Enter")
        expect(people).to_have_text(["ann", "bob"])
        held[0].fulfill(json={"names": ["ann"]})

        expect(page.get_by_text("bob can sign in with this password")).to_be_visible()
        expect(people).to_have_text(["ann", "bob"])


def test_the_operator_invites_somebody_who_then_chooses_a_password_u6(
    context: BrowserContext, tmp_path: Path
) -> None:
    settings = {"ALLOW_REMOTE": "1", "KEEPSAKE_USER": "ann", "KEEPSAKE_PASSWORD": "Grüße an Opa"}
    with run_product(tmp_path, **settings) as product:
        page = context.new_page()
        page.goto(f"{product.origin}/#/account/accounts")
        sign_in_with(page, "ann", "Grüße an Opa")
        accounts = page.locator("#accounts")
        expect(accounts.locator("li")).to_have_text(["ann"])
        page.get_by_label("Who is invited?").fill("bob")
        page.keyboard.press("Enter")
        expect(accounts.locator("li")).to_have_text(["ann", "bob"])
        invitation = accounts.locator("code").inner_text()

        page.get_by_role("button", name="Sign out", exact=True).click()
        sign_in_with(page, "bob", invitation)
        page.locator("#account-button").click()
        page.get_by_label("Current password").fill(invitation)
        page.get_by_label("New password").fill("a word of my own")
        expect(accounts).to_be_hidden()
        page.get_by_role("button", name="Change the password").click()

        expect(page.locator("#farewell")).to_contain_text("Your password is changed.")
        sign_in_with(page, "bob", "a word of my own")
        expect(page.locator("#account-button")).to_have_text("bob")

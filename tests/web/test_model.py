"""Model in the console: a refused key is named, and a model that answers is used at once (U5)."""

import re
from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from tests.e2e.product import run_product
from tests.servers.openai import Script, ScriptedOpenai
from tests.web.console import Console


def test_the_models_of_ollama_are_listed_by_themselves(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("lister")
    console.page.locator("#account-button").click()
    pane = console.page.locator("#model")
    expect(pane.locator(".search")).to_contain_text("Search compares words")
    pane.get_by_label("Who answers").select_option("ollama")
    pane.get_by_label("Address").fill(model.url)
    pane.get_by_label("Key").focus()

    expect(pane.locator(".state")).to_contain_text("This server has: ")
    expect(pane.get_by_label("Model", exact=True)).not_to_have_value("")


def test_an_encoder_that_does_not_run_here_is_told_in_one_sentence_e1(console: Console) -> None:
    search = {"embedder": "unavailable", "embedded_count": 0, "waiting_count": 7}
    console.page.route("**/local/search", lambda route: route.fulfill(json=search))
    console.sign_in("unlucky")
    console.page.locator("#account-button").click()

    expect(console.page.locator("#model .search")).to_have_text(
        "Search compares words alone: the small model that compares meanings does not run on this machine."
    )
    expect(console.page.locator("#found-by-meaning")).to_be_empty()


def test_a_refused_key_is_named_and_another_answers_the_next_question(
    context: BrowserContext, model: ScriptedOpenai, tmp_path: Path
) -> None:
    with run_product(tmp_path) as product:
        page = context.new_page()
        console = Console(page, product.origin, [], [])
        console.sign_in("chooser")
        page.locator("#account-button").click()
        pane = page.locator("#model")
        expect(pane.locator(".state")).to_contain_text("The offline model answers")
        pane.get_by_label("Who answers").select_option("compatible")
        pane.get_by_label("Address").fill(model.url)
        pane.get_by_label("Key").fill("sk-wrong")
        pane.get_by_label("Model", exact=True).fill("large")
        model.play(Script(status=401))
        pane.get_by_role("button", name="Test and save").click()
        expect(pane.locator(".problem")).to_contain_text("refused the key")

        model.reset()
        pane.get_by_label("Key").fill("sk-right")
        pane.get_by_role("button", name="Test and save").click()
        expect(pane.locator(".state")).to_have_text(f"large at {model.url} answers.")
        expect(pane.get_by_label("Key")).to_have_value("")
        expect(pane.locator(".facts")).to_contain_text("32,000 tokens at once, assumed")
        expect(pane.locator(".notes")).to_contain_text("Tested on ")
        expect(pane.locator(".notes li").first).to_contain_text(
            "It gave no JSON that could be read"
        )
        expect(console.ask("Hello?")).to_contain_text("Hello there.")
        asked = [each for each in model.requests if "Hello?" in str(each.body["messages"])]
        assert "sk-right" in asked[0].authorization


def test_a_test_ends_the_request_for_names_whose_answer_would_hide_its_own(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("hasty")
    page = console.page
    page.locator("#account-button").click()
    pane = page.locator("#model")
    expect(pane.locator(".state")).to_contain_text("The offline model answers")
    page.route("**/local/model/names", lambda _: None)  # the answer never comes
    pane.get_by_label("Who answers").select_option("compatible")
    pane.get_by_label("Address").fill(model.url)
    pane.get_by_label("Model", exact=True).fill("large")
    model.play(Script(status=401))

    with page.expect_event("requestfailed", lambda each: each.url.endswith("/names")):
        pane.get_by_role("button", name="Test and save").click()

    expect(pane.locator(".problem")).to_contain_text("refused the key")


def test_a_test_shows_that_it_runs_and_can_be_cancelled(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("tester")
    page = console.page
    page.locator("#account-button").click()
    pane = page.locator("#model")
    pane.get_by_label("Who answers").select_option("compatible")
    pane.get_by_label("Address").fill(model.url)
    pane.get_by_label("Model", exact=True).fill("large")
    model.play(Script(schema="extraction", stall_after=0))
    pane.get_by_role("button", name="Test and save").click()
    expect(pane.locator(".elapsed")).to_have_text(re.compile("0:0[1-9]"))
    pane.get_by_role("button", name="Cancel").click()

    expect(pane.locator(".state")).to_have_text("Cancelled. Nothing was changed.")
    expect(pane.locator(".testing")).to_be_hidden()
    assert model.requests[0].ended.wait(10)
    page.reload()
    expect(pane.locator(".state")).to_contain_text("The offline model answers")

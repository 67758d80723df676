"""Several models at once in the console: side by side while they stream, and one is chosen (X31)."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.servers.openai import Script, ScriptedOpenai
from tests.web.console import Console
from tests.web.test_accessibility import DESK, PHONE, list_findings


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


@pytest.fixture
def comparing(console: Console) -> Console:
    """Open a chat whose next question goes to three models."""
    page = console.page
    console.sign_in(console.uid)
    page.get_by_label("Your question").focus()
    page.locator("#models summary").click()
    for name in ("gpt-5.4", "gpt-6-luna"):
        page.get_by_label(name, exact=True).check()
    page.locator("#models summary").click()
    return console


def choose_usual_model(page: Page, name: str) -> None:
    """Choose who answers, in the settings, which stay open."""
    page.locator("#account-button").click()
    section = page.locator("#settings-answers")
    usual = section.get_by_label("Who answers, where nothing else is chosen")
    expect(usual).to_have_value("auto")
    usual.select_option(label=name)
    section.get_by_role("button", name="Save").click()
    expect(section.get_by_role("status")).to_have_text("Saved. It holds from your next message on.")


def test_the_usual_model_is_chosen_in_the_settings_and_named_with_the_answer_m96(
    comparing: Console, model: ScriptedOpenai
) -> None:
    page = comparing.page
    choose_usual_model(page, "gpt-6-luna")
    assert list_findings(page) == []
    page.goto(page.url.partition("#")[0])
    model.play(Script(text="A tulip."))
    page.get_by_label("Your question").focus()
    expect(page.locator("#models summary")).to_contain_text("gpt-6-luna")

    comparing.ask("What is it?")

    page.get_by_text("Details of this answer").last.click()
    expect(page.locator(".diagnostics").last).to_contain_text("in your settings")
    assert comparing.page_errors == []


def test_another_usual_model_is_named_beside_the_question_at_once_m96(comparing: Console) -> None:
    page = comparing.page
    choose_usual_model(page, "gpt-6-luna")

    expect(page.locator("#models summary")).to_have_text("Models: gpt-6-luna")
    assert comparing.page_errors == []


def find_columns(console: Console) -> Locator:
    return console.page.locator(".message.ai").last.locator(".main, .voice")


def test_three_answers_stand_side_by_side_and_one_is_chosen_x31(
    comparing: Console, model: ScriptedOpenai
) -> None:
    model.play(*[Script(text=f"Answer {n}.") for n in range(3)])
    comparing.ask("What about tulips?")
    page, columns = comparing.page, find_columns(comparing)

    expect(page.get_by_role("button", name="Use this answer")).to_have_count(2)
    models = page.locator(".message.ai .model:visible")
    expect(models).to_have_text(["gpt-6-sol", "gpt-5.4", "gpt-6-luna"])
    boxes = [columns.nth(n).bounding_box() for n in range(3)]
    assert len({box["x"] for box in boxes if box}) == 3
    assert len({box["y"] for box in boxes if box}) == 1
    chosen = columns.last.locator(".prose").inner_text()
    columns.last.get_by_role("button", name="Use this answer").click()
    expect(models.first).to_have_text("gpt-6-luna")
    expect(columns.first.locator(".prose")).to_have_text(chosen)
    assert list_findings(page) == []
    page.reload()
    expect(columns.first.locator(".prose")).to_have_text(chosen)
    page.get_by_role("button", name="Show the other answers").click()
    expect(models).to_have_text(["gpt-6-luna", "gpt-6-sol", "gpt-5.4"])
    assert comparing.page_errors == []


def test_answers_appear_while_another_one_still_thinks_x31(
    comparing: Console, model: ScriptedOpenai
) -> None:
    model.play(*[Script(tokens=3, stall_after=3, endless=True) for _ in range(3)])
    comparing.start_question("What about tulips?")
    page = comparing.page

    expect(page.locator(".message.ai .prose:not(:empty)")).to_have_count(4)
    assert list_findings(page) == []
    page.set_viewport_size(PHONE)
    comparing.show_view("chat")
    boxes = [find_columns(comparing).nth(n).bounding_box() for n in range(3)]
    assert len({box["x"] for box in boxes if box}) == 1
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".voice .ended")).to_have_text(["Stopped.", "Stopped."])
    page.set_viewport_size(DESK)


def test_an_answer_that_fails_leaves_the_others_x31(
    comparing: Console, model: ScriptedOpenai
) -> None:
    model.play(Script(status=400), Script(text="I know."), Script(text="Me too."))
    comparing.ask("What about tulips?")

    expect(comparing.page.locator(".voice .ended")).to_have_text("This answer failed.")
    expect(comparing.page.get_by_role("button", name="Use this answer")).to_have_count(1)


def test_one_other_model_answers_alone(comparing: Console, model: ScriptedOpenai) -> None:
    page = comparing.page
    page.locator("#models summary").click()
    for name in ("gpt-6-sol", "gpt-5.4"):
        page.get_by_label(name, exact=True).uncheck()
    comparing.ask("What about crocuses?")

    expect(page.locator(".voice")).to_have_count(0)
    asked = [each.body for each in model.requests if "crocuses" in str(each.body)]
    assert [body["model"] for body in asked if "tools" in body] == ["gpt-6-luna"]

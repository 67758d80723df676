"""Answers in progress in the console: cut, killed, reloaded, stopped, inspected."""

from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Route, expect

from infra.emulators.process import find_free_port
from tests.e2e.product import build_model_environment, run_product
from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.console import Console

PACED_SCRIPT = Script(text="one two three four five six seven eight nine ten " * 4, token_ms=50)
STALLING_SCRIPT = Script(text="The offsite is on Friday, I think", stall_after=4)
ENDLESS_SCRIPT = Script(text="On and on. ", endless=True, token_ms=20)


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def test_a_cut_stream_resumes_where_it_was_cut_x36(console: Console, model: ScriptedOpenai) -> None:
    console.sign_in("cut")
    console.make_streams_cuttable()
    model.play(PACED_SCRIPT)

    answer = console.start_question("How far?")
    expect(answer).to_contain_text("three")
    console.cut_stream()

    expect(answer.locator(".prose")).to_have_text(PACED_SCRIPT.text.strip(), timeout=30_000)
    assert len(console.resume_positions) == 1
    assert console.resume_positions[0] > 0
    assert sum("tools" in request.body for request in model.requests) == 1


def test_an_answer_continues_after_a_reload_x36(console: Console, model: ScriptedOpenai) -> None:
    console.sign_in("reloader")
    model.play(PACED_SCRIPT)
    expect(console.start_question("How far?")).to_contain_text("three")

    console.page.reload()

    answer = console.page.locator(".message.ai").last
    expect(answer.locator(".prose")).to_contain_text("four")
    expect(answer).not_to_have_attribute("aria-busy", "true", timeout=30_000)
    expect(answer.locator(".prose")).to_have_text(PACED_SCRIPT.text.strip())
    expect(console.page.locator(".message.human")).to_have_count(1)


def test_an_answer_continues_while_another_chat_is_open_p15(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("switcher")
    model.play(PACED_SCRIPT)
    expect(console.start_question("How far?")).to_contain_text("three")

    console.page.locator("#views [data-to=chats]").click()
    console.page.get_by_role("button", name="New chat", exact=True).click()
    expect(console.page.locator(".message.human")).to_have_count(0)
    console.page.locator(".pick:not([aria-current])").click()

    answer = console.page.locator(".message.ai").last
    expect(answer.locator(".prose")).to_have_text(PACED_SCRIPT.text.strip(), timeout=30_000)
    expect(console.page.locator(".message.human")).to_have_count(1)


def test_an_answer_interrupted_by_a_killed_server_can_be_retried_p29(
    context: BrowserContext, tmp_path: Path, model: ScriptedOpenai
) -> None:
    settings = {"PORT": str(find_free_port()), **build_model_environment(model.url)}
    with run_product(tmp_path, **settings) as first:
        console = Console(context.new_page(), first.origin, [], [])
        console.sign_in("survivor")
        model.play(STALLING_SCRIPT)
        answer = console.start_question("When is the offsite?")
        expect(answer).to_contain_text("The offsite")
        first.process.kill()
        expect(answer.get_by_role("status")).to_have_text("No connection. Trying again…")

    with run_product(tmp_path, **settings):
        expect(answer.locator(".ended")).to_contain_text("interrupted", timeout=30_000)
        expect(console.page.locator(".message.human")).to_have_count(1)
        model.play(Script(text="On Friday."))
        answer.get_by_role("button", name="Try again").click()
        expect(console.answers.last).to_contain_text("On Friday.")

        console.page.reload()
        expect(console.answers.last).to_contain_text("On Friday.")
        console.page.get_by_role("button", name="Previous version").click()
        expect(console.page.locator(".ended")).to_contain_text("interrupted")


def test_a_stopped_answer_keeps_its_text_x34(console: Console, model: ScriptedOpenai) -> None:
    console.sign_in("stopper")
    model.play(ENDLESS_SCRIPT)
    answer = console.start_question("Tell me everything.")
    expect(answer.locator(".prose")).to_contain_text("On and on.")

    console.page.get_by_role("button", name="Stop", exact=True).click()

    expect(answer.locator(".ended")).to_contain_text("Stopped.")
    expect(console.page.get_by_role("button", name="Send")).to_be_visible()
    expect(console.page.get_by_label("Your question")).to_be_focused()
    asked = [each for each in model.answers if "Tell me everything." in str(each.body)]
    assert asked[0].ended.wait(10)


def test_a_question_without_a_response_is_not_asked_twice(console: Console) -> None:
    """The server has accepted the question, but its response is lost; a repeat joins the same run."""
    console.sign_in("unsure")
    dropped_responses: list[APIResponse] = []

    def drop_first_response(route: Route) -> None:
        if route.request.method == "POST" and not dropped_responses:
            dropped_responses.append(route.fetch())
            route.abort()
        else:
            route.continue_()

    console.page.route("**/v2/messages?*", drop_first_response)
    console.ask("Hello?")

    expect(console.answers).to_have_count(2)
    console.page.reload()
    expect(console.answers).to_have_count(2)
    expect(console.page.locator(".message.human")).to_have_count(1)


def test_reasoning_and_tools_are_folded_away(console: Console, model: ScriptedOpenai) -> None:
    console.sign_in("curious")
    call = ScriptedCall(name="search_conversations", arguments='{"query": "offsite"}')
    model.play(
        Script(reasoning="They ask for the date.", tool_calls=(call,)),
        Script(text="I found nothing about it."),
    )

    answer = console.ask("When is the offsite?")
    tool = answer.locator(".steps details").filter(has_text="Search in conversations")
    expect(tool.locator("pre")).to_be_hidden()
    tool.locator("summary").click()

    expect(tool.locator("pre")).to_contain_text("offsite")
    expect(tool.locator(".state")).to_have_text("done")
    expect(answer.locator(".steps")).to_contain_text("They ask for the date.")

    console.page.reload()

    expect(console.answers).to_have_count(2)
    stored = console.answers.last.locator(".steps details")
    expect(stored).to_have_count(2)
    expect(stored.first.locator("pre")).to_have_text("They ask for the date.")
    expect(stored.last.locator(".state")).to_have_text("done")
    expect(stored.last.locator("pre")).to_contain_text("offsite")


def test_an_answers_diagnostics_are_shown_to_its_owner_c80(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("engineer")
    call = ScriptedCall(name="search_conversations", arguments='{"query": "offsite"}')
    model.play(Script(tool_calls=(call,)), Script(text="I found nothing about it."))

    answer = console.ask("When is the offsite?")
    answer.get_by_text("Details of this answer").click()

    diagnostics = answer.locator(".diagnostics")
    expect(diagnostics.locator("dd").nth(1)).to_have_text("With tools, 2 model calls")
    expect(diagnostics).to_contain_text("Search in conversations")
    expect(diagnostics.get_by_role("meter", name="model")).to_be_visible()

"""Answers in progress as a person sees them: cut, killed, reloaded, stopped, looked into."""

import pytest
from playwright.sync_api import APIResponse, Route, expect

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.console import Console
from tests.web.served import Served

pytestmark = pytest.mark.browser

PACED = Script(text="one two three four five six seven eight nine ten " * 4, token_ms=50)
STALLS = Script(text="The offsite is on Friday, I think", stall_after=4)
ENDLESS = Script(text="On and on. ", endless=True, token_ms=20)


@pytest.fixture
def origin(served: Served) -> str:
    """Serve these tests at an address of their own."""
    return served.origin


def test_x36_a_cut_stream_goes_on_where_it_was_cut(
    console: Console, served: Served, model: ScriptedOpenai
) -> None:
    with served.start():
        console.sign_in("cut")
        console.cut_streams()
        model.play(PACED)

        answer = console.put("How far?")
        expect(answer).to_contain_text("three")
        console.cut()

        expect(answer.locator(".prose")).to_have_text(PACED.text.strip(), timeout=30_000)
        assert len(console.resumed_after) == 1
        assert console.resumed_after[0] > 0
        assert len(model.requests) == 1 + titles(model)


def test_x36_a_reload_in_mid_answer_goes_on(
    console: Console, served: Served, model: ScriptedOpenai
) -> None:
    with served.start():
        console.sign_in("reloader")
        model.play(PACED)
        expect(console.put("How far?")).to_contain_text("three")

        console.page.reload()

        answer = console.page.locator(".message.ai").last
        expect(answer.locator(".prose")).to_contain_text("four")
        expect(answer).not_to_have_attribute("aria-busy", "true", timeout=30_000)
        expect(answer.locator(".prose")).to_have_text(PACED.text.strip())
        expect(console.page.locator(".message.human")).to_have_count(1)


def test_p15_an_answer_goes_on_while_another_chat_is_open(
    console: Console, served: Served, model: ScriptedOpenai
) -> None:
    with served.start():
        console.sign_in("switcher")
        model.play(PACED)
        expect(console.put("How far?")).to_contain_text("three")

        console.page.locator("#views [data-to=chats]").click()
        console.page.get_by_role("button", name="New chat", exact=True).click()
        expect(console.page.locator(".message.human")).to_have_count(0)
        console.page.locator(".pick:not([aria-current])").click()

        answer = console.page.locator(".message.ai").last
        expect(answer.locator(".prose")).to_have_text(PACED.text.strip(), timeout=30_000)
        expect(console.page.locator(".message.human")).to_have_count(1)


def test_p29_a_killed_server_leaves_an_interrupted_answer_that_is_asked_anew(
    console: Console, served: Served, model: ScriptedOpenai
) -> None:
    with served.start() as first:
        console.sign_in("survivor")
        model.play(STALLS)
        answer = console.put("When is the offsite?")
        expect(answer).to_contain_text("The offsite")
        first.kill()
        expect(answer.get_by_role("status")).to_have_text("No connection. Trying again…")

    with served.start():
        expect(answer.locator(".ended")).to_contain_text("interrupted", timeout=30_000)
        expect(console.page.locator(".message.human")).to_have_count(1)
        model.play(Script(text="On Friday."))
        answer.get_by_role("button", name="Try again").click()
        expect(console.answers.last).to_contain_text("On Friday.")

        console.page.reload()
        expect(console.page.locator(".ended")).to_contain_text("interrupted")
        expect(console.answers.last).to_contain_text("On Friday.")


def test_x34_a_person_stops_an_answer_and_keeps_its_words(
    console: Console, served: Served, model: ScriptedOpenai
) -> None:
    with served.start():
        console.sign_in("stopper")
        model.play(ENDLESS)
        answer = console.put("Tell me everything.")
        expect(answer.locator(".prose")).to_contain_text("On and on.")

        console.page.get_by_role("button", name="Stop", exact=True).click()

        expect(answer.locator(".ended")).to_contain_text("Stopped.")
        expect(console.page.get_by_role("button", name="Send")).to_be_visible()
        expect(console.page.get_by_label("Your question")).to_be_focused()
        assert model.requests[0].ended.wait(10)


def test_a_question_whose_answer_never_began_is_not_asked_twice(
    console: Console, served: Served
) -> None:
    """The server has taken it, but nothing came back; sent again, it leads to the same run."""
    with served.start():
        console.sign_in("unsure")
        lost: list[APIResponse] = []

        def lose_the_first(route: Route) -> None:
            if route.request.method == "POST" and not lost:
                lost.append(route.fetch())
                route.abort()
            else:
                route.continue_()

        console.page.route("**/v2/messages?*", lose_the_first)
        console.ask("Hello?")

        expect(console.answers).to_have_count(2)
        console.page.reload()
        expect(console.answers).to_have_count(2)
        expect(console.page.locator(".message.human")).to_have_count(1)


def test_reasoning_and_tools_are_folded_away(
    console: Console, served: Served, model: ScriptedOpenai
) -> None:
    with served.start():
        console.sign_in("curious")
        call = ScriptedCall(name="search_conversations", arguments='{"query": "offsite"}')
        model.play(
            Script(reasoning="They ask for the date.", tool_calls=(call,)),
            Script(text="I found nothing about it."),
        )

        answer = console.ask("When is the offsite?")
        tool = answer.locator(".steps details").filter(has_text="search conversations")
        expect(tool.locator("pre")).to_be_hidden()
        tool.locator("summary").click()

        expect(tool.locator("pre")).to_contain_text("offsite")
        expect(tool.locator(".state")).to_have_text("done")
        expect(answer.locator(".steps")).to_contain_text("They ask for the date.")


def test_c80_an_answers_diagnostics_are_shown_to_its_owner(
    console: Console, served: Served, model: ScriptedOpenai
) -> None:
    with served.start():
        console.sign_in("engineer")
        call = ScriptedCall(name="search_conversations", arguments='{"query": "offsite"}')
        model.play(Script(tool_calls=(call,)), Script(text="I found nothing about it."))

        answer = console.ask("When is the offsite?")
        answer.get_by_text("How this answer came about").click()

        shown = answer.locator(".diagnostics")
        expect(shown.locator("dd").nth(1)).to_have_text("Looked things up, 2 model calls")
        expect(shown).to_contain_text("search conversations")
        expect(shown.get_by_role("meter", name="model")).to_be_visible()


def titles(model: ScriptedOpenai) -> int:
    """Count what was asked beside the answers."""
    return sum("response_format" in asked.body for asked in model.requests)

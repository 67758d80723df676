"""Follow-ups of an answer on the console: questions, changes, a summary with tags, and requests (M105, M107, M118)."""

import json

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.servers.openai import Script, ScriptedCall, ScriptedOpenai
from tests.web.console import Console
from tests.web.test_accessibility import list_findings

NOTES = {
    "title": "Tea and coffee",
    "language": "en",
    "summary": "The user changed what they drink.",
    "tags": ["Coffee", "Habits"],
    "follow_ups": ["Compare coffee and green tea", "Find a roastery near the office"],
    "new_chats": ["Plan a tasting with my friends"],
    "memory_suggestions": [
        {"operation": "add", "fact": "User drinks coffee", "quote": "I drink coffee now"}
    ],
}


@pytest.fixture
def origin(scripted_origin: str) -> str:
    """Serve these tests where one scripts the model."""
    return scripted_origin


def test_an_answer_suggests_how_to_go_on_and_what_to_remember_m107(
    console: Console, context: BrowserContext, model: ScriptedOpenai
) -> None:
    headers = console.sign_in_beside(context, "drinker")
    console.sign_in("drinker")
    page = console.page
    model.play(
        Script(text="Enjoy it."),
        Script(schema="notes", text=json.dumps(NOTES)),
        Script(text="Green tea has **less** caffeine."),
        Script(schema="notes", text="{}"),
    )

    console.ask("I drink coffee now.")
    remember = page.get_by_role("button", name="Remember “User drinks coffee”")
    remember.press("Enter")
    expect(page.get_by_role("group", name="Suggested changes").get_by_role("status")).to_have_text(
        "Saved."
    )
    expect(remember).to_have_count(0)
    about = page.locator("#chat-about")
    about.locator("summary").click()
    expect(about).to_contain_text("The user changed what they drink.")
    expect(about.get_by_role("list", name="Tags").get_by_role("listitem")).to_have_text(
        ["Coffee", "Habits"]
    )
    assert list_findings(page) == []
    page.get_by_role("button", name="Compare coffee and green tea").press("Enter")

    expect(page.locator(".message.human").last).to_have_text("Compare coffee and green tea")
    expect(page.locator(".message.ai").last).to_contain_text("less caffeine")
    expect(page.locator("#suggestions .chip")).to_have_count(0)
    memories = context.request.get(f"{console.origin}/v3/memories", headers=headers).json()
    assert [memory["content"] for memory in memories] == ["User drinks coffee"]
    page.get_by_role("button", name="Chats", exact=True).click()
    expect(page.locator("#chat-list .preview")).to_have_text("Green tea has less caffeine.")
    page.get_by_role("button", name="New chat", exact=True).click()
    expect(page.locator("#suggestions")).to_contain_text("Plan a tasting with my friends")
    assert console.page_errors == []


def test_follow_ups_leave_a_phone_to_the_answer_and_stand_in_its_column_on_a_desk_m118(
    console: Console, model: ScriptedOpenai
) -> None:
    console.sign_in("narrow")
    page = console.page
    model.play(Script(text="Enjoy **it**."), Script(schema="notes", text=json.dumps(NOTES)))

    console.ask("I drink coffee now.")
    suggestions = page.locator("#suggestions")
    remember = suggestions.locator(".chip").first
    expect(remember).to_contain_text("Remember")
    assert get_left(remember) == get_left(page.locator("#ask .box"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Chat", exact=True).click()

    expect(remember).to_be_in_viewport()
    box = suggestions.bounding_box()
    assert box is not None
    assert box["height"] < 80
    assert list_findings(page) == []
    assert console.page_errors == []


def get_left(element: Locator) -> float:
    box = element.bounding_box()
    assert box is not None
    return box["x"]


def test_a_request_is_allowed_on_a_card_and_taken_back_m105(
    console: Console, context: BrowserContext, model: ScriptedOpenai
) -> None:
    headers = console.sign_in_beside(context, "asked")
    url = f"{console.origin}/v1/users/profile"
    assert context.request.patch(url, data={"recalls_memories": False}, headers=headers).ok
    console.sign_in("asked")
    page = console.page
    keys = json.dumps({"keys": ["memories:manual", "memories:system"]})
    model.play(
        Script(tool_calls=(ScriptedCall(name="request_details", arguments=keys),)),
        Script(text="Some bread."),
        Script(schema="notes", text="{}", sticky=True),
    )

    console.ask("What can I eat?")
    card = page.get_by_role("region", name="A request of the assistant")
    expect(card.get_by_role("checkbox")).to_have_count(2)
    assert list_findings(page) == []
    card.get_by_label("Facts about you").press("Space")
    card.get_by_role("button", name="Allow", exact=True).press("Enter")
    expect(card).to_have_count(0)
    expect(page.get_by_label("Your question")).to_be_focused()
    page.reload()

    about = page.locator("#chat-about")
    about.locator("summary").click()
    expect(about).to_contain_text("Answers here read: What you wrote down yourself")
    expect(about).not_to_contain_text("Facts about you")
    about.get_by_role("button", name="Take back").press("Enter")
    expect(about).not_to_contain_text("Answers here read")
    expect(card).to_have_count(0)
    assert console.page_errors == []

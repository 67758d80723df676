"""Summary templates as the released app uses them: prompts tried out, suggested and preferred apps (R5)."""

import json
from typing import Any

import pytest

from tests.contracts.omi_client.objects import APP, CONVERSATION
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each, shape, text

SUMMARY = shape(summary=text)
SUGGESTED = shape(suggested_apps=each(APP))
PREFERRED_PATH = "/v1/users/preferences/app?app_id="


def submit_template(phone: Phone, name: str = "Meeting notes") -> str:
    """Submit the form of a template as the app does, and install it; return its id."""
    form = {
        "name": name,
        "description": "What was decided",
        "capabilities": ["memories"],
        "deleted": False,
        "uid": phone.uid,
        "category": "other",
        "private": True,
        "is_paid": False,
        "price": 0.0,
        "thumbnails": [],
        "memory_prompt": "List the decisions as bullet points.",
    }
    parts: dict[str, Any] = {"app_data": (None, json.dumps(form))}
    app_id: str = phone.send("POST", "/v1/apps", shape(app_id=text), files=parts)["app_id"]
    phone.send("POST", f"/v1/apps/enable?app_id={app_id}")
    return app_id


@pytest.mark.client_call("testConversationPrompt")
def test_a_prompt_is_tried_out_on_a_conversation_r5(phone: Phone):
    path = f"/v1/conversations/{phone.add_conversation()['id']}"

    tried = phone.send("POST", f"{path}/test-prompt", SUMMARY, json={"prompt": "Sum it up."})

    assert tried["summary"]
    assert phone.get(path, CONVERSATION)["apps_results"] == []


@pytest.mark.client_call("testConversationPrompt")
@pytest.mark.parametrize("prompt", ["", "   ", None])
def test_an_empty_prompt_is_refused_in_words_r5(phone: Phone, prompt):
    path = f"/v1/conversations/{phone.add_conversation()['id']}"

    status, detail = phone.refuse("POST", f"{path}/test-prompt", json={"prompt": prompt})

    assert (status, detail.startswith("The prompt must ")) == (422, True)


@pytest.mark.client_call("getConversationSuggestedApps")
def test_an_installed_template_writes_new_conversations_and_is_suggested_r5(phone: Phone):
    template = submit_template(phone)

    conversation = phone.add_conversation()

    path = f"/v1/conversations/{conversation['id']}/suggested-apps"
    assert [result["app_id"] for result in conversation["apps_results"]] == [template]
    assert conversation["apps_results"][0]["content"]
    assert [app["id"] for app in phone.get(path, SUGGESTED)["suggested_apps"]] == [template]


@pytest.mark.client_call("getConversationSuggestedApps")
def test_without_templates_nothing_is_suggested_r5(phone: Phone):
    path = f"/v1/conversations/{phone.add_conversation()['id']}/suggested-apps"

    assert phone.get(path, SUGGESTED) == {"suggested_apps": []}


@pytest.mark.client_call("setPreferredSummarizationAppServer")
def test_the_preferred_template_writes_r5(phone: Phone):
    templates = [submit_template(phone, name) for name in ("One", "Two", "Three")]

    for template in templates:
        phone.send("PUT", f"{PREFERRED_PATH}{template}")
        (result,) = phone.add_conversation()["apps_results"]
        assert result["app_id"] == template


@pytest.mark.client_call("setPreferredSummarizationAppServer", "reProcessConversationServer")
def test_reprocessing_with_a_template_puts_its_text_first_and_keeps_it_r5(phone: Phone):
    conversation = phone.add_conversation()
    preferred, chosen = (submit_template(phone, name) for name in ("One", "Two"))
    phone.send("PUT", f"{PREFERRED_PATH}{preferred}")
    path = f"/v1/conversations/{conversation['id']}"

    remade = phone.send("POST", f"{path}/reprocess?app_id={chosen}", CONVERSATION)

    assert conversation["apps_results"] == []
    assert (remade["id"], remade["status"]) == (conversation["id"], "completed")
    assert remade["apps_results"][0]["app_id"] == chosen
    assert phone.get(path, CONVERSATION)["apps_results"] == remade["apps_results"]


@pytest.mark.client_call("setPreferredSummarizationAppServer", "reProcessConversationServer")
def test_reprocessing_without_a_template_leaves_the_preferred_one_r5(phone: Phone):
    template = submit_template(phone)
    phone.send("PUT", f"{PREFERRED_PATH}{template}")
    path = f"/v1/conversations/{phone.add_conversation()['id']}"

    remade = phone.send("POST", f"{path}/reprocess?app_id=", CONVERSATION)

    assert [result["app_id"] for result in remade["apps_results"]] == [template]


@pytest.mark.client_call("reProcessConversationServer")
def test_reprocessing_with_an_app_that_writes_nothing_is_refused_r5(phone: Phone):
    path = f"/v1/conversations/{phone.add_conversation()['id']}"

    assert phone.refuse("POST", f"{path}/reprocess?app_id=nobody") == (404, "App not found")


@pytest.mark.client_call("setPreferredSummarizationAppServer")
def test_a_template_of_nobody_cannot_be_preferred_r5(phone: Phone):
    assert phone.refuse("PUT", f"{PREFERRED_PATH}nobody") == (404, "App not found")


@pytest.mark.client_call("setPreferredSummarizationAppServer")
def test_a_private_template_of_somebody_else_is_not_found_r5(sign_up):
    owner, other = sign_up(), sign_up()
    template = submit_template(owner)

    assert other.refuse("PUT", f"{PREFERRED_PATH}{template}") == (404, "App not found")

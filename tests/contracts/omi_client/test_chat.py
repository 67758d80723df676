"""Chat calls of the released app (R1)."""

from typing import Any

import pytest

from tests.contracts.omi_client.objects import MESSAGE
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each, shape, text
from tests.old_app import parse_as_fixed_app, parse_as_old_app

QUESTION = "When is the Lisbon offsite?"


def ask(phone: Phone, body: dict[str, Any], **query: str) -> dict[str, Any]:
    """Ask as the app does, read the stream with both of its parsers, and return the answer."""
    response = phone.http.post("/v2/messages", json=body, params=query)
    assert response.status_code == 200, response.text
    answer, old_answer = (
        parse_as_fixed_app([response.content]),
        parse_as_old_app([response.content]),
    )
    assert (answer.failed, old_answer.failed) == (False, False)
    message: dict[str, Any] = MESSAGE(answer.done)
    return message


def list_messages(phone: Phone, app_id: str = "") -> list[dict[str, Any]]:
    query = {"app_id": app_id, "dropdown_selected": "false"}
    messages: list[dict[str, Any]] = phone.get("/v2/messages", each(MESSAGE), **query)
    return messages


@pytest.mark.client_call("generateChatSessionTitle")
def test_a_chat_is_named_after_its_first_message_until_it_has_a_title_r1(phone):
    title = shape(title=text)
    body = {"app_id": None, "title": None}
    chat = f"/v2/chat-sessions/{phone.send('POST', '/v2/chat-sessions', json=body)['id']}"
    first_message = {"first_message": QUESTION}

    named = phone.send("POST", f"{chat}/generate-title", title, json=first_message)
    phone.send("PATCH", chat, json={"title": "Lisbon"})
    renamed = phone.send("POST", f"{chat}/generate-title", title, json=first_message)

    assert (named["title"], renamed["title"]) == (QUESTION, "Lisbon")


@pytest.mark.client_call("getMessagesServer")
def test_a_new_chat_has_a_first_message_r1(phone):
    messages = list_messages(phone)

    assert [message["sender"] for message in messages] == ["ai"]


@pytest.mark.client_call("sendMessageStreamServer", "getMessagesServer")
@pytest.mark.parametrize(
    "fields",
    [
        {"file_ids": []},
        {"file_ids": None},
        {"file_ids": [], "context": {}},
        {"context": None, "time_zone": "Europe/Lisbon"},
    ],
)
def test_a_question_is_answered_and_listed_as_it_ended_r1(phone, fields):
    answer = ask(phone, {"text": QUESTION, **fields})

    by_id = {message["id"]: message for message in list_messages(phone)}
    assert by_id[answer["id"]] == {**answer, "ask_for_nps": by_id[answer["id"]]["ask_for_nps"]}
    assert QUESTION in [message["text"] for message in by_id.values()]


@pytest.mark.client_call("sendMessageStreamServer")
def test_a_question_about_a_conversation_is_answered_r1(phone):
    conversation = phone.add_conversation()

    context = {"type": "conversation", "id": conversation["id"], "title": "Plans"}
    answer = ask(phone, {"text": QUESTION, "file_ids": [], "context": context})

    assert answer["sender"] == "ai"


@pytest.mark.client_call("sendMessageStreamServer")
def test_an_empty_question_is_answered_in_words_r1(phone):
    assert ask(phone, {"text": "", "file_ids": []})["text"]


@pytest.mark.client_call("sendMessageStreamServer")
def test_a_question_to_an_app_that_is_gone_is_answered_in_words_r1(phone):
    assert ask(phone, {"text": QUESTION, "file_ids": []}, app_id="gone-app")["text"]


@pytest.mark.client_call("getInitialAppMessage")
@pytest.mark.parametrize("app_id", ["null", ""])
def test_the_first_message_of_the_main_chat_names_no_app_r1(phone, app_id):
    message = phone.send("POST", f"/v2/initial-message?app_id={app_id}", MESSAGE)

    assert (message["sender"], message["plugin_id"]) == ("ai", None)


@pytest.mark.client_call("sendMessageStreamServer", "setMessageResponseRating", "getMessagesServer")
def test_a_rating_comes_back_with_the_message_r1(phone):
    answer = ask(phone, {"text": QUESTION})
    query = {"message_id": answer["id"], "reason": "too_verbose"}

    for value, rating in ((1, 1), (-1, -1), (0, None)):
        phone.send("POST", "/v1/users/analytics/chat_message", params={**query, "value": value})

        by_id = {message["id"]: message for message in list_messages(phone)}
        assert by_id[answer["id"]]["rating"] == rating


@pytest.mark.client_call("sendMessageStreamServer", "reportMessageServer")
def test_an_answer_can_be_reported_r1(phone):
    path = f"/v2/messages/{ask(phone, {'text': QUESTION})['id']}/report"

    assert phone.send("POST", path) == {"message": "Message reported"}
    assert phone.refuse("POST", path) == (400, "Message already reported")


@pytest.mark.client_call("sendMessageStreamServer", "clearChatServer", "getMessagesServer")
def test_a_chat_that_is_deleted_holds_its_first_message_alone_r1(phone):
    ask(phone, {"text": QUESTION})

    first = phone.send("DELETE", "/v2/messages?app_id=", MESSAGE)

    assert [message["id"] for message in list_messages(phone)] == [first["id"]]

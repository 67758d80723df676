"""Account calls of the released app (R1)."""

import pytest

from tests.contracts.omi_client.objects import CONVERSATION
from tests.contracts.omi_client.readers import anything, each, shape
from tests.e2e.waiting import wait_until

EXPORT = shape(
    profile=shape(),
    conversations=each(CONVERSATION),
    memories=each(anything),
    people=each(anything),
    action_items=each(anything),
    chat_messages=each(anything),
)


@pytest.mark.client_call("exportUserDataToFile")
def test_an_export_is_one_json_file_r1(phone):
    conversation = phone.add_conversation()
    phone.send("POST", "/v1/users/people", json={"name": "Ann"})

    export = phone.get("/v1/users/export", EXPORT)

    assert [exported["id"] for exported in export["conversations"]] == [conversation["id"]]
    assert export["conversations"][0]["transcript_segments"] == conversation["transcript_segments"]
    assert [person["name"] for person in export["people"]] == ["Ann"]


@pytest.mark.client_call("deleteAccount")
@pytest.mark.parametrize("body", [{"reason": "other", "reason_details": None}, None])
def test_an_account_is_deleted_at_once_r1(phone, body):
    memory = {"content": "I collect stamps", "visibility": "private", "category": "manual"}
    phone.send("POST", "/v3/memories", json=memory)

    phone.send("DELETE", "/v1/users/delete-account", json=body)

    def find_erased() -> bool | None:
        answer = phone.http.get("/v3/memories", params={"limit": 100, "offset": 0})
        return True if answer.status_code == 401 or answer.json() == [] else None

    assert wait_until(find_erased)

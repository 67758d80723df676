"""Calls of the released app about API keys (R1)."""

import pytest

from tests.contracts.omi_client.objects import API_KEY
from tests.contracts.omi_client.readers import each

KINDS = ("/v1/mcp/keys", "/v1/dev/keys")


@pytest.mark.client_call("createMcpApiKey", "getMcpApiKeys", "createDevApiKey", "getDevApiKeys")
@pytest.mark.parametrize("path", KINDS)
def test_a_new_key_is_shown_once_and_listed_by_its_prefix_r1(phone, path):
    made = phone.send("POST", path, API_KEY, json={"name": "Editor"})

    (listed,) = phone.get(path, each(API_KEY))

    assert (made["name"], bool(made["key"])) == ("Editor", True)
    assert listed == {**made, "key": None}
    assert listed["last_used_at"] is None


@pytest.mark.client_call("createMcpApiKey", "getMcpApiKeys", "createDevApiKey", "getDevApiKeys")
@pytest.mark.parametrize("path", KINDS)
def test_keys_are_listed_newest_first_r1(phone, path):
    made = [phone.send("POST", path, API_KEY, json={"name": name})["id"] for name in "abc"]

    assert [key["id"] for key in phone.get(path, each(API_KEY))] == made[::-1]


@pytest.mark.client_call(
    "createMcpApiKey",
    "deleteMcpApiKey",
    "getMcpApiKeys",
    "createDevApiKey",
    "deleteDevApiKey",
    "getDevApiKeys",
)
@pytest.mark.parametrize("path", KINDS)
def test_a_deleted_key_is_gone_r1(phone, path):
    made = phone.send("POST", path, API_KEY, json={"name": "Editor"})

    # The app sends a body that means nothing.
    phone.send("DELETE", f"{path}/{made['id']}", status=204, json={})

    assert phone.get(path, each(API_KEY)) == []
    assert phone.refuse("DELETE", f"{path}/{made['id']}") == (404, "Key not found")


@pytest.mark.client_call("createDevApiKey", "getDevApiKeys")
def test_a_developer_key_keeps_the_scopes_that_were_chosen_r1(phone):
    scopes = ["conversations:read", "goals:write"]

    made = phone.send("POST", KINDS[1], API_KEY, json={"name": "Reader", "scopes": scopes})

    assert (made["scopes"], phone.get(KINDS[1], each(API_KEY))[0]["scopes"]) == (scopes, scopes)


@pytest.mark.client_call("createDevApiKey")
@pytest.mark.parametrize("body", [{}, {"scopes": None}, {"scopes": []}])
def test_a_developer_key_without_scopes_only_reads_r1(phone, body):
    made = phone.send("POST", KINDS[1], API_KEY, json={"name": "Reader", **body})

    kinds = ("conversations", "memories", "action_items", "goals")
    assert made["scopes"] == [f"{kind}:read" for kind in kinds]


@pytest.mark.client_call("createDevApiKey")
def test_an_unknown_scope_is_refused_in_words_r1(phone):
    body = {"name": "Reader", "scopes": ["everything:write"]}

    status, detail = phone.refuse("POST", KINDS[1], json=body)

    assert (status, detail[:29]) == (422, "Entry 1 of the scopes must be")

"""Bad input at the started product: each gets a specific answer, and stored data stays intact."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from infra.local.routing import ROOT
from tests.e2e.product import (
    Product,
    add_conversation,
    ask,
    build_conversation_body,
    post_notification,
    run_product,
    wait_for_inbox,
)
from tests.old_app import parse_as_fixed_app

ROUTES = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
LIST_PATHS = (
    "/v1/conversations",
    "/v1/conversations/offsite",
    "/v2/messages",
    "/v3/memories",
    "/v1/action-items",
    "/v1/users/people",
    "/v2/chat-sessions",
    "/v1/apps",
    "/v1/inbox",
)
JSON_HEADERS = {"content-type": "application/json"}
ACTIONS = ("create_conversation", "create_facts", "read_conversations")
DIARY = {
    "name": "Diary",
    "private": True,
    "capabilities": ["external_integration"],
    "external_integration": {"actions": [{"action": action} for action in ACTIONS]},
}
SEGMENT = {"text": "hi", "speaker": "Ann", "is_user": False, "start": 0, "end": 1}


@pytest.fixture(scope="module")
def started_product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with run_product(tmp_path_factory.mktemp("bad_input")) as running:
        yield running


@pytest.fixture(scope="module")
def owner(started_product: Product) -> Iterator[httpx.Client]:
    with started_product.client("alice") as http:
        yield http


@pytest.fixture(scope="module")
def bob(started_product: Product) -> Iterator[httpx.Client]:
    with started_product.client("bob") as http:
        yield http


@pytest.fixture(scope="module")
def theirs(owner: httpx.Client) -> dict[str, str]:
    """Fill Alice's library; return the id of one record of each kind."""
    add_conversation(
        owner, build_conversation_body("offsite", "The Lisbon offsite moves to Friday.")
    )
    answer = ask(owner, "When is the Lisbon offsite?")
    assert answer.done is not None
    app = owner.post("/v1/apps", json=DIARY).json()["id"]
    owner.post("/v1/apps/enable", params={"app_id": app})
    key = owner.post(f"/v1/apps/{app}/keys").json()
    post_notification(owner, app, key["secret"], "It rains.")
    owner.post("/v3/memories", json={"id": "fact", "content": "Likes trains"})
    owner.post("/v1/action-items", json={"id": "task", "description": "Book the train"})
    owner.post("/v1/users/people", json={"id": "ann", "name": "Ann"})
    return {
        "conversation": "offsite",
        "memory": "fact",
        "task": "task",
        "person": "ann",
        "session": owner.post("/v2/chat-sessions", json={"title": "Trains"}).json()["id"],
        "message": answer.done["id"],
        "app": app,
        "key": key["id"],
        "secret": key["secret"],
        "mcp_key": owner.post("/v1/mcp/keys", json={"name": "Editor"}).json()["id"],
        "notification": wait_for_inbox(owner, 1)[0]["id"],
    }


@pytest.fixture
def alice(owner: httpx.Client, theirs: dict[str, str]) -> Iterator[httpx.Client]:
    """Sign in as Alice; her library must be the same after the test."""
    assert theirs
    before = load_library(owner)
    yield owner
    assert load_library(owner) == before


def load_library(http: httpx.Client) -> dict[str, Any]:
    responses = {path: http.get(path) for path in LIST_PATHS}
    assert {path: answer.status_code for path, answer in responses.items()} == dict.fromkeys(
        LIST_PATHS, 200
    )
    return {path: answer.json() for path, answer in responses.items()}


def parse_refusal(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["detail"]


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        (None, "Authorization header not found"),
        ("", "Authorization header not found"),
        ("Bearer", "Invalid authorization token"),
        ("Bearer wrong", "Invalid authorization token"),
        ("Bearer two parts", "Invalid authorization token"),
        ("Basic YTpi", "Invalid authorization token"),
        ("Bearer \xff", "Invalid authorization token"),
    ],
)
@pytest.mark.usefixtures("alice")
def test_a_request_without_a_valid_token_is_401(
    started_product: Product, header: str | None, detail: str
) -> None:
    headers = {} if header is None else {b"Authorization": header.encode("latin-1")}
    with httpx.Client(base_url=started_product.origin, headers=headers) as anonymous:
        for method, path in USER_ROUTES:
            assert parse_refusal(anonymous.request(method, path)) == (401, detail), path


USER_ROUTES = [
    (method.upper(), path.replace("{", "").replace("}", ""))
    for path, methods in ROUTES.items()
    for method, route in methods.items()
    if route["security"] == [{"userToken": []}]
]


OWNER = "assign_type=is_user&value=true"
NOT_FOUND = "Conversation not found", "Message not found", "Notification not found", "App not found"
ID_ROUTES = [
    ("GET", "/v1/conversations/{conversation}", NOT_FOUND[0]),
    ("DELETE", "/v1/conversations/{conversation}", NOT_FOUND[0]),
    ("PATCH", "/v1/conversations/{conversation}/title?title=x", NOT_FOUND[0]),
    ("PATCH", "/v1/conversations/{conversation}/starred?starred=true", NOT_FOUND[0]),
    ("PATCH", f"/v1/conversations/{{conversation}}/assign-speaker/Ann?{OWNER}", NOT_FOUND[0]),
    ("POST", "/v1/conversations/{conversation}/reprocess", NOT_FOUND[0]),
    ("GET", "/v3/memories/{memory}", "Memory not found"),
    ("GET", "/v3/memories/{memory}/history", "Memory not found"),
    ("PATCH", "/v3/memories/{memory}?value=x", "Memory not found"),
    ("PATCH", "/v3/memories/{memory}/visibility?value=public", "Memory not found"),
    ("POST", "/v3/memories/{memory}/review?value=false", "Memory not found"),
    ("DELETE", "/v3/memories/{memory}", "Memory not found"),
    ("GET", "/v1/action-items/{task}", "Action item not found"),
    ("PATCH", "/v1/action-items/{task}/completed?completed=true", "Action item not found"),
    ("DELETE", "/v1/action-items/{task}", "Action item not found"),
    ("GET", "/v1/users/people/{person}", "Person not found"),
    ("PATCH", "/v1/users/people/{person}/name?value=x", "Person not found"),
    ("DELETE", "/v1/users/people/{person}", "Person not found"),
    ("GET", "/v2/chat-sessions/{session}", "Chat session not found"),
    ("DELETE", "/v2/chat-sessions/{session}", "Chat session not found"),
    ("GET", "/v2/messages/{message}/stream", NOT_FOUND[1]),
    ("POST", "/v2/messages/{message}/stop", NOT_FOUND[1]),
    ("GET", "/v2/messages/{message}/diagnostics", NOT_FOUND[1]),
    ("GET", "/v2/messages/{message}/confirmations", NOT_FOUND[1]),
    ("POST", "/v2/messages/{message}/report", NOT_FOUND[1]),
    ("POST", "/v1/messages/{message}/report", NOT_FOUND[1]),
    ("POST", "/v1/messages/{message}/changes/c1/undo", NOT_FOUND[1]),
    ("POST", "/v1/users/analytics/chat_message?message_id={message}&value=1", NOT_FOUND[1]),
    ("POST", "/v1/inbox/{notification}/read", NOT_FOUND[2]),
    ("GET", "/v1/apps/{app}", NOT_FOUND[3]),
    ("DELETE", "/v1/apps/{app}", NOT_FOUND[3]),
    ("GET", "/v1/apps/{app}/calls", NOT_FOUND[3]),
    ("GET", "/v1/apps/{app}/tools", NOT_FOUND[3]),
    ("POST", "/v1/apps/{app}/mcp/refresh", NOT_FOUND[3]),
    ("DELETE", "/v1/mcp/keys/{mcp_key}", "Key not found"),
    ("POST", "/v1/apps/{app}/signing-secret", NOT_FOUND[3]),
    ("POST", "/v1/apps/{app}/refresh-manifest", NOT_FOUND[3]),
    ("POST", "/v1/apps/{app}/keys", NOT_FOUND[3]),
    ("GET", "/v1/apps/{app}/keys", NOT_FOUND[3]),
    ("DELETE", "/v1/apps/{app}/keys/{key}", NOT_FOUND[3]),
    ("POST", "/v1/apps/enable?app_id={app}", NOT_FOUND[3]),
    ("GET", "/v2/messages?app_id={app}", NOT_FOUND[3]),
    ("DELETE", "/v2/messages?app_id={app}", NOT_FOUND[3]),
    ("DELETE", "/v1/messages?app_id={app}", NOT_FOUND[3]),
    ("POST", "/v2/initial-message?app_id={app}", NOT_FOUND[3]),
    ("POST", "/v1/initial-message?app_id={app}", NOT_FOUND[3]),
]


@pytest.mark.parametrize(("method", "path", "detail"), [c for c in ID_ROUTES if "_id=" not in c[1]])
def test_a_reserved_document_name_is_not_found(
    bob: httpx.Client, theirs: dict[str, str], method: str, path: str, detail: str
) -> None:
    reserved = path.format(**dict.fromkeys(theirs, "__proto__"))

    assert parse_refusal(bob.request(method, reserved)) == (404, detail)


BODY_ID_ROUTES = [
    ("PATCH", "/v1/conversations/{conversation}", {"title": "x"}, NOT_FOUND[0]),
    ("PATCH", "/v1/action-items/{task}", {"completed": True}, "Action item not found"),
    ("PATCH", "/v2/chat-sessions/{session}", {"title": "x"}, "Chat session not found"),
    ("PATCH", "/v1/apps/{app}", {"name": "x"}, NOT_FOUND[3]),
    (
        "POST",
        "/v2/messages/{message}/confirmations/c1",
        {"approved": True},
        "Confirmation not found",
    ),
]


@pytest.mark.parametrize(("method", "path", "detail"), ID_ROUTES)
@pytest.mark.usefixtures("alice")
def test_documents_of_another_user_are_not_found(
    bob: httpx.Client, theirs: dict[str, str], method: str, path: str, detail: str
) -> None:
    assert parse_refusal(bob.request(method, path.format(**theirs))) == (404, detail)


@pytest.mark.parametrize(("method", "path", "body", "detail"), BODY_ID_ROUTES)
@pytest.mark.usefixtures("alice")
def test_documents_of_another_user_cannot_be_changed(
    bob: httpx.Client,
    theirs: dict[str, str],
    method: str,
    path: str,
    body: dict[str, Any],
    detail: str,
) -> None:
    answer = bob.request(method, path.format(**theirs), json=body)

    assert parse_refusal(answer) == (404, detail)


def test_every_route_with_an_id_is_tested_with_the_id_of_another_user() -> None:
    listed_routes = [row[:2] for row in ID_ROUTES] + [row[:2] for row in BODY_ID_ROUTES]
    tested_routes = {(method, replace_ids(path)) for method, path in listed_routes}
    routes = {
        (method.upper(), replace_ids(path))
        for path, methods in ROUTES.items()
        for method, route in methods.items()
        if "{" in path and route["security"] == [{"userToken": []}]
        if not path.startswith("/v1/connections/")  # services are named there, nobody's things
    }

    assert routes <= tested_routes


def replace_ids(path: str) -> str:
    pieces = path.partition("?")[0].split("/")
    label_prefixes = (
        "assign-speaker",
        "confirmations",
        "changes",
    )  # what is behind them is named by a label
    return "/".join(
        "{}" if piece.startswith("{") or before in label_prefixes else piece
        for before, piece in zip(["", *pieces], pieces, strict=False)
    )


APP_KEY_ROUTES = {
    "/v2/integrations/{}/notification": ("POST", {"message": "x"}),
    "/v2/integrations/{}/user/conversations": ("POST", {}),
    "/v2/integrations/{}/user/memories": ("POST", {}),
    "/v2/integrations/{}/memories": ("GET", {}),
    "/v2/integrations/{}/conversations": ("GET", {}),
    "/v2/integrations/{}/search/conversations": ("POST", {}),
    "/v2/integrations/{}/tasks": ("GET", {}),
}
"""Routes that ask for an app's key."""


@pytest.mark.parametrize(("path", "row"), APP_KEY_ROUTES.items())
def test_a_user_token_is_not_an_app_key_t17(
    alice: httpx.Client, theirs: dict[str, str], path: str, row: tuple[str, dict[str, str]]
) -> None:
    method, query = row
    body = {"text": "x", "query": "x"} if method == "POST" else None

    answer = alice.request(
        method, path.format(theirs["app"]), params={"uid": "alice", **query}, json=body
    )

    assert parse_refusal(answer) == (403, "Invalid API key")


INVALID_JSON = {
    "cut": b'{"text": "When is',
    "empty": b"",
    "not UTF-8": b'{"text": "\xff\xfe"}',
    "half a surrogate pair": b'{"text": "\\ud800"}',
    "16,000 levels": b'{"text": ' + b"[" * 16_000,
    "a number of 10,000 digits": b'{"text": ' + b"9" * 10_000 + b"}",
}
BODY_ROUTES = [
    ("POST", "/v1/conversations"),
    ("POST", "/v1/conversations/search"),
    ("PATCH", "/v1/conversations/{conversation_id}"),
    ("PATCH", "/v1/conversations/{conversation_id}/title"),
    ("POST", "/v3/memories"),
    ("PATCH", "/v3/memories/{memory_id}"),
    ("POST", "/v3/memories/search"),
    ("POST", "/v3/memories/merge"),
    ("POST", "/v1/action-items"),
    ("POST", "/v1/action-items/search"),
    ("PATCH", "/v1/action-items/{action_item_id}"),
    ("POST", "/v1/users/people"),
    ("PATCH", "/v1/users/people/{person_id}/name"),
    ("POST", "/v2/messages"),
    ("POST", "/v2/messages/{id}/confirmations/{confirmation}"),
    ("PUT", "/v1/tool-grants"),
    ("POST", "/v2/chat-sessions"),
    ("PATCH", "/v2/chat-sessions/{id}"),
    ("POST", "/v1/apps"),
    ("PATCH", "/v1/apps/{app_id}"),
    ("POST", "/v1/apps/mcp"),
    ("POST", "/v1/apps/mcp/complete"),
    ("POST", "/v1/connections/complete"),
    ("POST", "/v1/mcp/keys"),
    ("PATCH", "/v1/users/profile"),
    ("PATCH", "/v1/users/notification-preferences"),
    ("POST", "/v1/users/fcm-token"),
    ("POST", "/v1/integrations/notification"),
    ("POST", "/v2/integrations/{app_id}/notification"),
    ("POST", "/v2/integrations/{app_id}/user/conversations?uid=alice"),
    ("POST", "/v2/integrations/{app_id}/user/memories?uid=alice"),
    ("POST", "/v2/integrations/{app_id}/search/conversations?uid=alice"),
]


@pytest.mark.parametrize("body", INVALID_JSON.values(), ids=INVALID_JSON.keys())
def test_a_body_that_is_not_json_is_400(
    alice: httpx.Client, theirs: dict[str, str], body: bytes
) -> None:
    app_headers = {**JSON_HEADERS, "Authorization": f"Bearer {theirs['secret']}"}
    for method, path in BODY_ROUTES:
        if not (body or needs_body(method, path)):
            continue
        headers = app_headers if "/integrations/" in path else JSON_HEADERS
        url = path.replace("{app_id}", theirs["app"])
        status, detail = parse_refusal(alice.request(method, url, content=body, headers=headers))
        assert (status, detail[:27]) == (400, "The body is not valid JSON:"), path


def needs_body(method: str, path: str) -> bool:
    """Tell whether a route takes its content from a body alone, not from the query too."""
    return bool(ROUTES[path.partition("?")[0]][method.lower()]["requestBody"]["required"])


def test_a_body_of_100_000_levels_is_400(alice: httpx.Client) -> None:
    answer = parse_refusal(
        alice.post("/v1/conversations", content=b"[" * 100_000, headers=JSON_HEADERS)
    )

    assert (answer[0], answer[1][:27]) == (400, "The body is not valid JSON:")


def test_every_route_with_a_body_is_tested() -> None:
    assert sorted((method, path.partition("?")[0]) for method, path in BODY_ROUTES) == sorted(
        (method.upper(), path)
        for path, methods in ROUTES.items()
        for method, route in methods.items()
        if "requestBody" in route
    )


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"transcript_segments": []}, 422, "a conversation has at least one segment"),
        ({"transcript_segments": [SEGMENT] * 30_000}, 413, "at most 20000 items"),
        ({"transcript_segments": [{**SEGMENT, "text": "é" * 50_001}]}, 413, "bytes a segment"),
        ({"transcript_segments": [{**SEGMENT, "text": "x" * 99_999}] * 50}, 413, "bytes of text"),
        ({"transcript_segments": [{**SEGMENT, "start": float("nan")}]}, 422, "a finite number"),
        ({"transcript_segments": [{**SEGMENT, "end": float("inf")}]}, 422, "a finite number"),
        ({"transcript_segments": [{**SEGMENT, "end": 1e300}]}, 422, "less than or equal"),
        ({"transcript_segments": [{**SEGMENT, "start": -1}]}, 422, "greater than or equal"),
        ({"transcript_segments": "hi"}, 422, "transcript_segments: Input should be a valid array"),
        ({"started_at": "2026-03-02T09:00:00"}, 422, "started_at: Input should have timezone info"),
        ({"started_at": "yesterday"}, 422, "started_at: Input should be a valid datetime"),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, 422, "a year from 1900 is expected"),
        ({"started_at": 1e18}, 422, "started_at: Input should be a valid datetime"),
        ({"finished_at": "2020-01-01T00:00:00Z"}, 422, "finished_at: lies before started_at"),
        ({"started_at": "2999-01-01T00:00:00Z"}, 422, "started_at: lies in the future"),
        ({"id": "../offsite"}, 422, "an id is 1 to 64 letters"),
        ({"id": "x" * 65}, 422, "an id is 1 to 64 letters"),
        ({"id": "__reserved__"}, 422, "an id is 1 to 64 letters"),
        ({"id": "offsite"}, 409, "Another conversation is stored under this id"),
    ],
)
def test_an_invalid_conversation_is_refused(
    alice: httpx.Client, changes: dict[str, Any], status: int, detail: str
) -> None:
    body = json.dumps({**build_conversation_body("new", "Other words."), **changes}).encode()

    answer = parse_refusal(alice.post("/v1/conversations", content=body, headers=JSON_HEADERS))

    assert answer[0] == status
    assert detail in answer[1]


@pytest.mark.parametrize(
    ("app_id", "text", "shown"),
    [
        ("", "", "Your message is empty. Please write a question."),
        ("", "\x00\u200b ", "Your message is empty. Please write a question."),
        ("", "x" * 20_001, "Your message is too long: 20001 characters, at most 20000."),
        ("unknown", "Hello?", "App not found"),
    ],
)
def test_an_invalid_question_is_refused_in_the_chat(
    alice: httpx.Client, app_id: str, text: str, shown: str
) -> None:
    answer = alice.post("/v2/messages", params={"app_id": app_id}, json={"text": text})

    rendered = parse_as_fixed_app([answer.content])
    assert (answer.status_code, rendered.text, rendered.failed) == (200, shown, False)
    assert rendered.done is not None
    assert (rendered.done["text"], rendered.done["metadata"]) == (shown, {"outcome": "refused"})


@pytest.mark.usefixtures("alice")
def test_an_app_of_another_user_is_unknown_in_the_chat(
    bob: httpx.Client, theirs: dict[str, str]
) -> None:
    answer = bob.post("/v2/messages", params={"app_id": theirs["app"]}, json={"text": "Hi?"})

    assert parse_as_fixed_app([answer.content]).text == "App not found"


def test_a_body_over_its_limit_is_413(alice: httpx.Client) -> None:
    body = b'{"text": "' + b"x" * 1_048_576 + b'"}'

    answer = parse_refusal(alice.post("/v2/messages", content=body, headers=JSON_HEADERS))

    assert answer == (413, "The request body is over 1048576 bytes.")


def test_a_body_without_a_json_content_type_is_415(alice: httpx.Client) -> None:
    answer = parse_refusal(alice.post("/v1/conversations", content=b"{}"))

    assert answer == (415, "Send the body as application/json.")


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/v1/conversations?limit=0", "limit: Input should be greater"),
        ("/v1/conversations?limit=" + "9" * 5_000, "limit: Unable to parse"),
        ("/v1/conversations?cursor=%ff", "cursor: not a cursor of this list"),
        # The year 1 in another zone: ["0001-01-01T00:00:00+14:00", "a"]
        (
            "/v1/conversations?cursor=WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzE0OjAwIiwgImEiXQ==",
            "cursor: not a cursor of this list",
        ),
        ("/v1/inbox?cursor=" + "W1tb" * 90, "cursor: not a cursor of this list"),
        ("/v3/memories?offset=5001", "offset: Input should be less"),
        ("/v1/action-items?limit=NaN", "limit: Input should be a valid integer"),
        ("/v2/messages?app_id=a/b", "app_id: String should match pattern"),
        ("/v2/messages?app_id=%00", "app_id: String should match pattern"),
    ],
)
def test_an_invalid_query_is_422(alice: httpx.Client, path: str, detail: str) -> None:
    status, reason = parse_refusal(alice.get(path))

    assert (status, reason[: len(detail)]) == (422, detail)


def test_an_id_with_a_slash_reaches_no_document_below(
    alice: httpx.Client, theirs: dict[str, str]
) -> None:
    below = f"{theirs['app']}/api_keys/{theirs['key']}"
    rating = {"message_id": f"{theirs['message']}/a/b", "value": "1"}

    assert alice.get("/v2/messages", params={"app_id": below}).status_code == 422
    assert alice.post("/v1/users/analytics/chat_message", params=rating).status_code == 404
    assert alice.get(f"/v1/apps/{theirs['app']}%2Fapi_keys").status_code == 404


def test_a_body_that_ends_early_is_not_stored(
    started_product: Product, alice: httpx.Client
) -> None:
    """The client is gone, so there is no answer to check."""
    whole = json.dumps(build_conversation_body("cut", "Other words.")).encode()
    head = (
        "POST /v1/conversations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: {alice.headers['authorization']}\r\nContent-Length: {len(whole) + 1}\r\n\r\n"
    )
    with socket.create_connection(
        ("127.0.0.1", int(started_product.origin.rpartition(":")[2]))
    ) as connection:
        connection.sendall(head.encode() + whole)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1_024) == b""

    assert parse_refusal(alice.get("/v1/conversations/cut")) == (404, "Conversation not found")

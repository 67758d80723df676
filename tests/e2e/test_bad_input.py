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
from tests.fixtures.oauth import build_authorization, build_code_exchange
from tests.old_app import parse_as_fixed_app

ROUTES = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
LIST_PATHS = (
    "/v1/conversations",
    "/v1/conversations/offsite",
    "/v2/messages",
    "/v3/memories",
    "/v1/action-items",
    "/v1/users/people",
    "/v1/folders",
    "/v1/goals/all",
    "/v2/chat-sessions",
    "/v1/focus-modes",
    "/v2/rules",
    "/v2/arcs",
    "/v1/agents",
    "/v2/projects",
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
    owner.post("/v1/goals", json={"id": "books", "title": "Read books"})
    return {
        "conversation": "offsite",
        "memory": "fact",
        "task": "task",
        "person": "ann",
        "import": owner.post(
            "/v1/imports?preview=true", files=[("files", ("a.txt", "Ann: Hello\nBo: Hi\n"))]
        ).json()["id"],
        "recording": "r1",
        "file": owner.post("/v2/files", files=[("files", ("plan.txt", b"Keel"))]).json()[0]["id"],
        "upload": owner.post("/v1/uploads", headers={"Upload-Length": "9"}).json()["id"],
        "folder": owner.post("/v1/folders", json={"name": "Travel"}).json()["id"],
        "goal": "books",
        "session": owner.post("/v2/chat-sessions", json={"title": "Trains"}).json()["id"],
        "focus": owner.post(
            "/v1/focus-modes", json={"name": "Exam", "instructions": "Quiz me."}
        ).json()["id"],
        "rule": owner.post("/v2/rules", json={"text": "Be brief."}).json()["id"],
        "agent": owner.post(
            "/v1/agents", json={"name": "Coach", "instructions": "Be strict."}
        ).json()["id"],
        "project": owner.post("/v2/projects", json={"name": "Boat"}).json()["id"],
        "message": answer.done["id"],
        "app": app,
        "key": key["id"],
        "secret": key["secret"],
        "mcp_key": owner.post("/v1/mcp/keys", json={"name": "Editor"}).json()["id"],
        "developer_key": owner.post("/v1/dev/keys", json={"name": "Script"}).json()["id"],
        "program": connect_program(owner),
        "notification": wait_for_inbox(owner, 1)[0]["id"],
        "day": owner.post(
            "/v1/users/daily-summary-settings/test", json={"date": "2026-03-02"}
        ).json()["summary_id"],
    }


def connect_program(owner: httpx.Client) -> str:
    """Let a program in; return its id."""
    uri = "http://127.0.0.1/callback"
    registration = owner.post("/v1/mcp/register", json={"redirect_uris": [uri]}).json()
    asked = build_authorization(registration["client_id"], uri)
    answer = owner.post("/v1/mcp/authorizations", json={"request": asked, "allows": "read"}).json()
    code = httpx.URL(answer["return_url"]).params["code"]
    form = build_code_exchange(registration["client_id"], uri, code)
    owner.post("/v1/mcp/token", data=form).raise_for_status()
    program_id: str = owner.get("/v1/mcp/programs").json()[0]["id"]
    return program_id


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
    with httpx.Client(base_url=started_product.origin, headers=headers, timeout=30) as anonymous:
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
NO_MERGE = "There is no merge of this conversation that can be undone."
NOT_IN_BIN = "This is not in the bin."
ID_ROUTES = [
    ("GET", "/v1/conversations/{conversation}", NOT_FOUND[0]),
    ("DELETE", "/v1/conversations/{conversation}", NOT_FOUND[0]),
    ("PATCH", "/v1/conversations/{conversation}/title?title=x", NOT_FOUND[0]),
    ("PATCH", "/v1/conversations/{conversation}/starred?starred=true", NOT_FOUND[0]),
    ("PATCH", "/v1/conversations/{conversation}/visibility?value=shared", NOT_FOUND[0]),
    ("PATCH", f"/v1/conversations/{{conversation}}/assign-speaker/Ann?{OWNER}", NOT_FOUND[0]),
    ("POST", "/v1/conversations/{conversation}/reprocess", NOT_FOUND[0]),
    ("POST", "/v1/conversations/{conversation}/undo-merge", NO_MERGE),
    ("POST", "/v1/bin/conversations/{conversation}", NOT_FOUND[0]),
    ("POST", "/v1/bin/conversations/{conversation}/restore", NOT_IN_BIN),
    ("DELETE", "/v1/bin/conversations/{conversation}", NOT_IN_BIN),
    ("GET", "/v1/imports/{import}", "Import not found"),
    ("GET", "/v1/imports/{import}/events", "Import not found"),
    ("GET", "/v1/import/jobs/{import}", "Import not found"),
    ("GET", "/v1/conversations/{conversation}/photos", NOT_FOUND[0]),
    ("GET", "/v1/conversations/{conversation}/doubles", NOT_FOUND[0]),
    ("GET", "/v1/conversations/{conversation}/recording", NOT_FOUND[0]),
    ("GET", "/v1/conversations/{conversation}/action-items", NOT_FOUND[0]),
    ("DELETE", "/v1/imports/{import}", "Import not found"),
    ("GET", "/v3/memories/{memory}", "Memory not found"),
    ("GET", "/v3/memories/{memory}/history", "Memory not found"),
    ("PATCH", "/v3/memories/{memory}?value=x", "Memory not found"),
    ("PATCH", "/v3/memories/{memory}/visibility?value=public", "Memory not found"),
    ("POST", "/v3/memories/{memory}/review?value=false", "Memory not found"),
    ("DELETE", "/v3/memories/{memory}", "Memory not found"),
    ("GET", "/v1/action-items/{task}", "Action item not found"),
    ("PATCH", "/v1/action-items/{task}/completed?completed=true", "Action item not found"),
    ("DELETE", "/v1/action-items/{task}", "Action item not found"),
    ("GET", "/v1/conversations/{conversation}/transcripts", NOT_FOUND[0]),
    ("GET", "/v1/sync/audio/{conversation}/urls", NOT_FOUND[0]),
    ("POST", "/v1/sync/audio/{conversation}/precache", NOT_FOUND[0]),
    ("GET", "/v1/sync/audio/{conversation}/{recording}", NOT_FOUND[0]),
    ("GET", "/v2/sync-local-files/{recording}", "Sync job not found or expired"),
    ("POST", "/v1/users/analytics/memory_summary?memory_id={conversation}&value=1", NOT_FOUND[0]),
    ("GET", "/v1/goals/{goal}", "Goal not found"),
    ("GET", "/v1/goals/{goal}/history", "Goal not found"),
    ("PATCH", "/v1/goals/{goal}/progress?current_value=1", "Goal not found"),
    ("DELETE", "/v1/goals/{goal}", "Goal not found"),
    ("GET", "/v1/users/people/{person}", "Person not found"),
    ("PATCH", "/v1/users/people/{person}/name?value=x", "Person not found"),
    ("DELETE", "/v1/users/people/{person}", "Person not found"),
    ("GET", "/v1/conversations/{conversation}/suggested-apps", NOT_FOUND[0]),
    ("GET", "/v1/conversations/{conversation}/audio", "No sound of this conversation is kept."),
    ("GET", "/v1/audio/{recording}", "Recording not found"),
    ("POST", "/v1/audio/{recording}/retry", "Recording not found"),
    ("DELETE", "/v1/audio/{recording}", "Recording not found"),
    ("GET", "/v2/files/{file}", "File not found"),
    ("GET", "/v2/files/{file}/content", "File not found"),
    ("GET", "/v2/files/{file}/picture", "File not found"),
    ("DELETE", "/v2/files/{file}", "File not found"),
    ("PUT", "/v1/users/preferences/app?app_id={app}", NOT_FOUND[3]),
    ("GET", "/v1/users/daily-summaries/{day}", "Daily summary not found"),
    ("GET", "/v2/chat-sessions/{session}", "Chat session not found"),
    ("PUT", "/v1/shared-chats/{session}", "Chat session not found"),
    ("DELETE", "/v1/shared-chats/{session}", "Chat session not found"),
    ("GET", "/shared/chats/{session}", "This chat is not shared."),
    ("DELETE", "/v2/chat-sessions/{session}", "Chat session not found"),
    ("DELETE", "/v1/focus-modes/{focus}", "Focus mode not found"),
    ("DELETE", "/v2/rules/{rule}", "Rule not found"),
    ("DELETE", "/v2/arcs/{session}", "Arc not found"),
    ("POST", "/v2/chat-sessions/{session}/end", "Chat session not found"),
    ("GET", "/v2/chat-sessions/{session}/embeds", "Chat session not found"),
    ("GET", "/v2/embeds/{session}", "Embed not found"),
    ("GET", "/v2/chat-sessions/{session}/ciphertexts", "Chat session not found"),
    ("GET", "/v2/messages/{message}/embeds", NOT_FOUND[1]),
    ("GET", "/v2/messages/{message}/notes", NOT_FOUND[1]),
    ("GET", "/v2/messages/{message}/notes/events", NOT_FOUND[1]),
    ("GET", "/v2/chat-sessions/{session}/details-requests", "Chat session not found"),
    ("GET", "/v1/agents/{agent}", "Agent not found"),
    ("DELETE", "/v1/agents/{agent}", "Agent not found"),
    ("PUT", "/v1/agents/{agent}/share", "Agent not found"),
    ("DELETE", "/v1/agents/{agent}/share", "Agent not found"),
    ("GET", "/v1/shared-agents/{agent}", "This agent is not shared."),
    (
        "DELETE",
        "/v1/action-items/shared/{task}",
        "There are no shared tasks at this link, or not any more",
    ),
    ("GET", "/v2/projects/{project}", "Project not found"),
    ("DELETE", "/v2/projects/{project}", "Project not found"),
    ("GET", "/v2/projects/{project}/files", "Project not found"),
    ("PUT", "/v2/projects/{project}/files/{file}", "Project not found"),
    ("DELETE", "/v2/projects/{project}/files/{file}", "File not found"),
    ("GET", "/v2/voice-sessions/{session}", "Voice session not found"),
    ("POST", "/v2/voice-sessions/{session}/end", "Voice session not found"),
    ("GET", "/v2/messages/{message}/stream", NOT_FOUND[1]),
    ("POST", "/v2/messages/{message}/stop", NOT_FOUND[1]),
    ("GET", "/v2/messages/{message}/diagnostics", NOT_FOUND[1]),
    ("GET", "/v2/messages/{message}/confirmations", NOT_FOUND[1]),
    ("GET", "/v2/messages/{message}/alternatives", NOT_FOUND[1]),
    ("POST", "/v2/messages/{message}/report", NOT_FOUND[1]),
    ("POST", "/v1/messages/{message}/report", NOT_FOUND[1]),
    ("POST", "/v1/messages/{message}/changes/c1/undo", NOT_FOUND[1]),
    ("POST", "/v1/users/analytics/chat_message?message_id={message}&value=1", NOT_FOUND[1]),
    ("POST", "/v1/inbox/{notification}/read", NOT_FOUND[2]),
    ("GET", "/v1/apps/{app}", NOT_FOUND[3]),
    ("DELETE", "/v1/apps/{app}", NOT_FOUND[3]),
    ("GET", "/v1/apps/{app}/calls", NOT_FOUND[3]),
    ("GET", "/v1/apps/{app}/model-refusals", NOT_FOUND[3]),
    ("GET", "/v1/apps/{app}/tools", NOT_FOUND[3]),
    ("GET", "/v1/apps/{app}/reviews", NOT_FOUND[3]),
    ("PATCH", "/v1/apps/{app}/change-visibility?private=false", NOT_FOUND[3]),
    ("GET", "/v2/apps/capability/{app}/grouped", "Capability not found"),
    ("POST", "/v1/apps/{app}/mcp/refresh", NOT_FOUND[3]),
    ("DELETE", "/v1/mcp/keys/{mcp_key}", "Key not found"),
    ("DELETE", "/v1/dev/keys/{developer_key}", "Key not found"),
    ("DELETE", "/v1/mcp/programs/{program}", "Program not found"),
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


TALK = "/v1/conversations/{conversation}"
ASSIGNMENT = {"segment_ids": ["segment-0"], "assign_type": "is_user", "value": "true"}
RENAMED_ITEM = {"old_description": "Book the train", "description": "x"}
BODY_ID_ROUTES = [
    ("POST", "/v1/imports/{import}/keep", {"texts": []}, "Import not found"),
    ("POST", "/v1/conversations/{conversation}/test-prompt", {"prompt": "x"}, NOT_FOUND[0]),
    ("PATCH", "/v1/conversations/{conversation}", {"title": "x"}, NOT_FOUND[0]),
    ("PATCH", f"{TALK}/segments/text", {"segment_id": "segment-0", "text": "x"}, NOT_FOUND[0]),
    ("PATCH", f"{TALK}/segments/assign-bulk", ASSIGNMENT, NOT_FOUND[0]),
    ("PATCH", f"{TALK}/action-items", {"items_idx": [0], "values": [True]}, NOT_FOUND[0]),
    ("PATCH", f"{TALK}/events", {"events_idx": [0], "values": [True]}, NOT_FOUND[0]),
    ("PATCH", f"{TALK}/action-items/{{task}}", RENAMED_ITEM, "Action item not found"),
    ("DELETE", f"{TALK}/action-items", {"description": "Book the train"}, NOT_FOUND[0]),
    ("PATCH", "/v1/action-items/{task}", {"completed": True}, "Action item not found"),
    ("PATCH", "/v1/users/people/{person}/role", {"value": "my sister"}, "Person not found"),
    ("PATCH", "/v1/folders/{folder}", {"name": "x"}, "Folder not found"),
    ("DELETE", "/v1/folders/{folder}", {}, "Folder not found"),
    (
        "POST",
        "/v1/folders/{folder}/conversations/bulk-move",
        {"conversation_ids": []},
        "Folder not found",
    ),
    ("PATCH", "/v1/conversations/{conversation}/folder", {"folder_id": "work"}, NOT_FOUND[0]),
    ("PATCH", "/v1/action-items/batch", {"items": [{"id": "task"}]}, "Action item not found"),
    ("PATCH", "/v1/action-items/sync-batch", {"items": [{"id": "task"}]}, "Action item not found"),
    ("POST", "/v1/action-items/share", {"task_ids": ["task"]}, "Action item not found"),
    ("PATCH", "/v1/goals/{goal}", {"title": "x"}, "Goal not found"),
    ("PATCH", "/v2/chat-sessions/{session}", {"title": "x"}, "Chat session not found"),
    ("POST", "/v2/chat-sessions/{session}/generate-title", {}, "Chat session not found"),
    (
        "PUT",
        "/v2/chat-sessions/{session}/shown-version",
        {"message_id": "m"},
        "Chat session not found",
    ),
    (
        "PUT",
        "/v2/chat-sessions/{session}/focus",
        {"focus_mode_id": None},
        "Chat session not found",
    ),
    (
        "PUT",
        "/v2/chat-sessions/{session}/exercise",
        {"exercise_id": None},
        "Chat session not found",
    ),
    (
        "POST",
        "/v2/chat-sessions/{session}/details-requests/{session}",
        {"responses": {"settings:place": "accepted"}},
        "Chat session not found",
    ),
    (
        "POST",
        "/v2/chat-sessions/{session}/feedback",
        {"rating": "positive"},
        "Chat session not found",
    ),
    ("PATCH", "/v1/focus-modes/{focus}", {"name": "x"}, "Focus mode not found"),
    ("PATCH", "/v2/rules/{rule}", {"text": "x"}, "Rule not found"),
    ("PATCH", "/v1/agents/{agent}", {"name": "x"}, "Agent not found"),
    ("POST", "/v2/chat-sessions", {"agent_id": "theirs"}, "Agent not found"),
    ("PATCH", "/v2/projects/{project}", {"name": "x"}, "Project not found"),
    ("POST", "/v2/chat-sessions", {"project_id": "theirs"}, "Project not found"),
    (
        "POST",
        "/v2/voice-sessions/{session}/tools",
        {"name": "search_memories", "arguments": "{}"},
        "Voice session not found",
    ),
    (
        "POST",
        "/v2/voice-sessions/{session}/turns",
        {"item_id": "i", "user_text": "x", "assistant_text": "y"},
        "Voice session not found",
    ),
    ("POST", "/v2/messages/{message}/versions", {}, NOT_FOUND[1]),
    ("PUT", "/v2/messages/{message}/chosen", {"voice": 1}, NOT_FOUND[1]),
    (
        "PUT",
        "/v2/embeds/{session}",
        {"message_id": "none", "type": "record", "content": "{}"},
        NOT_FOUND[1],
    ),
    (
        "POST",
        "/v2/messages/{message}/resend",
        {"question": {"text": "x"}, "messages": []},
        "No question waits under this id. Please ask it again.",
    ),
    (
        "PUT",
        "/v2/chat-sessions/{session}/ciphertexts",
        {"messages": []},
        "Chat session not found",
    ),
    ("PATCH", "/v1/apps/{app}", {"name": "x"}, NOT_FOUND[3]),
    ("PATCH", "/v1/apps/{app}/review", {"score": 4}, NOT_FOUND[3]),
    (
        "PATCH",
        "/v1/apps/{app}/review/reply",
        {"reviewer_uid": "bob", "response": "x"},
        NOT_FOUND[3],
    ),
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
    answer = bob.request(method, path.format(**theirs))

    assert parse_refusal(answer) == (404, detail)
    assert tell(answer) == tell(bob.request(method, path.format(**nobodys(theirs))))


def nobodys(theirs: dict[str, str]) -> dict[str, str]:
    """Return an id that nobody has for each kind, as long as those that somebody has."""
    return {kind: "x" * len(name) for kind, name in theirs.items()}


def tell(answer: httpx.Response) -> tuple[int, bytes, set[str]]:
    """Return what an answer tells whoever guesses ids: status, body, and which headers it has."""
    return answer.status_code, answer.content, set(answer.headers)


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
    assert tell(answer) == tell(bob.request(method, path.format(**nobodys(theirs)), json=body))


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_an_upload_of_another_user_is_not_found(
    bob: httpx.Client, theirs: dict[str, str], method: str
) -> None:
    headers = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}

    answer = bob.request(method, f"/v1/uploads/{theirs['upload']}", headers=headers)

    assert parse_refusal(answer) == (404, "Upload not found")


NAMED_ROUTES = (
    "/v1/connections/",
    "/v1/integrations/",
    "/v1/task-integrations/",
    "/v1/users/developer/",
)
"""Services and webhooks are named there, nobody's things."""


def test_every_route_with_an_id_is_tested_with_the_id_of_another_user() -> None:
    listed_routes = [row[:2] for row in ID_ROUTES] + [row[:2] for row in BODY_ID_ROUTES]
    listed_routes += [(method, "/v1/uploads/{upload}") for method in ("GET", "PATCH", "DELETE")]
    tested_routes = {(method, replace_ids(path)) for method, path in listed_routes}
    routes = {
        (method.upper(), replace_ids(path))
        for path, methods in ROUTES.items()
        for method, route in methods.items()
        if "{" in path and route["security"] == [{"userToken": []}]
        if not path.startswith(NAMED_ROUTES)
        if not path.startswith("/v1/wrapped/")  # a year stands there
    }

    assert routes <= tested_routes


def replace_ids(path: str) -> str:
    pieces = path.partition("?")[0].split("/")
    label_prefixes = (
        "assign-speaker",
        "bin",
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
    "/v2/integrations/{}/user/facts": ("POST", {}),
    "/v1/integrations/{}/memories": ("GET", {}),
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
    ("POST", "/v1/conversations/merge"),
    ("POST", "/v1/users/sign-out"),
    ("POST", "/v1/imports"),
    ("POST", "/v1/imports/{import_id}/keep"),
    ("POST", "/v1/import/limitless"),
    ("PATCH", "/v1/conversations/{conversation_id}/segments/text"),
    ("PATCH", "/v1/conversations/{conversation_id}/segments/assign-bulk"),
    ("PATCH", "/v1/conversations/{conversation_id}/action-items"),
    ("PATCH", "/v1/conversations/{conversation_id}/action-items/{place}"),
    ("DELETE", "/v1/conversations/{conversation_id}/action-items"),
    ("PATCH", "/v1/conversations/{conversation_id}/events"),
    ("PATCH", "/v1/users/transcription-preferences"),
    ("POST", "/v1/action-items/batch"),
    ("POST", "/v3/memories"),
    ("PATCH", "/v3/memories/{memory_id}"),
    ("POST", "/v3/memories/search"),
    ("POST", "/v3/memories/merge"),
    ("POST", "/v1/action-items"),
    ("POST", "/v1/action-items/search"),
    ("PATCH", "/v1/action-items/{action_item_id}"),
    ("POST", "/v1/folders"),
    ("POST", "/v1/folders/reorder"),
    ("PATCH", "/v1/folders/{folder_id}"),
    ("POST", "/v1/folders/{folder_id}/conversations/bulk-move"),
    ("PATCH", "/v1/conversations/{conversation_id}/folder"),
    ("POST", "/v1/audio"),
    ("POST", "/v1/sync-local-files"),
    ("POST", "/v2/sync-local-files"),
    ("POST", "/v3/upload-audio"),
    ("POST", "/v2/files"),
    ("PATCH", "/v1/action-items/batch"),
    ("PATCH", "/v1/action-items/sync-batch"),
    ("POST", "/v1/action-items/share"),
    ("POST", "/v1/action-items/accept"),
    ("PUT", "/v1/task-integrations/{app_key}"),
    ("POST", "/v1/users/people"),
    ("PATCH", "/v1/users/daily-summary-settings"),
    ("POST", "/v1/users/daily-summary-settings/test"),
    ("POST", "/v1/conversations/{conversation_id}/test-prompt"),
    ("POST", "/v1/app/generate-description"),
    ("POST", "/v1/app/generate-description-emoji"),
    ("PUT", "/v1/users/preferences/app"),
    ("PATCH", "/v1/users/people/{person_id}/name"),
    ("PATCH", "/v1/users/people/{person_id}/role"),
    ("PATCH", "/v1/users/language"),
    ("PATCH", "/v1/users/geolocation"),
    ("PATCH", "/v1/users/onboarding"),
    ("POST", "/v1/goals"),
    ("PATCH", "/v1/goals/{goal_id}"),
    ("POST", "/v2/messages"),
    ("POST", "/v2/voice-messages"),
    ("POST", "/v2/voice-message/transcribe"),
    ("POST", "/v2/voice-sessions"),
    ("POST", "/v2/voice-sessions/{id}/tools"),
    ("POST", "/v2/voice-sessions/{id}/turns"),
    ("POST", "/v2/messages/{id}/confirmations/{confirmation}"),
    ("PUT", "/v1/tool-grants"),
    ("POST", "/v2/chat-sessions"),
    ("PATCH", "/v2/chat-sessions/{id}"),
    ("POST", "/v2/chat-sessions/{id}/generate-title"),
    ("POST", "/v2/messages/{id}/versions"),
    ("PUT", "/v2/messages/{id}/chosen"),
    ("PUT", "/v2/embeds/{id}"),
    ("POST", "/v2/messages/{id}/resend"),
    ("PUT", "/v2/chat-sessions/{id}/ciphertexts"),
    ("POST", "/v2/sync/ack"),
    ("PUT", "/v2/sealed-pairing"),
    ("POST", "/v2/sealed-pairing/take"),
    ("PUT", "/v2/chat-sessions/{id}/shown-version"),
    ("PUT", "/v2/chat-sessions/{id}/focus"),
    ("PUT", "/v2/chat-sessions/{id}/exercise"),
    ("POST", "/v2/chat-sessions/{id}/feedback"),
    ("POST", "/v2/chat-sessions/{id}/details-requests/{request_id}"),
    ("POST", "/v1/agents"),
    ("POST", "/v1/agents/from-link"),
    ("PATCH", "/v1/agents/{id}"),
    ("POST", "/v2/projects"),
    ("PATCH", "/v2/projects/{id}"),
    ("POST", "/v1/focus-modes"),
    ("PATCH", "/v1/focus-modes/{id}"),
    ("POST", "/v2/rules"),
    ("PATCH", "/v2/rules/{id}"),
    ("PUT", "/v1/users/chat-prompt"),
    ("POST", "/v1/apps"),
    ("PATCH", "/v1/apps/{app_id}"),
    ("POST", "/v1/apps/review?app_id={app_id}"),
    ("PATCH", "/v1/apps/{app_id}/review"),
    ("PATCH", "/v1/apps/{app_id}/review/reply"),
    ("POST", "/v1/apps/mcp"),
    ("POST", "/v1/apps/mcp/complete"),
    ("POST", "/v1/connections/complete"),
    ("PUT", "/v1/integrations/{key}"),
    ("PUT", "/v1/integrations/apple-health/sync"),
    ("POST", "/v1/users/developer/webhook/{type}"),
    ("POST", "/v1/mcp/keys"),
    ("POST", "/v1/mcp/authorizations"),
    ("POST", "/v1/mcp/authorizations/preview"),
    ("POST", "/v1/dev/keys"),
    ("POST", "/v1/mcp/memories"),
    ("POST", "/v1/dev/user/memories"),
    ("POST", "/v1/dev/user/memories/batch"),
    ("PATCH", "/v1/dev/user/memories/{memory_id}"),
    ("POST", "/v1/dev/user/action-items"),
    ("POST", "/v1/dev/user/action-items/batch"),
    ("PATCH", "/v1/dev/user/action-items/{action_item_id}"),
    ("POST", "/v1/dev/user/conversations"),
    ("POST", "/v1/dev/user/conversations/from-segments"),
    ("PATCH", "/v1/dev/user/conversations/{conversation_id}"),
    ("POST", "/v1/dev/user/ask"),
    ("POST", "/v1/dev/user/goals"),
    ("PATCH", "/v1/dev/user/goals/{goal_id}"),
    ("PATCH", "/v1/users/profile"),
    ("PATCH", "/v1/users/notification-preferences"),
    ("PATCH", "/v1/users/mentor-notification-settings"),
    ("POST", "/v1/users/fcm-token"),
    ("POST", "/v1/integrations/notification"),
    ("POST", "/v2/integrations/{app_id}/notification"),
    ("POST", "/v2/integrations/{app_id}/user/conversations?uid=alice"),
    ("POST", "/v2/integrations/{app_id}/user/memories?uid=alice"),
    ("POST", "/v2/integrations/{app_id}/user/facts?uid=alice"),
    ("POST", "/v1/integrations/{app_id}/memories?uid=alice"),
    ("POST", "/v2/integrations/{app_id}/search/conversations?uid=alice"),
]


SCOPES = [
    "conversations:read",
    *(f"{kind}:write" for kind in ("conversations", "memories", "action_items", "goals")),
]


@pytest.fixture
def program_headers(owner: httpx.Client) -> Iterator[dict[str, dict[str, str]]]:
    """Create keys of Alice's, since each may call so often; return headers by the start of a path."""
    keys = {
        "/v1/mcp/memories": owner.post("/v1/mcp/keys", json={"name": "Editor"}).json(),
        "/v1/dev/user/": owner.post("/v1/dev/keys", json={"name": "x", "scopes": SCOPES}).json(),
    }
    yield {
        start: {**JSON_HEADERS, "Authorization": f"Bearer {key['key']}"}
        for start, key in keys.items()
    }
    owner.delete(f"/v1/mcp/keys/{keys['/v1/mcp/memories']['id']}")
    owner.delete(f"/v1/dev/keys/{keys['/v1/dev/user/']['id']}")


@pytest.mark.parametrize("body", INVALID_JSON.values(), ids=INVALID_JSON.keys())
def test_a_body_that_is_not_json_is_400(
    alice: httpx.Client,
    theirs: dict[str, str],
    program_headers: dict[str, dict[str, str]],
    body: bytes,
) -> None:
    app_headers = {**JSON_HEADERS, "Authorization": f"Bearer {theirs['secret']}"}
    for method, path in BODY_ROUTES:
        if not (body or needs_body(method, path)):
            continue
        is_app_route = path == "/v1/integrations/notification" or "/integrations/{app_id}/" in path
        headers = app_headers if is_app_route else JSON_HEADERS
        if not path.endswith("/keys"):
            starts = (start for start in program_headers if path.startswith(start))
            headers = program_headers.get(next(starts, ""), headers)
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


NO_BODY = {"content": ("application/octet-stream",)}


def test_every_route_with_a_body_is_tested() -> None:
    assert sorted((method, path.partition("?")[0]) for method, path in BODY_ROUTES) == sorted(
        (method.upper(), path)
        for path, methods in ROUTES.items()
        for method, route in methods.items()
        if "application/octet-stream" not in route.get("requestBody", NO_BODY)["content"]
    )


@pytest.mark.parametrize(
    ("changes", "status", "detail"),
    [
        ({"transcript_segments": []}, 422, "at least one segment"),
        ({"transcript_segments": [SEGMENT] * 30_000}, 413, "at most 20000 entries"),
        (
            {"transcript_segments": [{**SEGMENT, "text": "é" * 50_001}]},
            413,
            "at most 97 KB a segment",
        ),
        ({"transcript_segments": [{**SEGMENT, "text": "x" * 99_999}] * 50}, 413, "4 MB of text"),
        ({"transcript_segments": [{**SEGMENT, "start": float("nan")}]}, 422, "a finite number"),
        ({"transcript_segments": [{**SEGMENT, "end": float("inf")}]}, 422, "a finite number"),
        ({"transcript_segments": [{**SEGMENT, "end": 1e300}]}, 422, "at most"),
        ({"transcript_segments": [{**SEGMENT, "start": -1}]}, 422, "at least"),
        ({"transcript_segments": "hi"}, 422, "The transcript segments must be a list"),
        (
            {"started_at": "2026-03-02T09:00:00"},
            422,
            "The started time must be a date and time with its time zone",
        ),
        ({"started_at": "yesterday"}, 422, "The started time must be a date and time"),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, 422, "of the year 1900 or later"),
        ({"started_at": 1e18}, 422, "The started time must be a date and time"),
        (
            {"finished_at": "2020-01-01T00:00:00Z"},
            422,
            "The finished time must not lie before the started time.",
        ),
        (
            {"started_at": "2999-01-01T00:00:00Z"},
            422,
            "The started time must not lie in the future.",
        ),
        ({"id": "../offsite"}, 422, "must be 1 to 64 letters"),
        ({"id": "x" * 65}, 422, "must be 1 to 64 letters"),
        ({"id": "__reserved__"}, 422, "must be 1 to 64 letters"),
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

    assert answer == (413, "The request body is over 1 MB.")


def test_a_body_without_a_json_content_type_is_415(alice: httpx.Client) -> None:
    answer = parse_refusal(alice.post("/v1/conversations", content=b"{}"))

    assert answer == (415, "Send the body as application/json.")


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/v1/conversations?limit=0", "The limit must be at least"),
        ("/v1/conversations?limit=" + "9" * 5_000, "The limit must be a whole number"),
        ("/v1/conversations?limit=1001", "The limit must be at most"),
        ("/v1/conversations?offset=-1", "The offset must be at least"),
        ("/v1/conversations?start_date=soon", "The start date must be a date"),
        ("/v1/conversations?cursor=%ff", "The cursor is not one of this list; begin without one."),
        # The year 1 in another zone: ["0001-01-01T00:00:00+14:00", "a"]
        (
            "/v1/conversations?cursor=WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzE0OjAwIiwgImEiXQ==",
            "The cursor is not one of this list; begin without one.",
        ),
        (
            "/v1/inbox?cursor=" + "W1tb" * 90,
            "The cursor is not one of this list; begin without one.",
        ),
        ("/v3/memories?limit=5001", "The limit must be at most"),
        ("/v1/action-items?limit=NaN", "The limit must be a whole number"),
        ("/v2/messages?app_id=a/b", "The app id must be empty, or 1 to 64 letters"),
        ("/v2/messages?app_id=%00", "The app id must be empty, or 1 to 64 letters"),
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

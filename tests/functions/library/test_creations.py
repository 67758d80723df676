"""Creations: what a client sends again under its Idempotency-Key is stored once, on every route that stores."""

from collections.abc import Mapping
from typing import Any

import pytest

from functions.chat.entry_points import ENTRY_POINTS as CHAT
from functions.imports.entry_points import ENTRY_POINTS as IMPORTS
from functions.library.entry_points import ENTRY_POINTS as LIBRARY
from functions.media.entry_points import ENTRY_POINTS as MEDIA
from functions.tool_proxy.entry_points import ENTRY_POINTS as APPS
from shared.edge.declare.entry_points import load_routes
from tests.fixtures.library import BODY, CONVERSATIONS

CREATIONS: Mapping[str, Any] = {
    CONVERSATIONS: {name: value for name, value in BODY.items() if name != "id"},
    "/v3/memories": {"content": "I live in Bonn."},
    "/v1/action-items": {"description": "Call the printer"},
    "/v1/goals": {"title": "Read"},
    "/v1/folders": {"name": "Travel"},
    "/v1/users/people": {"name": "Ann"},
}
REPEATABLE = {
    "searches and other reads": {
        "/v1/conversations/search",
        "/v3/memories/search",
        "/v1/action-items/search",
        "/v2/integrations/{app_id}/search/conversations",
        "/v1/conversations/{conversation_id}/test-prompt",
        "/v1/dev/user/ask",
        "/v1/app/generate-description",
        "/v1/app/generate-description-emoji",
        "/v2/chat-sessions/{id}/generate-title",
    },
    "changes of what is there, of which a second one changes nothing": {
        "/v1/conversations/{conversation_id}/reprocess",
        "/v1/conversations/{conversation_id}/undo-merge",
        "/v1/folders/reorder",
        "/v1/folders/{folder_id}/conversations/bulk-move",
        "/v3/memories/{memory_id}/review",
        "/v1/users/private-cloud-sync",
        "/v1/users/analytics/memory_summary",
        "/v1/users/sign-out",
        "/v1/knowledge-graph/rebuild",
        "/v1/sample-library",
        "/v1/imports/{import_id}/keep",
        "/v1/bin/{kind}/{record_id}",
        "/v1/bin/{kind}/{record_id}/restore",
        "/v1/audio/{recording_id}/retry",
        "/v1/users/store-recording-permission",
        "/v1/sync/audio/{conversation_id}/precache",
        "/v3/upload-audio",
        "/v1/users/daily-summary-settings/test",
        "/v1/agents/from-link",
        "/v1/focus-modes",
        "/v1/initial-message",
        "/v2/initial-message",
        "/v1/messages/{id}/report",
        "/v2/messages/{id}/report",
        "/v1/messages/{message_id}/changes/{change_id}/undo",
        "/v1/users/analytics/chat_message",
        "/v1/users/fcm-token",
        "/v2/chat-sessions/{id}/details-requests/{request_id}",
        "/v2/chat-sessions/{id}/end",
        "/v2/chat-sessions/{id}/feedback",
        "/v2/messages/{id}/stop",
        "/v2/messages/{id}/confirmations/{confirmation}",
        "/v2/rules",
        "/v2/sealed-pairing/take",
        "/v2/sync/ack",
        "/v2/voice-sessions/{id}/end",
        "/v2/voice-sessions/{id}/tools",
        "/v2/voice-sessions/{id}/turns",
        "/v1/apps/enable",
        "/v1/apps/disable",
        "/v1/apps/review",
        "/v1/apps/{app_id}/mcp/refresh",
        "/v1/apps/{app_id}/refresh-manifest",
        "/v1/users/developer/webhook/{type}",
        "/v1/users/developer/webhook/{type}/disable",
        "/v1/users/developer/webhook/{type}/enable",
    },
    "questions, whose runs are found again by the same key": {
        "/v2/messages",
        "/v2/messages/{id}/versions",
        "/v2/messages/{id}/resend",
    },
    "chats, which are found again by the same key: no answer may be stored of those that are incognito": {
        "/v2/chat-sessions",
    },
    "sound, of which nothing is stored but the question that it becomes": {
        "/v2/voice-messages",
        "/v2/voice-message/transcribe",
    },
    "files that are known by their time and content": {
        "/v1/sync-local-files",
        "/v2/sync-local-files",
    },
    "secrets, of which a hash alone is stored: no answer may be": {
        "/v1/mcp/keys",
        "/v1/dev/keys",
        "/v1/action-items/share",
        "/v1/mcp/authorizations",
        "/v1/mcp/token",
        "/v1/apps",
        "/v1/apps/mcp",
        "/v1/apps/mcp/complete",
        "/v1/apps/{app_id}/keys",
        "/v1/apps/{app_id}/signing-secret",
        "/v2/voice-sessions",
    },
    "OAuth, which stores nothing by these or ends what is there": {
        "/v1/mcp/register",
        "/v1/mcp/revoke",
        "/v1/mcp/authorizations/preview",
        "/v1/connections/start",
        "/v1/connections/complete",
        "/v1/connections/{service}/authorize",
    },
    "JSON-RPC, which has no such key": {"/v1/mcp/sse", "/v1/mcp/sse/messages", "/v1/mcp"},
}
KEY = {"Idempotency-Key": "phone-1"}


@pytest.mark.parametrize("path", CREATIONS)
async def test_a_creation_that_is_sent_again_under_its_key_is_made_once_t15(alice, path: str):
    body = CREATIONS[path]

    first, second = [await alice.post(path, json=body, headers=KEY) for _ in range(2)]
    other = await alice.post(
        path, json={**body, "id": "another", "name": "Bob", "title": "Run"}, headers=KEY
    )

    assert first.is_success
    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json()["detail"]) == (
        422,
        "This idempotency key was used for another request.",
    )


async def test_a_recording_without_an_id_that_is_sent_again_is_one_conversation(alice):
    for _ in range(3):
        await alice.post(CONVERSATIONS, json=CREATIONS[CONVERSATIONS], headers=KEY)

    assert len((await alice.get(CONVERSATIONS, params={"statuses": "processing"})).json()) == 1


def test_every_route_that_stores_something_honours_the_key_or_has_a_reason_not_to():
    posts = {
        row.path: row.creates
        for entry_point in (*LIBRARY, *MEDIA, *IMPORTS, *CHAT, *APPS)
        for place in entry_point.places
        for row in load_routes(place)
        if row.method == "POST" and row.access != "service" and row.is_described
    }

    assert {path for path, creates in posts.items() if not creates} == set().union(
        *REPEATABLE.values()
    )

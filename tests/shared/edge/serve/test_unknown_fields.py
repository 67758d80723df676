"""Unknown fields: every change refuses them by name, but for a few whose senders know more."""

import base64
import json
from typing import Any

import pytest
from starlette.requests import Request

from infra.openapi import list_public_routes
from shared.edge.declare.problems import RequestRejected
from shared.edge.declare.routes import Route
from shared.edge.serve.bodies import parse_json

CHANGES = {
    f"{public.row.method} {public.row.path}": public.row
    for public in list_public_routes()
    if public.row.method in ("PATCH", "PUT") and public.row.body not in (None, bytes)
}
GOAL = {"title": "Read books"}
WRAPPED_KEYS = base64.b64encode(b"\x01" + bytes(60)).decode()
VALID_BODIES: dict[str, Any] = {
    "PUT /v2/sealed-pairing": {"id": "a" * 32, "wrapped_keys": WRAPPED_KEYS},
    "PUT /v1/tool-grants": {"kind": "app", "id": "a", "tool": "t", "state": "always", "pin": "p"},
    "PATCH /v2/chat-sessions/{id}": {"title": "Trains"},
    "PUT /v2/chat-sessions/{id}/shown-version": {"message_id": "m"},
    "PUT /v2/messages/{id}/chosen": {"voice": 1},
    "PATCH /v1/agents/{id}": {"name": "Coach", "tools": None},
    "PATCH /v2/projects/{id}": {"name": "Boat"},
    "PATCH /v1/focus-modes/{id}": {"name": "Exam"},
    "PATCH /v2/rules/{id}": {"text": "Be brief."},
    "PUT /v2/chat-sessions/{id}/focus": {"focus_mode_id": None},
    "PUT /v2/chat-sessions/{id}/exercise": {"exercise_id": None},
    "PUT /v1/users/chat-prompt": {"prompt": "Be brief."},
    "PATCH /v1/users/profile": {"time_zone": "Europe/Lisbon"},
    "PATCH /v1/users/notification-preferences": {"quiet_hours": {"from": "22:00", "to": "07:00"}},
    "PATCH /v1/users/mentor-notification-settings": {"frequency": 3},
    "PATCH /v1/conversations/{conversation_id}": {"title": "Offsite"},
    "PATCH /v1/conversations/{conversation_id}/title": {"title": "Offsite"},
    "PATCH /v1/conversations/{conversation_id}/action-items": {"items_idx": [0], "values": [True]},
    "PATCH /v1/conversations/{conversation_id}/events": {"events_idx": [0], "values": [True]},
    "PATCH /v1/users/transcription-preferences": {"vocabulary": ["Zoë"]},
    "PATCH /v1/conversations/{conversation_id}/action-items/{place}": {
        "old_description": "Call",
        "description": "Write",
    },
    "PATCH /v1/conversations/{conversation_id}/segments/text": {"segment_id": "s", "text": "Hi"},
    "PATCH /v1/conversations/{conversation_id}/segments/assign-bulk": {
        "segment_ids": ["s"],
        "assign_type": "is_user",
        "value": "true",
    },
    "PATCH /v3/memories/{memory_id}": {"value": "Likes tea"},
    "PATCH /v1/folders/{folder_id}": {"name": "Travel"},
    "PATCH /v1/conversations/{conversation_id}/folder": {"folder_id": None},
    "PATCH /v1/action-items/batch": {"items": [{"id": "t", "sort_order": 1}]},
    "PATCH /v1/action-items/{action_item_id}": {"completed": True},
    "PATCH /v1/users/people/{person_id}/name": {"value": "Anna"},
    "PATCH /v1/users/people/{person_id}/role": {"value": "my sister"},
    "PATCH /v1/goals/{goal_id}": GOAL,
    "PATCH /v1/users/language": {"language": "pt"},
    "PATCH /v1/users/onboarding": {"completed": True},
    "PATCH /v1/users/daily-summary-settings": {"hour": 21},
    "PUT /v1/users/preferences/app": {"app_id": "a"},
    "PATCH /v1/dev/user/memories/{memory_id}": {"content": "Likes tea"},
    "PATCH /v1/dev/user/action-items/{action_item_id}": {"completed": True},
    "PATCH /v1/dev/user/conversations/{conversation_id}": {"title": "Offsite"},
    "PATCH /v1/dev/user/goals/{goal_id}": GOAL,
    "PUT /v1/integrations/{key}": {"connected": True},
    "PUT /v2/chat-sessions/{id}/ciphertexts": {"messages": []},
    "PUT /v2/embeds/{id}": {"message_id": "m1", "type": "code", "content": "{}"},
    "PATCH /v1/apps/{app_id}/review": {"score": 4},
    "PATCH /v1/apps/{app_id}/review/reply": {"reviewer_uid": "u", "response": "Thanks"},
}
SENDERS_KNOW_MORE = {
    "PATCH /v1/apps/{app_id}": "the released app sends the whole form, with uid, price and thumbnails",
    "PATCH /v1/users/geolocation": "the released app sends an id and each name in two spellings",
    "PUT /v1/integrations/apple-health/sync": "phones add figures; those that we know are kept",
    "PATCH /v1/action-items/sync-batch": "the released app sends items as its task app has them",
    "PUT /v1/task-integrations/{app_key}": "the released app stores settings of its own; tokens go",
}


def build_request(row: Route[Any], query: str = "") -> Request:
    scope: dict[str, Any] = {
        "type": "http",
        "method": row.method,
        "query_string": query.encode(),
        "headers": [],
    }
    return Request(scope)


def read_refusal(row: Route[Any], body: Any, query: str = "") -> tuple[int, str]:
    with pytest.raises(RequestRejected) as refusal:
        parse_json(row, build_request(row, query), json.dumps(body).encode())
    answer = refusal.value.response
    return answer.status_code, json.loads(bytes(answer.body))["detail"]


def test_every_change_is_listed_u9() -> None:
    assert set(CHANGES) == set(VALID_BODIES) | set(SENDERS_KNOW_MORE)
    ignoring = {name for name, row in CHANGES.items() if not row.refuses_unknown_fields}
    assert ignoring == set(SENDERS_KNOW_MORE)


@pytest.mark.parametrize("name", VALID_BODIES)
def test_a_change_refuses_an_unknown_field_by_its_name_u9(name: str) -> None:
    row, body = CHANGES[name], VALID_BODIES[name]

    assert parse_json(row, build_request(row), json.dumps(body).encode())
    assert read_refusal(row, {**body, "colour_of": "red"}) == (
        422,
        "There is no field named “colour_of”.",
    )


def test_an_unknown_field_of_an_entry_is_placed_u9() -> None:
    body = {"items": [{"id": "t", "sort_order": 1}, {"id": "u", "sort_oder": 2}]}

    assert read_refusal(CHANGES["PATCH /v1/action-items/batch"], body) == (
        422,
        "There is no field named “sort_oder” in entry 2 of the items.",
    )


def test_parameters_of_a_query_may_be_unknown_u9() -> None:
    row = CHANGES["PATCH /v3/memories/{memory_id}"]

    assert parse_json(row, build_request(row, "value=Tea&language=en"), b"{}").value == "Tea"

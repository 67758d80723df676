"""Message routes: bytes, statuses and texts that released apps rely on (P17, P20, P23, P32)."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from functions.chat.api.routes import ROUTES
from functions.chat.deps import ChatDeps
from functions.chat.turn.prepare_turn import MAX_QUESTION_CHARS
from shared.domain.apps.app import App
from shared.domain.errors import Unavailable
from shared.domain.ids import ActionItemId, AppId
from shared.domain.models.model import TextDelta, ToolResult
from shared.domain.tasks.action_item import ActionItem
from shared.edge.serve.http import build_application
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.library import build_conversation, store_conversations, store_memories
from tests.old_app import RenderedAnswer, parse_as_fixed_app

HASH_DIGITS = 16


def open_chat(deps: ChatDeps, uid: str = ADA) -> httpx.AsyncClient:
    return open_client("chat", ROUTES, deps, build_auth_headers(uid))


async def ask(
    deps: ChatDeps, body: dict[str, Any], **query: str
) -> tuple[httpx.Response, RenderedAnswer]:
    async with open_chat(deps) as http:
        response = await http.post("/v2/messages", json=body, params=query)
    return response, parse_as_fixed_app([response.content])


async def test_the_answer_streams_as_frames_and_ends_with_done_p20(world: ChatFixture) -> None:
    await store_conversations(world, ADA, build_conversation(1, "Ann likes Lisbon."))
    search_call = script_calls(("search_conversations", {"query": "Lisbon"}))
    with ScriptedModel(search_call, script_answer("She likes\n\nLisbon[1].")) as model:
        response, screen = await ask(world.deps(model), {"text": "What does Ann like?"})

    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["x-run-id"] == screen.done["id"]  # type: ignore[index]
    assert response.content.startswith(
        b"think: Searching conversations\n\ndata: She likes__CRLF____CRLF__Lisbon[1].\n\ndone: "
    )
    assert screen.done is not None
    [card] = screen.done["memories"]
    assert len(card.pop("words_hash")) == HASH_DIGITS
    assert screen.done == {
        "id": "id0001",
        "text": "She likes\n\nLisbon.",
        "created_at": "2026-03-02T12:00:00.001000Z",
        "sender": "ai",
        "app_id": None,
        "plugin_id": None,
        "from_external_integration": False,
        "from_integration": False,
        "type": "text",
        "memories_id": ["c001"],
        "memories": [
            {
                "id": "c001",
                "created_at": "2026-01-02T09:00:00Z",
                "structured": {"title": "Talk 1", "emoji": "🧠"},
            }
        ],
        "reported": False,
        "report_reason": None,
        "files_id": [],
        "files": [],
        "chat_session_id": "main",
        "rating": None,
        "chart_data": None,
        "ask_for_nps": False,
        "metadata": {
            "model": "scripted-agent",
            "outcome": "completed",
            "sources": [{"kind": "library", "id": "", "name": ""}],
            "marked_text": "She likes\n\nLisbon[1].",
        },
    }


@pytest.mark.parametrize("text", ["", "   ", "x" * (MAX_QUESTION_CHARS + 1)])
async def test_an_empty_or_too_long_question_is_refused_with_an_answer_in_the_chat_p20(
    world: ChatFixture, text: str
) -> None:
    response, screen = await ask(world.deps(), {"text": text})

    assert response.status_code == 200
    assert screen.text.startswith("Your message is ")
    assert screen.done is not None
    assert (screen.done["text"], screen.done["ask_for_nps"]) == (screen.text, False)


async def test_an_unknown_app_is_refused_with_an_answer_in_the_chat(world: ChatFixture) -> None:
    _, screen = await ask(world.deps(), {"text": "Hi"}, app_id="NOPE")

    assert screen.text == "App not found"


async def test_an_answer_whose_model_fails_in_mid_stream_ends_with_done_p20(
    world: ChatFixture,
) -> None:
    with ScriptedModel([TextDelta("Half"), Unavailable("cut")]) as model:
        _, screen = await ask(world.deps(model), {"text": "Hi"})

    assert screen.done is not None
    assert screen.done["text"] == screen.text
    assert screen.text.startswith("Half\n\n")


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        ({}, "Authorization header not found"),
        ({"Authorization": "Bearer"}, "Invalid authorization token"),
        ({"Authorization": "Bearer a b"}, "Invalid authorization token"),
        ({"Authorization": "Basic abc"}, "Invalid authorization token"),
        ({"Authorization": "Bearer forged"}, "Invalid authorization token"),
    ],
)
async def test_a_request_without_a_valid_token_is_rejected(
    world: ChatFixture, headers: dict[str, str], detail: str
) -> None:
    async with open_chat(world.deps()) as http:
        del http.headers["Authorization"]
        response = await http.post("/v2/messages", json={"text": "Hi"}, headers=headers)

    assert (response.status_code, response.json()["detail"]) == (401, detail)


@pytest.mark.parametrize(
    ("body", "content_type", "status", "detail"),
    [
        (b"{", "application/json", 400, "The body is not valid JSON"),
        (b'{"text": "\xff"}', "application/json", 400, "The body is not valid JSON"),
        (b"", "application/json", 400, "The body is not valid JSON"),
        (b"{}", "application/json", 422, "The text must be given"),
        (b'{"text": 7}', "application/json", 422, "The text must be text"),
        (b"text=Hi", "text/plain", 415, "Send the body as application/json."),
        (b" " * 9_000_000, "application/json", 413, "The request body is over 1 MB."),
    ],
)
async def test_an_unreadable_body_is_refused_with_the_reason(
    world: ChatFixture, body: bytes, content_type: str, status: int, detail: str
) -> None:
    async with open_chat(world.deps()) as http:
        response = await http.post(
            "/v2/messages", content=body, headers={"Content-Type": content_type}
        )

    assert response.status_code == status
    assert response.json()["detail"].startswith(detail)
    assert response.headers["content-type"] == "application/problem+json"


async def test_an_empty_chat_begins_with_one_greeting_however_often_it_is_read_p23(
    world: ChatFixture,
) -> None:
    async with open_chat(world.deps()) as http:
        pages = [(await http.get("/v2/messages")).json() for _ in range(2)]
        greeting = (await http.post("/v2/initial-message")).json()

    assert pages[0] == pages[1] == [greeting]
    assert greeting["text"].startswith("Hi! Keepsake here.")


async def test_a_chat_begins_in_the_language_of_its_client_where_its_owner_chose_none(
    world: ChatFixture,
) -> None:
    german = {"Accept-Language": "de-AT,de;q=0.9"}
    async with open_chat(world.deps()) as http:
        [listed] = (await http.get("/v2/messages", headers=german)).json()
        cleared = (await http.delete("/v2/messages", headers=german)).json()
        await http.delete("/v2/messages")
        [english] = (await http.get("/v2/messages", headers=german)).json()

    assert listed["text"] == cleared["text"]
    assert listed["text"].startswith("Hallo! Hier ist Keepsake.")
    assert english["text"].startswith("Hi! Keepsake here.")


async def test_messages_are_listed_newest_first_p23(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hello.")) as model:
        deps = world.deps(model)
        await ask(deps, {"text": "Hi"})
        async with open_chat(deps) as http:
            page = (await http.get("/v2/messages", params={"app_id": "null"})).json()

    assert [m["text"] for m in page] == ["Hello.", "Hi"]


async def test_clearing_removes_only_this_chat_of_this_user_p23(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("a"), script_answer("b"), script_answer("c")) as model:
        deps = world.deps(model)
        app = App(
            id=AppId("APP1"), owner=EVE, name="Chess", created_at=world.clock.now(), private=False
        )
        await deps.stores.apps.create(app)
        await ask(deps, {"text": "main"})
        await ask(deps, {"text": "app"}, plugin_id="APP1")
        async with open_chat(deps, EVE) as eve:
            await eve.post("/v2/messages", json={"text": "eve"})
        async with open_chat(deps) as http:
            cleared = await http.delete("/v1/messages")
            main = (await http.get("/v2/messages")).json()
            app_chat = (await http.get("/v2/messages", params={"app_id": "APP1"})).json()
        async with open_chat(deps, EVE) as eve:
            eve_chat = (await eve.get("/v2/messages")).json()

    assert main == [cleared.json()]
    assert [m["text"] for m in app_chat] == ["b", "app"]
    assert [m["text"] for m in eve_chat] == ["c", "eve"]


async def test_an_answer_is_reported_once_and_by_its_owner_only_p23(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hello.")) as model:
        deps = world.deps(model)
        await ask(deps, {"text": "Hi"})
        async with open_chat(deps) as http:
            ai, human = (await http.get("/v2/messages")).json()
            first = await http.post(f"/v2/messages/{ai['id']}/report")
            again = await http.post(f"/v2/messages/{ai['id']}/report")
            mine = await http.post(f"/v1/messages/{human['id']}/report")
            unknown = await http.post("/v2/messages/nope/report")
        async with open_chat(deps, EVE) as eve:
            others = await eve.post(f"/v2/messages/{ai['id']}/report")

    assert (first.status_code, first.json()) == (200, {"message": "Message reported"})
    assert [(r.status_code, r.json()["detail"]) for r in (again, mine, unknown, others)] == [
        (400, "Message already reported"),
        (400, "Only AI messages can be reported"),
        (404, "Message not found"),
        (404, "Message not found"),
    ]


async def test_a_rating_is_stored_and_can_be_taken_back_p23(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hello.")) as model:
        deps = world.deps(model)
        _, screen = await ask(deps, {"text": "Hi"})
        async with open_chat(deps) as http:
            ratings = []
            for value in ("1", "-1", "0"):
                query = {"message_id": screen.done["id"], "value": value, "reason": "other"}  # type: ignore[index]
                answer = await http.post("/v1/users/analytics/chat_message", params=query)
                assert answer.json() == {"status": "ok"}
                ratings.append((await http.get("/v2/messages")).json()[0]["rating"])
            unknown_message = await http.post(
                "/v1/users/analytics/chat_message", params={"message_id": "x", "value": "1"}
            )
            invalid_value = await http.post(
                "/v1/users/analytics/chat_message", params={"message_id": "x", "value": "2"}
            )

    assert ratings == [1, -1, None]
    assert (unknown_message.status_code, invalid_value.status_code) == (404, 422)


async def test_changing_the_profile_keeps_the_fields_that_are_not_sent_p32(
    world: ChatFixture,
) -> None:
    async with open_chat(world.deps()) as http:
        initial_profile = (await http.get("/v1/users/profile")).json()
        await http.patch("/v1/users/profile", json={"name": "Ada", "language": "de"})
        updated_profile = await http.patch("/v1/users/profile", json={"time_zone": "Asia/Tokyo"})
        wrong = await http.patch("/v1/users/profile", json={"time_zone": "Mars/Olympus"})
        evil = await http.patch("/v1/users/profile", json={"time_zone": "../../etc/passwd"})

    kept = {
        "is_place_shared": False,
        "keeps_audio": False,
        "own_names": [],
        "interests": [],
        "learning_style": "",
        "summarises_results": False,
        "retention_days": 0,
        "data_protection_level": "standard",
        "migration_status": None,
        "recalls_memories": True,
        "volunteers_memories": False,
        "recalls_chats": True,
        "preferred_model": "auto",
        "masks_private_data": True,
    }
    assert initial_profile == {"name": "", "time_zone": "UTC", "language": None, **kept}
    assert updated_profile.json() == {
        "name": "Ada",
        "time_zone": "Asia/Tokyo",
        "language": "de",
        **kept,
    }
    assert [wrong.status_code, evil.status_code] == [422, 422]


async def test_own_names_are_kept_once_each_and_stored_conversations_follow(
    world: ChatFixture,
) -> None:
    async with open_chat(world.deps()) as http:
        changed = await http.patch(
            "/v1/users/profile", json={"own_names": [" Ada  L. ", "ada l.", "Me"]}
        )
        read = await http.get("/v1/users/profile")
        too_many = await http.patch(
            "/v1/users/profile", json={"own_names": [f"Ada {n}" for n in range(21)]}
        )
        empty = await http.patch("/v1/users/profile", json={"own_names": [" "]})

    [task] = world.tasks.created
    assert changed.json()["own_names"] == read.json()["own_names"] == ["Ada L.", "Me"]
    assert (too_many.status_code, empty.status_code) == (413, 422)
    assert (task.target, task.body["cursor"]) == ("mark_owner", None)


async def test_a_model_reads_times_in_the_zone_of_the_profile_p32(world: ChatFixture) -> None:
    await store_conversations(world, ADA, build_conversation(1, "We spoke about topic1."))
    await store_memories(world, ADA, ["Ada owns boat1"])
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_conversations", {}),
        ("get_memories", {}),
        ("get_action_items", {}),
    ]
    shown_by_zone: dict[str, str] = {}
    due_at = datetime(2026, 7, 1, 8, tzinfo=UTC)
    item = ActionItem(
        id=ActionItemId("milk"),
        description="Buy milk",
        created_at=due_at,
        updated_at=due_at,
        due_at=due_at,
    )
    await world.deps().stores.action_items.add(ADA, item)
    for zone in ("UTC", "Asia/Tokyo"):
        model = ScriptedModel(script_calls(*calls), script_answer("Done."))
        async with open_chat(world.deps(model)) as http:
            await http.patch("/v1/users/profile", json={"time_zone": zone})
            await http.post("/v2/messages", json={"text": "What is new?"})
        results = [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)]
        shown_by_zone[zone] = "\n".join(results)

    assert "due 2026-07-01T08:00+00:00" in shown_by_zone["UTC"]
    assert "due 2026-07-01T17:00+09:00" in shown_by_zone["Asia/Tokyo"]
    assert shown_by_zone["UTC"].count("+00:00") == shown_by_zone["Asia/Tokyo"].count("+09:00") == 4
    (item,) = await world.deps().stores.action_items.list_newest(ADA, limit=9)
    assert item.due_at == due_at


async def test_a_device_registers_with_its_zone_and_unregisters_p32(world: ChatFixture) -> None:
    deps = world.deps()
    headers = {"X-App-Platform": "ios", "X-Device-Id-Hash": "abc123"}
    async with open_chat(deps) as http:
        saved = await http.post(
            "/v1/users/fcm-token",
            json={"fcm_token": "t1", "time_zone": "Europe/Berlin"},
            headers=headers,
        )
        devices = await deps.stores.devices.list_all(ADA)
        zone = (await http.get("/v1/users/profile")).json()["time_zone"]
        await http.delete("/v1/users/fcm-token", headers=headers)

    assert saved.json() == {"status": "Ok"}
    assert [(d.id, d.fcm_token) for d in devices] == [("ios_abc123", "t1")]
    assert zone == "Europe/Berlin"
    assert await deps.stores.devices.list_all(ADA) == []


async def test_health_answers_and_unknown_paths_and_methods_are_problems(
    world: ChatFixture,
) -> None:
    async with open_chat(world.deps()) as http:
        health = await http.get("/healthz")
        unknown_path = await http.get("/v9/nothing")
        method = await http.put("/v2/messages", json={})

    assert health.json() == {"status": "ok", "function": "chat"}
    assert [json.loads(r.content)["status"] for r in (unknown_path, method)] == [404, 405]


async def test_cors_allows_only_listed_origins(world: ChatFixture) -> None:
    app = build_application("chat", ROUTES, world.deps(), cors_origins=("https://ours.example",))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://keepsake"
    ) as http:
        allowed_response = await http.get("/healthz", headers={"Origin": "https://ours.example"})
        other_response = await http.get("/healthz", headers={"Origin": "https://other.example"})

    assert allowed_response.headers["access-control-allow-origin"] == "https://ours.example"
    assert "X-Run-Id" in allowed_response.headers["access-control-expose-headers"]
    assert "access-control-allow-origin" not in other_response.headers

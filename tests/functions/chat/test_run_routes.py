"""Run routes: two protocols, repeat, resume, stop and close (P29, X30, X34, X36)."""

from typing import Any

import anyio
import httpx
import pytest

from functions.chat.api.internal_routes import CLOSE_RUN_ROUTES
from functions.chat.deps import ClosingDeps
from shared.domain.chats.chat import MAIN_SESSION
from shared.domain.models.model import TextDelta
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.callers import IDENTITY, SERVICE_IDENTITY, build_service_headers, open_client
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_message_routes import open_chat
from tests.old_app import parse_as_fixed_app

UI_PROTOCOL = {"protocol": "ui-message-stream"}
HELLO = {"text": "Hello"}


def parse_event_ids(stream: bytes) -> list[int]:
    return [int(line[4:]) for line in stream.split(b"\n") if line.startswith(b"id: ")]


async def test_an_answer_streams_in_the_requested_protocol(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        async with open_chat(world.deps(model)) as http:
            answer = await http.post("/v2/messages", json=HELLO, params=UI_PROTOCOL)

    assert answer.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert answer.headers["x-run-id"] == "id0001"
    assert answer.content.startswith(b'data: {"type":"start","messageId":"id0001"}\n\n')
    assert b'"delta":"Hi"' in answer.content
    assert answer.content.rstrip().split(b"\n")[-2] == b"data: [DONE]"


@pytest.mark.parametrize(
    ("body", "query", "status"),
    [
        ({"text": " "}, {}, 422),
        ({"text": "x" * 20_001}, {}, 413),
        (HELLO, {"app_id": "NOPE"}, 404),
        (HELLO, {"chat_session_id": "NOPE"}, 404),
    ],
)
async def test_an_invalid_question_is_a_problem_response_before_any_model_call_x30(
    world: ChatFixture, body: dict[str, str], query: dict[str, str], status: int
) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.post("/v2/messages", json=body, params={**UI_PROTOCOL, **query})

    assert (refusal.status_code, refusal.json()["status"]) == (status, status)


async def test_an_unknown_protocol_is_refused(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        refusal = await http.post("/v2/messages", json=HELLO, params={"protocol": "carrier-pigeon"})

    assert refusal.status_code == 422


async def test_a_resumed_stream_continues_byte_for_byte_x36(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi ", "Ada", ", how are you?")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            answer = await http.post("/v2/messages", json=HELLO)
            path = f"/v2/messages/{answer.headers['x-run-id']}/stream"
            whole = (await http.get(path)).content
            event_ids = parse_event_ids(whole)
            for seq in event_ids[:-1]:
                head = whole[: whole.index(b"\nid: %d\n\n" % seq) + len(b"\nid: %d\n\n" % seq)]
                by_header = await http.get(path, headers={"Last-Event-ID": str(seq)})
                by_query = await http.get(path, params={"after": seq})
                assert head + by_header.content == head + by_query.content == whole
            last_response = await http.get(path, headers={"Last-Event-ID": str(event_ids[-1])})

    assert last_response.status_code == 204


async def test_a_run_can_be_replayed_until_its_journal_expires(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            answer = await http.post("/v2/messages", json=HELLO)
            path = f"/v2/messages/{answer.headers['x-run-id']}/stream"
            statuses = [(await http.get(path)).status_code]
            world.clock.advance(hours=1)
            statuses.append((await http.get(path)).status_code)
            world.clock.advance(hours=23)
            statuses.append((await http.get(path)).status_code)
            unknown_run = await http.get("/v2/messages/nope/stream")
            invalid_header = await http.get(path, headers={"Last-Event-ID": "x"})

    assert statuses == [200, 204, 404]
    assert (unknown_run.status_code, invalid_header.status_code) == (404, 400)


async def test_another_users_run_cannot_be_followed_or_stopped(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            run_id = (await http.post("/v2/messages", json=HELLO)).headers["x-run-id"]
        async with open_chat(deps, EVE) as eve:
            answers = [
                await eve.get(f"/v2/messages/{run_id}/stream"),
                await eve.post(f"/v2/messages/{run_id}/stop"),
            ]

    assert [answer.status_code for answer in answers] == [404, 404]


async def test_a_run_is_stopped_over_http_x34(world: ChatFixture) -> None:
    with ScriptedModel([TextDelta("Half"), anyio.sleep_forever]) as model:
        deps = world.deps(model)
        answers: list[httpx.Response] = []
        async with open_chat(deps) as http, anyio.create_task_group() as tasks:

            async def ask() -> None:
                answers.append(await http.post("/v2/messages", json=HELLO))

            tasks.start_soon(ask)
            while (active_run := deps.active_runs.find(ADA, "id0001")) is None:  # type: ignore[arg-type]
                await anyio.wait_all_tasks_blocked()
            await anext(active_run.journal.tail())
            stopping = await http.post("/v2/messages/id0001/stop")
        async with open_chat(deps) as http:
            ended = await http.post("/v2/messages/id0001/stop")

    screen = parse_as_fixed_app([answers[0].content])
    assert (stopping.status_code, stopping.json()["status"]) == (202, "stopping")
    assert (ended.status_code, ended.json()) == (200, {"status": "ended", "outcome": "stopped"})
    assert screen.done is not None
    assert screen.done["metadata"]["stop_reason"] == "user_cancelled"


async def test_a_too_long_idempotency_key_is_refused_p29(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        async with open_chat(world.deps(model)) as http:
            keys = [{"Idempotency-Key": "k" * length} for length in (255, 256)]
            answers = [await http.post("/v2/messages", json=HELLO, headers=key) for key in keys]

    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["detail"] == (
        "The Idempotency-Key must be at most 255 characters long; it has 256."
    )


@pytest.mark.parametrize("hours", [0, 2, 30])
@pytest.mark.parametrize("query", [{}, UI_PROTOCOL])
async def test_a_question_sent_twice_with_one_idempotency_key_is_answered_once_p29(
    world: ChatFixture, hours: int, query: dict[str, str]
) -> None:
    """From the journal at first, later from the message, which is stored for longer."""
    spare = [script_answer("never told")] if hours == 30 else []
    with ScriptedModel(script_answer("Hi ", "Ada"), *spare) as model:
        deps = world.deps(model)
        headers = {"Idempotency-Key": "k1"}
        async with open_chat(deps) as http:
            first = await http.post("/v2/messages", json=HELLO, headers=headers)
            world.clock.advance(hours=hours)
            again = await http.post("/v2/messages", json=HELLO, headers=headers, params=query)
        model.calls.clear()
        model._turns.clear()

    messages = await deps.stores.messages.list_newest(ADA, MAIN_SESSION, limit=9)
    assert [m.text for m in messages] == ["Hi Ada", "Hello"]
    assert first.headers["x-run-id"] == again.headers["x-run-id"] == messages[0].id
    if not query:
        assert parse_as_fixed_app([first.content]) == parse_as_fixed_app([again.content])
    else:
        assert b"Hi Ada" in again.content


@pytest.mark.parametrize("change", [{"text": "Bye"}, {"file_ids": ["f1"]}])
async def test_an_idempotency_key_reused_for_another_question_is_refused_p29(
    world: ChatFixture, change: dict[str, Any]
) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            await http.post("/v2/messages", json={**HELLO, "client_message_id": "k1"})
            refusal = await http.post(
                "/v2/messages", json={**HELLO, **change, "client_message_id": "k1"}
            )

    assert refusal.status_code == 422


async def test_the_same_idempotency_key_of_another_user_is_another_question(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Hi"), script_answer("Ho")) as model:
        deps = world.deps(model)
        body = {**HELLO, "client_message_id": "k1"}
        async with open_chat(deps) as http:
            mine = await http.post("/v2/messages", json=body)
        async with open_chat(deps, EVE) as eve:
            hers = await eve.post("/v2/messages", json=body)

    assert mine.headers["x-run-id"] != hers.headers["x-run-id"]


async def test_only_our_services_may_close_a_run(world: ChatFixture) -> None:
    deps = ClosingDeps(
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        stores=world.deps().stores,
    )
    body = {"uid": ADA, "run_id": "nope"}
    async with open_client("close_run", CLOSE_RUN_ROUTES, deps) as http:
        stranger = await http.post("/", json=body)
        service_response = await http.post(
            "/", json=body, headers=await build_service_headers("close_run")
        )

    assert (stranger.status_code, service_response.status_code) == (401, 200)

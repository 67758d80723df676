"""Runs over HTTP: two protocols, repeats, resuming, stopping, closing (P29, X30, X34, X36)."""

from contextlib import ExitStack
from typing import Any

import anyio
import httpx
import pytest

from functions.chat.journal import Journal
from functions.chat.live import MAX_RUNS, LiveRun
from functions.chat.run_endpoints import CLOSING
from functions.chat.wiring import ClosingDeps
from shared.adapters.local_identity import LocalIdentity, LocalServiceIdentity
from shared.domain.chat import MAIN_SESSION
from shared.domain.ids import RunId
from shared.domain.model import TextDelta
from shared.edge.http import application
from tests.doubles import ScriptedModel, says
from tests.functions.chat.conftest import ADA, EVE, SECRET, World
from tests.functions.chat.test_endpoints import client
from tests.old_app import fixed_parser

UI = {"protocol": "ui-message-stream"}
HELLO = {"text": "Hello"}


def ids(stream: bytes) -> list[int]:
    return [int(line[4:]) for line in stream.split(b"\n") if line.startswith(b"id: ")]


async def test_an_answer_streams_in_the_protocol_that_is_asked_for(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        async with client(world.deps(model)) as http:
            answer = await http.post("/v2/messages", json=HELLO, params=UI)

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
async def test_x30_a_refusal_is_a_problem_in_the_new_protocol_before_any_model_call(
    world: World, body: dict[str, str], query: dict[str, str], status: int
) -> None:
    async with client(world.deps()) as http:
        refused = await http.post("/v2/messages", json=body, params={**UI, **query})

    assert (refused.status_code, refused.json()["status"]) == (status, status)


async def test_p34_so_many_answers_at_once_and_no_more_for_one_user(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        deps = world.deps(model)
        with ExitStack() as runs:
            for n in range(MAX_RUNS):
                runs.enter_context(deps.live.holding(ADA, RunId(f"r{n}"), LiveRun(Journal())))
            async with client(deps) as http:
                refused = await http.post("/v2/messages", json=HELLO, params=UI)
                shown = await http.post("/v2/messages", json=HELLO)
            async with client(deps, LocalIdentity(SECRET).issue(EVE)) as http:
                other = await http.post("/v2/messages", json=HELLO)

    words = "I am already working on 10 of your questions."
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert refused.json()["detail"].startswith(words)
    assert shown.content.startswith(f"data: {words}".encode())
    assert other.content.startswith(b"data: Hi")


async def test_an_unknown_protocol_is_refused(world: World) -> None:
    async with client(world.deps()) as http:
        refused = await http.post("/v2/messages", json=HELLO, params={"protocol": "carrier-pigeon"})

    assert refused.status_code == 422


async def test_x36_what_is_cut_off_and_resumed_is_byte_for_byte_the_whole(world: World) -> None:
    with ScriptedModel(says("Hi ", "Ada", ", how are you?")) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            asked = await http.post("/v2/messages", json=HELLO)
            path = f"/v2/messages/{asked.headers['x-run-id']}/stream"
            whole = (await http.get(path)).content
            seen = ids(whole)
            for seq in seen[:-1]:
                head = whole[: whole.index(b"\nid: %d\n\n" % seq) + len(b"\nid: %d\n\n" % seq)]
                by_header = await http.get(path, headers={"Last-Event-ID": str(seq)})
                by_query = await http.get(path, params={"after": seq})
                assert head + by_header.content == head + by_query.content == whole
            rest = await http.get(path, headers={"Last-Event-ID": str(seen[-1])})

    assert rest.status_code == 204


async def test_a_run_is_told_until_its_journal_is_gone(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            asked = await http.post("/v2/messages", json=HELLO)
            path = f"/v2/messages/{asked.headers['x-run-id']}/stream"
            statuses = [(await http.get(path)).status_code]
            world.clock.pass_(hours=1)
            statuses.append((await http.get(path)).status_code)
            world.clock.pass_(hours=23)
            statuses.append((await http.get(path)).status_code)
            lost = await http.get("/v2/messages/nope/stream")
            broken = await http.get(path, headers={"Last-Event-ID": "x"})

    assert statuses == [200, 204, 404]
    assert (lost.status_code, broken.status_code) == (404, 400)


async def test_nobody_elses_run_is_told_or_stopped(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            run_id = (await http.post("/v2/messages", json=HELLO)).headers["x-run-id"]
        async with client(deps, LocalIdentity(SECRET).issue(EVE)) as eve:
            answers = [
                await eve.get(f"/v2/messages/{run_id}/stream"),
                await eve.post(f"/v2/messages/{run_id}/stop"),
            ]

    assert [answer.status_code for answer in answers] == [404, 404]


async def test_x34_stopping_over_http(world: World) -> None:
    with ScriptedModel([TextDelta("Half"), anyio.sleep_forever]) as model:
        deps = world.deps(model)
        answers: list[httpx.Response] = []
        async with client(deps) as http, anyio.create_task_group() as tasks:

            async def ask() -> None:
                answers.append(await http.post("/v2/messages", json=HELLO))

            tasks.start_soon(ask)
            while (live := deps.live.find(ADA, "id0001")) is None:  # type: ignore[arg-type]
                await anyio.wait_all_tasks_blocked()
            await anext(live.journal.tail())
            stopping = await http.post("/v2/messages/id0001/stop")
        async with client(deps) as http:
            ended = await http.post("/v2/messages/id0001/stop")

    shown = fixed_parser([answers[0].content])
    assert (stopping.status_code, stopping.json()["status"]) == (202, "stopping")
    assert (ended.status_code, ended.json()) == (200, {"status": "ended", "outcome": "stopped"})
    assert shown.done is not None
    assert shown.done["metadata"]["stop_reason"] == "user_cancelled"


async def test_p29_a_key_that_is_too_long_is_refused(world: World) -> None:
    with ScriptedModel(says("Hi")) as model:
        async with client(world.deps(model)) as http:
            keys = [{"Idempotency-Key": "k" * length} for length in (255, 256)]
            answers = [await http.post("/v2/messages", json=HELLO, headers=key) for key in keys]

    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["detail"].startswith("Idempotency-Key: ")


@pytest.mark.parametrize("hours", [0, 2, 30])
@pytest.mark.parametrize("query", [{}, UI])
async def test_p29_a_question_sent_twice_with_one_key_is_one_question(
    world: World, hours: int, query: dict[str, str]
) -> None:
    """At once from the journal, later from the message, which outlives the run."""
    spare = [says("never told")] if hours == 30 else []
    with ScriptedModel(says("Hi ", "Ada"), *spare) as model:
        deps = world.deps(model)
        headers = {"Idempotency-Key": "k1"}
        async with client(deps) as http:
            first = await http.post("/v2/messages", json=HELLO, headers=headers)
            world.clock.pass_(hours=hours)
            again = await http.post("/v2/messages", json=HELLO, headers=headers, params=query)
        model.calls.clear()
        model._turns.clear()

    messages = await deps.messages.newest(ADA, MAIN_SESSION, limit=9)
    assert [m.text for m in messages] == ["Hi Ada", "Hello"]
    assert first.headers["x-run-id"] == again.headers["x-run-id"] == messages[0].id
    if not query:
        assert fixed_parser([first.content]) == fixed_parser([again.content])
    else:
        assert b"Hi Ada" in again.content


@pytest.mark.parametrize("change", [{"text": "Bye"}, {"file_ids": ["f1"]}])
async def test_p29_a_key_that_came_with_another_question_is_refused(
    world: World, change: dict[str, Any]
) -> None:
    with ScriptedModel(says("Hi")) as model:
        deps = world.deps(model)
        async with client(deps) as http:
            await http.post("/v2/messages", json={**HELLO, "client_message_id": "k1"})
            refused = await http.post(
                "/v2/messages", json={**HELLO, **change, "client_message_id": "k1"}
            )

    assert refused.status_code == 422


async def test_the_same_key_of_another_user_is_another_question(world: World) -> None:
    with ScriptedModel(says("Hi"), says("Ho")) as model:
        deps = world.deps(model)
        body = {**HELLO, "client_message_id": "k1"}
        async with client(deps) as http:
            mine = await http.post("/v2/messages", json=body)
        async with client(deps, LocalIdentity(SECRET).issue(EVE)) as eve:
            hers = await eve.post("/v2/messages", json=body)

    assert mine.headers["x-run-id"] != hers.headers["x-run-id"]


async def test_closing_is_for_our_own_functions(world: World) -> None:
    services = LocalServiceIdentity(SECRET)
    deps = ClosingDeps(
        identity=LocalIdentity(SECRET),
        service_identity=services,
        clock=world.clock,
        runs=world.deps().runs,
    )
    transport = httpx.ASGITransport(application("close_run", CLOSING, deps))
    body = {"uid": ADA, "run_id": "nope"}
    async with httpx.AsyncClient(transport=transport, base_url="http://keepsake") as http:
        stranger = await http.post("/", json=body)
        token = await services.token("close_run")
        ours = await http.post("/", json=body, headers={"Authorization": f"Bearer {token}"})

    assert (stranger.status_code, ours.status_code) == (401, 200)

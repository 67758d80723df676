"""Quotas of a turn: slots that no process exceeds, and the turns and tokens of a day (S5, P25)."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from functions.chat.deps import ChatDeps
from functions.chat.runs.journal import Journal
from functions.chat.turn.answer_turn import answer_turn, build_run
from functions.chat.turn.prepare_turn import prepare_turn
from functions.chat.turn.prepared_turn import PreparedTurn
from functions.chat.turn.question import Question
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.chats.turn_slots import MAX_CONCURRENT_TURNS
from shared.domain.account.quota import MAX_QUOTA_ANSWERS, QuotaName
from shared.domain.chats.run import LEASE_TTL
from shared.domain.errors import QuotaExceeded
from shared.domain.models.model import ModelCallFinished, TextDelta, Usage
from shared.domain.store.documents import Query
from shared.ports import Documents
from tests.fakes import ScriptedModel, script_answer
from tests.fixtures.chat import ADA, EVE, ChatFixture, build_chat_fixture
from tests.fixtures.storage import open_documents
from tests.functions.chat.test_confirmation import run_until_confirmation
from tests.functions.chat.test_message_routes import ask, open_chat

UI_PROTOCOL = {"protocol": "ui-message-stream"}
HELLO = {"text": "Hello"}


@pytest.fixture(autouse=True)
def forbid_blocking_calls() -> None:
    """Allow the emulator's client to connect in the event loop."""
    return


@pytest.fixture
def database(file_database: SqliteDatabase) -> SqliteDatabase:
    return file_database


@pytest.fixture
def any_world(database: SqliteDatabase, any_documents: Documents) -> ChatFixture:
    return build_chat_fixture(database, any_documents)


@pytest.fixture
def other_world(
    any_world: ChatFixture, documents: Documents, tmp_path: Path
) -> Iterator[ChatFixture]:
    """Open the same store as another process does, with a connection of its own to the file."""
    with open_documents(tmp_path) as own_documents:
        is_sqlite = any_world.documents is documents
        yield replace(any_world, documents=own_documents if is_sqlite else any_world.documents)


def open_instance(
    world: ChatFixture, name: str, *, quotas: Mapping[QuotaName, int] | None = None
) -> ChatDeps:
    """Build the dependencies of another process over the same store."""
    numbers = iter(range(1_000_000))
    deps = world.deps() if quotas is None else world.deps(quotas=quotas)
    return replace(deps, new_id=lambda: f"{name}{next(numbers)}")


async def prepare_many(*instances: ChatDeps, count: int) -> tuple[list[PreparedTurn], list[Any]]:
    """Ask `count` questions at once, spread over instances; return the turns and the refusals."""
    results = await asyncio.gather(
        *(
            prepare_turn(instances[n % len(instances)], ADA, Question("Hello"))
            for n in range(count)
        ),
        return_exceptions=True,
    )
    turns = [result for result in results if isinstance(result, PreparedTurn)]
    return turns, [result for result in results if not isinstance(result, PreparedTurn)]


async def test_of_sixty_questions_at_once_exactly_ten_run_over_two_instances_s5(
    any_world: ChatFixture, other_world: ChatFixture
) -> None:
    quotas: dict[QuotaName, int] = {"turns": 100}
    instances = [
        open_instance(any_world, "a", quotas=quotas),
        open_instance(other_world, "b", quotas=quotas),
    ]

    turns, refusals = await prepare_many(*instances, count=60)

    assert len(turns) == MAX_CONCURRENT_TURNS
    assert {type(refusal) for refusal in refusals} == {QuotaExceeded}
    usage = await instances[0].quotas.load_usage(ADA, any_world.clock.now())
    assert usage["turns"] == MAX_CONCURRENT_TURNS


async def test_of_sixty_questions_at_once_the_days_turns_run_over_two_instances_s5(
    any_world: ChatFixture, other_world: ChatFixture
) -> None:
    quotas: dict[QuotaName, int] = {"turns": 7}
    instances = [
        open_instance(any_world, "a", quotas=quotas),
        open_instance(other_world, "b", quotas=quotas),
    ]
    started_count = 0

    # Of many at once, one may get the last turn and another the slot: both give back what they got.
    # So the last ones ask alone.
    for count in (20, 20, 20, *[1] * 8):
        turns, _ = await prepare_many(*instances, count=count)
        started_count += len(turns)
        for turn in turns:
            await turn.slot.release()

    assert started_count == 7


async def test_a_slot_is_free_once_its_turn_has_ended_s5(world: ChatFixture) -> None:
    script = script_answer("Hi")
    with ScriptedModel(*[script] * 12) as model:
        deps = world.deps(model)
        for _ in range(12):
            await ask(deps, HELLO)

    assert await deps.stores.turn_slots.list_all(ADA) == [None] * MAX_CONCURRENT_TURNS


async def test_the_slot_of_a_killed_process_is_free_when_its_lease_lapses_s5(
    world: ChatFixture,
) -> None:
    dying = open_instance(world, "a")
    turns, _ = await prepare_many(dying, count=10)
    for turn in turns:
        await dying.stores.runs.begin(ADA, build_run(dying, turn), turn.session, turn.question)
    survivor = open_instance(world, "b")

    with pytest.raises(QuotaExceeded):
        await prepare_turn(survivor, ADA, Question("Hello"))
    world.clock.advance(seconds=LEASE_TTL.total_seconds())
    again, _ = await prepare_many(survivor, count=20)

    assert len(again) == MAX_CONCURRENT_TURNS


async def test_the_slot_of_a_turn_that_never_began_is_free_after_a_minute_s5(
    world: ChatFixture,
) -> None:
    await prepare_many(open_instance(world, "a"), count=10)
    world.clock.advance(minutes=1)

    turns, _ = await prepare_many(open_instance(world, "b"), count=20)

    assert len(turns) == MAX_CONCURRENT_TURNS


async def test_a_question_that_is_refused_takes_no_slot_and_no_turn_s5(world: ChatFixture) -> None:
    deps = world.deps()
    async with open_chat(deps) as http:
        refusal = await http.post(
            "/v2/messages", json=HELLO, params={**UI_PROTOCOL, "chat_session_id": "NOPE"}
        )

    usage = await deps.quotas.load_usage(ADA, world.clock.now())
    assert (refusal.status_code, usage["turns"]) == (404, 0)
    assert await deps.stores.turn_slots.list_all(ADA) == [None] * MAX_CONCURRENT_TURNS


async def test_a_repeat_of_a_running_question_is_replayed_at_the_limit_s5(
    world: ChatFixture,
) -> None:
    headers = {"Idempotency-Key": "k1"}
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model)
        async with open_chat(deps) as http:
            first = await http.post("/v2/messages", json=HELLO, headers=headers)
            await prepare_many(open_instance(world, "b"), count=10)
            repeat = await http.post("/v2/messages", json=HELLO, headers=headers)

    assert repeat.content == first.content


@asynccontextmanager
async def fill_slots(world: ChatFixture) -> AsyncIterator[None]:
    turns, _ = await prepare_many(open_instance(world, "busy"), count=10)
    yield
    for turn in turns:
        await turn.slot.release()


async def test_a_client_of_the_new_protocol_is_answered_429_with_limit_headers_s5(
    world: ChatFixture,
) -> None:
    world.clock.advance(hours=11)
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model, quotas={"turns": 1})
        async with open_chat(deps) as http:
            await http.post("/v2/messages", json=HELLO, params=UI_PROTOCOL)
            refusal = await http.post("/v2/messages", json=HELLO, params=UI_PROTOCOL)

    assert refusal.status_code == 429
    assert refusal.headers["content-type"] == "application/problem+json"
    assert refusal.headers["retry-after"] == "3600"
    assert refusal.headers["ratelimit-policy"] == '"turns";q=1;w=86400'
    assert refusal.headers["ratelimit"] == '"turns";r=0;t=3600'
    problem = refusal.json()
    assert problem["type"].endswith("#quota-exceeded")
    assert problem["violated-policies"] == ["turns"]
    assert problem["detail"] == "You used up today's 1 questions. It continues at 00:00 UTC."


async def test_the_concurrency_limit_is_answered_in_both_protocols_p34(world: ChatFixture) -> None:
    deps = open_instance(world, "c")
    async with fill_slots(world), open_chat(deps) as http:
        refusal = await http.post("/v2/messages", json=HELLO, params=UI_PROTOCOL)
        in_chat = await http.post("/v2/messages", json=HELLO)

    text = "I am already working on 10 of your questions."
    assert (refusal.status_code, refusal.headers["retry-after"]) == (429, "5")
    assert refusal.headers["ratelimit"] == '"concurrent-turns";r=0;t=5'
    assert in_chat.status_code == 200
    assert in_chat.content.startswith(f"data: {text}".encode())


async def test_other_users_are_not_affected_by_a_limit_p34(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        async with fill_slots(world), open_chat(world.deps(model), EVE) as http:
            answer = await http.post("/v2/messages", json=HELLO)

    assert answer.content.startswith(b"data: Hi")


async def test_in_the_old_protocol_a_quota_answer_is_stored_and_says_when_it_continues_p25(
    world: ChatFixture,
) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model, quotas={"turns": 1})
        await deps.stores.profiles.change(ADA, time_zone="Europe/Berlin")
        await ask(deps, HELLO)
        world.clock.advance(seconds=1)
        response, screen = await ask(deps, {"text": "And now?"})
        async with open_chat(deps) as http:
            listed = (await http.get("/v2/messages")).json()

    answer = (
        "You used up today's 1 questions. It continues at 00:00 UTC. "
        "For you that is 01:00 on 2026-03-03 (Europe/Berlin)."
    )
    assert (response.status_code, screen.text, screen.failed) == (200, answer, False)
    assert [message["text"] for message in listed] == [answer, "And now?", "Hi", "Hello"]
    assert screen.done is not None
    assert screen.done["id"] == listed[0]["id"]
    assert screen.done["metadata"] == {"outcome": "refused", "quota": "turns"}


async def test_a_turn_is_refused_when_the_days_tokens_are_used_s5(world: ChatFixture) -> None:
    usage = Usage(input_tokens=900, cached_tokens=100, output_tokens=200)
    finish = ModelCallFinished(reason="stop", model="scripted", usage=usage)
    with ScriptedModel([TextDelta("Hi"), finish]) as model:
        deps = world.deps(model, quotas={"tokens": 1_000})
        await ask(deps, HELLO)
        world.clock.advance(seconds=3)
        _, screen = await ask(deps, HELLO)

    used = await deps.quotas.load_usage(ADA, world.clock.now())
    assert used["tokens"] == 1_100
    assert "today's 1,000 tokens" in screen.text


async def test_quotas_begin_anew_with_the_day_s5(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi"), script_answer("Hi again")) as model:
        deps = world.deps(model, quotas={"turns": 1})
        await ask(deps, HELLO)
        world.clock.advance(hours=12)
        _, screen = await ask(deps, HELLO)

    assert screen.text == "Hi again"


async def test_of_two_hundred_followers_of_an_answer_twenty_follow_s5(world: ChatFixture) -> None:
    release = anyio.Event()
    with ScriptedModel([TextDelta("Hi"), release.wait]) as model:
        deps = world.deps(model)
        turn = await prepare_turn(deps, ADA, Question("Hello"))
        statuses: list[int] = []

        async def follow(http: httpx.AsyncClient) -> None:
            response = await http.get(f"/v2/messages/{turn.run_id}/stream")
            statuses.append(response.status_code)

        async with open_chat(deps) as http, anyio.create_task_group() as tasks:
            tasks.start_soon(answer_turn, deps, turn, Journal())
            await anyio.wait_all_tasks_blocked()
            for _ in range(200):
                tasks.start_soon(follow, http)
            while len(statuses) < 180:
                await world.advance_when_idle()
            refused = list(statuses)
            release.set()
        async with open_chat(deps) as http:
            later = await http.get(f"/v2/messages/{turn.run_id}/stream")

    assert (refused, statuses[180:], later.status_code) == ([429] * 180, [200] * 20, 200)


async def test_followers_of_a_day_are_bounded_s5(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model, quotas={"followers": 2})
        response, _ = await ask(deps, HELLO)
        path = f"/v2/messages/{response.headers['x-run-id']}/stream"
        async with open_chat(deps) as http:
            statuses = [(await http.get(path)).status_code for _ in range(3)]

    assert statuses == [200, 200, 429]


async def test_tokens_are_shown_by_day_and_role_p25(world: ChatFixture) -> None:
    usage = Usage(input_tokens=900, cached_tokens=100, output_tokens=200, cost_micro_usd=750)
    finish = ModelCallFinished(reason="stop", model="scripted", usage=usage)
    with ScriptedModel([TextDelta("Hi"), finish], [TextDelta("Hi"), finish]) as model:
        deps = world.deps(model)
        await ask(deps, HELLO)
        world.clock.advance(hours=24)
        await ask(deps, HELLO)
        async with open_chat(deps) as http:
            days = (await http.get("/v1/users/me/usage", params={"days": 31})).json()["days"]
            refused = await http.get("/v1/users/me/usage", params={"days": 32})

    figures = {
        "calls": 1,
        "input_tokens": 900,
        "cached_tokens": 100,
        "output_tokens": 200,
        "cost_micro_usd": 750,
        "priced_calls": 1,
    }
    assert days == [
        {"day": day, "turns": 1, "models": [{"role": "agent", **figures}]}
        for day in ("2026-03-03", "2026-03-02")
    ]
    assert refused.status_code == 422


async def test_usage_is_shown_with_the_fields_of_released_apps_p25(world: ChatFixture) -> None:
    with ScriptedModel(script_answer("Hi")) as model:
        deps = world.deps(model, quotas={"turns": 5})
        await ask(deps, HELLO)
        async with open_chat(deps) as http:
            today = (await http.get("/v1/users/me/usage")).json()
            monthly = (await http.get("/v1/users/me/usage", params={"period": "monthly"})).json()
            plan = (await http.get("/v1/users/me/subscription")).json()

    quotas = {quota["name"]: quota for quota in today["quotas"]}
    midnight = "2026-03-03T00:00:00Z"
    assert quotas["turns"] == {"name": "turns", "used": 1, "limit": 5, "resets_at": midnight}
    assert quotas["tokens"]["limit"] is None
    assert quotas["stored_bytes"]["resets_at"] is None
    figures = {
        "transcription_seconds": 0,
        "words_transcribed": 0,
        "insights_gained": 0,
        "memories_created": 0,
    }
    assert (today["today"], monthly["monthly"]) == (None, figures)
    assert plan["subscription"] == {"plan": "unlimited", "status": "active", "limits": {}}


async def test_choosing_a_retention_schedules_the_deletion_p34(world: ChatFixture) -> None:
    async with open_chat(world.deps()) as http:
        await http.patch("/v1/users/profile", json={"name": "Ada"})
        profile = (await http.patch("/v1/users/profile", json={"retention_days": 30})).json()
        negative = await http.patch("/v1/users/profile", json={"retention_days": -1})

    [task] = world.tasks.created
    assert (profile["retention_days"], negative.status_code) == (30, 422)
    assert (task.target, task.body["uid"], task.at) == (
        "apply_retention",
        ADA,
        world.clock.now(),
    )


async def test_a_turn_that_waits_for_its_owner_frees_its_slot_and_takes_one_again_s5(
    world: ChatFixture,
) -> None:
    deps = open_instance(world, "a")
    turn = await prepare_turn(deps, ADA, Question("Hello"))
    await turn.slot.release()
    others, _ = await prepare_many(open_instance(world, "b"), count=20)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turn.slot.retake)
        await world.advance_when_idle(seconds=1)
        waits = turn.slot.build_release_writes() == []
        await others[0].slot.release()
        while not turn.slot.build_release_writes():
            await world.advance_when_idle(seconds=1)

    assert (len(others), waits) == (10, True)


async def test_a_turn_costs_one_read_and_four_writes_for_its_quotas_s5(world: ChatFixture) -> None:
    class Recorded:
        def __init__(self) -> None:
            self.reads: list[str] = []
            self.writes: list[str] = []

        def __getattr__(self, name: str) -> Any:
            return getattr(world.documents, name)

        async def get(self, path: str) -> Any:
            self.reads.append(path)
            return await world.documents.get(path)

        async def write(self, *writes: Any) -> None:
            self.writes += [write.path for write in writes]
            await world.documents.write(*writes)

    def select(paths: list[str]) -> list[str]:
        return [path for path in paths if "/limits/turn-" in path or "/usage/" in path]

    documents = Recorded()
    usage = Usage(input_tokens=1, cached_tokens=0, output_tokens=1)
    finish = ModelCallFinished(reason="stop", model="scripted", usage=usage)
    with ScriptedModel([TextDelta("Hi"), finish]) as model:
        await ask(replace(world, documents=documents).deps(model), HELLO)

    assert (len(select(documents.reads)), len(select(documents.writes))) == (1, 4)


async def test_a_flood_of_refused_questions_is_answered_and_not_stored_without_end_s5(
    world: ChatFixture,
) -> None:
    deps = open_instance(world, "c")
    async with fill_slots(world), open_chat(deps) as http:
        answers = [await http.post("/v2/messages", json=HELLO) for _ in range(120)]
        listed = (await http.get("/v2/messages")).json()

    stored = await world.documents.query(Query(collection=f"users/{ADA}/messages"))
    assert {answer.status_code for answer in answers} == {200}
    assert answers[-1].content.startswith(b"data: I am already working on 10")
    assert (len(listed), len(stored)) == (100, 2 * MAX_QUOTA_ANSWERS)


async def test_a_waiting_confirmation_holds_no_slot_s5(world: ChatFixture) -> None:
    async with run_until_confirmation(world, script_answer("Sent.")) as (run, _):
        waiting = await run.deps.stores.turn_slots.list_all(ADA)
        while any(waiting):  # it is freed by a read and a write after the question is stored
            await world.advance_when_idle()
            waiting = await run.deps.stores.turn_slots.list_all(ADA)
        await run.decide(approved=True)
        await run.run_to_end()

    assert waiting == [None] * MAX_CONCURRENT_TURNS
    assert await world.deps().stores.turn_slots.list_all(ADA) == [None] * MAX_CONCURRENT_TURNS

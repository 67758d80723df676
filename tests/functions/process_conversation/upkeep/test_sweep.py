"""Waiting for a model, and the sweep that begins again what is stuck (D6)."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.library.routes import LIBRARY_ROUTES
from functions.process_conversation.deps import SweepDeps
from functions.process_conversation.upkeep.dead_letters import record_dead_letter
from functions.process_conversation.upkeep.missed_events import PAGE_SIZE, find_missed
from functions.process_conversation.upkeep.sweep import BATCH_SIZE, sweep, wake_waiting
from infra.local.every_minute import schedule_minute
from shared.adapters.admitted_model import AdmittedModels
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.conversations.conversations import conversation_path
from shared.domain.conversations.claim import SUSPECT_ATTEMPTS
from shared.domain.conversations.conversation import content_hash
from shared.domain.errors import ModelBusy, ModelFailed, ModelUnreachable, RateLimited, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.domain.models.rate_budget import build_instance_budget
from shared.domain.store.documents import Document, Query, Set, Update
from shared.ports import Documents
from shared.resilience.admission import Admission
from shared.telemetry import log_request
from tests.fakes import AutoAdvanceClock, CreatedTask, RecordingTasks, ScriptedModel
from tests.fault_injection import FaultyPort, raise_unavailable
from tests.fixtures.callers import IDENTITY, SERVICE_IDENTITY, build_auth_headers, open_client
from tests.fixtures.library import CONVERSATIONS, build_library_deps
from tests.fixtures.merging import FIRST, IDS, SECOND, EchoModel
from tests.fixtures.processing import (
    ALICE,
    CLAIM,
    EXTRACTION,
    TALK,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)
from tests.fixtures.storage import INDEXES
from tests.functions.process_conversation.upkeep.test_dead_letters import (
    build_deps as build_dead_letter_deps,
)
from tests.functions.process_conversation.upkeep.test_dead_letters import (
    build_letter,
)
from tests.log import capture_log

BOB = UserId("bob")
MINUTE = timedelta(minutes=1)


def build_deps(world: ProcessingFixture) -> SweepDeps:
    return SweepDeps(
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        documents=world.documents,
        due_documents=SqliteDocuments(world.database, INDEXES),
        user_list=SqliteDocuments(world.database, INDEXES),
        events=world.events,
        tasks=world.tasks,
        stores=world.deps.stores,
        quotas=world.deps.quotas,
    )


async def run_sweep(world: ProcessingFixture) -> int:
    """Sweep, and deliver what it publishes; return how many messages that were."""
    first = len(world.events.list_by_topic("conversation.changed"))
    for task in [task for task in world.tasks.list_by_target("sweep") if task.body]:
        world.tasks.created.remove(task)
        if task.body.get("searches"):
            await find_missed(build_deps(world), after=task.body["after"])
        elif task.body.get("wakes"):
            await wake_waiting(build_deps(world))
    await sweep(build_deps(world))
    messages = world.events.list_by_topic("conversation.changed")[first:]
    for message in messages:
        await world.deliver(message)
    return len(messages)


async def load_claim(world: ProcessingFixture) -> Document:
    claim = await world.documents.get(CLAIM)
    assert claim is not None
    return claim


class DistantModel(ScriptedModel):
    """A model that is away until `is_back`."""

    is_back = False
    refusals = 0

    async def complete_structured(self, role, prompt, schema):
        if not self.is_back:
            self.refusals += 1
            raise ModelUnreachable("no route")
        return await super().complete_structured(role, prompt, schema)


async def test_a_model_that_is_away_for_a_day_fails_nothing_and_all_is_processed_once_after_d6(
    database,
):
    """Three users, a sweep each minute, as both worlds have it; the queue sends nothing again."""
    users = [ALICE, BOB, UserId("cleo")]
    model = DistantModel(answers=build_script(*[build_outputs() for _ in users]))
    with model:
        world = build_processing_fixture(database, model)
        for user in users:
            await world.write(build_test_conversation(), user)
        await world.deliver_all()
        for _ in range(24 * 60):
            world.clock.advance(minutes=1)
            await run_sweep(world)
            await world.run_trigger()
        waiting = [await world.load_conversation(user) for user in users]
        model.is_back = True
        for _ in range(5):
            world.clock.advance(minutes=1)
            await run_sweep(world)

    after = [await world.load_conversation(user) for user in users]
    assert [talk.status for talk in waiting] == ["processing"] * 3
    assert all(talk.waiting_since and talk.failure is None for talk in waiting)
    assert model.refusals < 24 * 60 + 3 * 20
    assert [(talk.status, talk.waiting_since) for talk in after] == [("completed", None)] * 3
    assert len(world.events.list_by_topic("conversation.processed")) == 3
    assert (
        await build_deps(world).due_documents.list_due(
            "processing", world.clock.now() + timedelta(days=1), limit=9
        )
        == []
    )


async def lose_events(world: ProcessingFixture) -> None:
    """Let no event come through for five minutes; a sweep runs each minute."""
    world.changes.clear()
    for _ in range(5):
        world.clock.advance(minutes=1)
        await run_sweep(world)
        world.changes.clear()


async def test_what_a_route_stored_is_processed_within_five_minutes_of_a_lost_event_f2(database):
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs())) as model:
        world = build_processing_fixture(database, model)
        stores = world.deps.stores
        added = build_test_conversation(listed_at=world.clock.now())
        await stores.conversations.add(ALICE, added)
        await lose_events(world)
        created = await world.load_conversation()
        words = (replace(created.transcript_segments[0], text="It moves to May."),)
        changed = replace(created, transcript_segments=words)
        await stores.transcript_edits.replace_text(ALICE, created, changed, now=world.clock.now())
        await lose_events(world)

    edited = await world.load_conversation()
    assert created.status == "completed"
    assert edited.processed_hash == content_hash(edited) != created.processed_hash


async def test_what_a_client_changed_is_processed_within_an_hour_of_a_lost_event_f2(database):
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs())) as model:
        world = build_processing_fixture(database, model)
        stored = build_test_conversation(created_at=world.clock.now())
        await world.write(stored)
        await world.deliver_all()
        words = (replace(stored.transcript_segments[0], text="It moves to May."),)
        await world.write(replace(stored, transcript_segments=words))
        world.changes.clear()
        published = []
        for _ in range(180):
            world.clock.advance(minutes=1)
            published.append(await run_sweep(world))

    changed = await world.load_conversation()
    assert changed.processed_hash == content_hash(changed) != content_hash(stored)
    assert sum(published) == 1


async def test_an_old_conversation_whose_client_says_when_it_wrote_is_found_as_well_f2(database):
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs())) as model:
        world = build_processing_fixture(database, model)
        stored = build_test_conversation(created_at=world.clock.now())
        await world.write(stored)
        await world.deliver_all()
        world.clock.advance(days=90)
        words = (replace(stored.transcript_segments[0], text="It moves to May."),)
        await world.write(replace(stored, transcript_segments=words))
        path = conversation_path(ALICE, TALK)
        await world.documents.write(Update(path, {"written_at": world.clock.now()}))
        world.changes.clear()
        published = []
        for _ in range(180):
            world.clock.advance(minutes=1)
            published.append(await run_sweep(world))

    changed = await world.load_conversation()
    assert changed.processed_hash == content_hash(changed) != content_hash(stored)
    assert sum(published) == 1


async def test_what_a_client_stored_is_processed_within_an_hour_of_a_lost_event_f2(database):
    users = [ALICE, BOB]
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs())) as model:
        world = build_processing_fixture(database, model)
        for user in users:
            await world.write(build_test_conversation(created_at=world.clock.now()), user)
        world.changes.clear()
        for _ in range(60):
            world.clock.advance(minutes=1)
            await run_sweep(world)

    statuses = [(await world.load_conversation(user)).status for user in users]
    assert statuses == ["completed", "completed"]


async def test_a_user_of_many_conversations_is_searched_in_pages_f2(database):
    """Clients store without a limit: all of a day at once may be more than a function's memory."""
    with ScriptedModel(answers={}) as model:
        world = build_processing_fixture(database, model)
        count = PAGE_SIZE + 1
        for n in range(count):
            conversation = build_test_conversation(created_at=world.clock.now())
            await world.write(replace(conversation, id=ConversationId(f"talk{n}")))
        documents: Any = PagedDocuments(world.documents)
        await find_missed(replace(build_deps(world), documents=documents), after=None)

    assert len(world.events.list_by_topic("conversation.changed")) == count
    assert max(documents.read) <= PAGE_SIZE


class PagedDocuments:
    """Documents that record how many each query returned."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.read: list[int] = []

    async def query(self, query: Query) -> list[Document]:
        found = await self._documents.query(query)
        self.read.append(len(found))
        return found


async def test_what_is_announced_is_processed_once_when_its_event_comes_f2(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        added = build_test_conversation(listed_at=world.clock.now())
        await world.deps.stores.conversations.add(ALICE, added)
        early = await run_sweep(world)
        await world.deliver_all()
        world.clock.advance(minutes=6)
        late = await run_sweep(world)

    assert (early, late, (await world.load_conversation()).status) == (0, 0, "completed")


async def test_a_conversation_under_the_id_of_a_deleted_one_is_announced_beside_its_claim_f2(
    database,
):
    with ScriptedModel(answers=build_script(build_outputs(), build_outputs())) as model:
        world = build_processing_fixture(database, model)
        conversations = world.deps.stores.conversations
        added = build_test_conversation(listed_at=world.clock.now())
        await conversations.add(ALICE, added)
        await world.deliver_all()
        await conversations.delete(ALICE, TALK, now=world.clock.now())
        again = replace(added, listed_at=world.clock.now())
        _, is_new = await conversations.add_once(ALICE, again)
        await lose_events(world)

    assert is_new
    assert (await world.load_conversation()).status == "completed"


class FirstPage:
    """The users of a first page; others come behind them."""

    async def list_users(self, limit: int, *, after: str | None) -> tuple[list[UserId], str | None]:
        return [ALICE, BOB], "bob"


async def test_the_users_behind_a_page_do_not_wait_for_it_f5(database):
    """A page that cannot be searched yet holds up nobody; one user at a time would."""
    with ScriptedModel(answers={}) as model:
        world = build_processing_fixture(database, model)
        documents: Any = FaultyPort(world.documents, query=[raise_unavailable])
        deps = replace(build_deps(world), user_list=FirstPage(), documents=documents)

        with pytest.raises(Unavailable):
            await find_missed(deps, after=None)

    [task] = world.tasks.list_by_target("sweep")
    assert task.body == {"searches": True, "after": "bob"}
    assert documents.calls["query"] == 2


async def test_what_was_derived_goes_within_five_minutes_of_a_lost_event_of_a_deletion_f2(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        added = build_test_conversation(listed_at=world.clock.now())
        await world.deps.stores.conversations.add(ALICE, added)
        await world.deliver_all()
        derived = await world.deps.stores.memories.list_newest(ALICE, limit=9)
        await world.deps.stores.conversations.delete(ALICE, TALK, now=world.clock.now())
        await lose_events(world)

    assert derived != []
    assert await world.deps.stores.memories.list_newest(ALICE, limit=9) == []
    assert await world.search_ids("peanuts") == []
    assert await world.documents.get(CLAIM) is None


async def test_merging_and_its_undoing_are_put_right_after_lost_events_f2(database):
    world = build_processing_fixture(database, EchoModel())
    library = open_client(
        "library", LIBRARY_ROUTES, build_library_deps(world), build_auth_headers(ALICE)
    )
    async with library as alice:
        for body in (FIRST, SECOND):
            await alice.post(CONVERSATIONS, json=body)
        await world.deliver_all()
        rows = await world.list_row_ids()
        answer = await alice.post(f"{CONVERSATIONS}/merge", json={"conversation_ids": IDS})
        await lose_events(world)
        merged_rows = await world.list_row_ids()
        merged_id = answer.json()["merged_conversation_id"]
        undone = await alice.post(f"{CONVERSATIONS}/{merged_id}/undo-merge")
        await lose_events(world)

    assert (answer.status_code, undone.status_code) == (200, 200)
    assert not {*rows} & {*merged_rows}
    assert await world.list_row_ids() == rows


async def test_the_time_that_a_conversation_waited_is_part_of_its_age_d7(database):
    model = DistantModel(answers=build_script(build_outputs()))
    with model, capture_log() as log:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        with log_request("process_conversation"):
            await world.deliver(message)
        model.is_back = True
        with log_request("process_conversation"):
            await world.deliver(message)

    first, second = log.find_requests()
    assert (first["outcome"], "age_ms" in first) == ("waiting", False)
    assert "age_ms" in second


async def test_all_begin_within_two_minutes_after_an_outage_and_not_at_once_d6(database):
    users = [UserId(f"user{n}") for n in range(40)]
    model = DistantModel(answers=build_script(*[build_outputs() for _ in users]))
    with model:
        world = build_processing_fixture(database, model)
        for user in users:
            await world.write(build_test_conversation(), user)
        await world.deliver_all()
        await let_wait(world, timedelta(hours=9))
        model.is_back = True
        probed = await run_sweep(world)
        await run_sweep(world)
        due_times = [claim.fields["due_at"] for claim in await list_waiting(world)]
        world.clock.advance(minutes=1)
        await run_sweep(world)

    statuses = {(await world.load_conversation(user)).status for user in users}
    assert probed == 1
    assert len(set(due_times)) > len(users) / 4
    assert statuses == {"completed"}


async def test_a_probe_that_fails_wakes_nobody_and_another_conversation_is_the_next_d6(database):
    users = [UserId(f"user{n}") for n in range(3)]
    model = DistantModel(answers={})
    with model:
        world = build_processing_fixture(database, model)
        for user in users:
            await world.write(build_test_conversation(), user)
        await world.deliver_all()
        await let_wait(world, timedelta(hours=9))
        world.events.published.clear()
        for _ in users:
            await run_sweep(world)

    probed = world.events.list_by_topic("conversation.changed")
    assert {message["uid"] for message in probed} == set(users)
    assert len(await list_waiting(world, timedelta(hours=9))) == len(users)


@dataclass
class Tokens:
    """A pool that has nothing until `are_back`, then whatever is wanted."""

    are_back: bool = False

    async def lease(self, wanted: float, /, **_: object) -> float:
        return wanted if self.are_back else 0.0


def admit(world: ProcessingFixture, tokens: Tokens) -> Admission:
    """Let model calls be admitted, on an instance that has no tokens of its own."""
    budget = build_instance_budget(20_000, 1, world.clock.now())
    admission = Admission(budget, tokens.lease, world.clock, first_shard=0)
    world.deps = replace(world.deps, model=AdmittedModels(world.deps.model, admission))
    return admission


def list_wakes(world: ProcessingFixture) -> list[CreatedTask]:
    return [task for task in world.tasks.list_by_target("sweep") if task.body.get("wakes")]


async def test_who_waited_for_tokens_wakes_nobody_d6(database):
    users, tokens = [UserId(f"user{n}") for n in range(3)], Tokens()
    with ScriptedModel(answers=build_script(*[build_outputs() for _ in users])) as model:
        world = build_processing_fixture(database, model, clock=AutoAdvanceClock())
        admit(world, tokens)
        for user in users:
            await world.write(build_test_conversation(), user)
        await world.deliver_all()
        parked = [await world.load_conversation(user) for user in users]
        tokens.are_back = True
        world.clock.advance(minutes=11)
        await run_sweep(world)

    assert all(talk.waiting_since for talk in parked)
    assert {(await world.load_conversation(user)).status for user in users} == {"completed"}
    assert list_wakes(world) == []


async def test_who_waited_for_the_rate_limit_of_the_provider_wakes_nobody_d6(database):
    answers = build_script(build_outputs())
    answers[EXTRACTION].insert(0, RateLimited("the model provider answered 429"))
    with ScriptedModel(answers=answers) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        world.clock.advance(seconds=6)
        await run_sweep(world)

    assert (await world.load_conversation()).status == "completed"
    assert list_wakes(world) == []


async def test_the_end_of_an_outage_wakes_nobody_while_tokens_are_short_d6(database):
    tokens = Tokens(are_back=True)
    model = DistantModel(answers=build_script(build_outputs(), build_outputs()))
    with model:
        world = build_processing_fixture(database, model, clock=AutoAdvanceClock())
        admission = admit(world, tokens)
        for user in (ALICE, BOB):
            await world.write(build_test_conversation(), user)
        await world.deliver_all()
        await let_wait(world, timedelta(hours=9))
        tokens.are_back, model.is_back = False, True
        with pytest.raises(ModelBusy):
            await admission.admit(BOB, "now", 100_000)
        tokens.are_back = True
        await run_sweep(world)
        wakes_while_short = list_wakes(world)
        world.clock.advance(minutes=2)
        await run_sweep(world)

    assert wakes_while_short == []
    assert len(list_wakes(world)) == 1


async def let_wait(world: ProcessingFixture, time: timedelta) -> None:
    """Let those who wait do so for as long as after many attempts."""
    for claim in await list_waiting(world):
        changes = {"due_at": world.clock.now() + time, "waits": 13}
        await world.documents.write(Update(claim.path, changes))


async def list_waiting(
    world: ProcessingFixture, at_least: timedelta = timedelta()
) -> list[Document]:
    now = world.clock.now()
    return await build_deps(world).due_documents.list_due(
        "processing", now + timedelta(days=1), after=now + at_least, limit=99
    )


async def test_a_conversation_waits_from_five_seconds_up_to_ten_hours_d6(database):
    model = DistantModel(answers={})
    with model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        waits = [(await load_claim(world)).fields["due_at"] - world.clock.now()]
        for _ in range(15):
            world.clock.advance(seconds=waits[-1].total_seconds())
            await run_sweep(world)
            waits.append((await load_claim(world)).fields["due_at"] - world.clock.now())

    assert waits[:4] == [timedelta(seconds=n) for n in (5, 10, 20, 40)]
    assert waits[-2:] == [timedelta(hours=10)] * 2


async def test_who_waits_has_a_task_at_that_time_and_all_of_a_second_share_it_d6(database):
    model = DistantModel(answers={})
    with model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.write(build_test_conversation(), BOB)
        await world.deliver_all()

    [task] = world.tasks.list_by_target("sweep")
    assert task.body == {}
    assert task.at == world.clock.now() + timedelta(seconds=6)


async def test_what_was_said_is_found_while_it_waits_and_a_change_is_taken_at_once(database):
    model = DistantModel(answers=build_script(build_outputs()))
    with model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        found_meanwhile = await world.search_ids("peanuts")
        model.is_back = True
        world.clock.advance(seconds=1)
        await world.write(build_test_conversation("I'm allergic to peanuts, and that is new."))
        await world.deliver_all()

    talk = await world.load_conversation()
    assert found_meanwhile == [TALK]
    assert (talk.status, talk.waiting_since) == ("completed", None)


async def test_an_attempt_whose_worker_and_message_are_gone_is_begun_again_d6(database):
    with ScriptedModel(answers=build_script(build_outputs())) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])
        world.clock.advance(minutes=14)
        too_early = await run_sweep(world)

        world.clock.advance(minutes=2)
        resumed = await run_sweep(world)

    assert (too_early, resumed) == (0, 1)
    assert (await world.load_conversation()).status == "completed"


async def test_what_failed_by_itself_is_not_begun_again_d6(database):
    with ScriptedModel(answers={EXTRACTION: [ModelFailed("no", reason="other")]}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        await world.deliver_all()
        world.clock.advance(days=1)
        resumed = await run_sweep(world)

    assert resumed == 0
    assert (await world.load_conversation()).status == "failed"


async def test_what_was_given_up_is_not_begun_again_d6(database):
    with ScriptedModel(answers={}) as model:
        world = build_processing_fixture(database, model)
        await world.write(build_test_conversation())
        (message,) = await world.run_trigger()
        for _ in range(SUSPECT_ATTEMPTS):
            await world.deps.claims.acquire(ALICE, TALK, message_hash=message["content_hash"])
            world.clock.advance(seconds=11)
        await record_dead_letter(build_dead_letter_deps(world), build_letter(message))
        world.clock.advance(days=1)
        resumed = await run_sweep(world)

    assert resumed == 0


async def test_sweeps_at_the_same_time_share_the_work_d6(database):
    model = DistantModel(answers={})
    with model:
        world = build_processing_fixture(database, model)
        for n in range(BATCH_SIZE + 5):
            await world.write(build_test_conversation(), UserId(f"user{n}"))
        await world.deliver_all()
        first = len(world.events.list_by_topic("conversation.changed"))
        world.clock.advance(seconds=6)

        await asyncio.gather(*(sweep(build_deps(world)) for _ in range(3)))

    published = world.events.list_by_topic("conversation.changed")[first:]
    assert len({message["uid"] for message in published}) == len(published) == BATCH_SIZE + 5


RUN = "users/alice/runs/r1"


@pytest.mark.parametrize(("lease_s", "closings"), [(-1, 1), (60, 0)])
async def test_a_lapsed_run_without_its_task_is_closed_and_one_that_goes_on_is_left_alone_d6(
    database, lease_s, closings
):
    with ScriptedModel(answers={}) as model:
        world = build_processing_fixture(database, model)
        now = world.clock.now()
        fields = {"lease_until": now + timedelta(seconds=lease_s), "due_at": now - MINUTE}
        await world.documents.write(Set(RUN, fields))

        await sweep(build_deps(world))
        await sweep(build_deps(world))

    tasks = world.tasks.list_by_target("close_run")
    assert [task.body for task in tasks] == [{"uid": ALICE, "run_id": "r1"}] * closings


async def test_processes_that_share_their_data_sweep_once_a_minute_d6():
    tasks = RecordingTasks()
    noon = datetime.fromisoformat("2026-03-02T12:00:10+00:00")

    for seconds in (0, 1, 49, 50):
        await schedule_minute(tasks, noon + timedelta(seconds=seconds))

    assert [task.target for task in tasks.created] == ["sweep"] * 2


async def test_a_minute_in_which_the_queue_takes_nothing_does_not_end_the_clock_d6():
    recorded = RecordingTasks()
    tasks: Any = FaultyPort(recorded, create=[raise_unavailable])
    noon = datetime.fromisoformat("2026-03-02T12:00:10+00:00")

    for minute in range(2):
        await schedule_minute(tasks, noon + timedelta(minutes=minute))

    assert [task.name for task in recorded.created] == ["minute-20260302T1201"]

"""Own names of the owner: later and stored conversations follow them, with memories and tasks."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from functions.process_conversation.deps import MarkingDeps, RenewalDeps
from functions.process_conversation.upkeep.mark_owner import (
    MARKING_ROUTES,
    MAX_AN_HOUR,
    PAGE_SIZE,
)
from functions.process_conversation.upkeep.renew_texts import renew
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.firestore_limits import check_fields
from shared.data.account.quotas import Quotas
from shared.data.conversations.conversations import conversation_path
from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.renewal import OWN_NAMES, Renewal
from shared.library.own_names_schedule import MARKING_TARGET, schedule_marking
from shared.ports import Tasks
from tests.fault_injection import FaultyPort, raise_unavailable
from tests.fixtures.callers import (
    IDENTITY,
    SERVICE_IDENTITY,
    build_service_headers,
    open_client,
)
from tests.fixtures.library import BODY, CONVERSATIONS, build_client
from tests.fixtures.processing import (
    ALICE,
    TALK,
    ProcessingFixture,
    build_processing_fixture,
    build_test_conversation,
    to_client_fields,
)

FILLER = "We talked about the garden fence and the neighbours for a long while. " * 8


@pytest.fixture
def world(database) -> ProcessingFixture:
    return build_processing_fixture(database, OfflineModel())


@pytest.fixture
async def alice(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    async with build_client(world, ALICE) as client:
        yield client


def build_body(name: str = "talk", speakers: Sequence[str] = ("Ann Lee", "Tom")) -> dict[str, Any]:
    first, second = speakers
    segments = [
        {"text": "I'm allergic to peanuts. I will bring the ladder.", "speaker": first},
        {"text": f"I'm allergic to cats. {FILLER}", "speaker": second},
    ]
    return {**BODY, "id": name, "transcript_segments": segments}


async def choose_names(world: ProcessingFixture, *names: str) -> None:
    """Choose as the profile's route does."""
    world.clock.advance(seconds=1)
    profile = await world.deps.stores.profiles.change(
        ALICE, own_names=names, own_names_set_at=world.clock.now()
    )
    await schedule_marking(world.tasks, ALICE, profile)


async def run_markings(world: ProcessingFixture, tasks: Tasks | None = None) -> int:
    """Run the planned tasks; return how many succeeded."""
    deps = MarkingDeps(
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        tasks=tasks or world.tasks,
        stores=world.deps.stores,
    )
    headers = await build_service_headers("mark_owner")
    async with open_client("mark_owner", MARKING_ROUTES, deps, headers) as service:
        planned = world.tasks.list_by_target(MARKING_TARGET)
        answers = [await service.post("/", json=dict(task.body)) for task in planned]
    return [answer.status_code for answer in answers].count(204)


async def run_renewal(world: ProcessingFixture, *, limit: int = 1_000) -> int:
    """Run the renewal to its end, or to that of a day's budget; return how many conversations were read again."""
    before = len(world.events.list_by_topic("conversation.changed"))
    deps = RenewalDeps(
        identity=IDENTITY,
        service_identity=SERVICE_IDENTITY,
        clock=world.clock,
        events=world.events,
        stores=world.deps.stores,
        quotas=Quotas(world.documents, {"renewals": limit}),
    )
    while (found := await world.deps.stores.renewals.find(ALICE, OWN_NAMES)) is not None:
        if found.due_at is None or found.due_at > world.clock.now():
            break
        await renew(deps, ALICE, found)
    messages = world.events.list_by_topic("conversation.changed")[before:]
    for message in messages:
        await world.deliver(message)
    return len(messages)


async def list_memories(client: AsyncClient) -> list[str]:
    return sorted(memory["content"] for memory in (await client.get("/v3/memories")).json())


async def list_owned_texts(client: AsyncClient, name: str = "talk") -> list[str]:
    segments = (await client.get(f"{CONVERSATIONS}/{name}")).json()["transcript_segments"]
    return [s["text"].partition(".")[0] for s in segments if s["is_user"]]


async def test_the_owner_is_marked_in_what_a_client_stored_itself_u2(world, alice) -> None:
    await choose_names(world, "ann lee")
    segments = tuple(Segment(**segment) for segment in build_body()["transcript_segments"])
    await world.write(replace(build_test_conversation(), transcript_segments=segments))

    await world.deliver_all()

    assert await list_owned_texts(alice, TALK) == ["I'm allergic to peanuts"]
    assert await list_memories(alice) == ["User is allergic to peanuts"]


async def test_who_speaks_by_name_is_listed_without_the_owner(world, alice) -> None:
    await choose_names(world, "Ann Lee")
    for name, speakers in {"one": ("SPEAKER_00", "Tom"), "two": ("Ann Lee", "Tom")}.items():
        await alice.post(CONVERSATIONS, json=build_body(name, speakers))
    await world.deliver_all()

    found = (await alice.get("/v1/users/speakers")).json()

    assert [(each["name"], each["conversation_count"]) for each in found] == [("Tom", 2)]


async def test_all_are_marked_at_once_and_what_models_wrote_follows_within_the_budget_of_a_day_f3(
    world, alice
) -> None:
    for n in range(5):
        await alice.post(CONVERSATIONS, json=build_body(f"talk{n}"))
    await world.deliver_all()
    await choose_names(world, "Tom")
    await run_markings(world)
    await choose_names(world, "Ann Lee")

    await run_markings(world)
    announced = await world.run_trigger()
    owned = [await list_owned_texts(alice, f"talk{n}") for n in range(5)]
    progress = [(await alice.get("/v1/users/renewals")).json()["total"]]
    read = []
    for _ in range(3):
        read.append(await run_renewal(world, limit=2))
        progress.append((await alice.get("/v1/users/renewals")).json()["done"])
        world.clock.advance(days=1)

    assert announced == []
    assert owned == [["I'm allergic to peanuts"]] * 5
    assert read == [2, 2, 1]
    assert progress == [5, 2, 4, 0]
    assert await list_memories(alice) == ["User is allergic to peanuts"]


async def test_a_large_library_is_marked_so_many_conversations_an_hour_f3(world, alice) -> None:
    await choose_names(world, "Ann Lee")
    profile = await world.deps.stores.profiles.get(ALICE)
    for n in range(PAGE_SIZE + 1):
        await alice.post(CONVERSATIONS, json=build_body(f"talk{n}"))
    marking = Renewal(
        subject=OWN_NAMES,
        requested_at=profile.own_names_set_at,
        total=9_000,
        done=2 * MAX_AN_HOUR - 1,
    )
    renewals = world.deps.stores.renewals
    await world.documents.write(renewals.build_request(ALICE, marking))

    await run_markings(world)

    [_, following] = world.tasks.list_by_target(MARKING_TARGET)
    assert following.at == profile.own_names_set_at + timedelta(hours=2)


async def test_what_is_too_long_for_a_name_holds_up_no_marking(world, alice) -> None:
    """A client may write anything into its document; a marked speaker stands in a map by it."""
    body = build_body(speakers=(f"Ann{' ' * 1_600}Lee", "Tom"))
    segments = tuple(Segment(**segment) for segment in body["transcript_segments"])
    await world.write(replace(build_test_conversation(), transcript_segments=segments))
    await alice.post(CONVERSATIONS, json=build_body("other"))

    await choose_names(world, "ann lee")
    succeeded = await run_markings(world)
    await world.deliver_all()

    assert succeeded == 1
    assert await list_owned_texts(alice, "other") == ["I'm allergic to peanuts"]
    assert await list_owned_texts(alice, TALK) == []


async def test_a_document_without_room_holds_up_no_marking(world, alice) -> None:
    full = build_test_conversation()
    path, room = conversation_path(ALICE, full.id), 1_048_576 - 20
    texts = [Segment(text="well " * 1_000, speaker="Ann Lee")] * 200
    full = replace(full, transcript_segments=(*texts, Segment(text="", speaker="Ann Lee")))
    size_bytes = check_fields(path, to_client_fields(full))
    last = Segment(text="x" * (room - size_bytes), speaker="Ann Lee")
    await world.write(replace(full, transcript_segments=(*texts, last)))
    await alice.post(CONVERSATIONS, json=build_body("other"))

    await choose_names(world, "ann lee")

    assert await run_markings(world) == 1
    assert await list_owned_texts(alice, "other") == ["I'm allergic to peanuts"]


async def test_a_speaker_with_an_own_name_is_the_owner_from_the_start_u2(world, alice) -> None:
    await choose_names(world, "ann lee")

    await alice.post(CONVERSATIONS, json=build_body())
    await world.deliver_all()
    repeated = await alice.post(CONVERSATIONS, json=build_body())

    assert repeated.status_code == 202
    assert await list_owned_texts(alice) == ["I'm allergic to peanuts"]
    assert await list_memories(alice) == ["User is allergic to peanuts"]


async def test_stored_conversations_follow_a_change_with_their_memories(world, alice) -> None:
    await alice.post(CONVERSATIONS, json=build_body())
    await world.deliver_all()
    before = await list_memories(alice)
    seen = []
    for names in (["Ann Lee"], ["Tom"], []):
        await choose_names(world, *names)
        await run_markings(world)
        await run_renewal(world)
        await world.deliver_all()
        seen.append((await list_owned_texts(alice), await list_memories(alice)))

    assert before == []
    assert seen == [
        (["I'm allergic to peanuts"], ["User is allergic to peanuts"]),
        (["I'm allergic to cats"], ["User is allergic to cats"]),
        ([], []),
    ]


async def test_a_fact_that_several_conversations_repeat_goes_with_the_last(world, alice) -> None:
    for name in ("first", "second", "third"):
        await alice.post(CONVERSATIONS, json=build_body(name))
    seen = []
    for names in (["Ann Lee"], []):
        await choose_names(world, *names)
        await run_markings(world)
        await run_renewal(world)
        await world.deliver_all()
        rows = [name for name in await world.list_row_ids() if name.endswith("#m")]
        seen.append((await list_memories(alice), len(rows)))

    assert seen == [(["User is allergic to peanuts"], 1), ([], 0)]


async def test_a_fact_stays_found_where_another_conversation_repeats_it(world, alice) -> None:
    await choose_names(world, "Ann Lee")
    for name in ("first", "second"):
        await alice.post(CONVERSATIONS, json=build_body(name))
    await world.deliver_all()
    owner = {"assign_type": "is_user", "value": "false"}

    await alice.patch(f"{CONVERSATIONS}/first/assign-speaker/SPEAKER_00", params=owner)
    await world.deliver_all()

    assert await list_memories(alice) == ["User is allergic to peanuts"]
    assert len([name for name in await world.list_row_ids() if name.endswith("#m")]) == 1


async def test_every_conversation_is_reached_also_when_tasks_break_off(world, alice) -> None:
    count = 2 * PAGE_SIZE + 1
    for number in range(count):
        start = f"2026-03-02T10:{number:02}:00+01:00"
        body = {**build_body(f"talk{number}"), "started_at": start, "finished_at": start}
        await alice.post(CONVERSATIONS, json=body)
    await choose_names(world, "Ann Lee")

    broken: Any = FaultyPort(world.tasks, create=[raise_unavailable])
    succeeded = [await run_markings(world, broken)]
    succeeded += [await run_markings(world) for _ in range(4)]

    owned = [await list_owned_texts(alice, f"talk{number}") for number in range(count)]
    assert owned == [["I'm allergic to peanuts"]] * count
    assert succeeded == [0, 1, 2, 3, 3]


async def test_a_task_of_earlier_names_does_nothing(world, alice) -> None:
    await alice.post(CONVERSATIONS, json=build_body())
    await choose_names(world, "Ann Lee")
    world.clock.advance(seconds=1)
    await world.deps.stores.profiles.change(ALICE, own_names_set_at=world.clock.now())

    await run_markings(world)

    assert await list_owned_texts(alice) == []


async def test_marking_a_speaker_as_the_owner_may_keep_the_name_for_all(world, alice) -> None:
    for name in ("talk", "other"):
        await alice.post(CONVERSATIONS, json=build_body(name))
    url = f"{CONVERSATIONS}/talk/assign-speaker/SPEAKER_00"
    chosen = {"assign_type": "is_user", "value": "true", "keep_name": "true"}

    answer = await alice.patch(url, params=chosen)
    await run_markings(world)

    assert answer.status_code == 200
    assert (await world.deps.stores.profiles.get(ALICE)).own_names == ("Ann Lee",)
    assert await list_owned_texts(alice, "other") == ["I'm allergic to peanuts"]


async def test_a_label_is_no_name_to_keep(alice) -> None:
    await alice.post(CONVERSATIONS, json=build_body(speakers=("SPEAKER_00", "Tom")))
    url = f"{CONVERSATIONS}/talk/assign-speaker/SPEAKER_00"

    answer = await alice.patch(
        url, params={"assign_type": "is_user", "value": "true", "keep_name": "true"}
    )

    assert (answer.status_code, await list_owned_texts(alice)) == (422, [])

"""Live conversations as their owner sees them: while they are recorded, when they are finished, in an export."""

import json
from datetime import UTC, datetime, timedelta

from shared.data.stores import Stores
from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.live_conversation import LiveBatch, LiveConversation
from shared.domain.ids import ConversationId
from shared.library.live_conversations import END_TARGET, end_when_paused
from tests.fixtures.library import CONVERSATIONS, build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture

BEGAN_AT = datetime(2026, 3, 2, 11, 59, tzinfo=UTC)
LIVE = {"statuses": "in_progress", "limit": 1}


async def record(
    world: ProcessingFixture,
    name: str = "now",
    ago: timedelta = timedelta(),
    words: str = "at nine.",
) -> None:
    """Store what a device has recorded so far."""
    live = LiveConversation(
        id=ConversationId(name),
        device="phone",
        source="omi",
        started_at=BEGAN_AT - ago,
        last_words_at=BEGAN_AT - ago + timedelta(seconds=9),
        pause_s=120,
        stream="s1",
    )
    for number, text in enumerate(("The train leaves", words)):
        segment = Segment(text=text, id=f"s1-{number}", start=number, end=number + 1)
        batch = LiveBatch(id=f"s1-{number}", segments=(segment,))
        await Stores(world.documents).live_conversations.add(ALICE, live, batch, is_new=True)


async def test_what_is_being_recorded_is_listed_for_the_app_that_comes_back_l3(
    world, alice
) -> None:
    before = (await alice.get(CONVERSATIONS, params=LIVE)).json()
    await record(world, "old", timedelta(minutes=1))
    await record(world)
    [live] = (await alice.get(CONVERSATIONS, params=LIVE)).json()
    usual = (await alice.get(CONVERSATIONS)).json()

    assert (before, usual) == ([], [])
    assert (live["id"], live["status"], live["started_at"]) == ("now", "in_progress", "2026-03-02T11:59:00Z")  # fmt: skip
    assert [each["text"] for each in live["transcript_segments"]] == [
        "The train leaves",
        "at nine.",
    ]


async def test_an_owner_finishes_what_is_being_recorded_l3(world, alice) -> None:
    nothing = await alice.post(CONVERSATIONS, json={})
    await record(world)
    finished = await alice.post(CONVERSATIONS, json={})
    [task] = world.tasks.list_by_target(END_TARGET)
    for _ in range(2):
        await end_when_paused(
            build_library_deps(world), ALICE, ConversationId("now"), is_asked=task.body["is_asked"]
        )
    conversation = (await alice.get(f"{CONVERSATIONS}/now")).json()

    assert (nothing.status_code, nothing.json()["detail"]) == (404, "No conversation is being recorded here")  # fmt: skip
    assert (finished.status_code, finished.json()) == (202, {"id": "now", "status": "in_progress"})
    assert task.at == world.clock.now() + timedelta(seconds=10)
    assert conversation["status"] == "processing"
    assert len(conversation["transcript_segments"]) == 2
    assert (await alice.get(CONVERSATIONS, params=LIVE)).json() == []


async def test_an_export_holds_what_is_being_recorded_p6(world, alice) -> None:
    await record(world)

    exported = json.loads((await alice.get("/v1/users/export")).content)

    [conversation] = exported["conversations"]
    assert conversation["id"] == "now"
    assert [each["text"] for each in conversation["transcript_segments"]] == ["The train leaves", "at nine."]  # fmt: skip


async def test_beyond_a_quota_what_was_recorded_waits_and_is_not_lost(world) -> None:
    await record(world)
    world.clock.advance(seconds=200)
    poor, rich = (build_library_deps(world, {"stored_bytes": n}) for n in (1, 1_000_000))

    await end_when_paused(poor, ALICE, ConversationId("now"))
    [again] = world.tasks.list_by_target(END_TARGET)
    await end_when_paused(rich, ALICE, ConversationId("now"))

    assert again.at == world.clock.now() + timedelta(hours=1)
    assert await rich.stores.conversations.list_known(ALICE, ["now"]) == {"now"}


async def test_what_is_refused_at_its_end_is_set_aside_and_exported(world, alice) -> None:
    await record(world, words="x" * 100_001)
    for _ in range(2):
        await end_when_paused(
            build_library_deps(world), ALICE, ConversationId("now"), is_asked=True
        )
    exported = json.loads((await alice.get("/v1/users/export")).content)

    [live] = await Stores(world.documents).live_conversations.list_all(ALICE)
    [conversation] = exported["conversations"]
    assert (live.is_ending, live.is_set_aside) == (True, True)
    assert len(conversation["transcript_segments"][1]["text"]) == 100_001
    assert world.tasks.list_by_target(END_TARGET) == []


async def test_an_export_holds_what_waits_for_its_end_once(world, alice) -> None:
    await record(world)
    await end_when_paused(
        build_library_deps(world, {"stored_bytes": 1}), ALICE, ConversationId("now"), is_asked=True
    )
    waiting = json.loads((await alice.get("/v1/users/export")).content)
    await end_when_paused(build_library_deps(world), ALICE, ConversationId("now"))
    await record(world)
    await Stores(world.documents).live_conversations.begin_end(ALICE, ConversationId("now"))
    handed_in = json.loads((await alice.get("/v1/users/export")).content)

    assert [each["id"] for each in waiting["conversations"]] == ["now"]
    assert [each["id"] for each in handed_in["conversations"]] == ["now"]

"""Live sound that its owner keeps is heard again at the line, and deleted otherwise (L3)."""

import io
import wave
from array import array
from typing import Any

from functions.media.live.application import build_application
from shared.data.account.quotas import Quotas
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.ids import ConversationId
from shared.library.live_conversations import END_TARGET, end_when_paused
from shared.library.recordings import forget_recording
from tests.fixtures.devices import (
    FRAME,
    Device,
    ScriptedLiveTranscriber,
    build_device,
    build_listen_deps,
)
from tests.fixtures.library import build_client
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.fixtures.sounds import build_tone

TONE = build_tone(1)[44:][: len(FRAME)]


async def keep(world: ProcessingFixture, *, keeps: bool = True) -> None:
    await world.deps.stores.profiles.change(ALICE, keeps_audio=keeps)


async def connect(world: ProcessingFixture, *script: Any, **deps: Any) -> Device:
    transcriber = ScriptedLiveTranscriber([*script])
    device = build_device(
        build_application(build_listen_deps(world, transcriber, deps.get("limits"))), world
    )
    await device.connect()
    return device


async def end(world: ProcessingFixture) -> Conversation | None:
    """Let the pause pass; return the conversation that was handed in."""
    world.clock.advance(seconds=300)
    deps = build_listen_deps(world, ScriptedLiveTranscriber())
    for task in world.tasks.list_by_target(END_TARGET):
        await end_when_paused(deps, ALICE, ConversationId(task.body["conversation_id"]))
    page = await world.deps.stores.conversations.list_page(ALICE, limit=10)
    return page.items[0] if page.items else None


async def count_stored(world: ProcessingFixture) -> int:
    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    return usage["stored_bytes"]


async def hear(
    world: ProcessingFixture, conversation: Conversation
) -> "list[tuple[float, array[int]]]":
    """Return each recording as the app plays it: its start, in seconds of the conversation, and its samples."""
    async with build_client(world, ALICE) as client:
        listed = (await client.get("/v1/audio", params={"conversation_id": conversation.id})).json()
        files = (await client.get(f"/v1/sync/audio/{conversation.id}/urls")).json()["audio_files"]
        played = [
            await client.get(file["signed_url"].removeprefix("https://keepsake.example"))
            for file in files
        ]
    recordings = await world.deps.stores.recordings.list_of_conversation(ALICE, conversation.id)
    assert [each["id"] for each in listed["items"]] == [each.id for each in recordings]
    starts = [each.started_at - conversation.started_at for each in recordings if each.started_at]
    return [
        (start.total_seconds(), read_wav(answer.content))
        for start, answer in zip(starts, played, strict=True)
    ]


def read_wav(content: bytes) -> "array[int]":
    with wave.open(io.BytesIO(content)) as file:
        return array("h", file.readframes(file.getnframes()))


def find_tone(samples: "array[int]") -> list[float]:
    """Return the seconds in which it is loud."""
    second = SAMPLE_RATE // 2
    blocks = range(0, len(samples), second)
    return [n / 2 for n, at in enumerate(blocks) if max(samples[at : at + second]) > 2_000]


async def test_kept_sound_of_a_device_is_heard_at_its_line_l3(world: ProcessingFixture) -> None:
    await keep(world)
    device = await connect(world, (130.0, 131.0, "Hello."), (140.0, 141.0, "Bye."))
    await device.play(130)
    await device.play(1, TONE)
    await device.play(9)
    await device.play(1, TONE)
    await device.play(5)
    await device.leave()
    conversation = await end(world)

    assert conversation is not None
    [(start, samples)] = await hear(world, conversation)
    loud = [start + at for at in find_tone(samples)]
    assert -2 <= start <= 0
    assert abs(len(samples) / SAMPLE_RATE - 17) < 1.5
    assert all(-0.5 <= at <= 1.5 or 9.5 <= at <= 11.5 for at in loud), loud
    assert {round(at) // 10 for at in loud} == {0, 1}
    assert 40_000 < await count_stored(world) < 100_000


async def test_a_process_that_dies_takes_five_seconds_of_kept_sound_with_it_l3(
    world: ProcessingFixture,
) -> None:
    await keep(world)
    device = await connect(world, (0.0, 1.0, "Hello."), (90.0, 91.0, "Bye."))
    await device.play(3)
    unstored, longest = list[float](), 0
    for played in range(4, 160):
        await device.play(1, TONE)
        for recording in await world.deps.stores.recordings.list_newest(ALICE):
            unstored.append(played - (recording.duration_s or 0.0))
            longest = max(longest, len(recording.parts))

    assert max(unstored) <= 6.5
    assert longest == 3
    assert recording.size == sum(part.size for part in recording.parts) == await count_stored(world)
    assert {part.path for part in recording.parts} == set(world.blobs.files)


async def test_deleted_sound_does_not_come_back_with_what_follows_l3(
    world: ProcessingFixture,
) -> None:
    await keep(world)
    device = await connect(world, (0.0, 1.0, "Hello."))
    await device.play(20)
    [recording] = await world.deps.stores.recordings.list_newest(ALICE)
    await forget_recording(build_listen_deps(world, ScriptedLiveTranscriber()), ALICE, recording.id)
    await device.play(20)
    await device.leave()

    [later] = await world.deps.stores.recordings.list_newest(ALICE)
    assert later.id != recording.id
    assert later.duration_s is not None
    assert later.duration_s < 20
    assert later.size == sum(map(len, world.blobs.files.values())) == await count_stored(world)


async def test_a_short_gap_is_silent_and_a_cut_begins_another_recording_l3(
    world: ProcessingFixture,
) -> None:
    await keep(world)
    first = await connect(world, (0.0, 1.0, "One."), (3.0, 4.0, "Two."))
    await first.play(2, TONE)
    world.clock.advance(seconds=10)
    await first.play(2, TONE)
    await first.leave()
    world.clock.advance(seconds=20)
    second = await connect(world, (0.0, 1.0, "Three."))
    await second.play(2, TONE)
    await second.leave()
    conversation = await end(world)

    assert conversation is not None
    [(start, samples), (later, _)] = await hear(world, conversation)
    assert abs(later - start - 34) < 1
    assert abs(len(samples) / SAMPLE_RATE - 14) < 0.5
    assert [at for at in find_tone(samples) if 3 < at < 11] == []


async def test_no_sound_stays_of_an_owner_who_keeps_none_or_of_silence_l3(
    world: ProcessingFixture,
) -> None:
    unkept = await connect(world, (0.0, 1.0, "Hello."))
    await unkept.play(90)
    await unkept.leave()
    await end(world)
    await keep(world)
    silent = await connect(world)
    await silent.play(90)
    await silent.leave()
    assert world.blobs.files == {}
    device = await connect(world, (0.0, 1.0, "Hello."))
    await device.play(90)
    assert world.blobs.files != {}
    await device.leave()
    await keep(world, keeps=False)
    conversation = await end(world)

    assert conversation is not None
    assert world.blobs.files == {}
    assert await world.deps.stores.recordings.list_newest(ALICE) == []


async def test_kept_sound_goes_with_its_conversation_and_is_in_an_export_l3(
    world: ProcessingFixture,
) -> None:
    await keep(world)
    device = await connect(world, (0.0, 1.0, "Hello."))
    await device.play(20)
    await device.leave()
    conversation = await end(world)
    assert conversation is not None
    async with build_client(world, ALICE) as client:
        archive = (await client.get("/v1/users/export", params={"format": "zip"})).content
    await world.run_trigger()
    await world.delete(name=conversation.id)
    await world.deliver_all()

    assert f"audio/{conversation.id}/".encode() in archive
    assert world.blobs.files == {}


async def test_words_are_stored_where_the_quota_takes_no_sound_l3(
    world: ProcessingFixture,
) -> None:
    await keep(world)
    device = await connect(world, (0.0, 1.0, "Hello."), limits={"stored_bytes": 1_000})
    await device.play(90)
    await device.leave()
    conversation = await end(world)

    assert conversation is not None
    assert world.blobs.files == {}
    assert conversation.finished_at > conversation.started_at


async def test_no_sound_is_stored_for_a_conversation_that_was_deleted_l3(
    world: ProcessingFixture,
) -> None:
    await keep(world)
    device = await connect(world, (0.0, 1.0, "Hello."))
    await device.play(20)
    [task] = world.tasks.list_by_target(END_TARGET)
    name = ConversationId(task.body["conversation_id"])
    deps = build_listen_deps(world, ScriptedLiveTranscriber())
    await end_when_paused(deps, ALICE, name, is_asked=True)
    await world.run_trigger()
    await world.delete(name=name)
    await world.deliver_all()
    stored_before = await count_stored(world)
    await device.play(70)
    await device.leave()

    assert world.blobs.files == {}
    assert await world.deps.stores.recordings.list_newest(ALICE) == []
    assert await count_stored(world) == stored_before


async def test_no_sound_is_stored_as_soon_as_its_owner_keeps_none_l3(
    world: ProcessingFixture,
) -> None:
    await keep(world)
    device = await connect(world, (0.0, 1.0, "Hello."))
    await device.play(20)
    async with build_client(world, ALICE) as client:
        await client.delete("/v1/users/store-recording-permission")
    await device.play(5)
    await device.leave()

    assert world.blobs.files == {}

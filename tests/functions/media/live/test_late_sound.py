"""Late sound: on a machine that hears too slowly, words come later, and none is lost."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from functions.library.bin.library_bin import move_to_bin
from functions.media.live.application import build_application
from functions.media.live.stream import DRAIN_S, MAX_UNTOLD_S
from functions.media.live.waiting_sound import HELD_FOR, STORED_EVERY_S
from functions.media.sound.transcribe import transcribe
from functions.process_conversation.processing.process import process
from shared.adapters.windowed_transcriber import WindowedTranscriber
from shared.domain.conversations.recording import Recording
from shared.domain.conversations.speech import Transcription
from shared.domain.errors import Conflict, ModelFailed, Unavailable
from shared.library.delete_conversation import delete_conversation
from shared.library.live_conversations import END_TARGET, end_when_paused
from tests.fakes import ScriptedModel, ScriptedTranscriber
from tests.fixtures.devices import (
    Device,
    ScriptedLiveTranscriber,
    build_device,
    build_listen_deps,
    settle,
)
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.fixtures.sounds import build_tone
from tests.fixtures.storage import MemoryDatabase
from tests.functions.media.sound.test_transcribe import build_deps

WORDS = ("One.", "Two.", "Three.", "Four.")
SPOKEN = build_tone(3, quiet=((2, 3),))[44:]
"""What is said in two seconds, and a pause: a window of voice."""
WINDOW_S = 3


class StuckTranscriber(ScriptedTranscriber):
    """Hears so many windows, and then takes for ever."""

    def __init__(self, count: int) -> None:
        super().__init__([[("A", 0.0, 2.0, word)] for word in WORDS[:count]])

    async def transcribe(self, sound: bytes, **_: Any) -> Transcription:
        if not self.script:
            await asyncio.Event().wait()
        return await super().transcribe(sound)


def build_slow_device(world: ProcessingFixture, heard: int) -> Device:
    live = WindowedTranscriber(StuckTranscriber(heard), world.clock, shows_guesses=False)
    return build_device(build_application(build_listen_deps(world, live)), world, uid=ALICE)


async def say(world: ProcessingFixture, device: Device, count: int) -> None:
    """Send sound as it is recorded, in frames of a second."""
    for _ in range(count):
        for at in range(0, len(SPOKEN), 32_000):
            world.clock.advance(seconds=1)
            await device.send(SPOKEN[at : at + 32_000])


async def leave(world: ProcessingFixture, device: Device) -> None:
    leaving = asyncio.create_task(device.leave())
    while not leaving.done():
        await settle()
        world.clock.advance(seconds=DRAIN_S)
        await asyncio.wait([leaving], timeout=0.01)


async def list_late(world: ProcessingFixture) -> list[Recording]:
    recordings = await world.deps.stores.recordings.list_newest(ALICE)
    late = [each for each in recordings if each.status == "transcribing"]
    return sorted(late, key=lambda each: each.started_at or each.created_at)


async def transcribe_late(world: ProcessingFixture, heard: int) -> None:
    """Run the tasks of late sound: each recording holds windows that nobody heard."""
    words = iter(WORDS[heard:])
    for recording in await list_late(world):
        assert recording.duration_s is not None
        count = round(recording.duration_s / WINDOW_S)
        lines = [("A", at * WINDOW_S + 0.3, at * WINDOW_S + 2.3, next(words)) for at in range(count)]  # fmt: skip
        deps = build_deps(world, ScriptedTranscriber([lines], tells_speakers=False))
        await transcribe(deps, ALICE, recording.id)


async def end_all(world: ProcessingFixture) -> None:
    world.clock.advance(seconds=200)
    deps = build_listen_deps(world, WindowedTranscriber(StuckTranscriber(0), world.clock, shows_guesses=False))  # fmt: skip
    for task in [*world.tasks.list_by_target(END_TARGET)]:
        await end_when_paused(deps, ALICE, task.body["conversation_id"])


async def list_said(world: ProcessingFixture) -> list[Sequence[tuple[str, int]]]:
    """Return the words of each conversation with their seconds, from its beginning."""
    stores = world.deps.stores
    page = await stores.conversations.list_page(ALICE, limit=50)
    stored = [await stores.conversations.get(ALICE, each.id) for each in page.items]
    return [[(s.text, round(s.start)) for s in each.transcript_segments] for each in stored]


@pytest.mark.parametrize("heard", range(len(WORDS) + 1))
@pytest.mark.parametrize("is_over", [False, True], ids=["goes on", "over"])
@pytest.mark.parametrize("keeps_audio", [False, True], ids=["dropped", "kept"])
async def test_no_word_is_lost_however_few_are_heard_in_time_l3(
    world: ProcessingFixture, *, heard: int, is_over: bool, keeps_audio: bool
) -> None:
    """Its conversation may be over by the time at which they are known; what is kept is kept once."""
    await world.deps.stores.profiles.change(ALICE, keeps_audio=keeps_audio)
    device = build_slow_device(world, heard)
    await device.connect()
    await say(world, device, len(WORDS))
    await leave(world, device)
    if is_over:
        await end_all(world)
    await transcribe_late(world, heard)
    await end_all(world)

    assert await list_said(world) == [[(word, WINDOW_S * n) for n, word in enumerate(WORDS)]]
    assert await world.deps.stores.live_conversations.list_all(ALICE) == []
    kept = [each async for each in world.deps.stores.recordings.iter_kept(ALICE)]
    seconds = sum(each.duration_s or 0 for each in kept)
    assert seconds == pytest.approx(len(WORDS) * WINDOW_S if keeps_audio else 0, abs=1.5)


async def test_a_device_is_never_made_to_wait_and_sound_is_not_heaped_up_l3(world) -> None:
    device = build_slow_device(world, 0)
    await device.connect()
    await say(world, device, 20)
    recordings = await list_late(world)
    [live] = await world.deps.stores.live_conversations.list_all(ALICE)

    assert device.close is None
    assert {each.target_id for each in recordings} == {live.id}
    assert sum(each.duration_s or 0 for each in recordings) > 20 * WINDOW_S - 45
    await leave(world, device)


@pytest.mark.parametrize(
    "failure", [Unavailable("gone"), ModelFailed("refused")], ids=["gone", "refused"]
)
async def test_sound_that_a_provider_did_not_hear_is_transcribed_later_l3(
    world, failure: Exception
) -> None:
    provider = ScriptedLiveTranscriber([(0, 1, "One."), failure])
    app = build_application(build_listen_deps(world, provider))
    device = build_device(app, world, uid=ALICE)
    await device.connect()
    provider.streams[0].is_slow = True
    await say(world, device, 1)
    provider.streams[0].go_on()
    await device.wait()
    [recording] = await list_late(world)
    deps = build_deps(world, ScriptedTranscriber([[("A", 0.0, 1.0, "Two.")]], tells_speakers=False))
    await transcribe(deps, ALICE, recording.id)
    await end_all(world)

    assert recording.duration_s == WINDOW_S - 1
    assert await list_said(world) == [[("One.", 0), ("Two.", 1)]]
    assert world.blobs.files == {}


async def test_sound_behind_a_provider_that_left_in_good_order_is_transcribed_later_l3(
    world,
) -> None:
    provider = ScriptedLiveTranscriber([(0, 1, "One.")])
    app = build_application(build_listen_deps(world, provider))
    device = build_device(app, world, uid=ALICE)
    await device.connect()
    await device.send(SPOKEN[:32_000])
    await provider.streams[0].end()
    await settle()
    provider.streams[0].is_slow = True
    await say(world, device, 1)
    await leave(world, device)
    [recording] = await list_late(world)

    assert recording.duration_s == WINDOW_S


async def test_a_provider_that_tells_nothing_is_left_and_its_sound_transcribed_later_l3(
    world,
) -> None:
    provider = ScriptedLiveTranscriber()
    app = build_application(build_listen_deps(world, provider))
    device = build_device(app, world, uid=ALICE)
    await device.connect()
    provider.streams[0].is_slow = True
    await say(world, device, 40)
    sending = asyncio.create_task(device.send(SPOKEN[:32_000]))
    while not sending.done():
        world.clock.advance(seconds=DRAIN_S)
        await settle()
    [recording] = await list_late(world)

    assert device.close == (1011, "A part of the service does not answer. Connect again.")
    assert recording.duration_s == pytest.approx(MAX_UNTOLD_S, abs=1)


@pytest.mark.parametrize("is_back", [False, True], ids=["gone", "back"])
async def test_what_a_process_heard_before_it_died_is_transcribed_after_it_l3(
    world, *, is_back: bool
) -> None:
    """Its last seconds alone are lost; the device goes on with the same conversation."""
    device = build_slow_device(world, 1)
    await device.connect()
    await say(world, device, 5)
    died = world
    world = build_processing_fixture(MemoryDatabase(died.database.serialize()), ScriptedModel())
    world.clock.time, world.blobs.files = died.clock.time, dict(died.blobs.files)
    world.tasks = died.tasks
    await leave(died, device)
    another = build_slow_device(world, 0)
    if is_back:
        await another.connect()
    [recording] = await list_late(world)
    lines = [("A", 0.3, 2.3, "Two."), ("A", 3.3, 5.3, "Three.")]
    deps = build_deps(world, ScriptedTranscriber([lines], tells_speakers=False))
    with pytest.raises(Unavailable):
        await transcribe(deps, ALICE, recording.id)
    world.clock.advance(seconds=HELD_FOR.total_seconds())
    await transcribe(deps, ALICE, recording.id)
    if is_back:
        await leave(world, another)
    await end_all(world)

    assert recording.duration_s is not None
    assert 5 * WINDOW_S - (WINDOW_S + recording.duration_s) <= STORED_EVERY_S + 1
    assert await list_said(world) == [[("One.", 0), ("Two.", 3), ("Three.", 6)]]
    assert world.blobs.files == {}


async def test_words_that_another_attempt_tells_by_now_are_not_told_twice_l3(world) -> None:
    """A machine that slept comes back to a stream whose sound was taken as left."""
    provider = ScriptedLiveTranscriber([(0, 1, "One.")])
    device = build_device(build_application(build_listen_deps(world, provider)), world, uid=ALICE)
    await device.connect()
    provider.streams[0].is_slow = True
    await say(world, device, 4)
    [held] = await list_late(world)
    later = world.clock.now() + HELD_FOR
    await world.deps.stores.recordings.claim(ALICE, held.id, "another", now=later)
    provider.streams[0].go_on()
    await leave(world, device)
    late = await list_late(world)

    assert [each.attempt for each in late] == ["another", None]
    assert sum(each.duration_s or 0 for each in late) == 4 * WINDOW_S
    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    batches = await world.deps.stores.live_conversations.load_batches(ALICE, live.id)
    assert [segment for batch in batches for segment in batch.segments] == []


async def test_music_leaves_nothing_however_long_it_plays_l3(world) -> None:
    """Each stretch waits for so long that it is stored, until no word is heard in it."""
    heard_by = ScriptedTranscriber([[] for _ in range(1_000)])
    live = WindowedTranscriber(heard_by, world.clock, shows_guesses=False)
    device = build_device(build_application(build_listen_deps(world, live)), world, uid=ALICE)
    await device.connect()
    stretch, stored = build_tone(11, quiet=((10, 11),))[44:], 0
    for _ in range(30):
        for at in range(0, len(stretch), 32_000):
            world.clock.advance(seconds=1)
            await device.send(stretch[at : at + 32_000])
            stored = max(stored, len(await list_late(world)))
    await device.leave()
    await end_all(world)

    assert stored == 1
    assert await world.deps.stores.recordings.list_newest(ALICE) == []
    assert await list_said(world) == []
    assert world.blobs.files == {}


async def test_late_sound_of_nobody_leaves_nothing_l3(world) -> None:
    device = build_slow_device(world, 0)
    await device.connect()
    await say(world, device, 1)
    await leave(world, device)
    [recording] = await list_late(world)
    await transcribe(build_deps(world, ScriptedTranscriber([[]])), ALICE, recording.id)
    await end_all(world)

    assert await list_said(world) == []
    assert world.blobs.files == {}


async def test_words_of_a_conversation_that_was_deleted_meanwhile_come_to_nobody_l3(world) -> None:
    device = build_slow_device(world, 1)
    await device.connect()
    await say(world, device, 3)
    await leave(world, device)
    await end_all(world)
    [late] = await list_late(world)
    assert late.target_id is not None
    with pytest.raises(Conflict):
        await move_to_bin(world.deps, ALICE, "conversations", late.target_id)

    await delete_conversation(world.deps, ALICE, late.target_id)
    await process(world.deps, ALICE, late.target_id)

    assert await list_late(world) == []
    assert world.blobs.files == {}


@pytest.mark.parametrize(("named", "expected"), [("multi", None), ("de", "de")])
async def test_late_sound_has_the_language_that_the_device_named_l3(
    world, named: str, expected: str | None
) -> None:
    """Where it named none, the first words are no sign of the next."""
    device = build_slow_device(world, 1)
    device.query["language"] = named
    await device.connect()
    await say(world, device, 2)
    await leave(world, device)
    [recording] = await list_late(world)

    assert recording.language == expected

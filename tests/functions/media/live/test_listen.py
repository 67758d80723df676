"""Live sound over a socket: what a device is told, what is stored, and who is let in."""

import asyncio
import base64
import gc
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.media.live.application import MAX_OPEN, MAX_STREAMS, build_application
from functions.media.live.stream import DRAIN_S, MAX_UNREADABLE_FRAMES
from shared.adapters.windowed_transcriber import WindowedTranscriber
from shared.domain.account.account import TokenCheck, VerifiedToken
from shared.domain.apps.webhook import DeveloperWebhook
from shared.domain.conversations.conversation import Segment
from shared.domain.conversations.live_conversation import LiveBatch, LiveConversation
from shared.domain.conversations.speech import Hearing, Utterance
from shared.domain.errors import ModelFailed, NotAuthenticated, Unavailable
from shared.domain.ids import ConversationId, UserId
from shared.library.device_frames import FRAME_CODECS
from shared.library.live_conversations import END_TARGET, end_live, end_when_paused
from shared.ports import Clock
from tests.fakes import ScriptedTranscriber
from tests.fault_injection import FaultyPort, raise_unavailable, succeed
from tests.fixtures.devices import (
    FRAME,
    Device,
    ScriptedLiveTranscriber,
    build_device,
    build_listen_deps,
    list_texts,
    settle,
)
from tests.fixtures.library import build_client
from tests.fixtures.pictures import build_picture
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.fixtures.sounds import build_tone, encode_for_device


def build(world: ProcessingFixture, *script: Any, **deps: Any) -> Any:
    """Build an instance that hears these lines."""
    return build_application(
        build_listen_deps(world, ScriptedLiveTranscriber([*script]), deps.get("limits"))
    )


async def connect(world: ProcessingFixture, app: Any, **options: Any) -> Device:
    device = build_device(app, world, **options)
    await device.connect()
    return device


async def run_end_tasks(world: ProcessingFixture) -> None:
    """Run the tasks that look at the pauses of live conversations and are due."""
    deps = build_listen_deps(world, ScriptedLiveTranscriber())
    for task in [*world.tasks.list_by_target(END_TARGET)]:
        if task.at is not None and task.at <= world.clock.now():
            await end_when_paused(deps, ALICE, task.body["conversation_id"])


async def list_conversations(world: ProcessingFixture) -> list[Any]:
    page = await world.deps.stores.conversations.list_page(ALICE, limit=50)
    stored = [await world.deps.stores.conversations.get(ALICE, each.id) for each in page.items]
    return sorted(stored, key=lambda each: each.started_at)


async def list_said(world: ProcessingFixture) -> list[list[str]]:
    """Return the texts of each conversation that was handed in."""
    return [
        [segment.text for segment in each.transcript_segments]
        for each in await list_conversations(world)
    ]


async def test_what_is_said_is_shown_and_becomes_a_conversation_at_the_pause_l3(world) -> None:
    app = build(world, (1.0, 2.0, "Hello Ben."), (3.0, 4.0, "The train leaves at nine."))
    device = await connect(world, app)
    await device.play(10)
    shown = [*device.segments]
    world.clock.advance(seconds=80)
    await device.play(45)
    await device.hear_of("memory_processing_started")

    [conversation] = await list_conversations(world)
    assert device.messages[0] == {"type": "service_status", "status": "initiating", "status_text": "Connecting"}  # fmt: skip
    assert list_texts(shown) == ["Hello Ben.", "The train leaves at nine."]
    assert [(each["start"], each["end"], each["is_interim"]) for each in shown] == [(0.0, 1.0, False), (2.0, 3.0, False)]  # fmt: skip
    assert device.events[-1] == "memory_processing_started"
    assert device.messages[-1]["memory"]["id"] == conversation.id
    assert (conversation.source, conversation.language, conversation.status) == ("omi", "en", "processing")  # fmt: skip
    assert [segment.text for segment in conversation.transcript_segments] == list_texts(shown)
    assert await world.deps.stores.live_conversations.list_all(ALICE) == []
    async with build_client(world, ALICE) as client:
        path = f"/v1/conversations/{conversation.id}/transcripts"
        transcripts = (await client.get(path)).json()
    assert list_texts(transcripts.pop("whisperx")) == list_texts(shown)
    assert transcripts == {"deepgram": [], "soniox": [], "speechmatics": []}
    await device.leave()


async def test_a_device_is_told_when_its_conversation_is_ready(world) -> None:
    device = await connect(world, build(world, (1.0, 2.0, "I'm allergic to peanuts. " * 30)))
    await device.play(3)
    for _ in range(3):
        world.clock.advance(seconds=45)
        await device.play(1)
    await device.hear_of("memory_processing_started")
    await world.deliver_all()
    world.clock.advance(seconds=4)
    await device.hear_of("memory_created")

    assert device.events[-2:] == ["memory_processing_started", "memory_created"]
    assert device.messages[-1]["memory"]["status"] == "completed"
    await device.leave()


async def test_a_guess_is_marked_and_replaced_l3(world) -> None:
    guess = Hearing(utterances=(Utterance(text="Hel", start=0, end=1),), is_final=False)
    device = await connect(world, build(world, guess, (0, 2, "Hello.")))
    await device.play(3)

    assert [(s["id"], s["text"], s["is_interim"]) for s in device.segments] == [
        (device.segments[0]["id"], "Hel", True),
        (device.segments[0]["id"], "Hello.", False),
    ]
    await device.leave()


async def test_a_device_that_was_cut_off_goes_on_at_another_instance_l3(world) -> None:
    first = await connect(world, build(world, (1.0, 2.0, "First half.")))
    await first.play(3)
    await first.leave()
    world.clock.advance(seconds=60)
    second = await connect(world, build(world, (0.5, 1.5, "Second half.")))
    await second.play(3)
    await second.leave()
    world.clock.advance(seconds=200)
    await run_end_tasks(world)

    assert await list_said(world) == [["First half.", "Second half."]]
    [conversation] = await list_conversations(world)
    assert [s.start for s in conversation.transcript_segments] == pytest.approx([0, 62.5])


async def test_a_device_that_never_comes_back_leaves_its_conversation_l3(world) -> None:
    device = await connect(world, build(world, (1.0, 2.0, "Hello Ben.")))
    await device.play(3)
    await device.leave()
    await run_end_tasks(world)
    before = await list_said(world)
    world.clock.advance(seconds=160)
    for _ in range(2):
        await run_end_tasks(world)

    assert (before, await list_said(world)) == ([], [["Hello Ben."]])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(cuts=st.lists(st.integers(0, 40), max_size=4))
async def test_no_word_is_lost_or_doubled_wherever_a_socket_is_cut_l3(
    world: ProcessingFixture, cuts: Sequence[int]
) -> None:
    """Each connection says one thing in its third second; only those that got so far said it."""
    uid = UserId(f"user{abs(hash(tuple(cuts)))}")
    expected = []
    for number, frames in enumerate(cuts):
        device = await connect(world, build(world, (2.0, 3.0, f"Line {number}.")), uid=uid)
        await device.play(frames / 10)
        await device.leave()
        expected += [f"Line {number}."] if frames >= 30 else []
    lives = await world.deps.stores.live_conversations.list_all(uid)
    said = [
        segment.text
        for live in lives
        for batch in await world.deps.stores.live_conversations.load_batches(uid, live.id)
        for segment in batch.segments
    ]

    assert len(lives) == bool(expected)
    assert sorted(said) == expected


@pytest.mark.parametrize("messages", range(2))
async def test_a_line_that_breaks_at_once_leaves_no_work_that_never_began_l3(
    world, messages: int
) -> None:
    """Python warns of it, which fails a test."""
    device = build_device(build(world), world)
    device.most_messages = messages
    await device.connect()
    await device.wait()

    assert len(device.messages) == messages
    gc.collect()


async def test_two_devices_at_once_are_two_conversations_l3(world) -> None:
    phone = await connect(world, build(world, (1, 2, "On the phone.")))
    pendant = await connect(world, build(world, (1, 2, "On the pendant.")), source="phone")
    await phone.play(3)
    await pendant.play(3)
    await phone.leave()
    await pendant.leave()
    world.clock.advance(seconds=200)
    await run_end_tasks(world)

    assert sorted(await list_said(world)) == [["On the pendant."], ["On the phone."]]


async def test_a_new_connection_of_a_device_takes_over_from_the_old_one(world) -> None:
    app = build(world, (1, 2, "Before."), (0, 1, "After."))
    old = await connect(world, app)
    await old.play(3)
    new = await connect(world, app)
    await new.play(3)
    await new.leave()
    await old.leave()

    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    batches = await world.deps.stores.live_conversations.load_batches(ALICE, live.id)
    assert sorted(s.text for batch in batches for s in batch.segments) == ["After.", "Before."]


async def test_words_heard_when_the_conversation_was_handed_in_begin_another(world) -> None:
    device = await connect(world, build(world, (1, 2, "One."), (4, 5, "Two.")))
    await device.play(3)
    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    await end_live(build_listen_deps(world, ScriptedLiveTranscriber()), ALICE, live.id)
    await device.play(3)
    await device.leave()
    world.clock.advance(seconds=300)
    await run_end_tasks(world)

    assert await list_said(world) == [["One."], ["Two."]]
    assert live.id == (await list_conversations(world))[0].id


@pytest.mark.parametrize(
    ("options", "status", "detail"),
    [
        ({"uid": None}, 401, "Authorization header not found"),
        ({"codec": "lc3"}, 422, "codec"),
        ({"sample_rate": 1}, 422, "sample rate"),
    ],
)
async def test_nobody_is_let_in_without_a_token_or_with_sound_that_is_not_understood_l3(
    world, options, status, detail
) -> None:
    device = await connect(world, build(world), **options)

    assert (device.status, device.messages) == (status, [])
    assert detail in device.problem["detail"]


async def test_without_a_transcriber_what_to_set_is_said(world) -> None:
    deps = build_listen_deps(world, ScriptedLiveTranscriber(is_ready=False))
    device = await connect(world, build_application(deps))

    assert device.status == 409
    assert "SPEECH=local" in device.problem["detail"]


async def test_streams_and_seconds_of_a_user_are_bounded_l3(world) -> None:
    app = build(world, limits={"recorded_seconds": 100})
    devices = [await connect(world, app, phone=f"p{n}") for n in range(MAX_STREAMS + 1)]
    await devices[0].play(31)
    await devices[0].wait()
    late = await connect(world, build(world, limits={"recorded_seconds": 100}))

    assert [device.status for device in devices] == [None] * MAX_STREAMS + [429]
    assert devices[0].close is not None
    assert devices[0].close[0] == 1008
    assert "sound recorded" in devices[0].close[1]
    assert late.status == 429
    for device in devices[1:MAX_STREAMS]:
        await device.leave()


async def test_devices_that_connect_at_once_are_bounded_too(world) -> None:
    app = build(world)
    devices = [build_device(app, world, phone=f"p{n}") for n in range(MAX_STREAMS + 2)]
    await asyncio.gather(*(device.connect() for device in devices))
    for device in devices:
        await (device.wait() if device.status else device.leave())
    late = await connect(world, app)

    assert sorted(device.status or 0 for device in devices) == [0] * MAX_STREAMS + [429] * 2
    assert late.status is None
    await late.leave()


async def test_sound_faster_than_it_is_recorded_ends_the_stream(world) -> None:
    device = await connect(world, build(world, (1, 2, "Hello.")))
    for _ in range(700):
        await device.send(FRAME)
    await device.wait()

    assert device.close == (1008, "Sound comes faster than it is recorded.")
    assert list_texts(device.segments) == ["Hello."]


async def test_frames_of_another_codec_end_the_stream_and_texts_change_nothing_l3(world) -> None:
    device = await connect(world, build(world), codec="opus")
    for text in ("", "hello", "[]", '{"type": 1}', "{" * 1_000, '{"type": "image_chunk"}'):
        await device.send(text)
    is_open = device.close is None
    for _ in range(MAX_UNREADABLE_FRAMES):
        await device.send(b"\xff\xff\xff not opus")
    await device.wait()

    assert is_open
    assert device.close == (1003, "The frames are not of the codec that was named.")


@pytest.mark.parametrize("codec", FRAME_CODECS)
async def test_no_frame_breaks_a_stream_whatever_it_holds_l3(world, codec) -> None:
    """It closes for one of the reasons that it knows, or not at all."""
    device = await connect(world, build(world), codec=codec)
    sizes = (0, 1, 2, 3, 39, 160, 1_275, 7_661, 32_001)
    frames = [
        frame
        for size in sizes
        for frame in (
            bytes(size),
            b"\xff" * size,
            b"\xfb\x3f" * size,
            bytes(range(256)) * (size // 256),
        )
    ]
    for frame in frames:
        world.clock.advance(seconds=5)
        await device.send(frame)
    assert device.close is None
    await device.leave()


async def test_a_device_that_connects_again_and_again_speaks_in_one_conversation_l3(world) -> None:
    words = [(0.0, 0.5, f"Word {number}.") for number in range(50)]
    app = build(world, *words)
    for _ in words:
        device = await connect(world, app)
        await device.play(1)
        await device.leave()
    world.clock.advance(seconds=200)
    await run_end_tasks(world)

    assert await list_said(world) == [[text for _, _, text in words]]


@pytest.mark.parametrize("codec", ["opus", "opus_fs320"])
async def test_frames_of_the_device_are_heard(world, codec) -> None:
    content, at, frames = encode_for_device(build_tone(2)), 0, []
    while at < len(content):
        size = int.from_bytes(content[at : at + 4], "little")
        frames.append(content[at + 4 : at + 4 + size])
        at += 4 + size
    device = await connect(world, build(world, (0.5, 1.5, "Beep.")), codec=codec)
    for frame in frames:
        world.clock.advance(seconds=0.02)
        await device.send(frame)

    assert list_texts(device.segments) == ["Beep."]
    await device.leave()


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ModelFailed("The key is refused."), "The key is refused."),
        (Unavailable("down"), "A part of the service does not answer. Connect again."),
    ],
)
async def test_a_transcriber_that_fails_ends_the_stream_and_keeps_what_was_said(
    world, failure, reason
) -> None:
    device = await connect(world, build(world, (0, 1, "Kept."), failure))
    await device.play(2)
    await device.wait()

    assert device.close == (1011, reason)
    assert len(await world.deps.stores.live_conversations.list_all(ALICE)) == 1


async def test_a_provider_that_is_gone_when_the_device_leaves_loses_nothing_that_was_told(
    world,
) -> None:
    transcriber = ScriptedLiveTranscriber([(0, 1, "Kept.")])
    device = await connect(world, build_application(build_listen_deps(world, transcriber)))
    await device.play(2)
    transcriber.streams[0].is_broken = True
    await device.leave()

    assert list_texts(device.segments) == ["Kept."]
    assert len(await world.deps.stores.live_conversations.list_all(ALICE)) == 1


@pytest.mark.parametrize(("steps", "told"), [(3, ["One.", "Two.", "Three."]), (1, ["One."])])
async def test_words_are_waited_for_after_a_device_left_as_long_as_more_of_them_come_l3(
    world, steps: int, told: list[str]
) -> None:
    """A provider is slow; what it tells is told."""
    script = [(0, 1, "One."), (1, 2, "Two."), (2, 3, "Three.")]
    transcriber = ScriptedLiveTranscriber(script)
    device = await connect(world, build_application(build_listen_deps(world, transcriber)))
    transcriber.streams[0].is_slow = True
    await device.play(3)
    leaving = asyncio.create_task(device.leave())
    await settle(20)
    for _ in range(steps):
        world.clock.advance(seconds=0.8 * DRAIN_S)
        transcriber.streams[0].go_on()
        await settle(20)
        world.clock.advance(seconds=0.3 * DRAIN_S)
        await settle(20)
    world.clock.advance(seconds=2 * DRAIN_S)
    await leaving

    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    batches = await world.deps.stores.live_conversations.load_batches(ALICE, live.id)
    assert sorted(s.text for batch in batches for s in batch.segments) == sorted(told)


async def test_live_words_reach_the_owners_server_only_while_they_switched_it_on_l3(world) -> None:
    app = build(world, (0, 1, "Before."), (2, 3, "After."))
    device = await connect(world, app)
    await device.play(1.5)
    webhook = DeveloperWebhook(url="https://example.com/live", enabled=True)
    await world.deps.stores.developer_webhooks.change(
        ALICE, lambda webhooks: webhooks.put("realtime_transcript", webhook)
    )
    world.clock.advance(seconds=60)
    await device.play(2)
    await device.leave()

    [task] = world.tasks.list_by_target("deliver_webhook")
    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    batch = await world.deps.stores.live_conversations.find_batch(
        ALICE, live.id, task.body["version"]
    )
    assert batch is not None
    assert (task.body["trigger"], task.body["subject_id"]) == ("realtime_transcript", live.id)
    assert [segment.text for segment in batch.segments] == ["After."]


async def test_a_stream_goes_on_where_a_listener_cannot_be_told_or_looked_up_l3(world) -> None:
    webhook = DeveloperWebhook(url="https://example.com/live", enabled=True)
    await world.deps.stores.developer_webhooks.change(
        ALICE, lambda webhooks: webhooks.put("realtime_transcript", webhook)
    )
    transcriber = ScriptedLiveTranscriber([(0, 1, "One."), (2, 3, "Two.")])
    deps = build_listen_deps(world, transcriber)
    stores: Any = deps.stores
    stores.developer_webhooks = FaultyPort(
        stores.developer_webhooks, get=[succeed, raise_unavailable]
    )
    tasks: Any = FaultyPort(world.tasks, create=[succeed, raise_unavailable])
    device = await connect(world, build_application(replace(deps, tasks=tasks)))
    await device.play(1.5)
    world.clock.advance(seconds=60)
    await device.play(2)
    await device.leave()

    assert list_texts(device.segments) == ["One.", "Two."]
    assert len(world.tasks.list_by_target("deliver_webhook")) == 1


class ExpiringIdentity:
    """Takes every token until its time is over."""

    def __init__(self, clock: Clock, lasts: timedelta) -> None:
        self._clock = clock
        self._ends_at = clock.now() + lasts

    async def verify(self, token: str, *, check: TokenCheck = "standard") -> VerifiedToken:
        if self._clock.now() >= self._ends_at:
            raise NotAuthenticated("Invalid or expired token")
        return VerifiedToken(uid=ALICE, issued_at=self._clock.now())


async def test_a_token_that_expires_ends_the_stream_and_another_goes_on_l3(world) -> None:
    first = build_listen_deps(world, ScriptedLiveTranscriber([(1, 2, "One.")]))
    identity = ExpiringIdentity(world.clock, timedelta(seconds=50))
    device = await connect(world, build_application(replace(first, identity=identity)))
    await device.play(3)
    for _ in range(3):
        world.clock.advance(seconds=30)
        await device.play(1)
    await device.wait()
    again = await connect(world, build(world, (0, 1, "Two.")))
    await again.play(2)
    await again.leave()

    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    batches = await world.deps.stores.live_conversations.load_batches(ALICE, live.id)
    assert device.close == (1008, "Sign in again.")
    assert sorted(s.text for batch in batches for s in batch.segments) == ["One.", "Two."]


async def test_a_line_without_sound_is_pinged_flushed_and_closed_l3(world) -> None:
    transcriber = ScriptedLiveTranscriber()
    device = await connect(world, build_application(build_listen_deps(world, transcriber)))
    await device.play(1)
    for _ in range(95):
        world.clock.advance(seconds=1)
        await settle(20)
    await device.wait()

    assert device.pings == 9
    assert transcriber.streams[0].flushes > 1
    assert device.close == (1001, "No sound came for a while.")


async def test_a_day_of_silence_leaves_nothing_l3(world) -> None:
    """The device comes back each time that the platform would have cut its line."""
    transcriber = ScriptedTranscriber()
    heard = WindowedTranscriber(transcriber, world.clock, shows_guesses=True)
    app = build_application(build_listen_deps(world, heard))
    closings = []
    device = await connect(world, app)
    for _ in range(24 * 60):
        world.clock.advance(seconds=60)
        await device.send(bytes(32_000))
        if device.close:
            await device.wait()
            closings.append(device.close)
            device = await connect(world, app)
    await device.leave()

    assert closings == [(1001, "Connect again to go on.")] * 26
    assert transcriber.voices == []
    assert await world.deps.stores.live_conversations.list_all(ALICE) == []
    assert await world.deps.stores.recordings.list_newest(ALICE) == []
    assert world.tasks.created == []
    assert world.blobs.files == {}


async def test_a_photo_of_the_device_stands_in_its_conversation_l3(world) -> None:
    photo = base64.b64encode(build_picture(size=(8, 8))).decode()
    device = await connect(world, build(world, (1, 2, "Look at this.")), source="openglass")
    half = len(photo) // 2
    for index, data in enumerate((photo[:half], photo[half:])):
        chunk = {"type": "image_chunk", "id": "t1", "index": index, "total": 2, "data": data}
        await device.send(json.dumps(chunk))
    await device.play(3)
    await device.leave()
    world.clock.advance(seconds=200)
    await run_end_tasks(world)

    [conversation] = await list_conversations(world)
    [processing] = [m for m in device.messages if isinstance(m, dict) and m["type"] == "photo_processing"]  # fmt: skip
    assert processing["temp_id"] == "t1"
    assert [(each.base64, each.discarded) for each in conversation.photos] == [(photo, False)]
    assert conversation.photos[0].id == processing["photo_id"]


async def test_what_the_app_hears_by_itself_is_taken_without_a_transcriber(world) -> None:
    deps = build_listen_deps(world, ScriptedLiveTranscriber(is_ready=False))
    device = await connect(world, build_application(deps), custom_stt="enabled")
    await device.play(3)
    segments = [{"text": "Heard there.", "speaker": "SPEAKER_01", "start": 1, "end": 2}]
    await device.send(json.dumps({"type": "suggested_transcript", "segments": segments}))
    await device.leave()
    world.clock.advance(seconds=200)
    await run_end_tasks(world)

    assert await list_said(world) == [["Heard there."]]


def suggest(text: str, start: float = 1, end: float = 2) -> str:
    segments = [{"text": text, "speaker": "SPEAKER_01", "start": start, "end": end}]
    return json.dumps({"type": "suggested_transcript", "segments": segments}, ensure_ascii=False)


async def test_a_segment_longer_than_a_transcript_takes_is_handed_in_whole(world) -> None:
    device = await connect(world, build(world), custom_stt="enabled")
    await device.play(3)
    await device.send(suggest("字" * 40_000))
    await device.leave()
    world.clock.advance(seconds=200)
    await run_end_tasks(world)

    [said] = await list_said(world)
    assert "".join(said) == "字" * 40_000


async def test_live_text_is_counted_once_before_it_is_stored(world) -> None:
    limits = {"ingested_bytes": 1_000}
    device = await connect(world, build(world, limits=limits), custom_stt="enabled")
    await device.play(3)
    await device.send(suggest("x" * 900))
    await device.send(suggest("y" * 900))
    await device.wait()
    world.clock.advance(seconds=200)
    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    deps = build_listen_deps(world, ScriptedLiveTranscriber(), limits)
    await end_live(deps, ALICE, live.id)
    usage = await deps.quotas.load_usage(ALICE, world.clock.now())

    assert device.close is not None
    assert "1,000 bytes of new recordings" in device.close[1]
    assert await list_said(world) == [["x" * 900]]
    assert (usage["ingested_bytes"], usage["stored_bytes"]) == (900, 900)


async def test_what_cannot_be_handed_in_keeps_no_device_out(world) -> None:
    for number in range(MAX_OPEN):
        live = LiveConversation(
            id=ConversationId(f"old{number}"),
            device="another",
            source="omi",
            started_at=world.clock.now() + timedelta(days=2),
            last_words_at=world.clock.now() + timedelta(days=2),
            pause_s=120,
            stream="s1",
        )
        batch = LiveBatch(id="s1-0", segments=(Segment(text="Later.", id="s1-0"),))
        stores = world.deps.stores.live_conversations
        await stores.add(ALICE, live, batch, is_new=True)
        await end_live(build_listen_deps(world, ScriptedLiveTranscriber()), ALICE, live.id)
    device = await connect(world, build(world, (1, 2, "Now.")))
    await device.play(3)
    await device.leave()

    assert list_texts(device.segments) == ["Now."]
    assert len(await stores.list_all(ALICE)) == MAX_OPEN + 1


@pytest.mark.parametrize("seconds", [0, 3])
async def test_times_of_the_app_lie_in_its_sound_whatever_it_says(world, seconds) -> None:
    device = await connect(world, build(world), custom_stt="enabled")
    await device.play(seconds)
    await device.send(suggest("Far ahead.", 1e6, 1e6))
    await device.leave()

    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    assert device.close is None
    assert list_texts(device.segments) == ["Far ahead."]
    assert live.last_words_at == live.started_at == world.clock.now()


async def test_a_device_that_never_reads_holds_nothing_up(world) -> None:
    deps = build_listen_deps(world, ScriptedLiveTranscriber([(0, 1, "Kept."), (1, 2, "Too.")]))
    device = await connect(world, build_application(deps, send_timeout_s=0.2))
    device.reads = False
    await device.play(2)
    await device.wait()

    [live] = await world.deps.stores.live_conversations.list_all(ALICE)
    batches = await world.deps.stores.live_conversations.load_batches(ALICE, live.id)
    assert sorted(s.text for batch in batches for s in batch.segments) == ["Kept.", "Too."]

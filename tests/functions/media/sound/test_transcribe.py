"""Transcription: a recording becomes one conversation, wherever an attempt dies."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.media.deps import TranscribeDeps
from functions.media.sound.transcribe import NO_CONNECTION, transcribe
from shared.adapters.missing_transcriber import MissingTranscriber
from shared.adapters.system_clock import RandomIds
from shared.data.account.quotas import Quotas
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.recording import MAX_ATTEMPTS, Recording
from shared.domain.errors import Conflict, ModelFailed, NotFound, Unavailable
from shared.domain.ids import ConversationId
from shared.library.deps import LibraryDeps
from shared.library.recordings import (
    TRANSCRIBE_TARGET,
    RecordingNotes,
    forget_recording,
    start_recording,
)
from shared.library.uploads import start_upload, store_file
from tests.fakes import ScriptedModel, ScriptedTranscriber
from tests.fault_injection import Crash
from tests.fixtures.library import build_library_deps
from tests.fixtures.processing import ALICE, ProcessingFixture, build_processing_fixture
from tests.fixtures.sounds import build_tone, claim_length, encode
from tests.fixtures.storage import MemoryDatabase
from tests.functions.process_conversation.test_interruptions import Interruption, raise_crash

SHORT = build_tone(4)
LONG = build_tone(400, quiet=((290, 291),))
TALK = [("A", 0.0, 2.5, "Hello Ben."), ("B", 2.5, 4.0, "Hi Ann.")]


def no_wrap(_: str, port: Any) -> Any:
    return port


def build_deps(
    world: ProcessingFixture,
    transcriber: ScriptedTranscriber,
    wrap: Callable[[str, Any], Any] = no_wrap,
) -> TranscribeDeps:
    documents = wrap("documents", world.documents)
    return TranscribeDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=world.clock,
        new_id=RandomIds(),
        stores=Stores(documents),
        quotas=Quotas(documents, {}),
        blobs=wrap("blobs", world.blobs),
        tasks=wrap("tasks", world.tasks),
        transcriber=wrap("transcriber", transcriber),
    )


async def record(world: ProcessingFixture, content: bytes = SHORT, **notes: Any) -> ConversationId:
    deps = build_library(world)
    upload = await store_file(deps, ALICE, content, name="talk.wav", media_type="audio/x-wav")
    recording = await start_recording(deps, ALICE, upload.id, RecordingNotes(**notes))
    return recording.id


def build_library(world: ProcessingFixture) -> LibraryDeps:
    deps = build_library_deps(world, transcriber=ScriptedTranscriber())
    return replace(deps, new_id=RandomIds())


async def find(world: ProcessingFixture, recording_id: str) -> Recording:
    return await Stores(world.documents).recordings.get(ALICE, recording_id)


async def load(world: ProcessingFixture, conversation_id: ConversationId) -> Conversation:
    return await Stores(world.documents).conversations.get(ALICE, conversation_id)


async def count_stored(world: ProcessingFixture) -> int:
    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    return usage["stored_bytes"]


async def test_a_recording_becomes_a_conversation_and_its_sound_is_deleted_u3(world):
    name = await record(world)

    await transcribe(build_deps(world, ScriptedTranscriber([TALK])), ALICE, name)

    conversation = await load(world, name)
    said = [(s.speaker, s.text, s.start, s.end) for s in conversation.transcript_segments]
    assert said == [("SPEAKER_00", "Hello Ben.", 0, 2.5), ("SPEAKER_01", "Hi Ann.", 2.5, 4)]
    assert conversation.finished_at == world.clock.now()
    assert conversation.finished_at - conversation.started_at == timedelta(seconds=4)
    recording = await find(world, name)
    assert (recording.status, recording.transcribed_s, recording.parts) == ("done", 4, ())
    assert world.blobs.files == {}
    assert await count_stored(world) == conversation.count_text_bytes()


async def test_what_the_file_and_its_sender_say_of_its_time_counts(world):
    file = encode(SHORT, "mp4", created="2026-03-01T08:30:00Z")
    own_time = world.clock.now() - timedelta(days=3)
    names = [await record(world, file), await record(world, file, started_at=own_time)]

    for name in names:
        await transcribe(build_deps(world, ScriptedTranscriber([TALK])), ALICE, name)

    times = [(await load(world, name)).started_at for name in names]
    assert [time.isoformat() for time in times] == [
        "2026-03-01T08:30:00+00:00",
        own_time.isoformat(),
    ]


async def test_a_conversation_is_as_long_as_its_sound_whatever_the_header_tells(world):
    name = await record(world, claim_length(encode(SHORT, "flac"), 72_000))

    await transcribe(build_deps(world, ScriptedTranscriber([TALK])), ALICE, name)

    conversation = await load(world, name)
    assert conversation.finished_at - conversation.started_at == timedelta(seconds=4)
    assert (await find(world, name)).duration_s == 4


@pytest.mark.parametrize(("lines", "is_user"), [(TALK[:1], [True]), (TALK, [False, False])])
async def test_a_voice_that_is_alone_in_a_memo_is_the_owners(world, lines, is_user):
    name = await record(world, is_own_voice=True)

    await transcribe(build_deps(world, ScriptedTranscriber([lines])), ALICE, name)

    segments = (await load(world, name)).transcript_segments
    assert [segment.is_user for segment in segments] == is_user


async def test_a_voice_that_nothing_tells_from_others_is_nobodys_l2(world):
    name = await record(world, is_own_voice=True)
    lines = [(None, 0.0, 1.0, "I promise."), (None, 1.0, 2.0, "Good.")]

    transcriber = ScriptedTranscriber([lines], tells_speakers=False)
    await transcribe(build_deps(world, transcriber), ALICE, name)

    segments = (await load(world, name)).transcript_segments
    assert [(s.speaker, s.is_user) for s in segments] == [("SPEAKER_00", False)] * 2


async def test_times_and_speakers_go_on_over_the_pieces_of_long_sound(world):
    name = await record(world, LONG)
    later = [("SPEAKER_01", 0.0, 3.0, "Still me."), ("A", 3.0, 4.0, "Somebody new.")]
    transcriber = ScriptedTranscriber([[("A", 0.0, 1.0, "One."), ("B", 1.0, 9.0, "Two.")], later])

    await transcribe(build_deps(world, transcriber), ALICE, name)

    segments = (await load(world, name)).transcript_segments
    assert [s.speaker for s in segments] == [
        *("SPEAKER_00", "SPEAKER_01", "SPEAKER_01", "SPEAKER_02"),
    ]
    assert 290 < segments[2].start < 291
    assert segments[2].end - segments[2].start == 3
    assert transcriber.voices == [[], ["SPEAKER_01"]]  # one second is too short to know a voice by


async def test_a_model_without_speakers_hears_one(world):
    name = await record(world, LONG)
    lines = [[(None, 0.0, 1.0, "One.")], [(None, 0.0, 1.0, "Two.")]]

    await transcribe(build_deps(world, ScriptedTranscriber([*lines])), ALICE, name)

    segments = (await load(world, name)).transcript_segments
    assert {segment.speaker for segment in segments} == {"SPEAKER_00"}


async def test_progress_is_told_piece_by_piece_and_survives_an_outage(world):
    name = await record(world, LONG)
    first = build_deps(world, ScriptedTranscriber([TALK, Unavailable("away")]))

    with pytest.raises(Unavailable):
        await transcribe(first, ALICE, name)
    halfway = await find(world, name)
    again = ScriptedTranscriber([TALK])
    await transcribe(build_deps(world, again), ALICE, name)

    assert halfway.status == "transcribing"
    assert halfway.duration_s == 400
    assert 290 < halfway.transcribed_s < 291
    assert len(again.voices) == 1
    assert len((await load(world, name)).transcript_segments) == 4


async def test_work_that_takes_long_goes_on_in_another_task(world):
    name = await record(world, LONG)

    class SlowTranscriber(ScriptedTranscriber):
        async def transcribe(self, *args: Any, **options: Any) -> Any:
            world.clock.advance(seconds=130)
            return await super().transcribe(*args, **options)

    transcriber = SlowTranscriber([TALK, TALK])
    await transcribe(build_deps(world, transcriber), ALICE, name)
    halfway = await find(world, name)
    await transcribe(build_deps(world, transcriber), ALICE, name)

    assert (halfway.status, halfway.lease_until) == ("transcribing", None)
    assert len(world.tasks.list_by_target(TRANSCRIBE_TARGET)) == 2
    assert (await find(world, name)).status == "done"


async def test_while_one_attempt_lives_another_waits(world):
    name = await record(world)
    deps = build_deps(world, ScriptedTranscriber([TALK]))
    await deps.stores.recordings.claim(ALICE, name, "other", now=world.clock.now())

    with pytest.raises(Unavailable) as waiting:
        await transcribe(deps, ALICE, name)
    world.clock.advance(seconds=11)
    await transcribe(deps, ALICE, name)

    assert waiting.value.retry_after_s == 10
    assert (await find(world, name)).status == "done"


@pytest.mark.parametrize(
    ("content", "script", "reason", "can_retry"),
    [
        (SHORT, [ModelFailed("No.", reason="refused_key")], "refused_key", True),
        (SHORT, [[]], "other", False),
        (b"ID3" + bytes(500), [], "other", False),
    ],
)
async def test_a_failure_is_told_with_its_reason_and_the_sound_stays(
    world, content, script, reason, can_retry
):
    name = await record(world, content)

    await transcribe(build_deps(world, ScriptedTranscriber(script)), ALICE, name)

    recording = await find(world, name)
    assert recording.status == "failed"
    assert recording.failure is not None
    assert (recording.failure.reason, recording.failure.can_retry) == (reason, can_retry)
    assert len(world.blobs.files) == 1
    with pytest.raises(NotFound):
        await load(world, name)


async def test_a_service_that_stays_away_is_told_after_some_attempts(world):
    name = await record(world)
    deps = build_deps(world, ScriptedTranscriber([Unavailable("away")] * MAX_ATTEMPTS))

    for _ in range(MAX_ATTEMPTS):
        with suppress(Unavailable):
            await transcribe(deps, ALICE, name)

    failure = (await find(world, name)).failure
    assert failure is not None
    assert (failure.reason, failure.detail) == ("no_connection", NO_CONNECTION)


async def test_a_failed_recording_can_be_transcribed_again(world):
    name = await record(world)
    failing = ScriptedTranscriber([ModelFailed("No.", reason="no_quota")])
    await transcribe(build_deps(world, failing), ALICE, name)
    stores = Stores(world.documents)

    await stores.recordings.reopen(ALICE, name)
    await transcribe(build_deps(world, ScriptedTranscriber([TALK])), ALICE, name)

    assert (await find(world, name)).status == "done"
    with pytest.raises(Conflict):
        await stores.recordings.reopen(ALICE, name)


async def test_the_sound_is_kept_where_its_owner_wants_it_until_the_conversation_is_deleted(world):
    await world.deps.stores.profiles.change(ALICE, keeps_audio=True)
    name = await record(world)

    await transcribe(build_deps(world, ScriptedTranscriber([TALK])), ALICE, name)
    kept = dict(world.blobs.files)
    await world.run_trigger()
    await world.delete(name=name)
    await world.deliver_all()

    assert b"".join(kept.values()) == SHORT
    assert world.blobs.files == {}
    assert await Stores(world.documents).recordings.find(ALICE, name) is None


async def test_a_recording_that_is_deleted_meanwhile_becomes_nothing(world):
    name = await record(world)

    class DeletingTranscriber(ScriptedTranscriber):
        async def transcribe(self, *args: Any, **options: Any) -> Any:
            await forget_recording(build_library(world), ALICE, name)
            return await super().transcribe(*args, **options)

    await transcribe(build_deps(world, DeletingTranscriber([TALK])), ALICE, name)

    with pytest.raises(NotFound):
        await load(world, name)
    assert (world.blobs.files, await count_stored(world)) == ({}, 0)


async def test_an_upload_becomes_one_recording_and_only_when_it_is_complete(world):
    deps = build_library(world)
    partial = await start_upload(deps, ALICE, length=10, name="", media_type="")
    whole = await store_file(deps, ALICE, SHORT, name="a", media_type="audio/x-wav")

    with pytest.raises(Conflict, match="0 of 10 bytes"):
        await start_recording(deps, ALICE, partial.id, RecordingNotes())
    first, second = [
        await start_recording(deps, ALICE, whole.id, RecordingNotes()) for _ in range(2)
    ]

    assert first == second
    assert await count_stored(world) == len(SHORT) + 10


async def test_without_a_transcriber_nothing_is_taken_and_what_to_set_is_said(world):
    deps = build_library(world)
    upload = await store_file(deps, ALICE, SHORT, name="a", media_type="audio/x-wav")

    with pytest.raises(Conflict, match="OPENAI_API_KEY"):
        await start_recording(
            replace(deps, transcriber=MissingTranscriber()), ALICE, upload.id, RecordingNotes()
        )
    assert await deps.stores.recordings.list_newest(ALICE) == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_crash_at_any_call_leads_to_one_conversation(after):
    for at in range(1, 60):
        interruption = Interruption(at, raise_crash, after)
        database = MemoryDatabase()
        world = build_processing_fixture(database, ScriptedModel(answers={}))
        name = await record(world)
        transcriber = ScriptedTranscriber([TALK] * 3)
        deps = build_deps(world, transcriber, interruption.wrap)
        for _ in range(3):
            with suppress(Crash, Unavailable):
                await transcribe(deps, ALICE, name)
            world.clock.advance(seconds=11)
        recording = await find(world, name)
        assert (recording.status, recording.parts) == ("done", ()), f"cut at call {at}"
        assert len((await load(world, name)).transcript_segments) == 2
        assert world.blobs.files == {}
        database.close()
        if not interruption.done:
            break

    assert 12 < at < 60


async def test_a_transcriber_is_told_the_owners_words_and_their_one_language(world):
    stores = Stores(world.documents)
    await stores.profiles.change(ALICE, language="pt-BR")
    words = ("Zoë", "Porto", *(f"{n:03}-{'x' * 60}" for n in range(50)))
    transcriber = ScriptedTranscriber([TALK, TALK])
    deps = build_deps(world, transcriber)

    await transcribe(deps, ALICE, await record(world))
    await stores.profiles.change_hearing(ALICE, vocabulary=words, single_language=True)
    await transcribe(deps, ALICE, await record(world, build_tone(5)))

    assert transcriber.hints[0] == (None, "")
    language, hint = transcriber.hints[1]
    assert language == "pt"
    assert hint.startswith("Zoë, Porto, 000-")
    assert len(hint) <= 800

"""Places of sound under crashes: whatever call an attempt dies at, each word stands in one conversation, once."""

from contextlib import suppress

import pytest

from functions.media.sound.sync_files import take_files
from functions.media.sound.transcribe import transcribe
from shared.domain.errors import Unavailable
from shared.edge.declare.routes import UploadedFile
from tests.fakes import ScriptedModel, ScriptedTranscriber
from tests.fault_injection import Crash
from tests.fixtures.processing import ALICE, build_processing_fixture
from tests.fixtures.sounds import put_lengths_before
from tests.fixtures.storage import MemoryDatabase
from tests.functions.media.sound.test_transcribe import build_deps, build_library, count_stored
from tests.functions.process_conversation.test_interruptions import Interruption, raise_crash

SECOND = put_lengths_before([b"\xf8\xff\xfe"] * 50)


async def send(world, at_s):
    """Hand in a second of sound that begins so long after the first; return its recording."""
    name = f"audio_omi_opus_fs320_16000_1_fs320_{1_772_438_400 + at_s}.bin"
    job = await take_files(build_library(world), ALICE, [UploadedFile(name=name, content=SECOND)])
    return job.recording_ids[0]


async def hear(world, recording, text, **options):
    lines = [(None, 0.0, 1.0, text)]
    transcriber = ScriptedTranscriber([lines] * 3, tells_speakers=False)
    await transcribe(build_deps(world, transcriber, **options), ALICE, recording)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_crash_at_any_call_leaves_each_word_once_l1(after):
    for at in range(1, 90):
        interruption = Interruption(at, raise_crash, after)
        database = MemoryDatabase()
        world = build_processing_fixture(database, ScriptedModel(answers={}))
        for start, text in ((0, "one"), (200, "three")):
            await hear(world, await send(world, start), text)
        middle = await send(world, 100)
        for _ in range(3):
            with suppress(Crash, Unavailable):
                await hear(world, middle, "two", wrap=interruption.wrap)
            world.clock.advance(seconds=11)

        page = await world.deps.stores.conversations.list_page(ALICE, limit=10)
        texts = [segment.text for each in page.items for segment in await load(world, each)]
        assert texts == ["one", "two", "three"], f"cut at call {at}"
        assert len(page.items) == 1
        assert await count_stored(world) >= len("onetwothree")
        database.close()
        if not interruption.done:
            break
    assert at > 20


async def load(world, conversation):

    return (await world.deps.stores.conversations.get(ALICE, conversation.id)).transcript_segments

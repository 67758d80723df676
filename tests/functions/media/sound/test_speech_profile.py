"""Speech profile: a sample of the owner's voice is taken, played, given to transcribers and deleted (L1)."""

import io
from zipfile import ZipFile

import pytest

from functions.media.sound.speech_profile import BAD_LENGTH, SILENT
from functions.media.sound.transcribe import transcribe
from shared.data.account.quotas import Quotas
from shared.data.account.speech_profiles import speech_profile_path
from shared.domain.ids import UserId
from shared.domain.store.documents import Set
from shared.library.recordings import TRANSCRIBE_TARGET
from shared.library.sound import build_wav
from tests.fakes import ScriptedTranscriber
from tests.fixtures.library import NO_OWNERS, build_client
from tests.fixtures.processing import ALICE
from tests.fixtures.sounds import build_tone, encode
from tests.functions.media.sound.test_sync_routes import at, list_conversations, send
from tests.functions.media.sound.test_transcribe import build_deps

SAMPLE = build_tone(8)


async def give(phone, content=SAMPLE):
    return await phone.post("/v3/upload-audio", files={"file": ("temp.wav", content)})


async def ask(phone):
    has = (await phone.get("/v3/speech-profile")).json()["has_profile"]
    return has, (await phone.get("/v4/speech-profile")).json()["url"]


async def count_stored(world):
    return (await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now()))["stored_bytes"]


async def test_a_sample_is_kept_in_place_of_an_earlier_one_and_deleted_l1(world, phone):
    before = await ask(phone)
    await give(phone, build_tone(20))
    answer = await give(phone)
    known = await ask(phone)
    stored_bytes = await count_stored(world)
    await phone.delete("/v3/speech-profile")
    await phone.delete("/v3/speech-profile")

    assert before == (False, None)
    assert (answer.status_code, known) == (200, (True, answer.json()["url"]))
    assert stored_bytes == len(SAMPLE)
    assert await ask(phone) == (False, None)
    assert world.blobs.files == {}
    assert await count_stored(world) == 0


async def test_a_sample_is_played_by_its_address_for_an_hour_l1(world, phone):
    address = (await give(phone)).json()["url"].removeprefix("https://keepsake.example")
    del phone.headers["authorization"]
    played = await phone.get(address)
    forged = await phone.get(address.replace("key=", "key=x"))
    world.clock.advance(hours=1)
    late = await phone.get(address)

    assert played.content == SAMPLE
    assert [forged.status_code, late.status_code] == [404, 404]
    async with build_client(world, ALICE) as again:
        renewed = (await ask(again))[1].removeprefix("https://keepsake.example")
        assert (await again.get(renewed)).content == SAMPLE


@pytest.mark.parametrize("owner", NO_OWNERS)
async def test_an_owner_that_is_no_id_has_no_sample_l1(world, phone, owner):
    address = (await give(phone)).json()["url"].removeprefix("https://keepsake.example")
    stored = await world.documents.get(speech_profile_path(ALICE))
    copy = speech_profile_path(UserId("x/users/alice"))
    await world.documents.write(Set(copy, stored.fields))
    await world.blobs.write(copy, SAMPLE, media_type="audio/wav")
    played = await phone.get(address, params={"owner": owner, "key": address.partition("key=")[2]})

    assert played.status_code == 404


@pytest.mark.parametrize("content", [SAMPLE, encode(SAMPLE, "mp3"), encode(SAMPLE, "webm")])
async def test_any_common_format_is_taken(phone, content):
    assert (await give(phone, content)).status_code == 200


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (build_tone(4), BAD_LENGTH),
        (build_tone(181), BAD_LENGTH),
        (build_wav(bytes(32_000 * 8)), SILENT),
        (b"no sound", "cannot be read as sound"),
    ],
    ids=["short", "long", "silent", "no sound"],
)
async def test_what_shows_no_voice_is_refused_with_its_reason_l1(world, phone, content, detail):
    answer = await give(phone, content)

    assert answer.status_code == 422
    assert detail in answer.json()["detail"]
    assert world.blobs.files == {}


async def test_a_transcriber_that_tells_speakers_knows_the_owner_l1(world, phone):
    await give(phone)
    await send(phone, at(0))
    lines = [
        ("A", 0.0, 1.0, "Are you coming?"),
        ("OWNER", 1.0, 3.0, "I am."),
        ("A", 3.0, 4.0, "Good."),
    ]
    transcriber = ScriptedTranscriber([lines])
    (task,) = world.tasks.list_by_target(TRANSCRIBE_TARGET)
    await transcribe(build_deps(world, transcriber), ALICE, task.body["recording_id"])

    (conversation,) = await list_conversations(phone)
    said = [(s["speaker"], s["is_user"]) for s in conversation["transcript_segments"]]
    assert said == [("SPEAKER_00", False), ("SPEAKER_01", True), ("SPEAKER_00", False)]
    assert transcriber.voices == [["OWNER"]]


async def test_a_transcriber_that_tells_no_speakers_gets_no_sample(world, phone):
    await give(phone)
    await send(phone, at(0))
    transcriber = ScriptedTranscriber([[(None, 0.0, 1.0, "Hello.")]], tells_speakers=False)
    (task,) = world.tasks.list_by_target(TRANSCRIBE_TARGET)
    await transcribe(build_deps(world, transcriber), ALICE, task.body["recording_id"])

    assert transcriber.voices == [[]]


async def test_an_export_holds_the_sample_l1(phone):
    await give(phone)
    exported = await phone.get("/v1/users/export", params={"format": "zip"})

    with ZipFile(io.BytesIO(exported.content)) as archive:
        assert archive.read("audio/speech-profile.wav") == SAMPLE


async def test_further_samples_are_none_and_deleting_one_leaves_none_l1(phone):
    query = {"memory_id": "talk", "segment_idx": 0, "person_id": "null"}
    deleted = await phone.delete("/v3/speech-profile/expand", params=query)

    assert deleted.status_code == 200
    assert (await phone.get("/v3/speech-profile/expand")).json() == []
    assert (await phone.get("/v3/speech-profile/stt-availability")).json() == {"available": True}

"""Kept sound as the Omi app plays it: listed, opened by its address, and heard at the line (L1)."""

import io
import wave

import pytest

from functions.media.sound.playback_routes import decode_wav
from shared.data.conversations.recordings import recording_path
from shared.domain.conversations.speech import SAMPLE_RATE
from shared.domain.ids import UserId
from shared.domain.store.documents import Set, Update
from tests.fixtures.library import CONVERSATIONS, NO_OWNERS, build_client
from tests.fixtures.processing import ALICE
from tests.functions.media.sound.test_audio_routes import keep_sound
from tests.functions.media.sound.test_sync_routes import (
    at,
    hear,
    list_conversations,
    say,
    send,
)


async def keep_minutes(world, phone, *minutes):
    """Return the conversation of minutes of sound that is kept."""
    await keep_sound(world)
    for minute in minutes:
        await send(phone, at(minute))
        await hear(world, say(f"Minute {minute}."))
    (conversation,) = await list_conversations(phone)
    return conversation["id"]


def measure_s(wav):
    with wave.open(io.BytesIO(wav)) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, SAMPLE_RATE)
        return file.getnframes() / SAMPLE_RATE


async def test_kept_sound_is_played_by_its_address_without_a_token_for_an_hour_l1(world, phone):
    name = await keep_minutes(world, phone, 0)
    (file,) = (await phone.get(f"/v1/sync/audio/{name}/urls")).json()["audio_files"]
    address = file["signed_url"].removeprefix("https://keepsake.example")
    del phone.headers["authorization"]
    played = await phone.get(address)
    end = await phone.get(address, headers={"Range": "bytes=-4"})
    outside = await phone.get(address, headers={"Range": "bytes=9999999-"})
    forged = await phone.get(address[:-1] + ("a" if address[-1] != "a" else "b"))
    world.clock.advance(hours=1)

    assert (file["status"], file["content_type"]) == ("cached", "audio/wav")
    assert abs(measure_s(played.content) - 60) < 0.1
    assert played.headers["content-type"] == "audio/wav"
    assert abs(file["duration"] - 60) < 0.1
    assert (end.status_code, end.content) == (206, played.content[-4:])
    assert end.headers["content-range"].endswith(f"/{len(played.content)}")
    assert (outside.status_code, forged.status_code) == (416, 404)
    assert (await phone.get(address)).status_code == 404


async def test_the_owner_alone_hears_by_token_and_sees_addresses_l1(world, phone):
    name = await keep_minutes(world, phone, 0)
    urls = f"/v1/sync/audio/{name}/urls"
    (file,) = (await phone.get(urls)).json()["audio_files"]
    played = await phone.get(f"/v1/sync/audio/{name}/{file['id']}", params={"format": "wav"})
    missing = await phone.get(f"/v1/sync/audio/{name}/other")
    cached = await phone.post(f"/v1/sync/audio/{name}/precache")
    async with build_client(world, "bob") as bob:
        refused = [await bob.get(urls), await bob.get(f"/v1/sync/audio/{name}/{file['id']}")]

    assert abs(measure_s(played.content) - 60) < 0.1
    assert missing.status_code == 404
    assert cached.json() == {"status": "started", "audio_file_count": 1}
    assert [answer.status_code for answer in refused] == [404, 404]


@pytest.mark.parametrize("owner", NO_OWNERS)
async def test_an_owner_that_is_no_id_has_no_sound_l1(world, phone, owner):
    name = await keep_minutes(world, phone, 0)
    (file,) = (await phone.get(f"/v1/sync/audio/{name}/urls")).json()["audio_files"]
    address = file["signed_url"].removeprefix("https://keepsake.example")
    stored = await world.documents.get(recording_path(ALICE, name))
    await world.documents.write(Set(recording_path(UserId("x/users/alice"), name), stored.fields))
    played = await phone.get(address, params={"owner": owner, "key": address.partition("key=")[2]})

    assert played.status_code == 404


async def test_sound_that_is_not_kept_has_no_address_l1(world, phone):
    await send(phone, at(0))
    await hear(world, say("Gone."))
    (conversation,) = await list_conversations(phone)
    name = conversation["id"]

    assert (await phone.get(f"/v1/sync/audio/{name}/urls")).json() == {"audio_files": []}
    assert (await phone.post(f"/v1/sync/audio/{name}/precache")).json()["status"] == "no_audio"
    assert conversation["audio_files"] == []


async def test_each_recording_of_a_conversation_tells_when_it_began_l1(world, phone):
    name = await keep_minutes(world, phone, 1, 0)
    recordings = (await phone.get("/v1/audio", params={"conversation_id": name})).json()["items"]
    conversation = (await phone.get(f"{CONVERSATIONS}/{name}")).json()

    starts = {"2026-03-02T08:00:00Z", "2026-03-02T08:01:00Z"}
    assert {each["started_at"] for each in recordings} == starts
    assert {each["started_at"] for each in conversation["audio_files"]} == starts
    assert conversation["started_at"] == "2026-03-02T08:00:00Z"


async def test_sound_that_claims_to_be_longer_than_a_recording_is_played_in_small_blocks_l1(
    world, phone
):
    name = await keep_minutes(world, phone, 0)
    path = recording_path(ALICE, name)
    await world.documents.write(Update(path, {"duration_s": 200_000.0}))
    (file,) = (await phone.get(f"/v1/sync/audio/{name}/urls")).json()["audio_files"]
    end = await phone.get(f"/v1/sync/audio/{name}/{name}", headers={"Range": "bytes=-4"})
    recording = await world.deps.stores.recordings.get(ALICE, name)
    blocks = [len(block) async for block in decode_wav(world.blobs, recording, b"", 4_000_000)]

    assert file["duration"] == 6 * 3_600
    assert (end.status_code, end.content) == (206, bytes(4))
    assert sum(blocks) == 4_000_000
    assert max(blocks[2:]) <= 65_536

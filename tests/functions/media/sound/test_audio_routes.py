"""Recordings over HTTP: handing in, following, retrying, deleting and hearing them."""

import base64
import io
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from zipfile import ZipFile

import pytest
from httpx import AsyncClient, Response

from functions.library.routes import LIBRARY_ROUTES
from functions.media.deps import TranscribeDeps
from functions.media.sound.audio_routes import IS_CONVERSATION, MAX_RANGE_BYTES
from functions.media.sound.transcribe import transcribe
from shared.adapters.system_clock import RandomIds
from shared.data.account.quotas import Quotas
from shared.data.stores import Stores
from shared.domain.account.quota import QuotaName
from shared.domain.errors import ModelFailed
from shared.library.recordings import TRANSCRIBE_TARGET, read_sound_type
from tests.fakes import ScriptedTranscriber, UnmaskedModels
from tests.fixtures.callers import build_auth_headers, open_client
from tests.fixtures.library import build_client, build_library_deps
from tests.fixtures.merging import EchoModel
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.fixtures.sounds import CODECS, build_tone, encode
from tests.functions.process_conversation.test_interruptions import Interruption

TALK = [("A", 0.0, 2.5, "Hello Ben.")]
LONG_TALK = [("A", 0.0, 2.5, "Hello Ben. " * 60)]
MP3 = encode(build_tone(3), "mp3")
OTHER_MP3 = encode(build_tone(4), "mp3")
UNLIMITED: Mapping[QuotaName, int] = {}
FORM = {"file": ("memo.mp3", MP3, "audio/mpeg")}


@pytest.fixture
async def speaker(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    """Alice, where a transcriber is set up."""
    async with build_client(world, ALICE, transcriber=ScriptedTranscriber()) as client:
        yield client


async def run_tasks(
    world: ProcessingFixture, *script: Any, limits: Mapping[QuotaName, int] = UNLIMITED
) -> None:
    deps = TranscribeDeps(
        identity=world.deps.identity,
        service_identity=world.deps.service_identity,
        clock=world.clock,
        new_id=RandomIds(),
        stores=Stores(world.documents),
        quotas=Quotas(world.documents, limits),
        blobs=world.blobs,
        tasks=world.tasks,
        transcriber=ScriptedTranscriber([*script]),
    )
    for task in world.tasks.list_by_target(TRANSCRIBE_TARGET):
        await transcribe(deps, ALICE, task.body["recording_id"])


async def keep_sound(world: ProcessingFixture) -> None:
    await world.deps.stores.profiles.change(ALICE, keeps_audio=True)


async def send(client: AsyncClient) -> None:
    await client.post("/v1/audio", files=FORM)


def get_detail(answer: Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["detail"]


async def test_a_file_of_a_form_becomes_a_conversation_u3(world, speaker):
    accepted = await speaker.post(
        "/v1/audio",
        files=FORM,
        data={"recording": json.dumps({"started_at": "2026-03-01T09:00:00+01:00"})},
    )
    waiting = (await speaker.get("/v1/audio")).json()
    await run_tasks(world, TALK)
    done = (await speaker.get(f"/v1/audio/{accepted.json()['id']}")).json()
    conversation = (await speaker.get(f"/v1/conversations/{done['conversation_id']}")).json()

    assert accepted.status_code == 202
    assert accepted.json()["name"] == "memo.mp3"
    assert (waiting["can_transcribe"], waiting["tells_speakers"]) == (True, True)
    (item,) = waiting["items"]
    assert (item["status"], item["conversation_id"]) == ("transcribing", None)
    assert (done["status"], done["has_audio"]) == ("done", False)
    assert conversation["started_at"] == "2026-03-01T08:00:00Z"
    assert conversation["transcript_segments"][0]["text"] == "Hello Ben."


async def test_the_same_sound_twice_is_transcribed_once_l2(world, speaker):
    first, second = [(await speaker.post("/v1/audio", files=FORM)).json() for _ in range(2)]
    await run_tasks(world, TALK)
    third = (await speaker.post("/v1/audio", files=FORM)).json()
    await run_tasks(world)
    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    await speaker.delete(f"/v1/audio/{third['id']}")
    refusal = await speaker.post("/v1/audio", files=FORM)

    assert first == second
    assert (third["id"], third["conversation_id"]) == (first["id"], first["id"])
    assert usage["sound_bytes"] == len(MP3)
    assert get_detail(refusal) == (409, IS_CONVERSATION)


async def test_sound_that_comes_twice_at_once_is_one_recording_l2(world):
    for at in range(1, 30):
        async with build_client(world, f"owner-{at}", transcriber=ScriptedTranscriber()) as other:
            between = Interruption(at, partial(send, other), after=False)
            deps = build_library_deps(world, transcriber=ScriptedTranscriber())
            deps = replace(deps, stores=Stores(between.wrap("documents", world.documents)))
            owner = build_auth_headers(f"owner-{at}")
            async with open_client("library", LIBRARY_ROUTES, deps, owner) as client:
                answer = await client.post("/v1/audio", files=FORM)
            recordings = (await other.get("/v1/audio")).json()["items"]
        assert answer.status_code in (202, 503), f"at call {at}: {answer.text}"
        assert len(recordings) == 1
        if not between.done:
            break
    assert at > 5


async def test_an_upload_becomes_a_conversation(world, speaker):
    created = await speaker.post("/v1/uploads", headers={"Upload-Length": str(len(MP3))})
    headers = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    await speaker.patch(created.headers["location"], content=MP3, headers=headers)
    upload = {"upload": created.json()["id"]}

    first, again = [await speaker.post("/v1/audio", json=upload) for _ in range(2)]
    await run_tasks(world, TALK)
    done = (await speaker.get(f"/v1/audio/{upload['upload']}")).json()

    assert (first.status_code, again.json()) == (202, first.json())
    assert done["conversation_id"] == upload["upload"]
    assert (await speaker.get(created.headers["location"])).status_code == 404


async def test_without_a_key_what_to_set_is_said_and_nothing_is_kept_u3(world, alice):
    answers = [
        await alice.post("/v1/audio", files=FORM),
        await alice.post("/v1/audio", json={"upload": "u1"}),
    ]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert all("OPENAI_API_KEY" in answer.json()["detail"] for answer in answers)
    assert (await alice.get("/v1/audio")).json() == {
        "items": [],
        "can_transcribe": False,
        "tells_speakers": False,
    }
    assert (world.blobs.files, world.tasks.created) == ({}, [])


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n" + bytes(90), b"just a text", b"%PDF-1.7"])
async def test_what_is_no_sound_is_refused_and_not_kept(world, speaker, content):
    answer = await speaker.post("/v1/audio", files={"file": ("memo.mp3", content)})

    assert answer.status_code == 422
    assert "This is no sound file" in answer.json()["detail"]
    assert world.blobs.files == {}


async def test_a_request_without_a_file_says_what_to_send(speaker):
    answers = [
        await speaker.post("/v1/audio", json={}),
        await speaker.post("/v1/audio", files={"file": ("memo.mp3", b"")}),
    ]

    assert [answer.status_code for answer in answers] == [422, 422]
    assert all("field 'file'" in answer.json()["detail"] for answer in answers)


async def test_a_failure_is_told_and_can_be_retried(world, speaker):
    path = f"/v1/audio/{(await speaker.post('/v1/audio', files=FORM)).json()['id']}"
    await run_tasks(world, ModelFailed("The key was refused.", reason="refused_key"))
    failed = (await speaker.get(path)).json()
    retried = await speaker.post(f"{path}/retry")
    await run_tasks(world, TALK)
    done = (await speaker.get(path)).json()

    assert failed["failure"] == {
        "reason": "refused_key",
        "detail": "The key was refused.",
        "can_retry": True,
    }
    assert (retried.status_code, retried.json()["status"]) == (202, "transcribing")
    assert done["status"] == "done"
    assert get_detail(await speaker.post(f"{path}/retry"))[0] == 409


async def test_sound_beyond_the_quota_of_a_day_is_refused_and_not_kept(world):
    limits: Mapping[QuotaName, int] = {"sound_bytes": len(MP3)}
    async with build_client(world, ALICE, limits, transcriber=ScriptedTranscriber()) as speaker:
        first = await speaker.post("/v1/audio", files=FORM)
        blobs = dict(world.blobs.files)
        repeated = await speaker.post("/v1/audio", json={"upload": first.json()["id"]})
        second = await speaker.post("/v1/audio", files={"file": ("other.mp3", OTHER_MP3)})

    assert [answer.status_code for answer in (first, repeated, second)] == [202, 202, 429]
    assert "of sound" in second.json()["detail"]
    assert world.blobs.files == blobs


async def test_text_beyond_the_quota_of_a_day_can_be_tried_again_tomorrow(world, speaker):
    path = f"/v1/audio/{(await speaker.post('/v1/audio', files=FORM)).json()['id']}"
    await run_tasks(world, TALK, limits={"ingested_bytes": 1})
    failed = (await speaker.get(path)).json()
    await speaker.post(f"{path}/retry")
    await run_tasks(world)

    assert failed["failure"]["can_retry"]
    assert (await speaker.get(path)).json()["status"] == "done"


async def test_a_recording_can_be_deleted_before_it_is_text(world, speaker):
    path = f"/v1/audio/{(await speaker.post('/v1/audio', files=FORM)).json()['id']}"

    statuses = [(await speaker.delete(path)).status_code for _ in range(2)]
    await run_tasks(world)

    assert statuses == [204, 404]
    assert world.blobs.files == {}


async def test_kept_sound_is_heard_whole_and_by_ranges(world, speaker):
    await keep_sound(world)
    name = (await speaker.post("/v1/audio", files=FORM)).json()["id"]
    await run_tasks(world, TALK)
    path = f"/v1/conversations/{name}/audio"

    whole = await speaker.get(path)
    ranges = {
        header: await speaker.get(path, headers={"Range": header})
        for header in ("bytes=0-9", "bytes=100-", "bytes=-50", f"bytes=5-{10**9}", "bytes=1-2,5-6")
    }
    outside = [
        await speaker.get(path, headers={"Range": header})
        for header in (f"bytes={len(MP3)}-", "bytes=9-5", "bytes=-0")
    ]

    assert (whole.status_code, whole.content) == (200, MP3)
    assert whole.headers["content-type"] == "audio/mpeg"
    assert whole.headers["accept-ranges"] == "bytes"
    assert {header: answer.content for header, answer in ranges.items()} == {
        "bytes=0-9": MP3[:10],
        "bytes=100-": MP3[100:],
        "bytes=-50": MP3[-50:],
        f"bytes=5-{10**9}": MP3[5:],
        "bytes=1-2,5-6": MP3,
    }
    assert ranges["bytes=0-9"].headers["content-range"] == f"bytes 0-9/{len(MP3)}"
    assert [answer.status_code for answer in outside] == [416] * 3


async def test_a_long_range_is_answered_in_pieces_over_the_borders_of_parts(world, speaker):
    await keep_sound(world)
    content = build_tone(300)
    name = (await speaker.post("/v1/audio", files={"file": ("a.wav", content)})).json()["id"]
    await run_tasks(world, TALK)
    path, heard = f"/v1/conversations/{name}/audio", b""

    while len(heard) < len(content):
        answer = await speaker.get(path, headers={"Range": f"bytes={len(heard)}-"})
        assert answer.status_code == 206
        assert len(answer.content) <= MAX_RANGE_BYTES
        heard += answer.content

    assert len(world.blobs.files) == 2
    assert heard == content


async def test_recordings_of_another_user_are_not_found(world, speaker):
    await keep_sound(world)
    name = (await speaker.post("/v1/audio", files=FORM)).json()["id"]
    await run_tasks(world, TALK)

    async with build_client(world, "bob", transcriber=ScriptedTranscriber()) as bob:
        answers = [
            await bob.get(f"/v1/audio/{name}"),
            await bob.post(f"/v1/audio/{name}/retry"),
            await bob.delete(f"/v1/audio/{name}"),
            await bob.get(f"/v1/conversations/{name}/audio"),
            await bob.post("/v1/audio", json={"upload": name}),
        ]

    assert [answer.status_code for answer in answers] == [404] * 5
    assert (await speaker.get(f"/v1/conversations/{name}/audio")).content == MP3


async def record_two(world, speaker):
    """Return the ids of two conversations whose sound is kept."""
    object.__setattr__(world.deps, "model", UnmaskedModels(model=EchoModel()))
    await keep_sound(world)
    forms = [FORM, {"file": ("walk.mp3", encode(build_tone(2), "mp3"), "audio/mpeg")}]
    ids = [(await speaker.post("/v1/audio", files=form)).json()["id"] for form in forms]
    await run_tasks(world, LONG_TALK, LONG_TALK)
    await world.deliver_all()
    return ids


async def merge(world, speaker, ids):
    """Return the id of the merged conversation."""
    answer = await speaker.post("/v1/conversations/merge", json={"conversation_ids": ids})
    await world.deliver_all()
    return answer.json()["merged_conversation_id"]


async def list_sound(speaker, conversation_id):
    answer = await speaker.get("/v1/audio", params={"conversation_id": conversation_id})
    return [item["id"] for item in answer.json()["items"] if item["has_audio"]]


async def test_a_merged_conversation_keeps_the_sound_of_its_sources_u3(world, speaker):
    ids = await record_two(world, speaker)

    merged_id = await merge(world, speaker, ids)
    await world.deps.stores.merges.finish(ALICE, merged_id)
    await world.deliver_all()

    assert sorted(await list_sound(speaker, merged_id)) == sorted(ids)
    path = f"/v1/conversations/{merged_id}/audio"
    heard = [(await speaker.get(path, params={"recording": name})).content for name in ids]
    assert heard == [MP3, encode(build_tone(2), "mp3")]
    assert (await speaker.get(path)).content in heard
    assert (await speaker.get(path, params={"recording": "other"})).status_code == 404

    await speaker.delete(f"/v1/conversations/{merged_id}")
    await world.deliver_all()
    assert await list_sound(speaker, merged_id) == []
    assert world.blobs.files == {}


async def test_undoing_a_merge_gives_the_sound_back(world, speaker):
    ids = await record_two(world, speaker)
    merged_id = await merge(world, speaker, ids)
    assert await list_sound(speaker, ids[0]) == []

    await speaker.post(f"/v1/conversations/{merged_id}/undo-merge")
    await world.deliver_all()

    assert [await list_sound(speaker, name) for name in ids] == [[name] for name in ids]
    assert await list_sound(speaker, merged_id) == []
    assert (await speaker.get(f"/v1/conversations/{ids[0]}/audio")).content == MP3


async def test_merged_sound_is_exported_beside_its_conversation(world, speaker):
    ids = await record_two(world, speaker)
    merged_id = await merge(world, speaker, ids)

    answer = await speaker.get("/v1/users/export", params={"format": "zip"})

    with ZipFile(io.BytesIO(answer.content)) as archive:
        names = {name for name in archive.namelist() if name.startswith("audio/")}
        assert names == {f"audio/{merged_id}/{name}.mp3" for name in ids}
        assert archive.read(f"audio/{merged_id}/{ids[0]}.mp3") == MP3


async def test_kept_sound_is_part_of_the_export(world, speaker):
    await keep_sound(world)
    name = (await speaker.post("/v1/audio", files=FORM)).json()["id"]
    await run_tasks(world, TALK)

    answer = await speaker.get("/v1/users/export", params={"format": "zip"})

    with ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.read(f"audio/{name}.mp3") == MP3


@pytest.mark.parametrize("container", CODECS)
def test_every_format_that_is_read_is_known_by_its_first_bytes(container):
    assert read_sound_type(encode(build_tone(1), container)).startswith(("audio/", "video/"))


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        *((b"\0\0\0\x18ftyp" + brand, "video/mp4") for brand in (b"iso5", b"dash", b"3gp4")),
        (b"caff\0\1", "audio/x-caf"),
        (b"#!AMR\n", "audio/amr"),
    ],
)
def test_less_common_formats_are_known_too(head, media_type):
    assert read_sound_type(head + bytes(40)) == media_type


async def test_an_upload_that_is_no_sound_is_refused_whatever_its_sender_says(world, speaker):
    text = base64.b64encode(b"audio/mpeg\r\nX-Evil: 1").decode()
    created = await speaker.post(
        "/v1/uploads", headers={"Upload-Length": "9", "Upload-Metadata": f"filetype {text}"}
    )
    headers = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    await speaker.patch(created.headers["location"], content=b"<script>x", headers=headers)

    answer = await speaker.post("/v1/audio", json={"upload": created.json()["id"]})

    assert answer.status_code == 422
    assert "This is no sound file" in answer.json()["detail"]
    assert world.tasks.list_by_target(TRANSCRIBE_TARGET) == []

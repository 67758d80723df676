"""Files of a phone over HTTP: taken once, in any order, at their times, beside what stands there (L1)."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from functions.media.sound.sync_files import take_files
from functions.media.sound.transcribe import transcribe
from shared.data.account.quotas import Quotas
from shared.domain.account.quota import QuotaName
from shared.domain.conversations.sync_job import GONE
from shared.domain.errors import ModelFailed, Unavailable
from shared.domain.store.documents import Document, Query
from shared.edge.declare.routes import UploadedFile
from shared.library.recordings import TRANSCRIBE_TARGET, forget_recording, forget_sound_of
from shared.library.uploads import delete_upload
from shared.ports import Documents
from tests.fakes import ScriptedTranscriber
from tests.fixtures.library import BODY, CONVERSATIONS, build_client
from tests.fixtures.processing import ALICE, ProcessingFixture
from tests.fixtures.sounds import build_tone, encode_for_device, put_lengths_before
from tests.functions.media.sound.test_transcribe import build_deps, build_library
from tests.functions.process_conversation.test_interruptions import Interruption

START = 1_772_438_400  # 2026-03-02 08:00 UTC; it is 12:00
MINUTE = encode_for_device(build_tone(1)) * 60
TINY = put_lengths_before([b"\xf8\xff\xfe"])
V1, V2 = "/v1/sync-local-files", "/v2/sync-local-files"
File = tuple[str, bytes]


def at(minute: float, *, device: str = "omi", content: bytes = MINUTE) -> File:
    """Return a file that begins so many minutes after START."""
    return f"audio_{device}_opus_16000_1_fs160_{START + round(60 * minute)}.bin", content


FIRST_FILE = [UploadedFile(name=at(0)[0], content=MINUTE)]


def say(text: str, *, speaker: str | None = None) -> list[Any]:
    return [(speaker, 1.0, 3.0, text)]


async def send(phone: AsyncClient, *files: File, **query: str) -> dict[str, Any]:
    answer = await phone.post(V2, files=[("files", file) for file in files], params=query)
    assert answer.status_code == 202, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def hear(world: ProcessingFixture, *script: Any, tells_speakers: bool = False) -> None:
    """Transcribe what waits for it, with a line for each recording that does."""
    transcriber = ScriptedTranscriber([*script], tells_speakers=tells_speakers)
    deps = build_deps(world, transcriber)
    for task in world.tasks.list_by_target(TRANSCRIBE_TARGET):
        await transcribe(deps, ALICE, task.body["recording_id"])
    assert transcriber.script == []


async def ask(phone: AsyncClient, job: Mapping[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = (await phone.get(f"{V2}/{job['job_id']}")).json()
    return body


async def list_conversations(phone: AsyncClient) -> list[dict[str, Any]]:
    """Return them whole, the earliest first."""
    statuses = "processing,completed"
    listed = (await phone.get(CONVERSATIONS, params={"statuses": statuses, "limit": 50})).json()
    whole = [(await phone.get(f"{CONVERSATIONS}/{each['id']}")).json() for each in listed]
    return sorted(whole, key=lambda each: each["started_at"])


class Meeting:
    """Documents that answer the first query once a second is asked."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._count = 0
        self._has_two = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)

    async def query(self, query: Query) -> list[Document]:
        found = await self._documents.query(query)
        self._count += 1
        if self._count == 2:
            self._has_two.set()
        await self._has_two.wait()
        return found


def find_end(conversation: Mapping[str, Any]) -> str:
    """Return when it ends, to the second: an Opus decoder skips the first milliseconds."""
    end = datetime.fromisoformat(conversation["finished_at"]) + timedelta(milliseconds=50)
    return f"{end:%Y-%m-%dT%H:%M:%S}"


def list_texts(conversation: Mapping[str, Any]) -> list[tuple[float, str]]:
    return [(s["start"], s["text"]) for s in conversation["transcript_segments"]]


async def test_files_of_one_recording_become_one_conversation_at_its_time_l1(world, phone):
    started = await send(phone, at(1), at(0))
    waiting = await ask(phone, started)
    await hear(world, say("The boat leaves at nine."))
    done = await ask(phone, started)

    (conversation,) = await list_conversations(phone)
    assert started["total_segments"] == 1
    assert (started["status"], started["poll_after_ms"]) == ("queued", 3_000)
    assert (waiting["status"], waiting["result"]) == ("processing", None)
    assert (waiting["successful_segments"], done["successful_segments"]) == (0, 1)
    assert (done["status"], done["failed_segments"]) == ("completed", 0)
    assert done["result"]["new_memories"] == [conversation["id"]]
    assert conversation["started_at"] == "2026-03-02T08:00:00Z"
    assert find_end(conversation) == "2026-03-02T08:02:00"
    assert conversation["source"] == "omi"
    assert list_texts(conversation) == [(1.0, "The boat leaves at nine.")]
    assert world.blobs.files == {}


async def test_a_pause_between_files_is_silent_and_a_long_one_ends_the_recording_l1(world, phone):
    await send(phone, at(0), at(2), at(10))
    await hear(world, say("One."), say("Two."))

    first, second = await list_conversations(phone)
    assert find_end(first) == "2026-03-02T08:03:00"
    assert second["started_at"] == "2026-03-02T08:10:00Z"


@pytest.mark.parametrize("retry", [[at(0), at(1)], [at(1)], [at(1), at(0), at(1)]], ids=len)
async def test_a_retry_in_whatever_batch_is_heard_once_l1(world, phone, retry):
    await send(phone, at(0), at(1))
    again = await send(phone, *retry)
    await hear(world, say("Once."))
    after = await send(phone, *retry)

    (conversation,) = await list_conversations(phone)
    assert list_texts(conversation) == [(1.0, "Once.")]
    for job in (again, after):
        assert (await ask(phone, job))["result"]["new_memories"] == [conversation["id"]]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
async def test_parts_that_come_one_by_one_in_any_order_are_one_conversation_l1(world, phone, order):
    for minute in order:
        await send(phone, at(minute))
        await hear(world, say(f"Minute {minute}."))

    (conversation,) = await list_conversations(phone)
    assert list_texts(conversation) == [(1, "Minute 0."), (61, "Minute 1."), (121, "Minute 2.")]
    assert {s["speaker"] for s in conversation["transcript_segments"]} == {"SPEAKER_00"}
    assert conversation["started_at"] == "2026-03-02T08:00:00Z"
    assert find_end(conversation) == "2026-03-02T08:03:00"


async def test_sound_that_fills_a_gap_makes_two_conversations_one_l1(world, phone):
    await send(phone, at(0))
    later = await send(phone, at(5))
    await hear(world, say("Minute 0."), say("Minute 5."))
    assert len(await list_conversations(phone)) == 2
    between = await send(phone, at(1), at(3))
    await hear(world, say("Minutes between."))

    (conversation,) = await list_conversations(phone)
    texts = [(1, "Minute 0."), (61, "Minutes between."), (301, "Minute 5.")]
    assert list_texts(conversation) == texts
    assert {s["speaker"] for s in conversation["transcript_segments"]} == {"SPEAKER_00"}
    for job in (later, between):
        assert (await ask(phone, job))["result"]["updated_memories"] == [conversation["id"]]


async def test_parts_that_are_heard_at_once_are_one_conversation_l1(world, phone):
    for minute in range(2):
        await send(phone, at(minute))
    transcriber = ScriptedTranscriber([say("Words.")] * 2, tells_speakers=False)
    meeting = Meeting(world.documents)
    deps = build_deps(
        world, transcriber, lambda name, port: meeting if name == "documents" else port
    )
    tasks = world.tasks.list_by_target(TRANSCRIBE_TARGET)
    await asyncio.gather(*(transcribe(deps, ALICE, task.body["recording_id"]) for task in tasks))

    (conversation,) = await list_conversations(phone)
    assert list_texts(conversation) == [(60 * n + 1, "Words.") for n in range(2)]


async def test_what_was_added_is_told_and_counted_l1(world, phone):
    first = await send(phone, at(0))
    await hear(world, say("First.", speaker="A"), tells_speakers=True)
    second = await send(phone, at(1))
    await hear(world, say("Second.", speaker="A"), tells_speakers=True)

    (conversation,) = await list_conversations(phone)
    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    assert (await ask(phone, first))["result"]["new_memories"] == [conversation["id"]]
    assert (await ask(phone, second))["result"] == {
        "new_memories": [],
        "updated_memories": [conversation["id"]],
        "failed_segments": 0,
        "total_segments": 1,
        "errors": [],
    }
    assert [s["speaker"] for s in conversation["transcript_segments"]] == [
        "SPEAKER_00",
        "SPEAKER_01",
    ]
    assert usage["stored_bytes"] == usage["ingested_bytes"] == len("First.Second.")


@pytest.mark.parametrize(
    "other",
    [{"device": "phone", "minute": 1}, {"device": "omi", "minute": 4}],
    ids=["another recorder", "later"],
)
async def test_what_does_not_belong_together_stays_apart_l1(world, phone, other):
    await send(phone, at(0))
    await hear(world, say("One."))
    await send(phone, at(other["minute"], device=other["device"]))
    await hear(world, say("Two."))

    assert [list_texts(each) for each in await list_conversations(phone)] == [
        [(1, "One.")],
        [(1, "Two.")],
    ]


async def test_an_edited_line_stays_when_sound_is_added_l1(world, phone):
    await send(phone, at(1))
    await hear(world, say("Helo."))
    (before,) = await list_conversations(phone)
    segment = before["transcript_segments"][0]["id"]
    path = f"{CONVERSATIONS}/{before['id']}/segments/text"
    await phone.patch(path, json={"segment_id": segment, "text": "Hello."})
    await send(phone, at(0))
    await hear(world, say("Earlier."))

    (after,) = await list_conversations(phone)
    assert list_texts(after) == [(1, "Earlier."), (61, "Hello.")]
    assert after["transcript_segments"][1]["id"] == segment


async def test_a_recording_has_the_place_where_its_owner_was_l1(world, phone):
    world.clock.time = datetime(2026, 3, 2, 8, 0, 30, tzinfo=UTC)
    await phone.patch("/v1/users/geolocation", json={"latitude": 38.7, "longitude": -9.1})
    world.clock.advance(hours=1)
    await send(phone, at(0))
    await hear(world, say("Here."))

    (conversation,) = await list_conversations(phone)
    assert conversation["geolocation"]["latitude"] == 38.7


async def test_sound_for_a_conversation_that_the_phone_names_goes_there_l1(world, phone):
    body = {**BODY, "started_at": "2026-03-02T08:10:00Z", "finished_at": "2026-03-02T08:20:00Z"}
    await phone.post(CONVERSATIONS, json=body)
    job = await send(phone, at(5), conversation_id="talk")
    await hear(world, say("Missed before."))

    assert (await ask(phone, job))["result"]["updated_memories"] == ["talk"]
    (conversation,) = await list_conversations(phone)
    assert list_texts(conversation)[0] == (1, "Missed before.")
    assert [start for start, _ in list_texts(conversation)] == [1, 300]


async def test_silence_is_said_and_neither_kept_nor_heard_again_l1(world, phone):
    job = await send(phone, at(0))
    await hear(world, [])
    done = await ask(phone, job)
    await send(phone, at(0))
    await hear(world)

    assert (done["status"], done["result"]["new_memories"]) == ("completed", [])
    assert "Nobody speaks" in done["result"]["errors"][0]
    assert await list_conversations(phone) == []
    assert world.blobs.files == {}


async def test_of_several_files_the_good_ones_are_taken_and_the_others_named_l1(world, phone):
    job = await send(phone, at(0), ("notes.bin", MINUTE), at(9, content=b"\xff" * 40))
    await hear(world, say("Good."))
    done = await ask(phone, job)

    assert (done["status"], done["successful_segments"], done["failed_segments"]) == (
        "partial_failure",
        1,
        2,
    )
    assert len(done["result"]["new_memories"]) == 1
    assert [error.split(":")[0] for error in done["result"]["errors"]] == ["notes.bin", at(9)[0]]


@pytest.mark.parametrize(
    ("files", "status", "detail"),
    [
        ([("notes.bin", MINUTE)], 422, "notes.bin: Its name tells no time"),
        ([at(60 * 29)], 422, "which is to come: its clock is wrong"),
        ([at(0, content=b"")], 422, "It holds no frame"),
        ([at(n, content=TINY) for n in range(401)], 422, "Too many files"),
        ([at(0, content=bytes(32_000_000))], 413, "over"),
    ],
    ids=["no time", "clock", "empty", "many", "large"],
)
@pytest.mark.parametrize("path", [V1, V2])
async def test_where_no_file_can_be_taken_the_reason_is_said_l1(phone, path, files, status, detail):
    answer = await phone.post(path, files=[("files", file) for file in files])

    assert answer.status_code == status
    assert detail in answer.json()["detail"]


async def test_a_failure_is_told_and_the_next_attempt_of_the_phone_tries_again_l1(world, phone):
    job = await send(phone, at(0))
    await hear(world, ModelFailed("The model is broken."))
    failed = await ask(phone, job)
    again = await send(phone, at(0))
    await hear(world, say("Now."))

    assert (failed["status"], failed["result"]["new_memories"]) == ("failed", [])
    assert failed["error"].endswith("The model is broken.")
    assert (await ask(phone, again))["status"] == "completed"
    assert len(await list_conversations(phone)) == 1


async def test_the_older_call_waits_for_the_conversations_l1(world, phone):
    files = [("files", at(0)), ("files", at(10))]
    request = asyncio.create_task(phone.post(V1, files=files))
    while len(world.tasks.list_by_target(TRANSCRIBE_TARGET)) < 2:  # noqa: ASYNC110 - no other task says so
        await asyncio.sleep(0.001)
    await hear(world, say("One."), say("Two."))
    while not request.done():
        world.clock.advance(seconds=1)
        await asyncio.sleep(0.001)

    answer = request.result()
    assert answer.status_code == 200
    ids = [each["id"] for each in await list_conversations(phone)]
    assert sorted(answer.json()["new_memories"]) == sorted(ids)


async def test_a_deleted_conversation_may_be_sent_again_l1(world, phone):
    job = await send(phone, at(0))
    await hear(world, say("One."))
    (first,) = (await ask(phone, job))["result"]["new_memories"]
    await phone.delete(f"{CONVERSATIONS}/{first}")
    await forget_sound_of(build_deps(world, ScriptedTranscriber()), ALICE, first)
    await send(phone, at(0))
    await hear(world, say("Again."))

    assert [list_texts(each) for each in await list_conversations(phone)] == [[(1, "Again.")]]


async def test_a_recording_of_which_nothing_is_left_counts_as_failed_l1(world, phone):
    job = await send(phone, at(0))
    (task,) = world.tasks.list_by_target(TRANSCRIBE_TARGET)
    deps = build_deps(world, ScriptedTranscriber())
    await forget_recording(deps, ALICE, task.body["recording_id"])
    gone = await ask(phone, job)

    assert (gone["status"], gone["successful_segments"], gone["failed_segments"]) == (
        "failed",
        0,
        1,
    )
    assert gone["error"] == GONE


async def test_a_repeat_leaves_alone_what_another_request_is_storing_l1(world, phone):
    async def repeat() -> None:
        with pytest.raises(Unavailable, match="is being stored"):
            await take_files(build_library(world), ALICE, FIRST_FILE)

    blobs = Interruption(1, repeat, after=True).wrap("blobs", world.blobs)
    await take_files(replace(build_library(world), blobs=blobs), ALICE, FIRST_FILE)
    await hear(world, say("Once."))

    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    assert usage["recorded_seconds"] == 60
    assert [list_texts(each) for each in await list_conversations(phone)] == [[(1, "Once.")]]


async def test_what_another_request_gave_up_is_not_told_as_taken_l1(world, phone):
    async def give_up() -> None:
        query = Query(collection=f"users/{ALICE}/uploads")
        for upload in await world.documents.query(query):
            await delete_upload(build_library(world), ALICE, upload.id)

    blobs = Interruption(2, give_up, after=True).wrap("blobs", world.blobs)
    with pytest.raises(Unavailable, match="come in several requests"):
        await take_files(replace(build_library(world), blobs=blobs), ALICE, FIRST_FILE)
    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    await send(phone, at(0))
    await hear(world, say("Now."))

    assert usage["recorded_seconds"] == 0
    assert [list_texts(each) for each in await list_conversations(phone)] == [[(1, "Now.")]]


async def test_plain_samples_and_frames_may_come_together_l1(world, phone):
    frames = put_lengths_before([build_tone(10)[44 + n : 364 + n] for n in range(0, 320_000, 320)])
    name = f"audio_phone_pcm16_16000_1_fs160_{START}.bin"
    await send(phone, at(0), (name, frames))
    await hear(world, say("Plain."), say("Opus."))

    assert sorted(c["source"] for c in await list_conversations(phone)) == ["omi", "phone"]


@pytest.mark.parametrize("quota", ["sound_bytes", "stored_bytes", "recorded_seconds"])
async def test_quotas_bound_what_is_taken_and_nothing_of_it_is_left_l1(world, quota):
    limits: Mapping[QuotaName, int] = {quota: 59}
    async with build_client(world, ALICE, limits, transcriber=ScriptedTranscriber()) as client:
        answer = await client.post(V2, files=[("files", at(0))])

    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    assert answer.status_code == 429
    assert world.tasks.list_by_target(TRANSCRIBE_TARGET) == []
    assert world.blobs.files == {}
    assert (usage["stored_bytes"], usage["recorded_seconds"]) == (0, 0)


async def test_pauses_count_as_recorded_l1(world, phone):
    await send(phone, at(0, content=TINY), at(1, content=TINY))

    usage = await Quotas(world.documents, {}).load_usage(ALICE, world.clock.now())
    assert usage["recorded_seconds"] == 61


async def test_what_a_quota_leaves_out_is_taken_when_the_phone_sends_it_again_l1(world):
    limits: Mapping[QuotaName, int] = {"recorded_seconds": 61}
    async with build_client(world, ALICE, limits, transcriber=ScriptedTranscriber()) as phone:
        files = [("files", at(0)), ("files", at(10))]
        refusal = await phone.post(V2, files=files)
        world.clock.advance(days=1)
        job = (await phone.post(V2, files=files)).json()
        await hear(world, say("One."), say("Two."))

        assert refusal.status_code == 429
        assert refusal.json()["detail"].startswith("You used up today's 61 s of sound")
        assert len((await ask(phone, job))["result"]["new_memories"]) == 2


async def test_without_a_transcriber_the_phone_keeps_its_files_l1(world, alice):
    answer = await alice.post(V2, files=[("files", at(0))])

    assert answer.status_code == 409
    assert world.blobs.files == {}


async def test_a_job_is_its_owners_for_a_week_l1(world, phone):
    job = await send(phone, at(0))
    async with build_client(world, "bob") as bob:
        stranger = await bob.get(f"{V2}/{job['job_id']}")

    assert stranger.status_code == 404
    world.clock.advance(days=7)
    assert (await phone.get(f"{V2}/{job['job_id']}")).status_code == 404

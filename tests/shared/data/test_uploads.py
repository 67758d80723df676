"""Uploads and recordings in both stores: of several attempts at once, one counts."""

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from shared.data.conversations.recordings import AttemptReplaced, Recordings
from shared.data.files.uploads import Uploads
from shared.domain.conversations.recording import Recording
from shared.domain.conversations.speech import Transcription, Utterance
from shared.domain.errors import Conflict, Gone, NotFound, Unavailable
from shared.domain.files.upload import BlobPart, Upload, UploadId
from shared.domain.ids import ConversationId, UserId
from shared.ports import Documents
from tests.fixtures.storage import repeat_until_decided

ALICE = UserId("alice")
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
HELLO = Transcription(utterances=(Utterance(text="Hello.", start=0, end=1, speaker="SPEAKER_00"),))


async def add_upload(documents: Documents, length: int = 10) -> Uploads:
    uploads = Uploads(documents)
    expires_at = NOW + timedelta(days=7)
    await uploads.add(
        ALICE, Upload(id=UploadId("u1"), length=length, created_at=NOW, expires_at=expires_at)
    )
    return uploads


def to_recording(upload: Upload) -> Recording:
    return Recording(
        id=ConversationId(upload.id), created_at=NOW, size=upload.length, parts=upload.parts
    )


async def add_recording(documents: Documents) -> Recordings:
    uploads = await add_upload(documents)
    part = BlobPart(path="users/alice/uploads/u1/0-a", size=10)
    await uploads.append(ALICE, "u1", part, offset=0, now=NOW)
    recordings = Recordings(documents)
    await recordings.add_upload(ALICE, "u1", to_recording, now=NOW)
    return recordings


async def test_of_parts_that_arrive_at_once_one_counts(any_documents: Documents):
    uploads = await add_upload(any_documents)
    outcomes: list[str] = []

    async def append(number: int) -> None:
        part = BlobPart(path=f"users/alice/uploads/u1/0-{number}", size=5)
        try:
            await repeat_until_decided(lambda: uploads.append(ALICE, "u1", part, offset=0, now=NOW))
            outcomes.append(part.path)
        except Conflict:
            outcomes.append("refused")

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(append, number)

    stored = await uploads.get(ALICE, "u1", now=NOW)
    assert stored.offset == 5
    assert sorted(outcomes) == sorted([stored.parts[0].path, *["refused"] * 3])


async def test_an_upload_is_taken_over_once(any_documents: Documents):
    recordings = await add_recording(any_documents)

    again = await recordings.add_upload(ALICE, "u1", to_recording, now=NOW)

    assert again == await recordings.get(ALICE, "u1")
    with pytest.raises(NotFound):
        await Uploads(any_documents).get(ALICE, "u1", now=NOW)


async def test_a_closed_upload_takes_no_part_and_becomes_no_recording(any_documents: Documents):
    uploads = await add_upload(any_documents)
    await uploads.close(ALICE, "u1", now=NOW)
    part = BlobPart(path="users/alice/uploads/u1/0-a", size=10)

    with pytest.raises(Gone):
        await uploads.append(ALICE, "u1", part, offset=0, now=NOW)
    with pytest.raises(Gone):
        await Recordings(any_documents).add_upload(ALICE, "u1", to_recording, now=NOW)


async def test_an_attempt_that_was_replaced_stores_nothing(any_documents: Documents):
    recordings = await add_recording(any_documents)
    first = await recordings.claim(ALICE, "u1", "first", now=NOW)
    assert first is not None
    with pytest.raises(Unavailable):
        await recordings.claim(ALICE, "u1", "second", now=NOW)
    later = NOW + timedelta(seconds=11)
    second = await recordings.claim(ALICE, "u1", "second", now=later)
    assert second is not None

    with pytest.raises(AttemptReplaced):
        await recordings.save_piece(ALICE, first, 0, HELLO)
    await recordings.save_piece(ALICE, second, 0, HELLO)

    assert await recordings.load_piece(ALICE, "u1", 0) == HELLO
    assert [recording.id for recording in await recordings.list_newest(ALICE)] == ["u1"]


async def test_a_removed_recording_frees_its_bytes_once_and_takes_its_text_along(
    any_documents: Documents,
):
    recordings = await add_recording(any_documents)
    claimed = await recordings.claim(ALICE, "u1", "first", now=NOW)
    assert claimed is not None
    await recordings.save_piece(ALICE, claimed, 0, HELLO)

    freed = [await recordings.remove(ALICE, "u1") for _ in range(2)]

    assert freed == [10, 0]
    assert await recordings.load_piece(ALICE, "u1", 0) is None

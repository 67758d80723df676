"""A conversation of many recordings: each is listed, moved and deleted with it (L1)."""

import pytest

from shared.data.conversations.recordings import recording_path
from shared.data.files.uploads import upload_path
from shared.data.store.codec import dump
from shared.domain.conversations.recording import Recording
from shared.domain.errors import TooLarge
from shared.domain.files.upload import BlobPart
from shared.domain.ids import ConversationId
from shared.domain.store.documents import Set
from shared.library.merging import MAX_SOUND, merge
from shared.library.recordings import forget_sound_of
from tests.fakes import ScriptedTranscriber
from tests.fixtures.library import BODY, CONVERSATIONS
from tests.fixtures.processing import ALICE
from tests.functions.media.sound.test_transcribe import build_deps


async def add_recordings(world, conversation_id, count):
    for n in range(count):
        name = ConversationId(f"{conversation_id}-{n}")
        path = f"{upload_path(ALICE, name)}/0"
        await world.blobs.write(path, b"sound", media_type="audio/ogg")
        recording = Recording(
            id=name,
            created_at=world.clock.now(),
            size=5,
            parts=(BlobPart(path=path, size=5),),
            status="done",
            conversation_id=ConversationId(conversation_id),
        )
        await world.documents.write(Set(recording_path(ALICE, name), dump(recording)))


async def test_all_sound_of_a_conversation_is_deleted_with_it_l1(world):
    await add_recordings(world, "talk", 201)

    await forget_sound_of(build_deps(world, ScriptedTranscriber()), ALICE, ConversationId("talk"))

    assert await world.deps.stores.recordings.list_newest(ALICE) == []
    assert world.blobs.files == {}


async def test_all_sound_moves_along_with_a_merge_that_can_hold_it_l1(world, phone):
    for name, count in (("first", 101), ("second", 102)):
        await phone.post(CONVERSATIONS, json={**BODY, "id": name})
        await add_recordings(world, name, count)
    deps = build_deps(world, ScriptedTranscriber())
    merged = await merge(deps, ALICE, [ConversationId("first"), ConversationId("second")])

    moved = await world.deps.stores.recordings.list_of_conversation(ALICE, merged.id)
    assert len(moved) == 203


async def test_a_merge_that_cannot_hold_all_sound_is_refused_l1(world, phone):
    for name in ("first", "second"):
        await phone.post(CONVERSATIONS, json={**BODY, "id": name})
    await add_recordings(world, "first", MAX_SOUND + 1)

    with pytest.raises(TooLarge, match="at most 250 recordings"):
        await merge(
            build_deps(world, ScriptedTranscriber()),
            ALICE,
            [ConversationId("first"), ConversationId("second")],
        )

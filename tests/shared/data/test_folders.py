"""Folder store: moves and deletions, on each storage."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.folders import Folders
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation
from shared.domain.conversations.folder import MAX_FOLDERS, Folder
from shared.domain.errors import Conflict, NotFound
from shared.domain.ids import ConversationId, FolderId, UserId
from shared.domain.store.documents import Set, Update
from tests.fault_injection import FaultyPort

ANN = UserId("ann")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WORK = FolderId("work")
NAMES = [ConversationId(f"c{n}") for n in range(5)]


@pytest.fixture
async def folders(any_documents: Any) -> Folders:
    """Folders of Ann, who has five conversations."""
    for n, name in enumerate(NAMES):
        at = NOON + timedelta(minutes=n)
        conversation = Conversation(
            id=name, created_at=at, started_at=at, finished_at=at, status="completed"
        )
        await any_documents.write(Set(conversation_path(ANN, name), dump(conversation)))
    return Folders(any_documents)


def build_folder(name: str) -> Folder:
    return Folder(id=FolderId(name), name=name)


async def count(folders: Folders) -> dict[Any, int]:
    stored = await folders.load(ANN)
    return dict(await folders.count_conversations(ANN, stored, now=NOON))


@pytest.mark.parametrize("missing", [[], ["gone"]])
async def test_a_move_leaves_out_what_is_gone(folders, missing):
    moved_count = await folders.move(ANN, [*NAMES[:3], *missing], WORK, now=NOON)

    assert moved_count == 3
    assert await count(folders) == {WORK: 3, None: 2}


async def test_a_deleted_folder_passes_its_conversations_on(folders):
    await folders.add(ANN, build_folder("travel"), now=NOON)
    await folders.move(ANN, NAMES, "travel", now=NOON)

    await folders.delete(ANN, "travel", None, now=NOON)
    await folders.delete(ANN, "travel", None, now=NOON)

    assert await count(folders) == {"personal": 5}


async def test_a_conversation_that_changes_while_its_folder_is_deleted_is_moved_too(
    folders, any_documents
):
    """The batch was read before the change, so it is refused and read again."""
    await folders.move(ANN, NAMES, WORK, now=NOON)

    async def star_first(call: Any) -> Any:
        documents = await call()
        await any_documents.write(Update(conversation_path(ANN, NAMES[0]), {"starred": True}))
        return documents

    changing: Any = FaultyPort(any_documents, query=[star_first])
    await Folders(changing).delete(ANN, WORK, "social", now=NOON)

    assert await count(folders) == {"social": 5}
    document = await any_documents.get(conversation_path(ANN, NAMES[0]))
    assert document.fields["starred"] is True


async def test_a_conversation_moved_by_its_owner_meanwhile_stays_there(folders, any_documents):
    await folders.move(ANN, NAMES, WORK, now=NOON)

    async def move_first(call: Any) -> Any:
        documents = await call()
        await folders.move(ANN, NAMES[:1], "social", now=NOON)
        return documents

    changing: Any = FaultyPort(any_documents, query=[move_first])
    await Folders(changing).delete(ANN, WORK, None, now=NOON)

    assert await count(folders) == {"social": 1, "personal": 4}


async def test_an_unknown_folder_takes_nothing(folders):
    with pytest.raises(NotFound):
        await folders.move(ANN, NAMES, "unknown", now=NOON)

    assert await count(folders) == {None: 5}


async def test_the_limit_holds_under_concurrency(documents):
    folders = Folders(documents)
    full = [build_folder(f"f{n}") for n in range(MAX_FOLDERS - 4)]
    await folders.change(
        ANN, lambda stored: replace(stored, folders=(*stored.folders, *full)), now=NOON
    )

    results = await asyncio.gather(
        *(folders.add(ANN, build_folder(f"new{n}"), now=NOON) for n in range(5)),
        return_exceptions=True,
    )

    assert sum(isinstance(result, Conflict) for result in results) == 4
    assert len((await folders.load(ANN)).folders) == MAX_FOLDERS

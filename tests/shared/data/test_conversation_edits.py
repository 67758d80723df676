"""Stores of edits on both kinds of storage: all or nothing, also when two change the same at once."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.data.account.accounts import Accounts
from shared.data.stores import Stores
from shared.domain.conversations.assignments import assign_segments
from shared.domain.conversations.conversation import (
    Conversation,
    ExtractedItem,
    Segment,
    Speaker,
    Structured,
)
from shared.domain.conversations.derived_ids import build_action_item_id
from shared.domain.conversations.merge import UNDO_TTL, Merge
from shared.domain.conversations.merged_transcript import merge_conversations
from shared.domain.errors import Conflict, NotFound, Unavailable
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from shared.ports import Documents
from tests.fixtures.processing import START
from tests.fixtures.storage import repeat_until_decided

ALICE, BOB = UserId("alice"), UserId("bob")
FIRST, SECOND, MERGED = ConversationId("first"), ConversationId("second"), ConversationId("merged")
PRINTER = "Call the printer"


def build(name: ConversationId, *texts: str) -> Conversation:
    return Conversation(
        id=name,
        created_at=START,
        started_at=START,
        finished_at=START + timedelta(minutes=5),
        transcript_segments=tuple(
            Segment(text=text, start=n, end=n + 1) for n, text in enumerate(texts)
        ),
        structured=Structured(action_items=(ExtractedItem(description=PRINTER),)),
    )


@pytest.fixture
async def stores(any_documents: Documents) -> Stores:
    """Store two conversations of Alice."""
    stores = Stores(any_documents)
    for name in (FIRST, SECOND):
        await stores.conversations.add(ALICE, build(name, "Hello.", "Good bye."))
    return stores


async def store_merge(stores: Stores, merged_id: ConversationId = MERGED) -> bool:
    sources = await stores.merges.read_sources(ALICE, [FIRST, SECOND])
    conversations = [await stores.conversations.get(ALICE, name) for name in (FIRST, SECOND)]
    merge = Merge(
        id=merged_id,
        source_ids=(FIRST, SECOND),
        merged_at=START,
        expires_at=START + UNDO_TTL,
        moved={"memories/mine": FIRST},
    )
    return await stores.merges.store(
        ALICE,
        merge,
        merge_conversations(conversations, merged_id),
        sources=sources,
    )


async def list_ids(stores: Stores) -> list[str]:
    page = await stores.conversations.list_page(ALICE, limit=10)
    return sorted(conversation.id for conversation in page.items)


async def test_a_merge_is_stored_undone_and_made_final(stores):
    memory = Memory(
        id=MemoryId("mine"),
        content="Mine",
        category="manual",
        created_at=START,
        updated_at=START,
        conversation_id=FIRST,
    )
    await stores.memories.add(ALICE, memory)

    assert await store_merge(stores) is True
    assert await list_ids(stores) == ["merged"]
    assert (await stores.memories.get(ALICE, "mine")).conversation_id == MERGED

    undone, added_bytes = await stores.merges.undo(ALICE, MERGED, START)
    assert (undone.state, await list_ids(stores)) == ("undone", ["first", "second"])
    assert (await stores.memories.get(ALICE, "mine")).conversation_id == FIRST
    assert added_bytes == 30  # what we did not count in the sources
    await stores.merges.finish(ALICE, MERGED)
    assert await list_ids(stores) == ["first", "second"]

    other_id = ConversationId("other")
    await store_merge(stores, other_id)
    for _ in range(2):
        await stores.merges.finish(ALICE, other_id)
    assert await list_ids(stores) == ["other"]
    with pytest.raises(NotFound):
        await stores.merges.undo(ALICE, other_id, START)
    assert await stores.documents.get(f"users/{ALICE}/conversations/{FIRST}") is None


async def test_of_two_merges_at_once_one_is_stored(stores):
    ids = [ConversationId(f"m{n}") for n in range(4)]

    outcomes = await asyncio.gather(
        *(store_merge(stores, name) for name in ids), return_exceptions=True
    )

    assert outcomes.count(True) == 1
    assert len(await list_ids(stores)) == 1


async def test_a_link_is_one_for_all_who_share_at_once(stores):
    links = stores.shared_conversations

    async def share(n: int) -> str:
        return await repeat_until_decided(lambda: links.share(ALICE, FIRST, f"token{n}", now=START))

    tokens = await asyncio.gather(*map(share, range(4)))

    assert len(set(tokens)) == 1
    link = await links.find(tokens[0])
    assert link is not None
    assert (link.uid, link.conversation_id) == (ALICE, FIRST)
    with pytest.raises(NotFound):
        await links.share(BOB, FIRST, "another", now=START)
    await links.unshare(ALICE, FIRST)
    assert await links.find(tokens[0]) is None


async def test_an_erasure_takes_links_along(stores):
    token = await stores.shared_conversations.share(ALICE, FIRST, "token", now=START)

    await Accounts(stores.documents).delete(ALICE)

    assert await stores.shared_conversations.find(token) is None


async def test_an_item_and_its_task_change_together(stores):
    task = ActionItem(
        id=build_action_item_id(FIRST, PRINTER),
        description=PRINTER,
        created_at=START,
        updated_at=START,
        conversation_id=FIRST,
    )
    await stores.action_items.add(ALICE, task)
    items = stores.conversation_items

    await items.complete(ALICE, FIRST, {0: True}, now=START)
    await items.rename(ALICE, FIRST, 0, old=PRINTER, new="Call the press", now=START)
    stored = await stores.action_items.get(ALICE, task.id)
    assert (stored.description, stored.completed) == ("Call the press", True)
    await stores.action_items.change(ALICE, task.id, completed=False)
    (item,) = (await stores.conversations.get(ALICE, FIRST)).structured.action_items
    assert (item.description, item.completed, item.id) == ("Call the press", False, task.id)

    await items.remove(ALICE, FIRST, "Call the press", completed=False, now=START)
    assert (await stores.conversations.get(ALICE, FIRST)).structured.action_items == ()
    with pytest.raises(NotFound):
        await stores.action_items.get(ALICE, task.id)


async def test_concurrent_corrections_lose_none_or_say_so(stores):
    before = await stores.conversations.get(ALICE, FIRST)
    first, second = before.transcript_segments
    versions = [
        replace(before, transcript_segments=(replace(first, text="Hi."), second)),
        replace(before, transcript_segments=(first, replace(second, text="Bye."))),
    ]

    outcomes = await asyncio.gather(
        *(
            stores.transcript_edits.replace_text(ALICE, before, after, now=START)
            for after in versions
        ),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes if outcome] == [Conflict]
    stored = await stores.conversations.get(ALICE, FIRST)
    assert stored.transcript_segments in [after.transcript_segments for after in versions]


async def test_who_spoke_is_stored_with_the_conversation(stores):
    whole = await stores.conversations.get(ALICE, FIRST)
    owner = Speaker(is_user=True)

    await stores.transcript_edits.assign(
        ALICE, whole, lambda current: assign_segments(current, ["segment-1"], owner), now=START
    )

    stored = await stores.conversations.get(ALICE, FIRST)
    assert [segment.is_user for segment in stored.named_segments] == [False, True]


async def delete_and_count(stores: Stores, name: ConversationId) -> int | None:
    """Delete as a caller does, who calls again where others were first."""
    while True:
        try:
            return await stores.conversations.delete(ALICE, name, now=START)
        except NotFound:
            return None
        except Unavailable:
            continue


async def test_of_several_deletions_at_once_one_frees_the_bytes(any_documents):
    stores = Stores(any_documents)
    await stores.conversations.add(ALICE, replace(build(FIRST, "Hello."), text_bytes=6))

    freed = await asyncio.gather(*(delete_and_count(stores, FIRST) for _ in range(5)))

    assert sum(filter(None, freed)) == 6


async def test_the_words_of_a_merged_conversation_cannot_be_changed(stores):
    before = await stores.conversations.get(ALICE, FIRST)
    changed = replace(before, transcript_segments=(Segment(text="Other."),))
    await store_merge(stores)

    with pytest.raises(NotFound):
        await stores.transcript_edits.replace_text(ALICE, before, changed, now=START)

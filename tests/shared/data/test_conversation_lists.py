"""Conversation lists: by filter and offset, from key documents that readers keep."""

import asyncio
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.conversations.conversation_key import ConversationFilter, ConversationKey
from shared.data.conversations.conversation_keys import (
    FIRST_BATCH,
    MAX_WRITTEN,
    OVERLAP,
    ConversationKeys,
    KeyList,
)
from shared.data.conversations.conversation_lists import BATCH_SIZE, ConversationLists
from shared.data.conversations.conversations import Conversations, conversation_path
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import Conversation, Segment
from shared.domain.errors import Invalid
from shared.domain.ids import ConversationId, FolderId, UserId
from shared.domain.store.documents import Delete, Query, Remove, Set, Update
from shared.ports import Documents
from tests.fakes import CountingDocuments
from tests.fault_injection import FaultyPort, raise_unavailable, succeed
from tests.fixtures.storage import INDEXES, MemoryDatabase

ALICE = UserId("alice")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = START + timedelta(days=30)
EVERYTHING = ConversationFilter(discarded=None)
ANY = ConversationFilter(discarded=None, statuses=("processing", "completed", "failed"))


def build(n: int, **fields: Any) -> Conversation:
    """Build the n-th conversation; a later one has a higher number."""
    at = START + timedelta(hours=n)
    return Conversation(
        id=ConversationId(f"c{n:03}"),
        created_at=at,
        started_at=at,
        finished_at=at,
        transcript_segments=(Segment(text=f"Words {n}"),),
        **{"status": "completed", "listed_at": NOW, **fields},
    )


async def store(documents: Documents, *conversations: Conversation) -> None:
    for conversation in conversations:
        path = conversation_path(ALICE, conversation.id)
        await documents.write(Set(path, dump(conversation)))


async def list_ids(
    documents: Documents,
    wanted: ConversationFilter = EVERYTHING,
    *,
    now: datetime = NOW,
    limit: int = 1_000,
    **page: Any,
) -> list[str]:
    lists = ConversationLists(documents)
    found = await lists.list_page(ALICE, wanted, limit=limit, now=now, **page)
    return [conversation.id for conversation in found.items]


async def load_keys(
    keys: ConversationKeys, wanted: ConversationFilter = ANY, *, now: datetime = NOW
) -> list[ConversationKey]:
    async def read(stored: KeyList) -> list[ConversationKey]:
        return [key async for key in stored.iterate(wanted)]

    return await keys.read(ALICE, read, now=now)


async def test_conversations_come_newest_first_from_any_offset(any_documents):
    await store(any_documents, *map(build, (2, 0, 3, 1)))

    assert await list_ids(any_documents) == ["c003", "c002", "c001", "c000"]
    assert await list_ids(any_documents, offset=1, limit=2) == ["c002", "c001"]
    assert await list_ids(any_documents, offset=4) == []


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (ConversationFilter(), ["c005", "c002", "c000"]),
        (ConversationFilter(statuses=("failed",)), ["c003"]),
        (ConversationFilter(statuses=("in_progress", "unheard of")), []),
        (ConversationFilter(discarded=None), ["c005", "c004", "c002", "c000"]),
        (ConversationFilter(discarded=True), ["c004"]),
        (ConversationFilter(starred=True), ["c002"]),
        (ConversationFilter(folder_ids={FolderId("work")}), ["c000"]),
        (ConversationFilter(folder_ids={FolderId("nowhere")}), []),
        (
            ConversationFilter(start=START, end=START + timedelta(hours=2)),
            ["c002", "c000"],
        ),
    ],
)
async def test_a_list_is_filtered(documents, wanted, ids):
    await store(
        documents,
        build(0, folder_id="work"),
        build(2, starred=True),
        build(3, status="failed"),
        build(4, discarded=True),
        build(5, status="processing"),
    )

    assert await list_ids(documents, wanted) == ids


async def test_a_cursor_leads_to_what_follows_whatever_is_new(documents):
    await store(documents, *map(build, range(4)))
    lists = ConversationLists(documents)
    first = await lists.list_page(ALICE, EVERYTHING, limit=2, now=NOW)
    await store(documents, build(9))

    second = await lists.list_page(ALICE, EVERYTHING, limit=2, now=NOW, after=first.next)

    assert [conversation.id for conversation in second.items] == ["c001", "c000"]
    assert second.next is None
    with pytest.raises(Invalid):
        await list_ids(documents, after="not one")


async def test_what_changes_is_listed_anew(any_documents):
    await store(any_documents, *map(build, range(3)))
    await list_ids(any_documents)
    later = NOW + timedelta(hours=1)

    await store(any_documents, build(1, discarded=True, listed_at=later), build(3, listed_at=later))
    await Conversations(any_documents).star(ALICE, ConversationId("c000"), starred=True, now=later)

    assert await list_ids(any_documents, ConversationFilter(), now=later) == [
        "c003",
        "c002",
        "c000",
    ]
    starred = ConversationFilter(starred=True)
    assert await list_ids(any_documents, starred, now=later) == ["c000"]


async def test_a_write_that_is_stored_late_is_listed_all_the_same(documents):
    await store(documents, build(0))
    await list_ids(documents)

    await store(documents, build(1, listed_at=NOW - OVERLAP / 2))

    assert await list_ids(documents) == ["c001", "c000"]


async def test_a_deleted_conversation_leaves_no_gap(any_documents):
    await store(any_documents, *map(build, range(4)))
    await list_ids(any_documents)

    await Conversations(any_documents).delete(ALICE, ConversationId("c003"), now=NOW)
    await any_documents.write(Delete(conversation_path(ALICE, ConversationId("c002"))))

    assert await list_ids(any_documents, limit=2) == ["c001", "c000"]
    assert await list_ids(any_documents, offset=1) == ["c000"]


@pytest.mark.parametrize(
    "damage",
    [{"created_at": "soon"}, {"created_at": Remove()}, {"started_at": None}, {"status": 7}],
)
async def test_a_malformed_conversation_hides_no_other(documents, damage):
    await store(documents, *map(build, range(3)))
    path = conversation_path(ALICE, ConversationId("c001"))
    await documents.write(Update(path, damage))

    assert await list_ids(documents, limit=2) == ["c002", "c000"]
    assert await list_ids(documents, offset=1) == ["c000"]


async def test_a_merged_conversation_is_listed_no_more_until_it_is_back(documents):
    await store(documents, *map(build, range(2)))
    await list_ids(documents)

    await store(documents, replace(build(0), merged_into=ConversationId("c001")))
    assert await list_ids(documents) == ["c001"]

    await store(documents, build(0))
    assert await list_ids(documents) == ["c001", "c000"]


async def test_a_page_reads_the_index_the_changes_and_itself(documents):
    await store(documents, *map(build, range(2 * BATCH_SIZE)))
    await list_ids(documents)
    later = NOW + 2 * OVERLAP
    await list_ids(documents, now=later)  # takes in what was stamped just before the first page
    counting = CountingDocuments(documents)
    lists = ConversationLists(counting)
    await lists.list_page(ALICE, EVERYTHING, limit=1, now=later)

    for offset in (0, BATCH_SIZE):
        counting.documents = counting.rounds = 0
        await lists.list_page(ALICE, EVERYTHING, offset=offset, limit=BATCH_SIZE, now=later)
        assert (counting.documents, counting.rounds) == (1 + 1 + BATCH_SIZE, 3)


async def test_the_first_list_reads_no_more_of_a_large_library_than_it_shows_f4(documents):
    await store(documents, *map(build, range(FIRST_BATCH * 3)))
    counting = CountingDocuments(documents)

    first = await list_ids(counting, limit=BATCH_SIZE)
    assert first == [f"c{n:03}" for n in range(299, 249, -1)]
    assert counting.documents < 2 * BATCH_SIZE + FIRST_BATCH

    assert await list_ids(documents) == [f"c{n:03}" for n in range(299, -1, -1)]
    assert await list_ids(documents, offset=298) == ["c001", "c000"]


async def test_an_offset_reads_one_page_of_keys_and_a_count_reads_none(documents):
    await store(documents, *map(build, range(90)))
    keys = ConversationKeys(documents, max_keys=10)
    await load_keys(keys)
    later = NOW + 2 * OVERLAP
    await load_keys(keys, now=later)
    counting = CountingDocuments(documents)

    async def read_last(stored: KeyList) -> list[str]:
        return [key.id async for key in stored.iterate(ANY, offset=89)]

    async def count_early(stored: KeyList) -> tuple[int, int]:
        early = replace(ANY, end=START + timedelta(hours=4))
        return await stored.count(ANY), await stored.count(early)

    cold_keys = ConversationKeys(counting, max_keys=10)
    assert await cold_keys.read(ALICE, read_last, now=later) == ["c000"]
    assert counting.documents == 1 + 1 + 1
    assert await cold_keys.read(ALICE, count_early, now=later) == (90, 5)
    assert counting.documents == 2 * (1 + 1) + 1


async def test_a_conversation_that_was_created_at_another_time_stands_there_alone(any_documents):
    await store(any_documents, *map(build, range(4)))
    await list_ids(any_documents)

    moved = replace(build(0), created_at=START + timedelta(hours=9), listed_at=NOW)
    await store(any_documents, moved)

    assert await list_ids(any_documents) == ["c000", "c003", "c002", "c001"]
    assert await list_ids(any_documents, offset=3) == ["c001"]


async def test_readers_that_met_keep_every_key(documents):
    keys = ConversationKeys(documents, max_keys=2)
    await store(documents, *map(build, range(5)))
    await asyncio.gather(*(load_keys(keys) for _ in range(3)))

    await store(documents, build(5), build(6, starred=True))
    met = await asyncio.gather(*(load_keys(ConversationKeys(documents)) for _ in range(3)))

    assert [[key.id for key in each] for each in met] == [
        [f"c{n:03}" for n in range(6, -1, -1)]
    ] * 3


async def test_keys_that_do_not_fit_their_index_are_built_anew(documents):
    keys = ConversationKeys(documents, max_keys=3)
    await store(documents, *map(build, range(7)))
    await load_keys(keys)
    await documents.write(Delete("users/alice/conversation_keys/1"))

    for _ in range(2):
        found = await load_keys(ConversationKeys(documents, max_keys=3))
        assert [key.id for key in found] == [f"c{n:03}" for n in reversed(range(7))]


async def test_more_keys_than_a_document_holds_fill_several(any_documents):
    keys = ConversationKeys(any_documents, max_keys=3)
    await store(any_documents, *map(build, range(7)))
    await load_keys(keys)

    await store(any_documents, build(1, starred=True), build(7))

    loaded_keys = await load_keys(keys)
    assert [key.id for key in loaded_keys] == [f"c{n:03}" for n in reversed(range(8))]
    assert [key.id for key in loaded_keys if key.facets.starred] == ["c001"]
    assert await any_documents.get("users/alice/conversation_keys/2") is not None


async def test_more_key_documents_than_a_commit_takes_are_written_in_several(any_documents):
    keys = ConversationKeys(any_documents, max_keys=1)
    count = MAX_WRITTEN * 2
    await store(any_documents, *map(build, range(count)))
    await load_keys(keys)
    later = NOW + timedelta(hours=1)
    await store(any_documents, *(build(n, starred=True, listed_at=later) for n in range(count)))
    broken: Any = FaultyPort(any_documents, transaction=[succeed, raise_unavailable])

    cut_off = await load_keys(ConversationKeys(broken, max_keys=1), now=later)
    loaded_keys = await load_keys(keys, now=later)

    assert [key.facets.starred for key in cut_off] == [True] * count
    assert loaded_keys == cut_off
    assert await load_keys(ConversationKeys(any_documents), now=later + OVERLAP * 2) == cut_off


@given(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=12),
    st.tuples(*[st.none() | st.integers(0, 9)] * 3),
    st.integers(0, 5),
)
def test_pages_of_keys_are_pieces_of_the_filtered_whole(made, bounds, offset):
    start, end, before = (None if n is None else START + timedelta(hours=n) for n in bounds)
    wanted = replace(
        ANY,
        starred=True,
        start=start,
        end=end,
        before=(before, ConversationId("c005")) if before else None,
    )

    async def play() -> None:
        with closing(MemoryDatabase()) as database:
            documents = SqliteDocuments(database, INDEXES)
            for n, (hours, is_starred) in enumerate(made):
                known = replace(build(hours, starred=is_starred), id=ConversationId(f"c{n:03}"))
                await store(documents, known)
            whole = wanted.select(await load_keys(ConversationKeys(documents)))
            keys = ConversationKeys(documents, max_keys=2)
            await keys.read(ALICE, KeyList.count_facets, now=NOW)

            async def read(stored: KeyList) -> tuple[list[ConversationKey], int]:
                found = [key async for key in stored.iterate(wanted, offset=offset)]
                return found, await stored.count(wanted)

            assert await keys.read(ALICE, read, now=NOW) == (whole[offset:], len(whole))

    asyncio.run(play())


async def test_nobody_without_conversations_gets_a_key_document(documents):
    assert await list_ids(documents) == []

    assert await documents.query(Query(collection="users/alice/conversation_keys")) == []


class Library:
    """Conversations that change one minute after another, and what a list of them must show."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self.expected: dict[int, Conversation] = {}
        self.now = NOW

    async def apply(self, change: str, n: int) -> None:
        self.now += timedelta(minutes=1)
        match change:
            case "put":
                await self._put(n, build(n, listed_at=self.now))
            case "discard" if n in self.expected:
                known = self.expected[n]
                await self._put(n, replace(known, discarded=True, listed_at=self.now))
            case "star" if n in self.expected:
                known = self.expected[n]
                await self._put(n, replace(known, starred=True, listed_at=self.now))
            case "delete" if n in self.expected:
                await Conversations(self.documents).delete(
                    ALICE, self.expected.pop(n).id, now=self.now
                )
            case "lose" if n in self.expected:
                path = conversation_path(ALICE, self.expected.pop(n).id)
                await self.documents.write(Delete(path))
            case "list":
                await load_keys(ConversationKeys(self.documents, max_keys=2), now=self.now)
            case "move" if n in self.expected:
                at = self.now + timedelta(days=n)
                moved = replace(self.expected[n], created_at=at, listed_at=self.now)
                await self._put(n, moved)

    async def _put(self, n: int, conversation: Conversation) -> None:
        self.expected[n] = conversation
        await store(self.documents, conversation)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["put", "discard", "star", "move", "delete", "lose", "list"]),
            st.integers(0, 5),
        ),
        max_size=20,
    )
)
def test_every_list_agrees_with_what_is_stored(changes: list[tuple[str, int]]):
    async def play() -> None:
        with closing(MemoryDatabase()) as database:
            library = Library(SqliteDocuments(database, INDEXES))
            for change in changes:
                await library.apply(*change)

            expected = sorted(
                library.expected.values(), key=lambda c: (c.created_at, c.id), reverse=True
            )
            ids = await list_ids(library.documents, ConversationFilter(), now=library.now)
            assert ids == [c.id for c in expected if not c.discarded]
            everything = await list_ids(library.documents, now=library.now)
            assert everything == [c.id for c in expected]
            keys = ConversationKeys(library.documents)
            assert [key.id for key in await load_keys(keys, now=library.now)] == everything
            facets = await keys.read(ALICE, KeyList.count_facets, now=library.now)
            assert sum(facets.values()) == len(everything)

    asyncio.run(play())

"""Search over conversations and memories: what it finds, and what it no longer finds."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import telemetry
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.conversations.conversation_lists import MAX_TEXT_BYTES
from shared.data.conversations.conversations import Conversations, conversation_path
from shared.data.memories.memories import memory_path
from shared.data.search.library_index import SEARCHED_INDEX_VERSIONS, LibraryIndex
from shared.data.search.search import Filters, Search
from shared.data.store.codec import dump
from shared.domain.conversations.conversation import (
    Conversation,
    Segment,
    Speaker,
    Structured,
    Topics,
    content_hash,
)
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memories.memory import Memory
from shared.domain.store.documents import Delete, Set, Update
from tests.fakes import CountingDocuments
from tests.fixtures.storage import INDEXES, open_database

ANN, BOB = UserId("ann"), UserId("bob")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class SearchFixture:
    """Documents and their index, as process_conversation leaves them."""

    documents: SqliteDocuments
    vectors: SqliteVectors
    index: LibraryIndex
    search: Search

    async def store(self, uid: UserId, *conversations: Conversation) -> None:
        for conversation in conversations:
            stored = await Conversations(self.documents).add(uid, conversation)
            segments = conversation.transcript_segments
            await self.index.put(uid, replace(stored, transcript_segments=segments))

    async def store_memory(self, uid: UserId, memory: Memory) -> None:
        await self.documents.write(Set(memory_path(uid, memory.id), dump(memory)))
        await self.index.put_memories(uid, [memory])

    async def search_ids(
        self,
        uid: UserId,
        query: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int = 10,
    ) -> list[str]:
        filters = Filters(start=start, end=end)
        hits = await self.search.search_conversations(uid, query, filters=filters, limit=limit)
        return [hit.conversation.id for hit in hits]


@contextmanager
def open_library() -> Iterator[SearchFixture]:
    with TemporaryDirectory() as folder, open_database(Path(folder)) as database:
        documents, vectors = SqliteDocuments(database, INDEXES), SqliteVectors(database)
        yield SearchFixture(documents, vectors, LibraryIndex(vectors), Search(documents, vectors))


@pytest.fixture
async def library() -> AsyncIterator[SearchFixture]:
    with open_library() as library:
        yield library


def talk(name: str, *texts: str, at: datetime = NOON, title: str = "") -> Conversation:
    return Conversation(
        id=ConversationId(name),
        created_at=at,
        started_at=at,
        finished_at=at + timedelta(minutes=5),
        transcript_segments=tuple(Segment(text=text, speaker="Bea") for text in texts),
        structured=Structured(title=title),
    )


def memory(name: str, content: str) -> Memory:
    return Memory(
        id=MemoryId(name), content=content, category="system", created_at=NOON, updated_at=NOON
    )


async def test_a_phrase_from_a_transcript_is_found_where_it_was_said_p11(library: SearchFixture):
    filler = [f"And then we spoke about subject {n}" for n in range(20)]
    await library.store(
        ANN,
        talk("keys", *filler, "The spare key hangs behind the blue door", "Good", *filler),
        talk("door", "He painted the door last spring"),
        talk("lunch", "Soup again"),
    )

    [best, *others] = await library.search.search_conversations(
        ANN, "Where does the spare key hang?", limit=5
    )

    assert best.conversation.id == "keys"
    assert "Bea: The spare key hangs behind the blue door" in best.passages[0].text.splitlines()
    assert best.passages[0].first_segment < 20 < best.passages[0].last_segment
    assert [other.conversation.id for other in others] == []


async def test_a_name_matches_in_every_spelling_p11(library: SearchFixture):
    await library.store(
        ANN, talk("who", "I met Zoë Krüger in town"), talk("town", "The town is old")
    )

    assert await library.search_ids(ANN, "what about zoe kruger") == ["who"]


async def test_conversations_are_distinct_and_in_rank_order_p11(library: SearchFixture):
    await library.store(
        ANN,
        talk("some", "A heron", "Fine weather", "Yes", "No"),
        talk("most", *["The heron and the otter"] * 12),
        title_only := talk("title", "Nothing here", title="Otter and heron and kingfisher"),
    )

    hits = await library.search.search_conversations(ANN, "heron otter kingfisher", limit=5)

    assert [hit.conversation.id for hit in hits] == ["most", "title", "some"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[1].passages == ()
    assert hits[1].conversation == title_only


async def test_search_returns_at_most_limit_conversations_p11(library: SearchFixture):
    await library.store(ANN, *(talk(f"c{n}", "The heron") for n in range(5)))

    assert len(await library.search_ids(ANN, "heron", limit=3)) == 3


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (None, None, ["d0", "d1", "d2"]),
        (1, None, ["d1", "d2"]),
        (None, 1, ["d0"]),
        (1, 2, ["d1"]),
    ],
)
async def test_start_and_end_each_bound_the_days_alone_p11(
    library: SearchFixture, first: int | None, last: int | None, expected: list[str]
):
    days = [NOON + timedelta(days=n) for n in range(3)]
    await library.store(ANN, *(talk(f"d{n}", "The heron", at=day) for n, day in enumerate(days)))

    ids = await library.search_ids(
        ANN,
        "heron",
        start=None if first is None else days[first],
        end=None if last is None else days[last],
    )

    assert sorted(ids) == expected


@pytest.mark.parametrize("query", ["", "   ", "?!"])
async def test_an_empty_question_finds_nothing(library: SearchFixture, query: str):
    await library.store(ANN, talk("c", "The heron"))

    assert await library.search_ids(ANN, query) == []
    assert await library.search.search_memories(ANN, query, limit=5) == []


async def test_an_edited_conversation_is_not_found_by_its_old_words(library: SearchFixture):
    await library.store(ANN, talk("c", "The heron"))
    edited = talk("c", "The otter")
    path = conversation_path(ANN, edited.id)

    await library.documents.write(Set(path, dump(edited)))
    assert await library.search_ids(ANN, "heron") == []

    await library.index.put(ANN, replace(edited, chunk_count=1))
    assert await library.search_ids(ANN, "heron") == []
    assert await library.search_ids(ANN, "otter") == ["c"]


async def test_a_stale_row_from_before_an_edit_is_ignored(library: SearchFixture):
    await library.store(ANN, talk("c", "The heron", *["more"] * 9))
    edited = talk("c", "The otter")
    await library.documents.write(Set(conversation_path(ANN, edited.id), dump(edited)))

    await library.index.put(ANN, edited)

    assert await library.search_ids(ANN, "more") == []


async def edit_while_it_is_processed(library: SearchFixture, edited: Conversation) -> None:
    """Write another text over a conversation that was processed, as before its rows are made anew."""
    path = conversation_path(ANN, edited.id)
    before = await Conversations(library.documents).get(ANN, edited.id)
    processed = replace(edited, processed_hash=content_hash(before), status="processing")
    await library.documents.write(Set(path, dump(processed)))


async def test_while_an_edit_is_processed_the_words_that_stand_are_found_p28(
    library: SearchFixture,
):
    await library.store(ANN, talk("c", "We plan", "The heron came", "Back at noon"))

    await edit_while_it_is_processed(library, talk("c", "The otter came", "Back at noon"))

    [found] = await library.search.search_conversations(ANN, "noon", limit=5)
    assert list(found.turns) == [1]
    assert [passage.first_segment for passage in found.passages] == [0]
    assert await library.search_ids(ANN, "heron") == []
    assert await library.search_ids(ANN, "otter") == []


async def test_the_words_that_stand_are_found_where_a_further_edit_superseded_the_first_p28(
    library: SearchFixture,
):
    await library.store(ANN, talk("c", "The heron came", "Back at noon"))
    await edit_while_it_is_processed(library, talk("c", "The otter came", "Back at noon"))
    await library.index.put(
        ANN, replace(talk("c", "The otter came", "Back at noon"), chunk_count=1)
    )
    path = conversation_path(ANN, ConversationId("c"))
    twice_edited = talk("c", "The egret came", "Back at noon")
    before = await Conversations(library.documents).get(ANN, twice_edited.id)

    again = replace(twice_edited, processed_hash=before.processed_hash, status="processing")
    await library.documents.write(Set(path, dump(again)))

    assert await library.search_ids(ANN, "noon") == ["c"]
    assert await library.search_ids(ANN, "otter") == []


async def test_rows_of_long_ago_do_not_find_a_processed_conversation_again_p28(
    library: SearchFixture,
):
    await library.store(ANN, talk("c", "The heron", "Back at noon"))
    edited = talk("c", "Back at noon")
    processed = replace(edited, processed_hash=content_hash(edited))

    await library.documents.write(Set(conversation_path(ANN, edited.id), dump(processed)))

    assert await library.search_ids(ANN, "noon") == []


async def test_a_deleted_conversation_is_not_found(library: SearchFixture):
    await library.store(ANN, talk("c", "The heron"), talk("d", "A heron too"))

    await library.documents.write(Delete(conversation_path(ANN, ConversationId("c"))))

    assert await library.search_ids(ANN, "heron") == ["d"]


async def test_a_discarded_conversation_is_not_found(library: SearchFixture):
    await library.store(ANN, talk("c", "The heron"))

    path = conversation_path(ANN, ConversationId("c"))
    await library.documents.write(Update(path, {"discarded": True}))

    assert await library.search_ids(ANN, "heron") == []


async def test_deleted_conversations_do_not_use_up_the_limit(library: SearchFixture):
    await library.store(ANN, *(talk(f"c{n}", "heron " * (9 - n)) for n in range(5)))

    deleted_paths = [conversation_path(ANN, ConversationId(f"c{n}")) for n in range(3)]
    await library.documents.write(*(Delete(path) for path in deleted_paths))

    assert await library.search_ids(ANN, "heron", limit=2) == ["c3", "c4"]


async def test_only_limit_documents_are_read_when_none_is_stale(library: SearchFixture):
    await library.store(ANN, *(talk(f"c{n}", "We sail at dawn.") for n in range(12)))
    counting_documents = CountingDocuments(library.documents)

    hits = await Search(counting_documents, library.vectors).search_conversations(
        ANN, "sail", limit=5
    )

    people = 1
    assert (len(hits), counting_documents.documents - people, counting_documents.rounds) == (
        5,
        5,
        2,
    )


async def test_a_transcript_stored_in_parts_gives_passages(library: SearchFixture):
    long = ["word " * 2_000 for _ in range(90)]
    await library.store(ANN, talk("long", *long, "The heron nests in the mill"))

    [hit] = await library.search.search_conversations(ANN, "heron", limit=5)

    assert hit.conversation.parts
    assert hit.passages[0].last_segment == 90
    assert hit.passages[0].text.endswith("Bea: The heron nests in the mill")


async def test_a_conversation_with_a_missing_transcript_part_is_not_found(library: SearchFixture):
    long = ["word " * 2_000 for _ in range(90)]
    await library.store(ANN, talk("long", *long, "The heron"), talk("short", "A heron"))

    await library.documents.write(Delete(f"users/{ANN}/conversations/long/parts/0"))

    assert await library.search_ids(ANN, "heron") == ["short"]


async def test_memories_come_best_first_without_edited_or_deleted_ones(library: SearchFixture):
    for name, content in (
        ("both", "Ann keeps bees and hens"),
        ("one", "Ann sold the hens last year in June to a farmer"),
        ("edited", "Ann dislikes bees and hens"),
        ("deleted", "Bees and hens are Ann's"),
    ):
        await library.store_memory(ANN, memory(name, content))
    await library.store(ANN, talk("c", "bees and hens"))
    path = memory_path(ANN, MemoryId("edited"))
    await library.documents.write(
        Update(path, {"content": "Ann likes cats"}), Delete(memory_path(ANN, MemoryId("deleted")))
    )

    memories = await library.search.search_memories(ANN, "bees, hens", limit=5)

    assert [hit.id for hit in memories] == ["both", "one"]


words = st.sampled_from(["heron", "otter", "badger", "mill"])
libraries = st.dictionaries(
    st.tuples(st.sampled_from([ANN, BOB]), st.sampled_from("abc")),
    st.lists(words, min_size=1, max_size=3),
)


@given(libraries, words)
async def test_search_never_returns_conversations_of_another_user_p11(
    transcripts: dict[tuple[UserId, str], list[str]], word: str
):
    with open_library() as library:
        for (uid, name), texts in transcripts.items():
            await library.store(uid, talk(f"{uid}-{name}", *texts))

        ids = await library.search_ids(ANN, word)

    own_ids = {
        f"{uid}-{name}"
        for (uid, name), texts in transcripts.items()
        if uid == ANN and word in texts
    }
    assert set(ids) == own_ids
    assert len(ids) == len(own_ids)


async def test_a_long_conversation_does_not_crowd_out_the_others(library: SearchFixture) -> None:
    long = talk("long", *("The launch, the launch and once more the launch." for _ in range(200)))
    others = [talk(f"c{n}", f"On day {n} somebody named the launch.") for n in range(3)]
    await library.store(ANN, long, *others)

    assert set(await library.search_ids(ANN, "launch", limit=4)) == {"long", "c0", "c1", "c2"}


async def test_the_newest_of_very_many_conversations_with_somebody_are_listed_first(
    library: SearchFixture,
) -> None:
    days = [(n * 7) % 450 for n in range(450)]  # stored in no order of time
    await library.store(ANN, *(talk(f"d{n}", "Hi", at=NOON + timedelta(days=n)) for n in days))

    listed = await library.search.list_spoken(ANN, "Bea", limit=2)
    earlier = await library.search.list_spoken(ANN, "Bea", end=NOON + timedelta(days=400), limit=1)

    assert [one.id for one in listed] == ["d449", "d448"]
    assert [one.id for one in earlier] == ["d399"]
    assert all(one.transcript_segments for one in listed)


@pytest.fixture
async def launches(library: SearchFixture) -> SearchFixture:
    """Hold three talks of one subject: about Zoë, about printing, and with Bea as Bob."""
    zoe = replace(talk("zoe", "The launch"), topics=Topics(people=("Zoë Krüger",)))
    print_ = replace(talk("print", "The launch"), topics=Topics(topics=("Print Shop",)))
    bob = replace(talk("bob", "The launch"), speakers={"Bea": Speaker(name="Bob")})
    await library.store(ANN, zoe, print_, bob)
    return library


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(people=("Zoë Krüger",)), {"zoe"}),
        (Filters(people=("ZOE  KRUGER",)), {"zoe"}),
        (Filters(people=("zoe",)), {"zoe"}),
        (Filters(people=("Zoe", "bob")), {"zoe", "bob"}),
        (Filters(people=("Bea",)), {"zoe", "print"}),
        (Filters(topics=("print shop",)), {"print"}),
        (Filters(people=("Bea",), topics=("Print",)), {"print"}),
        (Filters(people=("Zoe",), topics=("Print",)), set()),
        (Filters(people=("Zoe",), start=NOON), {"zoe"}),
        (Filters(people=("Zoe",), start=NOON + timedelta(seconds=1)), set()),
    ],
)
async def test_filters_match_speakers_mentioned_people_and_topics_p13_p33(
    launches: SearchFixture, filters: Filters, expected: set[str]
):
    hits = await launches.search.search_conversations(ANN, "launch", filters=filters, limit=5)

    assert {hit.conversation.id for hit in hits} == expected


@pytest.mark.parametrize(
    ("filters", "expected", "fallback"),
    [
        (Filters(), {"zoe", "print", "bob"}, None),
        (Filters(people=("zoe",)), {"zoe"}, None),
        (Filters(people=("Nobody",)), {"zoe", "print", "bob"}, True),
        (Filters(people=("zoe",), topics=("Nothing",)), {"zoe", "print", "bob"}, True),
        (Filters(people=("Nobody",), end=NOON), set(), True),
        (Filters(end=NOON), set(), None),
    ],
)
async def test_people_and_topic_filters_without_hits_are_dropped_and_reported_but_times_apply_p13(
    launches: SearchFixture, filters: Filters, expected: set[str], *, fallback: bool | None
):
    with telemetry.log_request("chat"):
        result = await launches.search.search_with_fallback(ANN, "launch", filters=filters, limit=5)
        facts = telemetry.get_fields()

    assert {hit.conversation.id for hit in result.conversations} == expected
    assert result.fallback_without_filters is bool(fallback)
    assert facts.get("fallback_without_filters") is fallback


async def test_rows_of_a_too_old_index_version_are_ignored(library: SearchFixture):
    await library.store(ANN, talk("c", "The heron"))
    [row] = (await library.vectors.fetch(ANN, ["ann-c#0"])).values()

    old = {**row.metadata, "index_version": min(SEARCHED_INDEX_VERSIONS) - 1}
    await library.vectors.upsert(ANN, [replace(row, metadata=old)])

    assert await library.search_ids(ANN, "heron") == []


async def test_a_transcript_turn_outranks_a_summary(library: SearchFixture):
    await library.store(
        ANN, talk("told", "Fine weather", title="The heron"), talk("said", "The heron", title="x")
    )

    assert await library.search_ids(ANN, "heron") == ["said", "told"]


async def test_a_page_of_hits_holds_no_more_text_than_an_answer_has_room_for(
    library: SearchFixture,
):
    texts = ["The harbour is closed.", *["word " * 19_000] * 40]
    for name in ("first", "second", "third"):
        long_talk = talk(name, *texts)
        sized_talk = replace(long_talk, text_bytes=long_talk.count_text_bytes())
        await library.store(ANN, sized_talk)

    result = await library.search.search_page(
        ANN, "harbour", filters=Filters(), offset=0, limit=9, now=NOON
    )

    sizes = [hit.conversation.count_text_bytes() for hit in result.conversations]
    assert len(sizes) == 3
    assert sum(sizes) <= MAX_TEXT_BYTES
    assert [bool(hit.passages) for hit in result.conversations] == [size > 0 for size in sizes]
    assert sizes[0] > 0

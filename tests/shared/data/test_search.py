"""What is found, and what no longer is."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import telemetry
from shared.adapters.firestore_indexes import FirestoreIndexes
from shared.adapters.sqlite_database import SqliteDatabase
from shared.adapters.sqlite_documents import SqliteDocuments
from shared.adapters.sqlite_vectors import SqliteVectors
from shared.data.codec import dump
from shared.data.conversations import Conversations, conversation_path
from shared.data.library_index import INDEX_VERSION, LibraryIndex
from shared.data.memories import memory_path
from shared.data.search import Filters, Search
from shared.domain.conversation import Conversation, Segment, Speaker, Structured, Topics
from shared.domain.documents import Delete, Set, Update
from shared.domain.ids import ConversationId, MemoryId, UserId
from shared.domain.memory import Memory
from shared.retrieval.dates import Span
from tests.doubles import ReadRounds

ANN, BOB = UserId("ann"), UserId("bob")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
INDEXES = FirestoreIndexes.read(Path(__file__).parents[3] / "infra/firestore.indexes.json")


@dataclass(frozen=True)
class Library:
    """Documents and their index, as process_conversation leaves them."""

    documents: SqliteDocuments
    vectors: SqliteVectors
    index: LibraryIndex
    search: Search

    async def keep(self, uid: UserId, *conversations: Conversation) -> None:
        for conversation in conversations:
            stored = await Conversations(self.documents).add(uid, conversation)
            segments = conversation.transcript_segments
            await self.index.put(uid, replace(stored, transcript_segments=segments))

    async def remember(self, uid: UserId, memory: Memory) -> None:
        await self.documents.write(Set(memory_path(uid, memory.id), dump(memory)))
        await self.index.put_memories(uid, [memory])

    async def ids(
        self,
        uid: UserId,
        query: str,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        limit: int = 10,
    ) -> list[str]:
        filters = Filters(start=start, end=end)
        found = await self.search.conversations(uid, query, filters=filters, limit=limit)
        return [one.conversation.id for one in found]


@contextmanager
def opened() -> Iterator[Library]:
    with TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "keepsake.db")
        documents, vectors = SqliteDocuments(database, INDEXES), SqliteVectors(database)
        yield Library(documents, vectors, LibraryIndex(vectors), Search(documents, vectors))
        database.close()


@pytest.fixture
async def library() -> AsyncIterator[Library]:
    with opened() as library:
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


async def test_p11_a_phrase_from_a_transcript_is_found_where_it_was_said(library: Library):
    filler = [f"And then we spoke about subject {n}" for n in range(20)]
    await library.keep(
        ANN,
        talk("keys", *filler, "The spare key hangs behind the blue door", "Good", *filler),
        talk("door", "He painted the door last spring"),
        talk("lunch", "Soup again"),
    )

    [best, *others] = await library.search.conversations(
        ANN, "Where does the spare key hang?", limit=5
    )

    assert best.conversation.id == "keys"
    assert "Bea: The spare key hangs behind the blue door" in best.passages[0].text.splitlines()
    assert best.passages[0].first_segment < 20 < best.passages[0].last_segment
    assert [other.conversation.id for other in others] == []


async def test_p11_a_name_is_found_whoever_writes_it(library: Library):
    await library.keep(
        ANN, talk("who", "I met Zoë Krüger in town"), talk("town", "The town is old")
    )

    assert await library.ids(ANN, "what about zoe kruger") == ["who"]


async def test_p11_conversations_are_distinct_and_in_rank_order(library: Library):
    await library.keep(
        ANN,
        talk("some", "A heron", "Fine weather", "Yes", "No"),
        talk("most", *["The heron and the otter"] * 12),
        title_only := talk("title", "Nothing here", title="Otter and heron and kingfisher"),
    )

    found = await library.search.conversations(ANN, "heron otter kingfisher", limit=5)

    assert [one.conversation.id for one in found] == ["most", "title", "some"]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[1].passages == ()
    assert found[1].conversation == title_only


async def test_p11_a_limit_is_kept(library: Library):
    await library.keep(ANN, *(talk(f"c{n}", "The heron") for n in range(5)))

    assert len(await library.ids(ANN, "heron", limit=3)) == 3


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (None, None, ["d0", "d1", "d2"]),
        (1, None, ["d1", "d2"]),
        (None, 1, ["d0"]),
        (1, 2, ["d1"]),
    ],
)
async def test_p11_a_start_alone_and_an_end_alone_bound_the_days(
    library: Library, first: int | None, last: int | None, expected: list[str]
):
    days = [NOON + timedelta(days=n) for n in range(3)]
    await library.keep(ANN, *(talk(f"d{n}", "The heron", at=day) for n, day in enumerate(days)))

    found = await library.ids(
        ANN,
        "heron",
        start=None if first is None else days[first],
        end=None if last is None else days[last],
    )

    assert sorted(found) == expected


@pytest.mark.parametrize("query", ["", "   ", "?!"])
async def test_an_empty_question_finds_nothing(library: Library, query: str):
    await library.keep(ANN, talk("c", "The heron"))

    assert await library.ids(ANN, query) == []
    assert await library.search.memories(ANN, query, limit=5) == []


async def test_an_edited_conversation_is_not_found_by_its_old_words(library: Library):
    await library.keep(ANN, talk("c", "The heron"))
    edited = talk("c", "The otter")
    path = conversation_path(ANN, edited.id)

    await library.documents.write(Set(path, dump(edited)))
    assert await library.ids(ANN, "heron") == []

    await library.index.put(ANN, replace(edited, chunk_count=1))
    assert await library.ids(ANN, "heron") == []
    assert await library.ids(ANN, "otter") == ["c"]


async def test_a_row_left_over_from_before_an_edit_does_not_count(library: Library):
    await library.keep(ANN, talk("c", "The heron", *["more"] * 9))
    edited = talk("c", "The otter")
    await library.documents.write(Set(conversation_path(ANN, edited.id), dump(edited)))

    await library.index.put(ANN, edited)

    assert await library.ids(ANN, "more") == []


async def test_a_deleted_conversation_is_not_found_at_all(library: Library):
    await library.keep(ANN, talk("c", "The heron"), talk("d", "A heron too"))

    await library.documents.write(Delete(conversation_path(ANN, ConversationId("c"))))

    assert await library.ids(ANN, "heron") == ["d"]


async def test_a_discarded_conversation_is_not_found(library: Library):
    await library.keep(ANN, talk("c", "The heron"))

    path = conversation_path(ANN, ConversationId("c"))
    await library.documents.write(Update(path, {"discarded": True}))

    assert await library.ids(ANN, "heron") == []


async def test_deleted_conversations_do_not_use_up_the_limit(library: Library):
    await library.keep(ANN, *(talk(f"c{n}", "heron " * (9 - n)) for n in range(5)))

    gone = [conversation_path(ANN, ConversationId(f"c{n}")) for n in range(3)]
    await library.documents.write(*(Delete(path) for path in gone))

    assert await library.ids(ANN, "heron", limit=2) == ["c3", "c4"]


async def test_no_more_is_read_than_asked_for_while_all_of_it_stands(library: Library):
    await library.keep(ANN, *(talk(f"c{n}", "We sail at dawn.") for n in range(12)))
    counting = ReadRounds(library.documents)

    found = await Search(counting, library.vectors).conversations(ANN, "sail", limit=5)

    assert (len(found), counting.documents, counting.rounds) == (5, 5, 1)


async def test_a_transcript_in_parts_gives_its_passages(library: Library):
    long = ["word " * 2_000 for _ in range(90)]
    await library.keep(ANN, talk("long", *long, "The heron nests in the mill"))

    [found] = await library.search.conversations(ANN, "heron", limit=5)

    assert found.conversation.parts
    assert found.passages[0].last_segment == 90
    assert found.passages[0].text.endswith("Bea: The heron nests in the mill")


async def test_a_transcript_whose_part_is_gone_is_not_found(library: Library):
    long = ["word " * 2_000 for _ in range(90)]
    await library.keep(ANN, talk("long", *long, "The heron"), talk("short", "A heron"))

    await library.documents.write(Delete(f"users/{ANN}/conversations/long/parts/0"))

    assert await library.ids(ANN, "heron") == ["short"]


async def test_memories_are_found_best_first_and_only_as_they_are_now(library: Library):
    for name, content in (
        ("both", "Ann keeps bees and hens"),
        ("one", "Ann sold the hens last year in June to a farmer"),
        ("edited", "Ann dislikes bees and hens"),
        ("deleted", "Bees and hens are Ann's"),
    ):
        await library.remember(ANN, memory(name, content))
    await library.keep(ANN, talk("c", "bees and hens"))
    path = memory_path(ANN, MemoryId("edited"))
    await library.documents.write(
        Update(path, {"content": "Ann likes cats"}), Delete(memory_path(ANN, MemoryId("deleted")))
    )

    found = await library.search.memories(ANN, "bees, hens", limit=5)

    assert [one.id for one in found] == ["both", "one"]


words = st.sampled_from(["heron", "otter", "badger", "mill"])
libraries = st.dictionaries(
    st.tuples(st.sampled_from([ANN, BOB]), st.sampled_from("abc")),
    st.lists(words, min_size=1, max_size=3),
)


@settings(max_examples=25, deadline=None)
@given(libraries, words)
async def test_p11_conversations_of_others_never_come_back(
    kept: dict[tuple[UserId, str], list[str]], word: str
):
    with opened() as library:
        for (uid, name), said in kept.items():
            await library.keep(uid, talk(f"{uid}-{name}", *said))

        found = await library.ids(ANN, word)

    mine = {f"{uid}-{name}" for (uid, name), said in kept.items() if uid == ANN and word in said}
    assert set(found) == mine
    assert len(found) == len(mine)


async def test_a_long_conversation_does_not_take_the_places_of_the_others(library: Library) -> None:
    long = talk("long", *("The launch, the launch and once more the launch." for _ in range(200)))
    others = [talk(f"c{n}", f"On day {n} somebody named the launch.") for n in range(3)]
    await library.keep(ANN, long, *others)

    assert set(await library.ids(ANN, "launch", limit=4)) == {"long", "c0", "c1", "c2"}


async def test_p13_what_was_said_in_the_time_a_question_names_comes_first(library: Library):
    await library.keep(
        ANN,
        talk("before", "The heron came back", at=NOON - timedelta(days=9)),
        talk("then", "A heron", "It went on", at=NOON),
    )
    then = Span(NOON - timedelta(hours=1), NOON + timedelta(hours=1))

    found = await library.search.conversations(ANN, "The heron back", named=then, limit=5)

    assert await library.ids(ANN, "The heron back") == ["before", "then"]
    assert [one.conversation.id for one in found] == ["then", "before"]


async def test_p13_a_time_without_a_hit_is_searched_without_and_said(library: Library):
    await library.keep(ANN, talk("c", "The heron"))
    never = Span(NOON + timedelta(days=1), NOON + timedelta(days=2))

    with telemetry.request("chat"):
        found = await library.search.conversations(ANN, "heron", named=never, limit=5)
        facts = telemetry.facts()

    assert [one.conversation.id for one in found] == ["c"]
    assert facts["named_time"] == "nothing then, searched without"


@pytest.fixture
async def launches(library: Library) -> Library:
    """Hold three talks of one subject: about Zoë, about printing, and with Bea as Bob."""
    zoe = replace(talk("zoe", "The launch"), topics=Topics(people=("Zoë Krüger",)))
    print_ = replace(talk("print", "The launch"), topics=Topics(topics=("Print Shop",)))
    spoken = replace(talk("bob", "The launch"), speakers={"Bea": Speaker(name="Bob")})
    await library.keep(ANN, zoe, print_, spoken)
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
async def test_p13_p33_filters_keep_who_speaks_or_is_spoken_of_and_the_topics(
    launches: Library, filters: Filters, expected: set[str]
):
    found = await launches.search.conversations(ANN, "launch", filters=filters, limit=5)

    assert {one.conversation.id for one in found} == expected


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
async def test_p13_names_that_leave_nothing_are_dropped_and_that_is_said_but_times_hold(
    launches: Library, filters: Filters, expected: set[str], *, fallback: bool | None
):
    with telemetry.request("chat"):
        searched = await launches.search.narrowed(ANN, "launch", filters=filters, limit=5)
        facts = telemetry.facts()

    assert {one.conversation.id for one in searched.found} == expected
    assert searched.fallback_without_filters is bool(fallback)
    assert facts.get("fallback_without_filters") is fallback


async def test_rows_that_were_made_another_way_do_not_count(library: Library):
    await library.keep(ANN, talk("c", "The heron"))
    [row] = (await library.vectors.fetch(ANN, ["ann-c#0"])).values()

    old = {**row.metadata, "index_version": INDEX_VERSION - 1}
    await library.vectors.upsert(ANN, [replace(row, metadata=old)])

    assert await library.ids(ANN, "heron") == []


async def test_the_turns_themselves_count_for_more_than_a_summary(library: Library):
    await library.keep(
        ANN, talk("told", "Fine weather", title="The heron"), talk("said", "The heron", title="x")
    )

    assert await library.ids(ANN, "heron") == ["said", "told"]

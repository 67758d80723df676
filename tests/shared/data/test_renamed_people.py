"""Renamed people: found at once under the new name, by one write, however many conversations they speak in."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_vectors import SqliteVectors
from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.transcripts import dump_conversation
from shared.data.search.library_index import LibraryIndex
from shared.data.search.search import Filters, Search
from shared.data.stores import Stores
from shared.domain.conversations.conversation import Conversation, Segment, Speaker, Structured
from shared.domain.ids import ConversationId, PersonId, UserId
from shared.domain.people.person import Person
from shared.domain.store.documents import Query, Set
from shared.retrieval.sparse import person_key
from tests.fixtures.storage import INDEXES

ALICE = UserId("alice")
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
BOB = Person(id=PersonId("p1"), name="Bob Lee", created_at=START, updated_at=START)
COUNT = 1_000


def build_talk(name: str, *texts: str, at: datetime = START, title: str = "") -> Conversation:
    """Build a talk whose first voice is Bob and whose second nobody named."""
    return Conversation(
        id=ConversationId(name),
        created_at=at,
        started_at=at,
        finished_at=at,
        transcript_segments=tuple(
            Segment(text=text, speaker=f"SPEAKER_{n % 2:02}") for n, text in enumerate(texts)
        ),
        structured=Structured(title=title),
        speakers={"SPEAKER_00": Speaker(name=BOB.name, person_id=BOB.id)},
        person_ids=(BOB.id,),
    )


class Library:
    """A library in which Bob is known, and its search."""

    def __init__(self, database) -> None:
        self.documents, self.vectors = SqliteDocuments(database, INDEXES), SqliteVectors(database)
        self.stores = Stores(self.documents)
        self.search = Search(self.documents, self.vectors)

    async def keep(self, *conversations: Conversation) -> None:
        await self.stores.people.add(ALICE, BOB)
        writes = [Set(conversation_path(ALICE, c.id), dump_conversation(c)) for c in conversations]
        for n in range(0, len(writes), 100):
            await self.documents.write(*writes[n : n + 100])
        index = LibraryIndex(self.vectors)
        whole = await self.stores.conversations.load_transcripts(ALICE, conversations)
        for conversation in filter(None, whole):
            await index.put(ALICE, conversation)

    async def rename(self, name: str) -> None:
        await self.stores.people.change(ALICE, BOB.id, name=name)

    async def find(self, question: str, **filters) -> list[str]:
        hits = await self.search.search_conversations(
            ALICE, question, filters=Filters(**filters), limit=10
        )
        return [hit.conversation.id for hit in hits]

    async def list_versions(self) -> set[tuple[str, str]]:
        kinds = ("conversations", "people")
        queries = [Query(collection=f"users/{ALICE}/{kind}", fields=("name",)) for kind in kinds]
        return {(d.path, d.version) for query in queries for d in await self.documents.query(query)}


@pytest.fixture
def library(database) -> Library:
    return Library(database)


async def test_a_person_of_a_thousand_conversations_is_found_under_the_new_name_by_one_write(
    library,
):
    talks = [
        build_talk(f"c{n}", "We sail at dawn.", at=START + timedelta(hours=n)) for n in range(COUNT)
    ]
    await library.keep(*talks)
    before = await library.list_versions()

    await library.rename("Robert Lee")

    changed = {path for path, _ in await library.list_versions() - before}
    assert changed == {f"users/{ALICE}/people/{BOB.id}"}
    last = START + timedelta(hours=COUNT - 3)
    spoken = await library.search.list_spoken(
        ALICE, "Robert", start=last, limit=3, with_segments=True
    )
    assert [c.id for c in spoken] == [f"c{n}" for n in range(COUNT - 1, COUNT - 4, -1)]
    assert {s.speaker for c in spoken for s in c.named_segments} == {"Robert Lee"}
    assert (
        len(await library.find("Robert")) == len(await library.find("sail", people=("lee",))) == 10
    )
    assert await library.search.list_spoken(ALICE, "Bob", limit=3) == []
    assert await library.find("Bob") == await library.find("sail", people=("Bob",)) == []


async def test_an_old_name_is_found_where_it_was_said_and_a_present_one_only_by_its_speaker(
    library,
):
    await library.keep(
        build_talk("hears", "Good morning.", "Bob, are you there?"),
        replace(build_talk("speaks_of", "Bob is late."), speakers={}, person_ids=()),
        build_talk("speaks", "We sail."),
    )
    hits = await library.search.search_conversations(ALICE, "Bob", limit=10)
    turns_of = {hit.conversation.id: hit.turns for hit in hits}

    await library.rename("Robert")

    assert set(turns_of) == {"hears", "speaks_of", "speaks"}
    assert turns_of["hears"].keys() == {0}
    assert sorted(await library.find("Bob")) == ["hears", "speaks_of"]
    assert sorted(await library.find("Robert")) == ["hears", "speaks"]


async def test_a_row_holds_the_name_of_nobody_who_is_known(library):
    talk = build_talk("c", "We sail.", "I stay.")
    await library.keep(talk)

    rows = await library.vectors.fetch(ALICE, [f"{ALICE}-c", f"{ALICE}-c#0", f"{ALICE}-c#1"])

    assert [row.metadata["people"] for row in rows.values()] == [
        [person_key(BOB.id), "speaker_01"]
    ] * 3

"""People in conversations: a deleted person leaves all of them, however much stands in each."""

from dataclasses import replace
from datetime import UTC, datetime

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.transcripts import dump_conversation
from shared.data.people.present_names import person_path
from shared.data.store.codec import dump
from shared.data.stores import Stores
from shared.domain.conversations.assignments import MAX_ASSIGNED_SEGMENTS
from shared.domain.conversations.conversation import Assignment, Conversation, Speaker
from shared.domain.ids import ConversationId, PersonId, UserId
from shared.domain.people.person import Person
from shared.domain.store.documents import Set
from tests.fixtures.storage import INDEXES

ALICE = UserId("alice")
START = datetime(2026, 3, 2, tzinfo=UTC)
ANN = Person(id=PersonId("ann"), name="Ann", created_at=START, updated_at=START)
COUNT = 60


async def test_a_deleted_person_leaves_many_conversations_of_many_words(database):
    documents = SqliteDocuments(database, INDEXES)
    people = Stores(documents).people
    segments = tuple(f"{n:064}" for n in range(MAX_ASSIGNED_SEGMENTS))
    assignment = Assignment(speaker=Speaker(name="Ann", person_id=ANN.id), segment_ids=segments)
    for n in range(COUNT):
        conversation = Conversation(
            id=ConversationId(f"c{n}"),
            created_at=START,
            started_at=START,
            finished_at=START,
            assignments=(assignment,),
            person_ids=(ANN.id,),
        )
        path = conversation_path(ALICE, conversation.id)
        await documents.write(Set(path, dump_conversation(conversation)))

    await people.unassign(ALICE, ANN.id)
    names = [ConversationId(f"c{n}") for n in range(COUNT)]
    unnamed = await Stores(documents).conversations.find_many(ALICE, names)

    assert [(c.assignments, c.person_ids) for c in unnamed] == [((), ())] * COUNT


async def test_a_name_too_long_for_a_query_is_nobodys(any_documents):
    people = Stores(any_documents).people
    stored = await people.add(ALICE, ANN)

    assert await people.list_by_values(ALICE, "name", ["x" * 2_000, "Ann"]) == [stored]


async def test_people_are_listed_by_any_word_of_their_name(any_documents):
    people = Stores(any_documents).people
    zoe = await people.add(ALICE, replace(ANN, id=PersonId("zoe"), name="Zoë  KRÜGER-Lee"))
    await people.add(ALICE, ANN)

    for word in ("zoe", "kruger", "lee"):
        assert await people.list_by_words(ALICE, [word, "nobody"]) == [zoe]
    assert await people.list_by_words(ALICE, ["zo", "krug"]) == []
    assert await people.list_by_words(ALICE, []) == []


async def test_names_that_were_stored_without_their_words_are_made_findable(any_documents):
    people = Stores(any_documents).people
    fields = {name: field for name, field in dump(ANN).items() if name not in ("id", "name_words")}
    await any_documents.write(Set(person_path(ALICE, ANN.id), fields))
    unknown = PersonId("gone")

    before = await people.list_by_words(ALICE, ["ann"])
    await people.make_findable(ALICE, [ANN.id, unknown])

    assert before == []
    assert [person.id for person in await people.list_by_words(ALICE, ["ann"])] == [ANN.id]

"""People in conversations: a renamed or deleted person changes all of them, however much stands in each."""

from dataclasses import replace
from datetime import UTC, datetime

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.conversations.conversations import conversation_path
from shared.data.conversations.transcripts import dump_conversation
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


async def test_a_person_is_renamed_and_deleted_in_many_conversations_of_many_words(database):
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

    await people.propagate_name(ALICE, replace(ANN, name="Anna"))
    names = [ConversationId(f"c{n}") for n in range(COUNT)]
    renamed = await Stores(documents).conversations.find_many(ALICE, names)
    await people.unassign(ALICE, ANN.id)
    unnamed = await Stores(documents).conversations.find_many(ALICE, names)

    assert [c.assignments[0].speaker.name for c in renamed] == ["Anna"] * COUNT
    assert [(c.assignments, c.person_ids) for c in unnamed] == [((), ())] * COUNT


async def test_a_name_too_long_for_a_query_is_nobodys(any_documents):
    people = Stores(any_documents).people
    await people.add(ALICE, ANN)

    assert await people.list_by_values(ALICE, "name", ["x" * 2_000, "Ann"]) == [ANN]

"""Arc store, in both stores: one arc a stretch, and none of a chat that is gone (C60, C65)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.data.account.profiles import Profiles
from shared.data.chats.arcs import Arcs
from shared.data.chats.messages import Messages
from shared.data.memories.memories import Memories
from shared.domain.chats.arc import Arc
from shared.domain.chats.chat import MAIN_SESSION, Message, build_session
from shared.domain.ids import ArcId, MemoryId, MessageId, SessionId, UserId
from shared.domain.memories.memory import Memory
from shared.library.reconcile import Correction
from shared.library.superseded import build_correction_writes
from shared.ports import Documents
from tests.fixtures.processing import START

ALICE = UserId("alice")
LAST = Message(
    id=MessageId("m1"), session_id=MAIN_SESSION, text="Hi", sender="human", created_at=START
)
ARC = Arc(
    id=ArcId("a1"),
    session_id=MAIN_SESSION,
    started_at=START - timedelta(minutes=5),
    created_at=START,
    turn_count=1,
    summary="The boat.",
)
FACT = Memory(
    id=MemoryId("f1"),
    content="User lives in Porto",
    category="system",
    created_at=START,
    updated_at=START,
)


@pytest.fixture
async def arcs(any_documents: Documents) -> Arcs:
    session = build_session(MAIN_SESSION, app_id=None, now=START)
    await Messages(any_documents).add(ALICE, session, LAST)
    return Arcs(any_documents)


async def test_a_second_task_finds_the_arc_of_the_first_c65(arcs: Arcs) -> None:
    first = await arcs.begin(ALICE, ARC, LAST)
    again = await arcs.begin(ALICE, replace(ARC, summary="Another."), LAST)

    assert (first, again) == (ARC, ARC)
    assert await arcs.list_newest(ALICE, limit=5) == [ARC]


async def test_neither_a_cleared_chat_nor_a_forgotten_arc_gets_one_c60(
    arcs: Arcs, any_documents: Documents
) -> None:
    await arcs.begin(ALICE, ARC, LAST)
    await arcs.forget(ALICE, ARC.id)
    forgotten = await arcs.begin(ALICE, ARC, LAST)
    await Messages(any_documents).clear(ALICE, MAIN_SESSION)
    cleared = await arcs.begin(ALICE, replace(ARC, id=ArcId("a2")), LAST)

    assert (forgotten, cleared) == (None, None)
    assert not await arcs.write_facts(ALICE, ARC, LAST, [FACT], [])
    assert await arcs.list_newest(ALICE, limit=5) == []


async def test_facts_are_written_once_with_what_they_correct_c63(
    arcs: Arcs, any_documents: Documents
) -> None:
    memories = Memories(any_documents)
    old = await memories.add(ALICE, replace(FACT, id=MemoryId("f0"), content="User lives in Bonn"))
    own = await memories.add(ALICE, replace(FACT, id=MemoryId("f2"), manually_added=True))
    corrections = [
        Correction(old=each, new_id=FACT.id, corrected_at=START)
        for each in (old, own, replace(FACT, id=MemoryId("gone")))
    ]
    for content in ("User lives in Porto", "User lives in Rome"):
        facts = [replace(FACT, content=content)]
        writes = build_correction_writes(ALICE, corrections)
        assert await arcs.write_facts(ALICE, ARC, LAST, facts, writes)

    stored = await memories.get_many(ALICE, [FACT.id, old.id, own.id, MemoryId("gone")])
    assert {name: m.superseded_by for name, m in stored.items()} == {
        "f1": None,
        "f0": "f1",
        "f2": None,
    }
    assert stored[FACT.id].content == "User lives in Porto"


@pytest.mark.parametrize("minutes", [5, 6])
async def test_what_was_said_before_a_forgetting_is_not_kept_c64(
    arcs: Arcs, any_documents: Documents, minutes: int
) -> None:
    forgot_at = START - timedelta(minutes=minutes)
    await Profiles(any_documents).change(ALICE, forgot_at=forgot_at)

    begun = await arcs.begin(ALICE, ARC, LAST)
    is_written = await arcs.write_facts(ALICE, ARC, LAST, [FACT], [])

    assert (begun is not None, is_written) == (minutes == 6, minutes == 6)


async def test_a_fact_that_its_owner_deleted_is_not_written_again_c64(
    arcs: Arcs, any_documents: Documents
) -> None:
    memories = Memories(any_documents)
    await any_documents.write(memories.id_tombstone(ALICE, FACT.id))

    await arcs.write_facts(ALICE, ARC, LAST, [FACT, replace(FACT, id=MemoryId("f2"))], [])

    assert [fact.id for fact in await memories.list_newest(ALICE, limit=5)] == ["f2"]


async def test_only_the_arcs_of_one_chat_are_deleted_c60(arcs: Arcs) -> None:
    other = replace(ARC, id=ArcId("a2"), session_id=SessionId("work"))
    for arc in (ARC, other):
        await arcs.begin(ALICE, arc, LAST)

    await arcs.delete_for_session(ALICE, MAIN_SESSION)

    assert await arcs.list_newest(ALICE, limit=5) == [other]

"""Facts of two conversations that are processed at the same moment: one of them stays current (C63)."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.data.account.quotas import Quotas
from shared.data.stores import Stores
from shared.domain.account.quota import EMBEDDED_LIMITS
from shared.domain.conversations.conversation import Conversation
from shared.domain.ids import ConversationId, UserId
from shared.library.reconcile import settle
from shared.ports import Documents
from tests.fixtures.processing import ProcessingFixture, build_processing_fixture
from tests.functions.process_conversation.test_interruptions import Interruption
from tests.functions.process_conversation.test_reconcile import (
    SingleFactReader,
    build_fact,
    build_talk,
)

BERGEN, _ = build_talk("a", "User lives in Bergen", hours=0)
PORTO, _ = build_talk("b", "User lives in Porto", hours=1)
PORTO_TOO, _ = build_talk("c", "user lives in Porto!", hours=2)
OLD_HOME = build_fact("User lives in Oslo", hours=-9)
MAX_CALLS = 60


async def process(world: ProcessingFixture, uid: UserId, conversation: Conversation) -> None:
    await world.deliver({"uid": uid, "conversation_id": conversation.id})


async def process_two(
    database: SqliteDatabase,
    documents: Documents,
    first: Conversation,
    second: Conversation,
    *,
    at: int,
) -> tuple[ProcessingFixture, UserId, bool]:
    """Process the second one as a whole before call `at` of the first; tell whether it came to that."""
    uid = UserId(f"alice-{first.id}{second.id}{at}")
    cut = Interruption(at=at, action=lambda: process(world, uid, second), after=False)
    world = build_processing_fixture(
        database,
        SingleFactReader(),  # type: ignore[arg-type]
        cut.wrap,
        external_documents=documents,
    )
    # Another instance counts for itself: one that waits inside a call of its own would wait for ever.
    world.deps = replace(world.deps, quotas=Quotas(documents, EMBEDDED_LIMITS))
    await Stores(documents).memories.add(uid, OLD_HOME)
    for conversation in (first, second):
        await world.write(conversation, uid)
    await process(world, uid, first)
    return world, uid, cut.done


async def list_facts(world: ProcessingFixture, uid: UserId) -> list[str]:
    return [m.content for m in await world.deps.stores.memories.list_newest(uid, limit=9)]


@pytest.mark.parametrize(
    ("first", "second"), [(BERGEN, PORTO), (PORTO, BERGEN), (PORTO, PORTO_TOO)]
)
async def test_wherever_two_conversations_meet_one_home_stays_c63(
    database: SqliteDatabase, any_documents: Documents, first: Conversation, second: Conversation
) -> None:
    for at in range(1, MAX_CALLS):
        world, uid, has_met = await process_two(database, any_documents, first, second, at=at)
        if not has_met:
            break

        [home] = await list_facts(world, uid)
        rows = [row for row in await world.list_row_ids(uid) if row.endswith("#m")]
        assert "porto" in home.lower()
        assert len(rows) == 1
    assert 10 < at < MAX_CALLS - 1


async def test_without_the_kept_fact_the_other_is_true_again_c63(
    database: SqliteDatabase, any_documents: Documents
) -> None:
    for at in range(1, MAX_CALLS):
        world, uid, has_met = await process_two(database, any_documents, BERGEN, PORTO, at=at)
        if not has_met:
            break

        await world.delete(uid, name=ConversationId("b"))
        await process(world, uid, PORTO)
        assert await list_facts(world, uid) == ["User lives in Bergen"]


FACTS = [
    build_fact("User lives in Bergen"),
    build_fact("User lives in Porto", hours=1),
    build_fact("user lives in PORTO", hours=2),
    replace(build_fact("User lives in Rome", hours=1), id=build_fact("Rome").id),
    build_fact("User lives in Oslo", hours=1, edited=True),
    build_fact("User loves jazz", hours=1),
]


@pytest.mark.parametrize(("first", "second"), list(combinations(FACTS, 2)))
def test_both_writers_decide_the_same_c63(first, second):
    assert settle([first], [second]) == settle([second], [first])


def test_what_the_owner_wrote_stays_and_other_facts_do_not_meet_c63():
    bergen, porto, again, _, own, jazz = FACTS

    assert [c.old for c in settle([bergen], [porto, jazz])] == [bergen]
    assert [c.old for c in settle([again], [porto])] == [again]
    assert [c.old for c in settle([again], [own])] == [again]
    assert settle([own], [replace(bergen, reviewed=True)]) == []
    assert settle([jazz], [bergen, porto, own]) == []


@given(st.sampled_from(FACTS), st.sets(st.sampled_from(range(len(FACTS)))))
def test_one_of_all_that_meet_stays_c63(written, numbers):
    rivals = [FACTS[n] for n in sorted(numbers) if FACTS[n] != written]

    corrections = settle([written], rivals)

    lost = {correction.old.id for correction in corrections}
    assert len(lost) == len(corrections)
    assert lost < {written.id, *(rival.id for rival in rivals)}
    assert all(correction.new_id != correction.old.id for correction in corrections)

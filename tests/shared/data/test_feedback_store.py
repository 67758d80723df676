"""Feedback store: its counts are those of the thumbs that stand, whatever came before (C73)."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.data.chats.feedback import FeedbackStore
from shared.data.store.day_counts import DayCounts
from shared.domain.chats.feedback import Feedback, Thumb
from shared.domain.ids import UserId
from tests.fixtures.storage import INDEXES, MemoryDatabase

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CHOICES: list[Thumb | None] = ["positive", "negative", "skip", None]
THUMBS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(CHOICES)), max_size=12)


@given(THUMBS)
async def test_counts_are_those_of_the_thumbs_that_stand_c73(
    thumbs: list[tuple[str, Thumb | None]],
) -> None:
    database = MemoryDatabase()
    documents = SqliteDocuments(database, INDEXES)
    store = FeedbackStore(documents)
    standing: dict[str, Thumb] = {}
    for name, thumb in thumbs:
        if thumb is None:
            await store.remove(UserId("ada"), name)
            standing.pop(name, None)
        else:
            feedback = Feedback(id=name, source="chat", thumb=thumb, created_at=NOON)
            await store.set(UserId("ada"), feedback)
            standing[name] = thumb

    given_thumbs = list(standing.values())
    expected = {f"chat {thumb}": given_thumbs.count(thumb) for thumb in given_thumbs}
    assert await DayCounts(documents, "feedback_days").read(NOON.date()) == expected
    database.close()

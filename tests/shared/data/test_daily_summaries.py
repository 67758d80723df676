"""Daily summary store: one a day, the scheduled one once, and lists by day, on both stores (R6)."""

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

import pytest

from shared.data.conversations.daily_summaries import DailySummaries
from shared.data.tasks.action_items import ActionItems
from shared.domain.conversations.daily_summary import DailySummary, DayNote, DayStats, Highlight
from shared.domain.errors import NotFound
from shared.domain.ids import ActionItemId, ConversationId, UserId
from shared.domain.tasks.action_item import ActionItem
from shared.ports import Documents
from tests.fixtures.processing import START
from tests.fixtures.storage import repeat_until_decided

ALICE = UserId("alice")
DAY = date(2026, 3, 2)
SUMMARY = DailySummary(
    id="2026-03-02",
    created_at=START,
    headline="A day",
    overview="It passed.",
    stats=DayStats(total_conversations=2),
    highlights=(
        Highlight(topic="May", summary="It moved.", conversation_ids=(ConversationId("c"),)),
    ),
    decisions=(DayNote(text="May it is."),),
)
SCHEDULED = replace(SUMMARY, is_scheduled=True)


@pytest.fixture
def summaries(any_documents: Documents) -> DailySummaries:
    return DailySummaries(any_documents)


async def test_what_is_stored_is_read_again_r6(summaries):
    await summaries.put(ALICE, DAY, SUMMARY)

    assert await summaries.get(ALICE, "2026-03-02") == SUMMARY
    assert await summaries.find(ALICE, DAY + timedelta(1)) is None
    with pytest.raises(NotFound):
        await summaries.get(UserId("bob"), "2026-03-02")


async def test_of_many_attempts_at_once_one_is_stored_and_all_learn_which_r6(summaries):
    attempts = [replace(SCHEDULED, headline=f"Attempt {n}") for n in range(5)]

    stored = await asyncio.gather(
        *(repeat_until_decided(partial(summaries.put, ALICE, DAY, one)) for one in attempts)
    )

    assert len({one.headline for one in stored}) == 1


async def test_a_request_before_gives_way_and_one_after_keeps_that_it_was_told_r6(summaries):
    await summaries.put(ALICE, DAY, SUMMARY)
    scheduled = await summaries.put(ALICE, DAY, replace(SCHEDULED, headline="Due"))
    await summaries.mark_announced(ALICE, DAY, START)
    asked = await summaries.put(ALICE, DAY, replace(SUMMARY, headline="Asked"))

    assert scheduled.headline == "Due"
    assert (asked.headline, asked.is_scheduled, asked.announced_at) == ("Asked", True, START)


async def test_telling_of_what_was_erased_writes_nothing_r6(summaries):
    await summaries.mark_announced(ALICE, DAY, START)

    assert await summaries.find(ALICE, DAY) is None


async def test_they_are_listed_by_day_however_they_were_made_r6(summaries):
    for age in (1, 0, 2):
        day = DAY - timedelta(age)
        await summaries.put(ALICE, day, replace(SUMMARY, id=day.isoformat()))

    newest = await summaries.list_newest(ALICE, limit=2)

    assert [one.id for one in newest] == ["2026-03-02", "2026-03-01"]
    assert [one.id for one in await summaries.list_newest(ALICE, limit=2, offset=2)] == [
        "2026-02-28"
    ]


async def test_records_of_a_day_lie_between_its_bounds_r6(any_documents: Documents):
    items = ActionItems(any_documents)
    for hours in (0, 23, 24):
        at = START + timedelta(hours=hours)
        item = ActionItem(
            id=ActionItemId(f"h{hours}"), description=f"Hour {hours}", created_at=at, updated_at=at
        )
        await items.add(ALICE, item)

    found = await items.list_created_between(ALICE, START, START + timedelta(1), limit=9)

    assert [item.id for item in found] == ["h0", "h23"]

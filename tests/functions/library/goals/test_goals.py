"""Goals over HTTP, and what a model is given and may answer about them."""

from collections.abc import Mapping
from typing import Any

import pytest
from httpx import AsyncClient

from functions.library.goals.goal_advice import DEFAULT_SUGGESTION, NO_GOAL
from shared.adapters.embedded.offline.offline_model import OfflineModel
from shared.adapters.embedded.sqlite_database import SqliteDatabase
from shared.domain.account.quota import EMBEDDED_LIMITS, QuotaName
from shared.domain.errors import ModelFailed
from shared.safety.crisis_plan import NOT_ALONE
from tests.fakes import ScriptedModel
from tests.fixtures.library import build_client
from tests.fixtures.processing import ALICE, build_processing_fixture
from tests.fixtures.windowed_model import WindowedModel, count_request_tokens

GOAL = {"title": "Read books", "target_value": 12, "max_value": 12, "unit": "books"}
SUGGEST, ADVICE = "process_conversation/goal_suggestion", "process_conversation/goal_advice"
SUGGESTION = {"title": "Walk to work", "type": "numeric", "target": 10, "min": 0, "max": 12}


def build_alice(
    database: SqliteDatabase, model: Any, limits: Mapping[QuotaName, int] = EMBEDDED_LIMITS
) -> AsyncClient:
    return build_client(build_processing_fixture(database, model), ALICE, limits)


async def test_a_goal_is_kept_as_it_is_set_and_changed(alice):
    goal = (await alice.post("/v1/goals", json=GOAL)).json()
    path = f"/v1/goals/{goal['id']}"

    await alice.patch(path, json={"title": "Read more books", "unit": None, "min_value": None})
    await alice.patch(f"{path}/progress", params={"current_value": 3.5})

    read = (await alice.get(path)).json()
    expected = {"title": "Read more books", "unit": None, "current_value": 3.5, "min_value": 0.0}
    assert {name: read[name] for name in expected} == expected
    history = (await alice.get(f"{path}/history")).json()
    assert [point["value"] for point in history] == [0.0, 3.5]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "The title must be given"),
        ({"title": " "}, "The title must not be empty"),
        ({"title": "x" * 201}, "The title must be at most 200"),
        ({"title": "x", "goal_type": "wish"}, "The goal type must be"),
        ({"title": "x", "target_value": 1e13}, "The target value must be at most"),
        ({"title": "x", "min_value": 11}, "The smallest value must not lie above the largest."),
    ],
)
async def test_a_bad_goal_is_refused_with_what_is_wrong(alice, body, detail):
    answer = await alice.post("/v1/goals", json=body)

    assert answer.status_code in (400, 413, 422)
    assert answer.json()["detail"].startswith(detail)
    assert (await alice.get("/v1/goals/all")).json() == []


async def test_a_suggestion_rests_on_the_library_as_data(database):
    with ScriptedModel(answers={SUGGEST: [SUGGESTION]}) as model:
        async with build_alice(database, model) as alice:
            await alice.post("/v3/memories", json={"content": "Wants to walk more"})
            await alice.post("/v1/action-items", json={"description": "Buy shoes"})
            await alice.post("/v1/goals", json=GOAL)
            answer = (await alice.get("/v1/goals/suggest")).json()

    [(_, prompt)] = model.prompts
    assert prompt.data["memories"] == ["Wants to walk more"]
    assert prompt.data["open_tasks"] == ["Buy shoes"]
    assert prompt.data["goals"] == ["Read books"]
    assert answer == {
        "suggested_title": "Walk to work",
        "suggested_type": "numeric",
        "suggested_target": 10.0,
        "suggested_min": 0.0,
        "suggested_max": 12.0,
        "reasoning": "",
    }


@pytest.mark.parametrize(
    "output",
    [
        ModelFailed("no"),
        {},
        {**SUGGESTION, "title": "\u200b "},
        {**SUGGESTION, "max": 0},
        {**SUGGESTION, "max": 1e300},
        {**SUGGESTION, "target": "NaN"},
    ],
)
async def test_a_malformed_suggestion_is_replaced(database, output):
    async with build_alice(database, ScriptedModel(answers={SUGGEST: [output]})) as alice:
        answer = (await alice.get("/v1/goals/suggest")).json()

    assert answer == DEFAULT_SUGGESTION.model_dump()


async def test_a_suggestion_fits_the_limits(database):
    output = {**SUGGESTION, "type": "wish", "target": 99, "min": 12, "max": 0, "title": "x" * 999}
    async with build_alice(database, ScriptedModel(answers={SUGGEST: [output]})) as alice:
        answer = (await alice.get("/v1/goals/suggest")).json()

    assert len(answer["suggested_title"]) == 200
    assert (answer["suggested_type"], answer["suggested_target"]) == ("scale", 12.0)
    assert (answer["suggested_min"], answer["suggested_max"]) == (0.0, 12.0)


async def test_without_a_goal_no_model_is_asked_for_advice(database):
    with ScriptedModel() as model:
        async with build_alice(database, model) as alice:
            assert (await alice.get("/v1/goals/advice")).json() == {"advice": NO_GOAL}


async def test_advice_rests_on_the_goal_and_its_progress(database):
    with ScriptedModel(answers={ADVICE: [{"advice": " Read\n tonight. "}]}) as model:
        async with build_alice(database, model) as alice:
            goal = (await alice.post("/v1/goals", json=GOAL)).json()
            await alice.patch(f"/v1/goals/{goal['id']}/progress", params={"current_value": 3.5})
            answer = (await alice.get("/v1/goals/advice")).json()

    [(_, prompt)] = model.prompts
    told = prompt.data["goal"]
    assert (told["title"], told["current"], told["target"]) == ("Read books", 3.5, 12.0)
    assert [point["value"] for point in told["progress"]] == [0.0, 3.5]
    assert answer == {"advice": "Read tonight."}


async def test_a_goal_of_somebody_in_danger_is_answered_by_the_plan_c44(database):
    grave = {"danger": 3, "quote": "no later than Friday"}
    advice = [{"advice": "Take one small step towards it."}]
    with ScriptedModel(answers={"chat/reading": [grave], ADVICE: advice}) as model:
        async with build_alice(database, model) as alice:
            await alice.post("/v1/goals", json={**GOAL, "title": "Be gone no later than Friday"})
            answer = (await alice.get("/v1/goals/advice")).json()["advice"]

    assert NOT_ALONE in answer
    assert "small step" not in answer


@pytest.mark.parametrize("output", [ModelFailed("no"), {}, {"advice": " \u200b"}])
async def test_malformed_advice_is_replaced(database, output):
    async with build_alice(database, ScriptedModel(answers={ADVICE: [output]})) as alice:
        await alice.post("/v1/goals", json=GOAL)
        answer = (await alice.get("/v1/goals/advice")).json()

    assert answer["advice"].startswith("“Read books” is at 0 of 12.")


async def test_advice_links_nothing_and_shows_no_image(database):
    advice = "Read ![](https://evil.example/?a=1) and [this](https://evil.example/?b=2) tonight."
    async with build_alice(
        database, ScriptedModel(answers={ADVICE: [{"advice": advice}]})
    ) as alice:
        await alice.post("/v1/goals", json=GOAL)
        answer = (await alice.get("/v1/goals/advice")).json()["advice"]

    assert answer.startswith("Read ")
    assert "](" not in answer
    assert "https://" not in answer


async def test_what_the_model_is_asked_counts_as_a_question(database):
    with ScriptedModel(answers={SUGGEST: [SUGGESTION]}) as model:
        async with build_alice(database, model, {"turns": 1}) as alice:
            statuses = [(await alice.get("/v1/goals/suggest")).status_code for _ in range(2)]

    assert statuses == [200, 429]


async def test_without_a_model_advice_and_suggestion_are_the_plain_ones(database):
    async with build_alice(database, OfflineModel()) as alice:
        await alice.post("/v1/goals", json=GOAL)
        advice = (await alice.get("/v1/goals/advice")).json()["advice"]
        suggestion = (await alice.get("/v1/goals/suggest")).json()

    assert advice.startswith("“Read books” is at 0 of 12.")
    assert suggestion == DEFAULT_SUGGESTION.model_dump()


@pytest.mark.parametrize("window", [2_500, 4_096])
async def test_advice_reads_what_fits_into_the_window_n2(database, window):
    model = WindowedModel(
        {
            "chat/reading": lambda _: {"danger": 0},
            ADVICE: lambda _: {"advice": "Read on Sunday."},
        },
        window=window,
    )
    async with build_alice(database, model) as alice:
        for n in range(30):
            await alice.post("/v3/memories", json={"content": f"Likes the book number {n} best"})
            await alice.post("/v1/action-items", json={"description": f"Buy book {n} " * 10})
        await alice.post("/v1/goals", json=GOAL)
        answer = (await alice.get("/v1/goals/advice")).json()

    assert answer["advice"] == "Read on Sunday."
    assert [prompt.name for prompt in model.prompts] == ["chat/reading", ADVICE]
    assert all(count_request_tokens(prompt, window) <= window for prompt in model.prompts)
    assert model.prompts[-1].data["goal"]["title"] == "Read books"

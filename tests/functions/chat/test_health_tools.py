"""Health tool: what a phone sent, by kind and day, with sums and means of ours (P8)."""

import json
from datetime import UTC, datetime
from typing import Any

from shared.data.account.health import Health
from shared.domain.apps.apple_health import AppleHealth
from shared.domain.models.model import ToolResult
from tests.fakes import ScriptedModel, script_answer, script_calls
from tests.fixtures.chat import ADA, EVE, ChatFixture
from tests.functions.chat.test_message_routes import ask

FIGURES = AppleHealth(
    numbers={"period_days": 7.0, "total_steps": 20_100.0, "heart_rate_average": 61.5},
    records={
        "daily_steps": (
            {"date": "2026-02-27", "steps": 5_500.0},
            {"date": "2026-03-01", "steps": 8_200.0},
            {"date": "2026-03-02", "steps": 6_400.0},
        ),
        "workouts": ({"start_date": "2026-03-01T18:00:00Z", "type": "run", "minutes": 31.5},),
    },
    synced_at=datetime(2026, 3, 2, 8, tzinfo=UTC),
)


async def read_health(world: ChatFixture, **arguments: Any) -> str:
    """Return what the model reads once it called the tool."""
    call = script_calls(("get_health_data", arguments))
    with ScriptedModel(call, script_answer("Well.")) as model:
        _, screen = await ask(world.deps(model), {"text": "How much did I walk?"})
    assert screen.text == "Well."
    return [m.text for m in model.calls[1].messages if isinstance(m, ToolResult)][-1]


async def test_days_of_a_range_come_with_their_sum_and_mean_p8(world: ChatFixture) -> None:
    await Health(world.documents).put_apple(ADA, FIGURES)

    answer = json.loads(
        await read_health(
            world, kinds=["steps", "heart_rate"], start_date="2026-03-01", end_date="2026-03-02"
        )
    )

    assert answer["days_in_all"] == 7
    assert answer["steps"] == {
        "all_days": {"total_steps": 20_100},
        "daily_steps": {
            "entries": list(FIGURES.records["daily_steps"][1:]),
            "sum": {"steps": 14_600},
            "mean": {"steps": 7_300},
        },
    }
    assert answer["heart_rate"] == {"all_days": {"heart_rate_average": 61.5}}


async def test_workouts_of_other_days_are_left_out_p8(world: ChatFixture) -> None:
    await Health(world.documents).put_apple(ADA, FIGURES)

    found = json.loads(await read_health(world, kinds=["workouts"], start_date="2026-03-01"))
    none = json.loads(await read_health(world, kinds=["workouts"], start_date="2026-03-02"))

    assert found["workouts"]["workouts"]["sum"] == {"minutes": 31.5}
    assert none["workouts"]["workouts"]["entries"] == []


async def test_without_figures_the_model_is_told_how_they_come_p8(world: ChatFixture) -> None:
    await Health(world.documents).put_apple(EVE, FIGURES)

    assert "sent no health figures" in await read_health(world, kinds=["sleep"])


async def test_an_unknown_kind_is_refused_with_the_known_ones_p8(world: ChatFixture) -> None:
    assert "heart_rate" in await read_health(world, kinds=["mood"])

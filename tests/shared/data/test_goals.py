"""Goal store: at most four are active, and each change of a value is a point of its history."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared.data.tasks.goals import Goals
from shared.domain.errors import Invalid, NotFound
from shared.domain.ids import GoalId, UserId
from shared.domain.tasks.goal import MAX_ACTIVE_GOALS, MAX_PROGRESS_POINTS, Goal, ProgressPoint
from shared.ports import Documents
from tests.fixtures.processing import START

ALICE = UserId("alice")


def build_goal(n: int, **fields: Any) -> Goal:
    at = START + timedelta(days=n)
    values = {"title": f"Goal {n}", "created_at": at, "updated_at": at, **fields}
    return Goal(id=GoalId(f"g{n}"), **values)


@pytest.fixture
def goals(any_documents: Documents) -> Goals:
    return Goals(any_documents)


async def list_active_ids(goals: Goals) -> list[str]:
    return [goal.id for goal in await goals.list_active(ALICE)]


async def test_the_oldest_beyond_the_limit_is_stored_and_inactive(goals):
    for n in range(MAX_ACTIVE_GOALS + 2):
        await goals.create(ALICE, build_goal(n))

    assert await list_active_ids(goals) == ["g5", "g4", "g3", "g2"]
    assert [(await goals.get(ALICE, f"g{n}")).is_active for n in range(3)] == [False, False, True]


async def test_concurrent_goals_keep_the_limit(documents):
    goals = Goals(documents)
    await asyncio.gather(*(goals.create(ALICE, build_goal(n)) for n in range(10)))

    stored = [await goals.get(ALICE, f"g{n}") for n in range(10)]
    active_ids = {goal.id for goal in stored if goal.is_active}
    assert len(active_ids) == MAX_ACTIVE_GOALS
    assert active_ids == set(await list_active_ids(goals))


async def test_a_goal_that_is_sent_again_is_the_one_there_is(goals):
    first = await goals.create(ALICE, build_goal(1, title="Read"))

    same_id = await goals.create(ALICE, build_goal(1, title="Another"))
    equal = await goals.create(ALICE, build_goal(2, title="Read", current_value=3.0))

    assert (same_id, equal) == (first, first)
    assert await list_active_ids(goals) == ["g1"]


async def test_each_new_value_is_a_point(goals):
    await goals.create(ALICE, build_goal(0))
    for hour, value in enumerate((3.5, 3.5, 4.0), 1):
        at = START + timedelta(hours=hour)
        await goals.change_goal(ALICE, "g0", current_value=value, updated_at=at)
    goal = await goals.change_goal(ALICE, "g0", title="Another", updated_at=START)

    values = [(point.at - START, point.value) for point in goal.progress]
    assert values == [
        (timedelta(), 0.0),
        (timedelta(hours=1), 3.5),
        (timedelta(hours=3), 4.0),
    ]
    assert [p.value for p in goal.select_progress(START + timedelta(hours=25), days=1)] == [4.0]


def test_the_oldest_points_are_dropped():
    points = tuple(ProgressPoint(at=START, value=float(n)) for n in range(MAX_PROGRESS_POINTS))
    before = build_goal(1, progress=points)

    goal = build_goal(1, progress=points, current_value=7.0).with_progress_since(before)

    assert len(goal.progress) == MAX_PROGRESS_POINTS
    assert (goal.progress[0].value, goal.progress[-1].value) == (1.0, 7.0)


async def test_concurrent_progress_loses_no_point(documents):
    goals = Goals(documents)
    await goals.create(ALICE, build_goal(0))

    await asyncio.gather(
        *(
            goals.change_goal(ALICE, "g0", current_value=float(n), updated_at=START)
            for n in range(1, 6)
        )
    )

    goal = await goals.get(ALICE, "g0")
    assert {point.value for point in goal.progress} == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
    assert goal.current_value == goal.progress[-1].value


async def test_a_goal_becomes_active_again_in_the_place_of_the_oldest(goals):
    for n in range(MAX_ACTIVE_GOALS + 1):
        await goals.create(ALICE, build_goal(n))

    await goals.change_goal(ALICE, "g0", is_active=True, updated_at=START)
    await goals.change_goal(ALICE, "g3", is_active=False, updated_at=START)

    assert await list_active_ids(goals) == ["g0", "g4", "g2"]
    assert not (await goals.get(ALICE, "g1")).is_active


async def test_a_deleted_goal_leaves_its_place(goals):
    await goals.create(ALICE, build_goal(0))

    await goals.delete(ALICE, "g0")

    assert await list_active_ids(goals) == []
    with pytest.raises(NotFound):
        await goals.delete(ALICE, "g0")


async def test_a_range_without_values_is_refused(goals):
    await goals.create(ALICE, build_goal(0))

    with pytest.raises(Invalid, match="smallest value"):
        await goals.create(ALICE, build_goal(1, min_value=11.0))
    with pytest.raises(Invalid, match="smallest value"):
        await goals.change_goal(ALICE, "g0", max_value=-1.0)
    assert await list_active_ids(goals) == ["g0"]


async def test_another_user_has_other_goals(goals):
    await goals.create(ALICE, build_goal(0))

    assert await goals.list_active(UserId("bob")) == []
    with pytest.raises(NotFound):
        await goals.change_goal(UserId("bob"), "g0", title="Mine")

"""Goal calls of the released app (R1)."""

from typing import Any

import pytest

from tests.contracts.omi_client.objects import GOAL
from tests.contracts.omi_client.phone import Phone
from tests.contracts.omi_client.readers import each, number, one_of, shape, text

GOALS = "/v1/goals"
SUGGESTION = shape(
    suggested_title=text,
    suggested_type=one_of("boolean", "scale", "numeric"),
    suggested_target=number,
    suggested_min=number,
    suggested_max=number,
    reasoning=text,
)
ADVICE = shape(advice=text)


def add_goal(phone: Phone, title: str = "Read books", **fields: Any) -> dict[str, Any]:
    body = {
        "title": title,
        "goal_type": "scale",
        "target_value": 10.0,
        "current_value": 0.0,
        "min_value": 0.0,
        "max_value": 10.0,
        "unit": None,
        **fields,
    }
    goal: dict[str, Any] = phone.send("POST", GOALS, GOAL, json=body)
    return goal


def list_goals(phone: Phone) -> list[dict[str, Any]]:
    goals: list[dict[str, Any]] = phone.get(f"{GOALS}/all", each(GOAL))
    return goals


@pytest.mark.client_call("getCurrentGoal", "getAllGoals")
def test_a_new_user_has_no_goal_r1(phone):
    assert phone.get(GOALS) is None
    assert list_goals(phone) == []


@pytest.mark.client_call("getCurrentGoal", "getAllGoals", "createGoal")
@pytest.mark.parametrize("goal_type", ["boolean", "scale", "numeric"])
def test_a_goal_is_shown_as_it_was_set_r1(phone, goal_type):
    goal = add_goal(phone, goal_type=goal_type, unit="books")

    assert phone.get(GOALS, GOAL) == goal
    assert list_goals(phone) == [goal]
    assert (goal["title"], goal["goal_type"], goal["unit"]) == ("Read books", goal_type, "books")


@pytest.mark.client_call("getAllGoals")
def test_four_goals_are_shown_at_most_newest_first_r1(phone):
    titles = [add_goal(phone, f"Goal {n}")["title"] for n in range(5)]

    assert [goal["title"] for goal in list_goals(phone)] == titles[:0:-1]


@pytest.mark.client_call("updateGoal", "updateGoalProgress", "getAllGoals")
def test_changes_and_progress_are_kept_r1(phone):
    path = f"{GOALS}/{add_goal(phone)['id']}"

    body = {"title": "Read more books", "target_value": 12.0, "max_value": 12.0}
    changed = phone.send("PATCH", path, GOAL, json=body)
    moved = phone.send("PATCH", f"{path}/progress", GOAL, params={"current_value": 3.5})

    assert (changed["title"], changed["target_value"]) == ("Read more books", 12.0)
    assert list_goals(phone) == [moved]
    assert (moved["current_value"], moved["title"]) == (3.5, "Read more books")


@pytest.mark.client_call("deleteGoal", "getAllGoals")
def test_a_deleted_goal_is_gone_r1(phone):
    goal = add_goal(phone)

    phone.send("DELETE", f"{GOALS}/{goal['id']}")

    assert list_goals(phone) == []


@pytest.mark.client_call("suggestGoal")
def test_a_goal_is_suggested_r1(phone):
    assert phone.get(f"{GOALS}/suggest", SUGGESTION)["suggested_title"]


@pytest.mark.client_call("getGoalAdvice")
def test_advice_is_a_sentence_with_and_without_a_goal_r1(phone):
    without_goal = phone.get(f"{GOALS}/advice", ADVICE)["advice"]
    add_goal(phone)

    assert without_goal
    assert "Read books" in phone.get(f"{GOALS}/advice", ADVICE)["advice"]

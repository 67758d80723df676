"""Goal advice: a suggested goal and advice on the current one, each by one model call.

The model reads the owner's latest conversations, memories and open tasks, as data.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from functions.library.goals.goal_schemas import (
    MAX_AMOUNT,
    MAX_TITLE_CHARS,
    GoalSuggestionOut,
)
from shared import prompts
from shared.domain.errors import ModelFailed
from shared.domain.ids import UserId
from shared.domain.tasks.goal import Goal, GoalType
from shared.library.deps import LibraryDeps
from shared.library.user_model import load_model
from shared.models.data_room import fit_prompt
from shared.reading.own_words import answer_own_words
from shared.security.link_filter import filter_links
from shared.security.visible_text import strip_invisible

MAX_CONVERSATIONS = 10
MAX_MEMORIES = 30
MAX_TASKS = 50
MAX_OVERVIEW_CHARS = 1_000
MAX_ADVICE_CHARS = 600
ANSWER_TOKENS = 1_000
"""A few sentences."""
NO_GOAL = "Set a goal first: advice then follows from it and from what you talk about."
DEFAULT_SUGGESTION = GoalSuggestionOut(
    suggested_title="Finish one open task every day this week",
    suggested_type="numeric",
    suggested_target=7.0,
    suggested_min=0.0,
    suggested_max=7.0,
    reasoning="A week of small steps shows what a larger goal could be.",
)


def _parse_type(name: object) -> object:
    return name if name in ("boolean", "scale", "numeric") else "scale"


class SuggestionOutput(BaseModel):
    """A goal that the model suggests."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    title: str
    type: Annotated[GoalType, BeforeValidator(_parse_type)] = "scale"
    target: float
    min: float = 0.0
    max: float
    reasoning: str = ""


class AdviceOutput(BaseModel):
    """What the model advises."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    advice: str


async def suggest_goal(deps: LibraryDeps, uid: UserId) -> GoalSuggestionOut:
    """Return a goal that fits the library. Raises QuotaExceeded and Unavailable."""
    await deps.quotas.take(uid, "turns", now=deps.clock.now())
    goals = await deps.stores.goals.list_active(uid)
    data = {**await _load_library(deps, uid), "goals": [goal.title for goal in goals]}
    model = await load_model(deps, uid)
    prompt = prompts.build_prompt(
        "process_conversation/goal_suggestion", data, answer_tokens=ANSWER_TOKENS
    )
    try:
        fitted = fit_prompt(model, "standard", prompt)
        output = await model.complete_structured("standard", fitted, SuggestionOutput)
    except ModelFailed:
        return DEFAULT_SUGGESTION
    return _fit_suggestion(output)


async def advise(deps: LibraryDeps, uid: UserId) -> str:
    """Return advice on the newest goal, or the plan where its words tell of danger.

    Raises QuotaExceeded and Unavailable.
    """
    goals = await deps.stores.goals.list_active(uid)
    if not goals:
        return NO_GOAL
    write = partial(_write_advice, deps, uid, goals[0])
    answer = await answer_own_words(deps, uid, goals[0].title, place="goals", write=write)
    return answer.text


async def _write_advice(deps: LibraryDeps, uid: UserId, goal: Goal) -> str:
    data = {**await _load_library(deps, uid), "goal": _to_prompt_goal(goal)}
    model = await load_model(deps, uid)
    prompt = prompts.build_prompt(
        "process_conversation/goal_advice", data, answer_tokens=ANSWER_TOKENS
    )
    try:
        fitted = fit_prompt(model, "standard", prompt)
        output = await model.complete_structured("standard", fitted, AdviceOutput)
    except ModelFailed:
        return _build_default_advice(goal)
    return _clean(output.advice, MAX_ADVICE_CHARS) or _build_default_advice(goal)


def _fit_suggestion(output: SuggestionOutput) -> GoalSuggestionOut:
    """Fit a suggestion to the limits of goals; one without a title or a range is replaced."""
    title = _clean(output.title, MAX_TITLE_CHARS)
    lower, upper = sorted((output.min, output.max))
    if not title or lower == upper or max(-lower, upper) > MAX_AMOUNT:
        return DEFAULT_SUGGESTION
    return GoalSuggestionOut(
        suggested_title=title,
        suggested_type=output.type,
        suggested_target=min(max(output.target, lower), upper),
        suggested_min=lower,
        suggested_max=upper,
        reasoning=_clean(output.reasoning, MAX_ADVICE_CHARS),
    )


def _build_default_advice(goal: Goal) -> str:
    return (
        f"“{goal.title}” is at {goal.current_value:g} of {goal.target_value:g}. "
        "Choose one small step that you can take today."
    )


async def _load_library(deps: LibraryDeps, uid: UserId) -> Mapping[str, Any]:
    """Read the latest of the library in one round."""
    stores, now = deps.stores, deps.clock.now()
    profile, conversations, memories, items = await asyncio.gather(
        stores.profiles.get(uid),
        stores.conversations.list_between(uid, limit=MAX_CONVERSATIONS),
        stores.memories.list_newest(uid, limit=MAX_MEMORIES),
        stores.action_items.list_own(uid, limit=MAX_TASKS),
    )
    return {
        "today": now.astimezone(profile.zone).date().isoformat(),
        "language": profile.language,
        "conversations": [
            {
                "date": conversation.started_at.astimezone(profile.zone).date().isoformat(),
                "title": conversation.structured.title,
                "overview": conversation.structured.overview[:MAX_OVERVIEW_CHARS],
            }
            for conversation in conversations
        ],
        "memories": [memory.content for memory in memories],
        "open_tasks": [item.description for item in items if not item.completed],
    }


def _to_prompt_goal(goal: Goal) -> Mapping[str, Any]:
    return {
        "title": goal.title,
        "unit": goal.unit,
        "current": goal.current_value,
        "target": goal.target_value,
        "progress": [
            {"date": point.at.date().isoformat(), "value": point.value}
            for point in goal.progress[-10:]
        ],
    }


def _clean(text: str, max_chars: int) -> str:
    """Fit a text to one line. It links nothing: an address could carry away what was read."""
    linkless_text = filter_links(strip_invisible(text))
    return " ".join(linkless_text.split())[:max_chars]

"""Exercise tools: the assistant guides its owner through an exercise, one step a message."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import Field

from functions.chat.deps import ChatDeps
from functions.chat.tools.builtin_tool import build_builtin_tool
from functions.chat.tools.toolkit import OwnResult, ResultRenderer, Tool
from shared.arguments import Arguments
from shared.domain.chats.chat import Session
from shared.domain.chats.exercise import ActiveExercise, Exercise, advance
from shared.domain.errors import Conflict, ToolRefused
from shared.domain.ids import UserId
from shared.domain.models.model import ToolSpec
from shared.exercises import find_exercise, load_exercises

NONE_ACTIVE = "no exercise goes on in this chat"


class StartExercise(Arguments):
    """Begin a guided exercise, when the owner wants one or agrees to your offer. Then lead through its first step."""

    exercise_id: Annotated[str, Field(description="One of the ids below.", max_length=40)]


class FinishStep(Arguments):
    """Note that the owner has done the current step of the exercise. Then lead through the next one."""

    step: Annotated[int, Field(ge=1, le=50, description="The number of the step that is done.")]


class EndExercise(Arguments):
    """End the exercise that goes on, when the owner wants to stop it."""


def build_exercise_tools(deps: ChatDeps, uid: UserId, session: Session) -> list[Tool]:
    """Return the tool to begin one, or in an exercise those to go on and to end it."""
    if session.exercise is None:
        start = build_builtin_tool(
            "start_exercise",
            "Preparing an exercise",
            StartExercise,
            partial(_start, deps, uid, session),
            tool_class="read",
        )
        offered = {each.id: f"{each.title}, {each.purpose}" for each in load_exercises()}
        return [replace(start, spec=_name_exercises(start.spec, offered))]
    return [
        build_builtin_tool(
            "finish_exercise_step",
            "Going on with the exercise",
            FinishStep,
            partial(_finish_step, deps, uid, session),
            tool_class="read",
        ),
        build_builtin_tool(
            "end_exercise",
            "Ending the exercise",
            EndExercise,
            partial(_end, deps, uid, session),
            tool_class="read",
        ),
    ]


def _name_exercises(spec: ToolSpec, offered: Mapping[str, str]) -> ToolSpec:
    names = json.dumps(offered, ensure_ascii=False)
    exercise_id = {**spec.parameters["properties"]["exercise_id"], "enum": list(offered)}
    return replace(
        spec,
        description=f"{spec.description}\nThe exercises: {names}",
        parameters={**spec.parameters, "properties": {"exercise_id": exercise_id}},
    )


async def _start(
    deps: ChatDeps, uid: UserId, session: Session, arguments: StartExercise
) -> ResultRenderer:
    exercise = find_exercise(arguments.exercise_id)
    if exercise is None:
        ids = ", ".join(each.id for each in load_exercises())
        raise ToolRefused(f"there is no exercise {arguments.exercise_id!r}. There are: {ids}.")
    await deps.stores.sessions.change_exercise(
        uid, session, lambda _: ActiveExercise(id=exercise.id)
    )
    return _render(exercise, 1)


async def _finish_step(
    deps: ChatDeps, uid: UserId, session: Session, arguments: FinishStep
) -> ResultRenderer:
    exercise = find_exercise(session.exercise.id) if session.exercise else None
    if exercise is None:
        raise ToolRefused(NONE_ACTIVE)
    try:
        changed = await deps.stores.sessions.change_exercise(
            uid, session, lambda active: advance(active, exercise, arguments.step)
        )
    except Conflict as conflict:
        raise ToolRefused(str(conflict)) from None
    if changed.exercise is None:
        return OwnResult(
            text="That was the last step: close the exercise.", shown_text=exercise.title
        )
    return _render(exercise, changed.exercise.step)


async def _end(deps: ChatDeps, uid: UserId, session: Session, _: EndExercise) -> ResultRenderer:
    exercise = find_exercise(session.exercise.id) if session.exercise else None
    await deps.stores.sessions.change_exercise(uid, session, lambda _: None)
    return OwnResult(text="The exercise has ended.", shown_text=exercise.title if exercise else "")


def _render(exercise: Exercise, step: int) -> ResultRenderer:
    text = f"Step {step} of {len(exercise.steps)}: {exercise.steps[step - 1]}"
    return OwnResult(text=text, shown_text=f"{exercise.title}, {step}/{len(exercise.steps)}")

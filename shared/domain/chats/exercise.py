"""Guided exercise: fixed steps, and where in them a chat is; pure."""

from shared.domain.errors import Conflict
from shared.domain.value import value


@value
class Exercise:
    """An exercise; `purpose` says what it is good for."""

    id: str
    title: str
    purpose: str
    steps: tuple[str, ...]


@value
class ActiveExercise:
    """The exercise that goes on in a chat, and its current step, from 1."""

    id: str
    step: int = 1


def advance(active: ActiveExercise | None, exercise: Exercise, step: int) -> ActiveExercise | None:
    """Return where a chat is after a step is done; None after the last one.

    Raises Conflict where the chat is not in this step: a repeat does not skip one.
    """
    if active is None or active.id != exercise.id:
        raise Conflict("This exercise does not go on in this chat.")
    if active.step != step:
        raise Conflict(f"The chat is in step {active.step} of this exercise.")
    return None if step >= len(exercise.steps) else ActiveExercise(id=active.id, step=step + 1)

"""Exercise that goes on in a chat, in the words that a model reads with each message."""

from collections.abc import Sequence

from shared.domain.chats.chat import Message
from shared.domain.chats.exercise import ActiveExercise
from shared.exercises import find_exercise

GUIDE = (
    "The exercise “{title}” goes on. Its step {step} of {count}: {text} Lead through this step alone, gently "
    "and in a few words; when it is done call finish_exercise_step, when the owner has enough end_exercise."
)
INTERRUPTED = "It was interrupted by something graver: ask first whether the owner wants to go on."


def describe_exercise(active: ActiveExercise | None, newest_first: Sequence[Message]) -> str:
    """Say where a chat is; empty without an exercise, and for one that there is no more."""
    exercise = find_exercise(active.id) if active else None
    if active is None or exercise is None or active.step > len(exercise.steps):
        return ""
    guide = GUIDE.format(
        title=exercise.title,
        step=active.step,
        count=len(exercise.steps),
        text=exercise.steps[active.step - 1],
    )
    answer = next((message for message in newest_first if message.sender == "ai"), None)
    was_interrupted = answer is not None and answer.route == "crisis"
    return f"{guide} {INTERRUPTED}" if was_interrupted else guide

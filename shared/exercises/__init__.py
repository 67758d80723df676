"""Guided exercises: short, common ones in fixed steps, which the assistant words for its owner."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from shared.domain.chats.exercise import Exercise

_FILE = Path(__file__).with_name("exercises.json")


@cache
def load_exercises() -> Sequence[Exercise]:
    rows = json.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(Exercise(**{**row, "steps": tuple(row["steps"])}) for row in rows)


def find_exercise(exercise_id: str) -> Exercise | None:
    return next((each for each in load_exercises() if each.id == exercise_id), None)

"""Tasks as the tools list them, in words for people: without ids, with days instead of timestamps."""

import re
from collections.abc import Iterator
from datetime import datetime, tzinfo

from shared.domain.wall_clock import DAY_END, EVENING

TASK_TOOLS = frozenset({"get_action_items", "create_action_item", "update_action_item"})
NO_TASKS = "You have no such tasks."
_LINE = re.compile(
    r"- (?P<text>.*) \((?P<state>open|done)(?:, due (?P<due>[^,()]+))?, id [^()]*\)", re.DOTALL
)


def format_tasks(text: str, zone: tzinfo | None, *, person: str | None = None) -> str:
    """Return a tool's text about tasks as one for people; another text as it is.

    With a `person`, only those that name them.
    """
    heading, *lines = text.split("\n") if not text.startswith("- ") else ["", *text.split("\n")]
    tasks = [line for line in _format_lines(lines, zone) if person is None or person in line]
    if not tasks:
        return NO_TASKS if person or heading.startswith("There are no") else text
    title = heading or f"You have {len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}:"
    return "\n".join([f"{title}\n", *tasks])


def _format_lines(lines: list[str], zone: tzinfo | None) -> Iterator[str]:
    for line in lines:
        if match := _LINE.fullmatch(line):
            due = f", {_format_day(match['due'], zone)}" if match["due"] else ""
            done = " (done)" if match["state"] == "done" else ""
            yield f"- {match['text']}{due}{done}"


def _format_day(timestamp: str, zone: tzinfo | None) -> str:
    """Return the day, with the hour where one was named."""
    due = datetime.fromisoformat(timestamp).astimezone(zone)
    hour = "" if due.time() in (EVENING, DAY_END, EVENING.min) else f" at {due:%H:%M}"
    return f"{due:%A} {due.day} {due:%B}{hour}"

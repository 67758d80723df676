"""Tasks as the tools list them, in words for people: without ids, with days instead of timestamps."""

import re
from collections.abc import Sequence
from datetime import datetime, tzinfo

from shared.domain.value import value
from shared.domain.wall_clock import DAY_END, EVENING

TASK_TOOLS = frozenset({"get_action_items", "create_action_item", "update_action_item"})
NO_TASKS = "You have no such tasks."
_LINE = re.compile(
    r"^- (?P<text>.*) \((?P<state>open|done)(?:, due (?P<due>[^,()]+))?, id (?P<id>[^(),]*)[^()]*\)$",
    re.MULTILINE,
)


@value
class Task:
    """A task of a list; `due` is a timestamp, empty without one."""

    id: str
    text: str
    is_done: bool
    due: str

    def describe(self, zone: tzinfo | None) -> str:
        due = f", {_format_day(self.due, zone)}" if self.due else ""
        return f"- {self.text}{due}{' (done)' if self.is_done else ''}"


def parse_tasks(text: str) -> list[Task]:
    return [
        Task(id=m["id"], text=m["text"], is_done=m["state"] == "done", due=m["due"] or "")
        for m in _LINE.finditer(text)
    ]


def format_tasks(text: str, zone: tzinfo | None, *, chosen: Sequence[Task] = ()) -> str:
    """Return a tool's text about tasks as one for people; another text as it is.

    Of a list, only the `chosen` ones are told where there are some.
    """
    tasks = parse_tasks(text)
    if not tasks:
        return NO_TASKS if text.startswith("There are no") else text
    lines = [task.describe(zone) for task in chosen or tasks]
    heading = "" if text.startswith("- ") else text.partition("\n")[0]
    title = heading or f"You have {len(lines)} {'task' if len(lines) == 1 else 'tasks'}:"
    return "\n".join([f"{title}\n", *lines])


def _format_day(timestamp: str, zone: tzinfo | None) -> str:
    """Return the day, with the hour where one was named."""
    due = datetime.fromisoformat(timestamp).astimezone(zone)
    hour = "" if due.time() in (EVENING, DAY_END, EVENING.min) else f" at {due:%H:%M}"
    return f"{due:%A} {due.day} {due:%B}{hour}"

"""Results of the library's tools, as the offline model reads them, and the choice of what a request names; pure."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from shared.adapters.embedded.offline.quotes import measure_share
from shared.domain.value import value
from shared.domain.wall_clock import DAY_END, EVENING

LIBRARY_TOOLS = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)
MANUAL_PAGE = "From the page "
"""Begins each passage of the manual."""
TASK_TOOLS = frozenset({"get_action_items", "create_action_item", "update_action_item"})
NO_TASKS = "You have no such tasks."
_LINE = re.compile(
    r"^- (?P<text>.*) \((?P<state>open|done)(?:, due (?P<due>[^,()]+))?, id (?P<id>[^(),]*)[^()]*\)$",
    re.MULTILINE,
)
MIN_SHARE = 0.5
"""So much of the weight of what is named has to be found."""
MAX_MEMORIES = 5


@value
class Result:
    """What a tool returned: its text, and what a tool of the library says in it."""

    name: str
    text: str
    content: Mapping[str, Any]


Results = Sequence[Result]


def parse_results(pairs: Iterable[tuple[str, str]]) -> list[Result]:
    """Read `(tool name, text)` pairs."""
    return [Result(name=name, text=text, content=_parse(name, text)) for name, text in pairs]


def collect_documents(results: Results) -> list[dict[str, Any]]:
    """Return one result per document, the one with passages if there is any."""
    by_document: dict[int, dict[str, Any]] = {}
    for result in results:
        for document in result.content.get("results", []):
            if not by_document.get(document["document"], {}).get("passages"):
                by_document[document["document"]] = document
    return list(by_document.values())


def collect_memories(results: Results) -> list[dict[str, Any]]:
    return [memory for result in results for memory in result.content.get("memories", [])]


def list_texts(results: Results) -> list[str]:
    """Return the text of each document and memory."""
    memories = (memory["text"] for memory in collect_memories(results))
    return [*map(join_texts, collect_documents(results)), *memories]


def format_overview(document: dict[str, Any]) -> str:
    title, overview = document.get("title", ""), document.get("overview", "")
    return f"{': '.join(filter(None, [title, overview]))}[{document['document']}]"


def format_day(document: dict[str, Any]) -> str:
    """Return the day of a conversation on the owner's clock, as "Friday 6 March 2026"; empty where none is told."""
    if "started_at" not in document:
        return ""
    start = datetime.fromisoformat(document["started_at"])
    return f"{_call_day(start)} {start.year}"


def join_texts(document: dict[str, Any]) -> str:
    fields = (document.get("title", ""), document.get("overview", ""))
    return "\n".join([*fields, *document.get("passages", [])])


def is_silent(result: Result) -> bool:
    """Tell whether the manual says nothing."""
    return result.name == "get_product_info" and not result.text.startswith(MANUAL_PAGE)


def _parse(name: str, text: str) -> Mapping[str, Any]:
    """Parse a library tool's answer; an error text is no JSON and has no results."""
    if name not in LIBRARY_TOOLS:
        return {}
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


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
    return f"{_call_day(due)}{hour}"


def _call_day(moment: datetime) -> str:
    return f"{moment:%A} {moment.day} {moment:%B}"


def choose_tasks(terms: Collection[str], tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that have most of the terms, all that are equal."""
    shares = [measure_share(terms, task.text) for task in tasks]
    best = max([MIN_SHARE, *shares])
    return [task for task, share in zip(tasks, shares, strict=True) if share == best]


def choose_memories(terms: Collection[str], results: Results) -> list[dict[str, Any]]:
    """Return the memories that say what is wanted, in the order of the search."""
    memories = collect_memories(results)
    return [m for m in memories if measure_share(terms, m["text"]) >= MIN_SHARE][:MAX_MEMORIES]


def choose_talk(terms: Collection[str], results: Results) -> dict[str, Any] | None:
    """Return the first conversation that speaks of what is wanted, or with whom."""
    talks = collect_documents(results)
    return next((d for d in talks if measure_share(terms, join_texts(d)) >= MIN_SHARE), None)

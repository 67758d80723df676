"""Results of tools as the offline model reads them, and the choice of what a request names; pure."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, TypeVar

from shared.adapters.embedded.offline.quotes import measure_share
from shared.domain.value import value
from shared.domain.wall_clock import DAY_END, EVENING

T = TypeVar("T")

LIBRARY_TOOLS = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)
MANUAL_PAGE = "From the page "
"""Begins each passage of the manual."""
MIN_SHARE = 0.5
"""So much of the weight of what is named has to be found."""
_TASK = re.compile(
    r"^- (?P<text>.*) \((?P<state>open|done)(?:, due (?P<due>[^,()]+))?, id (?P<id>[^(),]*)[^()]*\)$",
    re.MULTILINE,
)


@value
class Result:
    """What a tool returned: its text, and what a tool of the library says in it."""

    name: str
    text: str
    content: Mapping[str, Any]

    @property
    def is_silent(self) -> bool:
        """Tell whether the manual says nothing."""
        return self.name == "get_product_info" and not self.text.startswith(MANUAL_PAGE)


Results = Sequence[Result]


def parse_results(pairs: Iterable[tuple[str, str]]) -> list[Result]:
    """Read `(tool name, text)` pairs; an error's text is no JSON and has no results."""
    return [Result(name=name, text=text, content=_parse(name, text)) for name, text in pairs]


def _parse(name: str, text: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text) if name in LIBRARY_TOOLS else {}
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


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


def join_texts(document: Mapping[str, Any]) -> str:
    """Return all that a document or a memory says."""
    fields = (document.get(name, "") for name in ("text", "title", "overview"))
    return "\n".join([*fields, *document.get("passages", [])])


def format_overview(document: Mapping[str, Any]) -> str:
    title, overview = document.get("title", ""), document.get("overview", "")
    return f"{': '.join(filter(None, [title, overview]))}[{document['document']}]"


def format_day(document: Mapping[str, Any]) -> str:
    """Return the day of a conversation on the owner's clock, as "Friday 6 March 2026"; empty where none is told."""
    if "started_at" not in document:
        return ""
    start = datetime.fromisoformat(document["started_at"])
    return f"{_call_day(start)} {start.year}"


@value
class Task:
    """A task of a list; `due` is a timestamp, empty without one."""

    id: str
    text: str
    is_done: bool
    due: str

    def describe(self, zone: tzinfo | None) -> str:
        """Tell a task with its day, and with the hour where one was named."""
        due = ""
        if self.due:
            at = datetime.fromisoformat(self.due).astimezone(zone)
            has_hour = at.time() not in (EVENING, DAY_END, EVENING.min)
            due = f", {_call_day(at)}{f' at {at:%H:%M}' if has_hour else ''}"
        return f"- {self.text}{due}{' (done)' if self.is_done else ''}"


def parse_tasks(text: str) -> list[Task]:
    return [
        Task(id=m["id"], text=m["text"], is_done=m["state"] == "done", due=m["due"] or "")
        for m in _TASK.finditer(text)
    ]


def choose(terms: Collection[str], items: Iterable[T], read: Callable[[T], str]) -> list[T]:
    """Return the items that have most of the terms, and half of their weight at least: all that are equal."""
    shares = [(measure_share(terms, read(item)), item) for item in items]
    best = max([MIN_SHARE, *(share for share, _ in shares)])
    return [item for share, item in shares if share == best]


def choose_tasks(terms: Collection[str], tasks: Iterable[Task]) -> list[Task]:
    return choose(terms, tasks, lambda task: task.text)


def _call_day(moment: datetime) -> str:
    return f"{moment:%A} {moment.day} {moment:%B}"

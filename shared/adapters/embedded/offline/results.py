"""Results of the library's tools, as the offline model reads them; pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.domain.value import value

LIBRARY_TOOLS = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)

MANUAL_PAGE = "From the page "
"""Begins each passage of the manual."""


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
    return f"{start:%A} {start.day} {start:%B} {start.year}"


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

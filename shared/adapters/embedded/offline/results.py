"""Results of the library's tools, as the offline model reads them; pure."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

LIBRARY_TOOLS = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)


def collect_documents(results: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return one result per document, the one with passages if there is any."""
    by_document: dict[int, dict[str, Any]] = {}
    for part in _parse_all(results):
        for result in part.get("results", []):
            if not by_document.get(result["document"], {}).get("passages"):
                by_document[result["document"]] = result
    return list(by_document.values())


def collect_memories(results: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    return [memory for part in _parse_all(results) for memory in part.get("memories", [])]


def list_texts(results: Sequence[tuple[str, str]]) -> list[str]:
    """Return the text of each document and memory."""
    memories = (memory["text"] for memory in collect_memories(results))
    return [*map(_join_texts, collect_documents(results)), *memories]


def format_overview(document: dict[str, Any]) -> str:
    title, overview = document.get("title", ""), document.get("overview", "")
    return f"{': '.join(filter(None, [title, overview]))}[{document['document']}]"


def format_day(document: dict[str, Any]) -> str:
    """Return the day of a conversation on the owner's clock, as "Friday 6 March 2026"; empty where none is told."""
    if "started_at" not in document:
        return ""
    start = datetime.fromisoformat(document["started_at"])
    return f"{start:%A} {start.day} {start:%B} {start.year}"


def _join_texts(document: dict[str, Any]) -> str:
    fields = (document.get("title", ""), document.get("overview", ""))
    return "\n".join([*fields, *document.get("passages", [])])


def _parse_all(results: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    return [_parse_result(text) for name, text in results if name in LIBRARY_TOOLS]


def _parse_result(text: str) -> dict[str, Any]:
    """Parse a library tool's answer; an error text is no JSON and has no results."""
    try:
        result = json.loads(text)
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}

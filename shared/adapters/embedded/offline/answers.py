"""Answers of the offline model: cited quotations of what the tools returned; pure."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import islice
from typing import Any

from shared.adapters.embedded.offline.planner import (
    LIBRARY_TOOLS,
    find_person,
    find_task_owner,
    find_task_person,
    is_english,
)
from shared.adapters.embedded.offline.quotes import (
    Quote,
    is_answered,
    quote_passages,
    select_closest,
)
from shared.adapters.embedded.offline.spans import drop_past_span
from shared.adapters.embedded.offline.task_lines import TASK_TOOLS, format_tasks
from shared.domain.owner_words import address_owner

GREETING = (
    "Hello! I am Keepsake's offline model: I do not write answers of my own, I quote your "
    "conversations and memories, and I understand English only. Ask me what somebody said, what you "
    "have to do, what happened last week, or what I know about you. I write down tasks and memories, "
    "too: “Remind me to call Ann tomorrow.” “Remember that I like green tea.”"
)
CANNOT_ANSWER_GENERAL = (
    "I am Keepsake's offline model: I quote your conversations and memories, and know nothing of the "
    "world beyond them. A language model can answer that, if you set OPENAI_API_KEY."
)
NOTHING_FOUND = (
    "I found nothing about that in your conversations and memories. I look for the words of your "
    "question, so it may help to ask with other words, or to add the conversation first."
)
NEAREST_ONLY = "I found nothing that clearly answers this. What comes nearest:"
FOUND = "Here is what I found:"
SEARCH_DOWN = (
    "I could not search everything just now, so something about that may be missing. Please try "
    "again in a minute."
)
WELCOME = "You're welcome! Ask me again whenever you like."
GOODBYE = "Goodbye! What you told me is kept for next time."
ENGLISH_ONLY = (
    "I am an offline model and answer in English only. I search your library for the words of your "
    "question, and cannot understand it. A language model can, once one is set up in the settings."
)
MANUAL_IS_SILENT = "Keepsake's manual says nothing about that."
OTHERS_TASKS = "Promised by others, or asked of them:"
CONSENT_NEEDED = "I did not do that: it needs your consent."
_CONSENT_PREFIX = "Error: The owner "
"""Begins the reasons why the owner's consent is missing; their words are for models."""
_PAGE = "From the page "
"""Begins each passage of the manual."""
_WHO = re.compile(
    r"(with )?who(m)? (did|have|was|were|talked|spoke|said|mentioned|told)\b", re.IGNORECASE
)
_OWNER_NAMES = frozenset({"", "me", "you", "user"})
_MAX_OVERVIEWS = 10
_LISTS = frozenset({"get_conversations", "get_memories"})
"""Tools whose results answer without a word of the question."""


def answer(question: str, results: Sequence[tuple[str, str]], *, zone: tzinfo | None = None) -> str:
    """Answer from `(tool name, text)` pairs: the apps' texts and the sentences closest to the question.

    Days are those of `zone`, the owner's.
    """
    app_parts = [
        _format_result(question, name, text, zone)
        for name, text in results
        if name not in LIBRARY_TOOLS
    ]
    names = {name for name, _ in results}
    lists = not names.isdisjoint(_LISTS)
    tool_results = [_parse_result(text) for name, text in results if name in LIBRARY_TOOLS]
    is_search_down = any(
        name in LIBRARY_TOOLS and text.startswith("Error: ") for name, text in results
    )
    asks_topic = not lists or "search_conversations" in names
    quotes = _format_quotes(question, tool_results, lists=lists, asks_topic=asks_topic)
    parts = [
        *([] if is_english(question) else [ENGLISH_ONLY]),
        *filter(None, app_parts),
        *([] if any(app_parts) and NEAREST_ONLY in quotes else quotes),
        *([SEARCH_DOWN] if is_search_down else []),
    ]
    has_answer = any(part != ENGLISH_ONLY for part in parts)
    return "\n\n".join(parts if has_answer else [*parts, NOTHING_FOUND])


def _format_result(question: str, name: str, text: str, zone: tzinfo | None) -> str:
    if name in TASK_TOOLS:
        return _format_task_list(question, text, zone)
    return _format_manual(text) if name == "get_product_info" else _format_app_text(text)


def _format_manual(text: str) -> str:
    """Return the passage that fits best; a model reads some more."""
    if not text.startswith(_PAGE):
        return MANUAL_IS_SILENT
    return text.split(f"\n\n{_PAGE}", 1)[0]


def _format_task_list(question: str, text: str, zone: tzinfo | None) -> str:
    """Write a list of tasks for people; empty where others have none, because quotes follow."""
    tasks = format_tasks(text, zone, person=find_task_person(question))
    if not find_task_owner(question):
        return tasks
    lines = tasks.partition("\n\n")[2]
    return f"{OTHERS_TASKS}\n\n{lines}" if lines else ""


def _format_app_text(text: str) -> str:
    if text.startswith(_CONSENT_PREFIX):
        return CONSENT_NEEDED
    return text.replace("Error: ", "That did not work: ", 1) if text.startswith("Error: ") else text


def _parse_result(text: str) -> dict[str, Any]:
    """Parse a library tool's answer; an error text is no JSON and has no results."""
    try:
        result = json.loads(text)
    except ValueError:
        return {}
    return result if isinstance(result, dict) else {}


def _format_quotes(
    question: str, tool_results: Sequence[dict[str, Any]], *, lists: bool, asks_topic: bool
) -> list[str]:
    documents = _deduplicate(
        [result for part in tool_results for result in part.get("results", [])]
    )
    memories = [memory for part in tool_results for memory in part.get("memories", [])]
    all_quotes = [*quote_passages(documents), *_quote_memories(memories)]
    quotes = select_closest(question, all_quotes)
    texts = [*map(_join_texts, documents), *(memory["text"] for memory in memories)]
    is_found = not asks_topic or is_answered(drop_past_span(question), texts)
    max_overviews = _MAX_OVERVIEWS if lists or is_found else 1
    if not is_found:
        heading = NEAREST_ONLY
    elif (person := find_person(question)) and documents:
        heading = _describe_person(person, documents)
    elif _WHO.match(question.strip()):
        heading = _name_speakers(quotes, all_quotes)
    else:
        heading = FOUND
    lines = (
        list(map(str, quotes))
        or list(islice(map(_format_overview, documents), max_overviews))
        or [str(quote) for quote in _quote_memories(memories)]
    )
    return [heading, "\n".join(f"- {line}" for line in lines)] if lines else []


def _join_texts(document: dict[str, Any]) -> str:
    fields = (document.get("title", ""), document.get("overview", ""))
    return "\n".join([*fields, *document.get("passages", [])])


def _name_speakers(quotes: Sequence[Quote], all_quotes: Sequence[Quote]) -> str:
    """Name those who speak in the conversations of the closest sentences, other than the owner."""
    documents = {quote.document for quote in quotes}
    names = dict.fromkeys(
        quote.speaker
        for quote in all_quotes
        if quote.document in documents and quote.speaker.casefold() not in _OWNER_NAMES
    )
    named = [name for name in names if name]
    return f"That was with {', '.join(named)}:" if named else FOUND


def _describe_person(name: str, documents: Sequence[dict[str, Any]]) -> str:
    """Say in which conversations somebody occurs, and quote below what is closest."""
    titles = [f"“{d['title']}”[{d['document']}]" for d in documents if d.get("title")]
    if not titles:
        return FOUND
    return f"I know {name} from these conversations: {', '.join(titles)}. What was said:"


def _deduplicate(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep one result per document, the one with passages if there is any."""
    by_document: dict[int, dict[str, Any]] = {}
    for result in results:
        if not by_document.get(result["document"], {}).get("passages"):
            by_document[result["document"]] = result
    return list(by_document.values())


def _quote_memories(memories: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    for memory in memories:
        yield Quote(text=address_owner(memory["text"]), document=memory.get("document"))


def _format_overview(result: dict[str, Any]) -> str:
    title, overview = result.get("title", ""), result.get("overview", "")
    return f"{': '.join(filter(None, [title, overview]))}[{result['document']}]"

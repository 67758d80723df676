"""Planner of the offline model: the tool calls that a question leads to, with their dates; pure.

The dates it reads are today, yesterday and last week.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from shared.adapters.embedded.offline.calendar import parse_moment
from shared.adapters.embedded.offline.general import is_general
from shared.domain.model import ToolSpec
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, FUNCTION_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

PlannedCall = tuple[str, Mapping[str, Any]]

LIBRARY_TOOLS = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)
_TASK_TOOLS = frozenset({"get_action_items", "create_action_item", "update_action_item"})
_NEW_TASK = re.compile(
    r"(?:please )?(?:remind me to|(?:add|create|make) a (?:task|to-?do)(?: to|:)?) (.+?)[.!]?",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT_PHRASE = re.compile(
    r"(?!wh|how)(?:please |can you |could you )?\w+ (.+?) (?:to|on|onto|in|into|off|from) (?:the|my|our) .+",
    re.IGNORECASE | re.DOTALL,
)
"""The object of a request: "please add oat milk to my list"."""
_OPEN_TASKS = re.compile(r"\b(to-?dos?|to-do list|tasks|action items)\b", re.IGNORECASE)
_GREETING = re.compile(
    r"(hi|hello|hey|good (morning|afternoon|evening|night)|thanks?( you)?|bye|help)\b[^?]{0,20}\W*",
    re.IGNORECASE,
)
_PERSONAL_PRONOUN = re.compile(r"\b(i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_PAST_DAYS = re.compile(r"\b(today|yesterday|last week)\b", re.IGNORECASE)
_MIN_SHARED_TERMS = 2


def extract_content_terms(text: str) -> set[str]:
    """Return the terms with meaning."""
    return {term for term in tokenize(text) if get_term_weight(term) > FUNCTION_WEIGHT}


def is_small_talk(question: str) -> bool:
    """Tell a greeting, or a question about the assistant, from one about the owner's life."""
    if _GREETING.fullmatch(question.strip()):
        return True
    has_content = any(get_term_weight(term) > EVERYDAY_WEIGHT for term in tokenize(question))
    return not has_content and not _PERSONAL_PRONOUN.search(question)


def plan(question: str, now: datetime | None, tools: Sequence[ToolSpec]) -> list[PlannedCall]:
    """Call the apps whose description fits the question best, or else the owner's tasks or library.

    A general question calls no library tool.
    """
    app_calls = [
        (tool.name, _build_arguments(tool, question)) for tool in _select_best(tools, question)
    ]
    offered_names = {tool.name for tool in tools}
    own_calls = [*_plan_task_calls(question, now)] or [*_plan_library_calls(question, now)]
    return app_calls or [call for call in own_calls if call[0] in offered_names]


def _select_best(tools: Sequence[ToolSpec], question: str) -> Iterator[ToolSpec]:
    """Yield the apps' tools that fit best; none where too few words are shared."""
    fits = {tool.name: _measure_fit(tool, question) for tool in tools if _is_app_tool(tool)}
    best_fit = max((fit for fit in fits.values() if fit[0] >= _MIN_SHARED_TERMS), default=None)
    yield from (tool for tool in tools if best_fit is not None and fits.get(tool.name) == best_fit)


def _is_app_tool(tool: ToolSpec) -> bool:
    return tool.name not in LIBRARY_TOOLS | _TASK_TOOLS and _is_simple(tool)


def _measure_fit(tool: ToolSpec, question: str) -> tuple[int, bool]:
    """Count shared words; between equals, a tool with an argument suits a question with an object."""
    shared_terms = extract_content_terms(f"{tool.name} {tool.description}") & extract_content_terms(
        question
    )
    has_object = _OBJECT_PHRASE.fullmatch(question.strip()) is not None
    return len(shared_terms), has_object == bool(tool.parameters.get("required"))


def _is_simple(tool: ToolSpec) -> bool:
    """Tell whether the question alone can fill what the tool requires."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    return len(required) <= 1 and all(
        properties.get(name, {}).get("type") == "string" for name in required
    )


def _build_arguments(tool: ToolSpec, question: str) -> Mapping[str, Any]:
    match = _OBJECT_PHRASE.fullmatch(question.strip())
    return dict.fromkeys(tool.parameters.get("required", []), match[1] if match else question)


def _plan_task_calls(question: str, now: datetime | None) -> Iterator[PlannedCall]:
    if match := _NEW_TASK.fullmatch(question.strip()):
        yield "create_action_item", {"description": match[1], **_parse_due(match[1], now)}
    elif _OPEN_TASKS.search(question):
        yield "get_action_items", {"completed": False}


def _parse_due(text: str, now: datetime | None) -> Mapping[str, str]:
    due = parse_moment(text, now) if now else None
    return {"due_at": due.at.isoformat()} if due else {}


def _plan_library_calls(question: str, now: datetime | None) -> Iterator[PlannedCall]:
    if is_general(question):
        return
    match = _PAST_DAYS.search(question) if now else None
    dates = _build_date_range(match[1], now) if match and now else {}
    topic = _PAST_DAYS.sub(" ", question, count=1)
    if dates:
        yield "get_conversations", {**dates, "limit": 10}
    if not dates or any(get_term_weight(term) > EVERYDAY_WEIGHT for term in tokenize(topic)):
        yield "search_conversations", {"query": question[:1_000], **dates}
        yield "search_memories", {"query": question[:1_000]}


def _build_date_range(phrase: str, now: datetime) -> Mapping[str, str]:
    """Return whole days on the owner's clock; a week begins on Monday."""
    monday = now.date() - timedelta(now.weekday())
    first, days = {
        "today": (now.date(), 1),
        "yesterday": (now.date() - timedelta(1), 1),
    }.get(phrase.lower(), (monday - timedelta(7), 7))
    start, end = (
        datetime.combine(day, time(), now.tzinfo) for day in (first, first + timedelta(days))
    )
    return {"start_date": start.isoformat(), "end_date": end.isoformat()}

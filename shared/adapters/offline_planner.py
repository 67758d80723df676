"""Which tools the offline model asks for, and for which stretch of time; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.adapters.offline_general import is_general
from shared.domain.model import ToolSpec
from shared.retrieval.frequencies import EVERYDAY, FUNCTION, weight
from shared.retrieval.terms import terms

Request = tuple[str, Mapping[str, Any]]

LIBRARY = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)
_TASKS = frozenset({"get_action_items", "create_action_item", "update_action_item"})
_NEW_TASK = re.compile(
    r"(?:please )?(?:remind me to|(?:add|create|make) a (?:task|to-?do)(?: to|:)?) (.+?)[.!]?",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT = re.compile(
    r"(?!wh|how)(?:please |can you |could you )?\w+ (.+?) (?:to|on|onto|in|into|off|from) (?:the|my|our) .+",
    re.IGNORECASE | re.DOTALL,
)
"""What somebody wants put somewhere: "please add oat milk to my list"."""
_OPEN_TASKS = re.compile(r"\b(to-?dos?|to-do list|tasks|action items)\b", re.IGNORECASE)
_GREETING = re.compile(
    r"(hi|hello|hey|good (morning|afternoon|evening|night)|thanks?( you)?|bye|help)\b[^?]{0,20}\W*",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_MIN_SHARED = 2


def content(text: str) -> set[str]:
    """Return the terms that carry meaning."""
    return {term for term in terms(text) if weight(term) > FUNCTION}


def is_small_talk(question: str) -> bool:
    """Tell a greeting, or a question about ourselves, from one about the owner's life."""
    if _GREETING.fullmatch(question.strip()):
        return True
    telling = any(weight(term) > EVERYDAY for term in terms(question))
    return not telling and not _PERSONAL.search(question)


def plan(question: str, now: datetime | None, tools: Sequence[ToolSpec]) -> list[Request]:
    """Ask the apps whose description fits the question best, or else the owner's tasks or library.

    What is plainly general asks nobody's library.
    """
    apps = [(tool.name, _arguments(tool, question)) for tool in _best(tools, question)]
    offered = {tool.name for tool in tools}
    own = [*_tasks(question, now)] or [*_library(question, now)]
    return apps or [asked for asked in own if asked[0] in offered]


def _best(tools: Sequence[ToolSpec], question: str) -> Iterator[ToolSpec]:
    """Yield the apps' tools that fit best; none where too few words are shared."""
    fits = {tool.name: _fit(tool, question) for tool in tools if _is_an_apps(tool)}
    best = max((fit for fit in fits.values() if fit[0] >= _MIN_SHARED), default=None)
    yield from (tool for tool in tools if best is not None and fits.get(tool.name) == best)


def _is_an_apps(tool: ToolSpec) -> bool:
    return tool.name not in LIBRARY | _TASKS and _is_simple(tool)


def _fit(tool: ToolSpec, question: str) -> tuple[int, bool]:
    """Count shared words; of equals that one is better which wants as much as is said."""
    shared = content(f"{tool.name} {tool.description}") & content(question)
    says_what = _OBJECT.fullmatch(question.strip()) is not None
    return len(shared), says_what == bool(tool.parameters.get("required"))


def _is_simple(tool: ToolSpec) -> bool:
    """Tell whether the question alone can fill what the tool requires."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    return len(required) <= 1 and all(
        properties.get(name, {}).get("type") == "string" for name in required
    )


def _arguments(tool: ToolSpec, question: str) -> Mapping[str, Any]:
    named = _OBJECT.fullmatch(question.strip())
    return dict.fromkeys(tool.parameters.get("required", []), named[1] if named else question)


def _tasks(question: str, now: datetime | None) -> Iterator[Request]:
    if asked := _NEW_TASK.fullmatch(question.strip()):
        yield "create_action_item", {"description": asked[1], **_due(asked[1], now)}
    elif _OPEN_TASKS.search(question):
        yield "get_action_items", {"completed": False}


def _due(wanted: str, now: datetime | None) -> Mapping[str, str]:
    from shared.retrieval import dates  # a first question needs the rules, a cold start does not

    when = dates.resolve(wanted, now) if now else None
    return {"due_at": when.start.isoformat()} if when else {}


def _library(question: str, now: datetime | None) -> Iterator[Request]:
    if is_general(question):
        return
    from shared.retrieval import dates  # a first question needs the rules, a cold start does not

    when = dates.resolve(question, now) if now else None
    within = (
        {"start_date": when.start.isoformat(), "end_date": when.end.isoformat()} if when else {}
    )
    topic = dates.without(question, now) if now else question
    if when:
        yield "get_conversations", {**within, "limit": 10}
    if not when or any(weight(term) > EVERYDAY for term in terms(topic)):
        yield "search_conversations", {"query": question[:1_000], **within}
        yield "search_memories", {"query": question[:1_000]}

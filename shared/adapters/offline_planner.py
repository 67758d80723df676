"""Which tools the offline model asks for, and for which stretch of time; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from shared.domain.model import ToolSpec
from shared.retrieval.frequencies import EVERYDAY, FUNCTION, weight
from shared.retrieval.terms import terms

Request = tuple[str, Mapping[str, Any]]
Span = tuple[datetime, datetime]

LIBRARY = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)
_GREETING = re.compile(
    r"(hi|hello|hey|good (morning|afternoon|evening|night)|thanks?( you)?|bye|help)\b[^?]{0,20}\W*",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(
    r"\b(?:(?P<today>today|this morning|tonight)|(?P<yesterday>yesterday|last night)"
    r"|(?P<ago>\d{1,3}) days? ago|(?P<period>this|last) (?P<unit>week|month)"
    rf"|(?:on|last) (?P<day>{'|'.join(_DAYS)})|(?P<iso>\d{{4}}-\d\d-\d\d))\b",
    re.IGNORECASE,
)
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
    """Ask the apps whose description fits the question, or else the owner's library."""
    apps = [(tool.name, _arguments(tool, question)) for tool in tools if _fits(tool, question)]
    offered = {tool.name for tool in tools}
    return apps or [asked for asked in _library(question, now) if asked[0] in offered]


def _fits(tool: ToolSpec, question: str) -> bool:
    if tool.name in LIBRARY or not _is_simple(tool):
        return False
    shared = content(f"{tool.name} {tool.description}") & content(question)
    return len(shared) >= _MIN_SHARED


def _is_simple(tool: ToolSpec) -> bool:
    """Tell whether the question alone can fill what the tool requires."""
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    return len(required) <= 1 and all(
        properties.get(name, {}).get("type") == "string" for name in required
    )


def _arguments(tool: ToolSpec, question: str) -> Mapping[str, Any]:
    return dict.fromkeys(tool.parameters.get("required", []), question)


def _library(question: str, now: datetime | None) -> Iterator[Request]:
    when = span(question, now) if now else None
    dates = {"start_date": when[0].isoformat(), "end_date": when[1].isoformat()} if when else {}
    topic = _TIME.sub(" ", question)
    if when:
        yield "get_conversations", {**dates, "limit": 10}
    if not when or any(weight(term) > EVERYDAY for term in terms(topic)):
        yield "search_conversations", {"query": question[:1_000], **dates}
        yield "search_memories", {"query": question[:1_000]}


def span(question: str, now: datetime) -> Span | None:
    """Return the stretch of time that a question names, in the zone of `now`; its end is exclusive."""
    found = _TIME.search(question)
    if found is None:
        return None
    today = datetime.combine(now, time(), now.tzinfo)
    if found["unit"]:
        return _period(today, found["unit"].lower(), last=found["period"].lower() == "last")
    return _day(found, today)


def _period(today: datetime, unit: str, *, last: bool) -> Span:
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * last)
        return monday, monday + timedelta(days=7)
    first = today.replace(day=1)
    if last:
        return (first - timedelta(days=1)).replace(day=1), first
    return first, (first + timedelta(days=31)).replace(day=1)


def _day(found: re.Match[str], today: datetime) -> Span | None:
    if found["iso"]:
        try:
            start = datetime.fromisoformat(found["iso"]).replace(tzinfo=today.tzinfo)
        except ValueError:
            return None
    else:
        start = today - timedelta(days=_days_back(found, today))
    return start, start + timedelta(days=1)


def _days_back(found: re.Match[str], today: datetime) -> int:
    if found["today"]:
        return 0
    if found["yesterday"]:
        return 1
    if found["ago"]:
        return int(found["ago"])
    return (today.weekday() - _DAYS.index(found["day"].lower()) - 1) % 7 + 1

"""Planner of the offline model: the tool calls that a question or a request leads to, step by step; pure.

A search is made for all that nothing else answers, also where a list is empty or the manual is silent.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.adapters.embedded.offline import finds
from shared.adapters.embedded.offline.calendar import (
    Span,
    drop_hours,
    drop_relative_days,
    find_span,
    parse_moment,
    parse_number,
)
from shared.adapters.embedded.offline.intents import REQUESTS, Intent, Reading, load_examples
from shared.adapters.embedded.offline.speech import capitalise, list_terms
from shared.domain.models.model import ToolSpec
from shared.domain.value import value
from shared.retrieval.query import asks_when
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, FREQUENT_WEIGHT
from shared.retrieval.terms import tokenize

PlannedCall = tuple[str, Mapping[str, Any]]

LISTED_MEMORIES, LISTED_TALKS, LISTED_TASKS = 20, 10, 200
COUNTED_TALKS, LISTED_PLACES = 50, 20
MAX_QUERY_CHARS, MAX_MANUAL_CHARS = 1_000, 500
_MAX_NAME_WORDS = 3
_QUOTES = " .,;:!?¿¡“”\"'"
_PLURALS = frozenset(("conversations", "meetings", "talks", "calls", "recordings"))
_TALK_INTENTS: Sequence[Intent] = ("summary", "latest_talks", "last_time", "people")
"""Their words ask for talks, and for nothing that was said in them."""
_OBJECT_PHRASE = re.compile(
    r"(?!wh|how)(?:please |can you |could you )?\w+ (.+?) (?:to|on|onto|in|into|off|from) (?:the|my|our) .+",
    re.IGNORECASE | re.DOTALL,
)
"""The object of a request to an app: "please add oat milk to my list"."""
_MIN_SHARED_TERMS = 2
_OWN_TOOLS = frozenset((
    "search_conversations", "get_conversations", "delete_conversation", "search_memories", "get_memories", "remember",
    "delete_memories", "get_action_items", "create_action_item", "update_action_item", "manage_daily_summary",
    "get_product_info", "read_web_page",
))  # fmt: skip


@value
class Request:
    """What the owner asks at `now`, on their clock, and what it was read as."""

    text: str
    reading: Reading
    now: datetime | None = None

    @property
    def intent(self) -> Intent:
        return self.reading.intent

    @property
    def span(self) -> Span | None:
        """The time before now that it names. A date may be what was spoken of: it counts where nothing else is asked."""
        span = find_span(self.text, self.now, is_past=True) if self.now else None
        if span is None or not span.is_date:
            return span
        rest = list_terms(self.text.replace(span.phrase, " "), above=FREQUENT_WEIGHT)
        return None if rest - load_examples().list_form_terms("summary", "people") else span

    @property
    def dates(self) -> Mapping[str, str]:
        """The same as a tool takes it."""
        return _format_span(self.span, "start_date", "end_date")

    @property
    def phrase(self) -> str:
        """The words for that time; empty without any."""
        return self.span.phrase if self.span else ""

    def undate(self, text: str) -> str:
        """Return a text without them."""
        return text.replace(self.phrase, " ") if self.phrase else text

    @property
    def topic(self) -> frozenset[str]:
        """The terms with meaning beyond those that tell the intent and the time."""
        intents = _TALK_INTENTS if self.intent == "search" else (self.intent,)
        terms = list_terms(drop_relative_days(self.undate(self.text)), above=EVERYDAY_WEIGHT)
        return frozenset(terms - load_examples().list_form_terms(*intents))

    @property
    def name(self) -> str:
        """Who it is about: a few words in the place of a form, or beside those that tell the intent."""
        words = self.undate(self.reading.object).split()
        if not words:
            topic, bare = self.topic, [word.strip(_QUOTES) for word in self.text.split()]
            words = [word for word in bare if not topic.isdisjoint(tokenize(word))]
            words = [word for word in words if word[0].isupper() and word != bare[0]] or words
            if any(len(tokenize(word)) > len(word) for word in words):
                return ""  # a script without spaces: those who speak in what is found tell the name
        words = [word for word in words if not parse_number(word)]
        return " ".join(words) if len(words) <= _MAX_NAME_WORDS else ""

    @property
    def wanted_terms(self) -> frozenset[str]:
        """The terms of the thing that is to be changed."""
        terms = list_terms(self.undate(self.reading.object))
        return frozenset(terms - load_examples().list_form_terms(self.intent)) or self.topic

    @property
    def query(self) -> Mapping[str, str]:
        """Its words as a search takes them: those of the thing that is to be changed, or all."""
        words = (self.intent in REQUESTS and self.reading.object) or self.text
        return {"query": words[:MAX_QUERY_CHARS]}


def _format_span(span: Span | None, start: str, end: str) -> Mapping[str, str]:
    return {start: span.start.isoformat(), end: span.end.isoformat()} if span else {}


def plan(request: Request, results: finds.Results, tools: Sequence[ToolSpec]) -> list[PlannedCall]:
    """Return the next calls; none where the results so far are the answer."""
    if results:
        ways = [_plan_next(request, results)]
    else:
        first = _call_app(request.text, tools) or _FIRST.get(request.intent, _search)(request)
        ways = [first, [] if request.intent in REQUESTS else _search(request)]
    names = {tool.name for tool in tools}
    offered = ([call for call in calls if call[0] in names] for calls in ways)
    return next(filter(None, offered), [])


def _call_app(question: str, tools: Sequence[ToolSpec]) -> list[PlannedCall]:
    """Call the tools of apps that share most words, two at least; between equals, one with an argument suits an object."""
    named = _OBJECT_PHRASE.fullmatch(question.strip())
    asked, calls = list_terms(question), defaultdict[tuple[int, bool], list[PlannedCall]](list)
    for tool in tools:
        required = tool.parameters.get("required", [])
        shared = len(asked & list_terms(f"{tool.name} {tool.description}"))
        if tool.name not in _OWN_TOOLS and _takes_text(tool, required):
            arguments = dict.fromkeys(required, named[1] if named else question)
            calls[shared, bool(named) == bool(required)].append((tool.name, arguments))
    shared, suits = max(calls, default=(0, False))
    return calls[shared, suits] if shared >= _MIN_SHARED_TERMS else []


def _takes_text(tool: ToolSpec, required: Sequence[str]) -> bool:
    """Tell whether a question alone can fill what a tool requires."""
    fields = [tool.parameters.get("properties", {}).get(name, {}) for name in required]
    is_free = all(each.get("type") == "string" and "enum" not in each for each in fields)
    return is_free and len(fields) <= 1


def _plan_next(request: Request, results: finds.Results) -> list[PlannedCall]:
    if request.intent in _NEXT and len(results) == 1:
        return _NEXT[request.intent](request, results)
    names, documents = [result.name for result in results], finds.collect_documents(results)
    searches = names.count("search_conversations")
    if not documents and (names == ["get_conversations"] or (searches == 1 and request.span)):
        # in March people ask for what they said of March
        return _search(request, any_time=request.intent != "count_talks")
    speaker = finds.find_speaker(request.text, finds.list_speakers(finds.list_passages(documents)))
    is_searched = searches and names[-1] != "get_conversations"
    return _list_talks_of(speaker, request) if is_searched and speaker else []


def _list_talks_of(speaker: str, request: Request) -> list[PlannedCall]:
    """List the talks with somebody where nothing else is asked for."""
    is_whole = request.topic <= set(tokenize(speaker)) and not asks_when(request.text)
    asks_for_talks = request.intent in ("last_time", "count_talks") or (
        is_whole and request.intent in ("search", "summary", "latest_talks")
    )
    few = LISTED_TALKS if request.span else 1
    limit = COUNTED_TALKS if request.intent == "count_talks" else few
    return [_list_talks(request, limit, speaker)] if asks_for_talks else []


def _search(request: Request, *, any_time: bool = False) -> list[PlannedCall]:
    """Search conversations and memories, and list the time that is named."""
    dates = {} if any_time else request.dates
    limit = {"limit": LISTED_PLACES} if request.intent == "count_talks" else {}
    return [
        *([_list_talks(request)] if dates else []),
        ("search_conversations", {**request.query, **dates, **limit}),
        ("search_memories", request.query),
    ]


def _list_talks(
    request: Request, limit: int = LISTED_TALKS, speaker: str = "", **more: Any
) -> PlannedCall:
    of_speaker = {"speaker": speaker} if speaker else {}
    return "get_conversations", {**of_speaker, **request.dates, "limit": limit, **more}


def _list_tasks(**arguments: Any) -> PlannedCall:
    return "get_action_items", arguments


def _add_task(request: Request) -> list[PlannedCall]:
    words = request.reading.object or request.text
    moment = parse_moment(request.text, request.now) if request.now else None
    if moment:
        words = drop_relative_days(drop_hours(words) if moment.exact else words)
    due = {"due_at": moment.at.isoformat()} if moment else {}
    return [("create_action_item", {"description": capitalise(words), **due})]


def _list_due_tasks(request: Request) -> list[PlannedCall]:
    span = find_span(request.text, request.now, is_past=False) if request.now else None
    due = _format_span(span, "due_start_date", "due_end_date")
    return [_list_tasks(completed=False, **due), *(_search(request) if request.topic else [])]


def _list_tasks_of_others(request: Request) -> list[PlannedCall]:
    owner = {"owner_name": request.name} if request.name else {"owner": "other"}
    return [_list_tasks(**owner), ("search_conversations", request.query)]


def _list_latest(request: Request) -> list[PlannedCall]:
    """List as many of the newest as are asked for: a number, or several without one."""
    words = request.undate(request.text).rstrip(_QUOTES).split()
    count = next(filter(None, map(parse_number, words)), 0)
    several = LISTED_TALKS if not _PLURALS.isdisjoint(map(str.casefold, words)) else 1
    speaker = "" if count else request.name
    return [_list_talks(request, min(count or several, LISTED_TALKS), speaker)]


def _list_people(request: Request) -> list[PlannedCall]:
    talks = _list_talks(request, include_transcript=True)
    searches = [call for call in _search(request) if call[0] != talks[0]] if request.topic else []
    return [*([talks] if request.span or not request.topic else []), *searches]


def _forget(request: Request, results: finds.Results) -> list[PlannedCall]:
    memories = finds.choose(request.wanted_terms, finds.collect_memories(results), finds.join_texts)
    named = [{"memory_id": memory["id"], "text": memory["text"]} for memory in memories]
    return [("delete_memories", {"memories": named})] if named else []


def _complete_task(request: Request, results: finds.Results) -> list[PlannedCall]:
    chosen = finds.choose(request.wanted_terms, finds.parse_tasks(results[0].text))
    done = [{"action_item_id": task.id, "completed": True} for task in chosen]
    return [("update_action_item", done[0])] if len(done) == 1 else []


def _delete_talk(request: Request, results: finds.Results) -> list[PlannedCall]:
    """Delete the one that fits best, or each that fits as well where all are meant."""
    talks = finds.choose(request.wanted_terms, finds.collect_documents(results), finds.join_texts)
    meant = talks if request.intent == "delete_talks" else talks[:1]
    return [("delete_conversation", {"conversation_id": t["conversation_id"]}) for t in meant]


_FIRST: Mapping[Intent, Callable[[Request], list[PlannedCall]]] = {
    "people": _list_people, "latest_talks": _list_latest, "add_task": _add_task, "open_tasks": _list_due_tasks,
    "others_tasks": _list_tasks_of_others,
    "overdue_tasks": lambda r: [_list_tasks(completed=False, **({"due_end_date": r.now.isoformat()} if r.now else {}))],
    "done_tasks": lambda _: [_list_tasks(completed=True)],
    "own_promises": lambda r: [_list_tasks(completed=False), ("search_conversations", r.query)],
    "complete_task": lambda _: [_list_tasks(completed=False, limit=LISTED_TASKS)],
    "remember": lambda r: [("remember", {"fact": r.reading.object or r.text})],
    "forget": lambda r: [("search_memories", r.query)] if r.wanted_terms else [],
    "delete_talk": lambda r: [("search_conversations", {**r.query, **r.dates})],
    "delete_talks": lambda r: [("search_conversations", {**r.query, **r.dates, "limit": LISTED_PLACES})],
    "count_talks": lambda r: [_list_talks(r, COUNTED_TALKS, r.name)] if r.name or not r.topic else [],
    "last_time": lambda r: [_list_talks(r, 1, r.name)] if r.name else [],
    "summary": lambda r: [_list_talks(r)] if r.span and not r.topic else [],
    "about_owner": lambda r: [] if r.topic else [("get_memories", {"limit": LISTED_MEMORIES})],
    "manual": lambda r: [("get_product_info", {"query": r.text[:MAX_MANUAL_CHARS]})],
}  # fmt: skip
"""What an intent begins with; others, and those that have nothing to call, begin with a search."""
_NEXT: Mapping[Intent, Callable[[Request, finds.Results], list[PlannedCall]]] = {
    "forget": _forget, "complete_task": _complete_task, "delete_talk": _delete_talk, "delete_talks": _delete_talk,
    "manual": lambda r, results: _search(r) if results[0].is_silent else [],
}  # fmt: skip
"""What follows the first call of an intent that asks for a second one."""

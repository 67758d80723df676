"""Planner of the offline model: the tool calls that a question or a request leads to, step by step; pure.

A search is made for all that nothing else answers, also where a list is empty or the manual is silent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.adapters.embedded.offline.app_calls import plan_app_calls
from shared.adapters.embedded.offline.calendar import (
    Span,
    drop_hours,
    drop_past_span,
    drop_relative_days,
    find_coming_span,
    find_past_day,
    find_past_span,
    parse_moment,
    parse_number,
)
from shared.adapters.embedded.offline.intents import REQUESTS, Intent, Reading, list_form_terms
from shared.adapters.embedded.offline.quotes import find_speaker, quote_passages
from shared.adapters.embedded.offline.results import (
    Results,
    choose_memories,
    choose_talk,
    choose_tasks,
    collect_documents,
    is_silent,
    parse_tasks,
)
from shared.adapters.embedded.offline.speech import capitalise, list_content_terms
from shared.domain.models.model import ToolSpec
from shared.domain.value import value
from shared.retrieval.query import asks_when
from shared.retrieval.term_weights import EVERYDAY_WEIGHT, FREQUENT_WEIGHT, get_term_weight
from shared.retrieval.terms import tokenize

PlannedCall = tuple[str, Mapping[str, Any]]

LISTED_MEMORIES = 20
LISTED_CONVERSATIONS = 10
COUNTED_CONVERSATIONS = 50
LISTED_TASKS = 200
MAX_QUERY_CHARS, MAX_MANUAL_CHARS = 1_000, 500
_ASKING_TALKS = 5
"""The newest conversations with somebody in which it is looked for what they asked."""
_MAX_NAME_WORDS = 3
_QUOTES = " .,;:!?¿¡“”\"'"


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
    def name(self) -> str:
        """Who it is about: a few words in the place of a form, or beside those that tell the intent."""
        words = drop_past_span(self.reading.object).split()
        if not words:
            topic, bare = self.topic, [word.strip(_QUOTES) for word in self.text.split()]
            words = [word for word in bare if word and not topic.isdisjoint(tokenize(word))]
            words = [word for word in words if word[0].isupper() and word != bare[0]] or words
            if any(len(tokenize(word)) > len(word) for word in words):
                return ""  # a script without spaces: those who speak in what is found tell the name
        return " ".join(words) if len(words) <= _MAX_NAME_WORDS else ""

    @property
    def wanted_terms(self) -> frozenset[str]:
        """The terms of the thing that is to be changed."""
        terms = list_content_terms(drop_past_span(self.reading.object))
        return frozenset(terms - list_form_terms(self.intent)) or self.topic

    @property
    def query(self) -> Mapping[str, str]:
        """Its words as a search takes them: those of the thing that is to be changed, or all."""
        is_request = self.intent in REQUESTS
        words = (is_request and self.reading.object) or self.text
        return {"query": words[:MAX_QUERY_CHARS]}

    @property
    def span(self) -> Span | None:
        """The time before now that it names; a date may also be what was spoken of."""
        if self.now is None:
            return None
        return find_past_span(self.text, self.now) or self._find_bare_day(self.now)

    @property
    def dates(self) -> Mapping[str, str]:
        """The same as a tool takes it."""
        span = self.span
        if span is None:
            return {}
        return {"start_date": span.start.isoformat(), "end_date": span.end.isoformat()}

    @property
    def topic(self) -> frozenset[str]:
        """The terms with meaning beyond those that tell the intent and the time."""
        intents = _TALK_INTENTS if self.intent == "search" else (self.intent,)
        terms = set(tokenize(drop_relative_days(drop_past_span(self.text)))).difference(
            *map(list_form_terms, intents)
        )
        return frozenset(term for term in terms if get_term_weight(term) > EVERYDAY_WEIGHT)

    def _find_bare_day(self, now: datetime) -> Span | None:
        day = find_past_day(self.text, now)
        rest = self.text.replace(day.phrase, " ") if day else self.text
        terms = set(tokenize(rest)) - list_form_terms("summary") - list_form_terms("people")
        return None if any(get_term_weight(term) > FREQUENT_WEIGHT for term in terms) else day


def plan(request: Request, results: Results, tools: Sequence[ToolSpec]) -> list[PlannedCall]:
    """Return the next calls; none where the results so far are the answer."""
    if results:
        return _select_offered(_plan_next(request, results), tools)
    calls = plan_app_calls(request.text, tools) or _FIRST_CALLS.get(request.intent, _search)(
        request
    )
    further = [] if request.intent in REQUESTS else _search(request)
    return _select_offered(calls, tools) or _select_offered(further, tools)


def _select_offered(calls: Iterable[PlannedCall], tools: Sequence[ToolSpec]) -> list[PlannedCall]:
    names = {tool.name for tool in tools}
    return [call for call in calls if call[0] in names]


def _plan_next(request: Request, results: Results) -> list[PlannedCall]:
    names = [result.name for result in results]
    further = _NEXT_CALLS.get(request.intent)
    if further is not None and len(results) == 1:
        return further(request, results)
    has_found = bool(collect_documents(results))
    if "search_conversations" not in names:
        is_done = has_found or not {"get_conversations"}.issuperset(names)
        return [] if is_done else _search(request, any_time=True)
    if names.count("search_conversations") == 1 and request.span and not has_found:
        return _search(request, any_time=True)  # in March people ask for what they said of March
    return _list_talks_of_speaker(request, results)


def _list_talks_of_speaker(request: Request, results: Results) -> list[PlannedCall]:
    """List the talks with whom a question names, where it names nothing else."""
    is_of_speaker = request.intent in _OF_SPEAKER
    if request.intent not in _OF_TALKS or (asks_when(request.text) and not is_of_speaker):
        return []
    speaker = find_speaker(request.text, quote_passages(collect_documents(results)))
    is_whole = is_of_speaker or request.topic <= set(tokenize(speaker))
    if not speaker or not is_whole or results[-1].name == "get_conversations":
        return []
    limit = LISTED_CONVERSATIONS if request.span else 1
    limit = COUNTED_CONVERSATIONS if request.intent == "count_talks" else limit
    return [_list_talks(request, limit, speaker)]


def _search(request: Request, *, any_time: bool = False) -> list[PlannedCall]:
    """Search conversations and memories, and list the time that is named."""
    dates = {} if any_time else request.dates
    listing = [_list_talks(request, LISTED_CONVERSATIONS)] if dates else []
    return [
        *listing,
        ("search_conversations", {**request.query, **dates}),
        ("search_memories", request.query),
    ]


def _list_talks(request: Request, limit: int, speaker: str = "") -> PlannedCall:
    of_speaker = {"speaker": speaker} if speaker else {}
    return "get_conversations", {**of_speaker, **request.dates, "limit": limit}


def _add_task(request: Request) -> list[PlannedCall]:
    words = request.reading.object or request.text
    moment = parse_moment(request.text, request.now) if request.now else None
    if moment:
        words = drop_relative_days(drop_hours(words) if moment.exact else words)
    due = {"due_at": moment.at.isoformat()} if moment else {}
    return [("create_action_item", {"description": capitalise(words), **due})]


def _forget(request: Request, results: Results) -> list[PlannedCall]:
    memories = choose_memories(request.wanted_terms, results)
    named = [{"memory_id": memory["id"], "text": memory["text"]} for memory in memories]
    return [("delete_memories", {"memories": named})] if named else []


def _delete_talk(request: Request, results: Results) -> list[PlannedCall]:
    talk = choose_talk(request.wanted_terms, results)
    return [("delete_conversation", {"conversation_id": talk["conversation_id"]})] if talk else []


def _list_tasks(request: Request) -> list[PlannedCall]:
    span = find_coming_span(request.text, request.now) if request.now else None
    due = {
        "due_start_date": span.start.isoformat(), "due_end_date": span.end.isoformat(),
    } if span else {}  # fmt: skip
    return [(_TASKS, {"completed": False, **due})]


def _search_beside_tasks(request: Request, results: Results) -> list[PlannedCall]:
    """Search where no task has what is asked for."""
    has_tasks = choose_tasks(request.topic, parse_tasks(results[0].text))
    return _search(request) if request.topic and not has_tasks else []


def _complete_task(request: Request, results: Results) -> list[PlannedCall]:
    chosen = choose_tasks(request.wanted_terms, parse_tasks(results[0].text))
    if len(chosen) != 1:
        return []
    return [("update_action_item", {"action_item_id": chosen[0].id, "completed": True})]


def _list_latest(request: Request) -> list[PlannedCall]:
    """List as many of the newest as are asked for: a number, or several without one."""
    count = next(filter(None, map(parse_number, request.text.split())), 0)
    is_plural = not _PLURALS.isdisjoint(request.text.casefold().rstrip("?").split())
    limit = min(count or (LISTED_CONVERSATIONS if is_plural else 1), LISTED_CONVERSATIONS)
    speaker = {"speaker": request.name} if request.name and not count else {}
    return [("get_conversations", {"limit": limit, **speaker})]


def _list_people(request: Request) -> list[PlannedCall]:
    name, listing = _list_talks(request, LISTED_CONVERSATIONS)
    talks = [(name, {**listing, "include_transcript": True})]
    searches = [call for call in _search(request) if call[0] != name]
    return [
        *(talks if request.span or not request.topic else ()),
        *(searches if request.topic else ()),
    ]


def _find_person(request: Request) -> list[PlannedCall]:
    name = {"query": request.name}
    search = "search_conversations", {**name, "people": [request.name], "limit": 5}
    return [search, ("search_memories", name)] if request.name else []


def _find_requests(request: Request) -> list[PlannedCall]:
    whole = {"limit": _ASKING_TALKS, "include_transcript": True}
    talks = "get_conversations", {"speaker": request.name, **whole}
    return [talks, ("search_conversations", request.query)] if request.name else []


_OF_SPEAKER: frozenset[Intent] = frozenset(("last_time", "count_talks"))
_OF_TALKS: frozenset[Intent] = _OF_SPEAKER.union(("search", "summary", "latest_talks"))
_PLURALS = frozenset(("conversations", "meetings", "talks", "calls", "recordings"))
_TALK_INTENTS: Sequence[Intent] = ("summary", "latest_talks", "last_time", "people")
"""Their words ask for talks, and for nothing that was said in them."""
_TASKS = "get_action_items"
_FIRST_CALLS: Mapping[Intent, Callable[[Request], list[PlannedCall]]] = {
    "add_task": _add_task,
    "remember": lambda r: [("remember", {"fact": r.reading.object or r.text})],
    "forget": lambda r: [("search_memories", r.query)] if r.wanted_terms else [],
    "complete_task": lambda _: [(_TASKS, {"completed": False, "limit": LISTED_TASKS})],
    "delete_talk": lambda r: [("search_conversations", {**r.query, **r.dates})],
    "open_tasks": _list_tasks,
    "overdue_tasks": lambda r: [
        (_TASKS, {"completed": False, **({"due_end_date": r.now.isoformat()} if r.now else {})})
    ],
    "done_tasks": lambda _: [(_TASKS, {"completed": True})],
    "own_promises": lambda r: [(_TASKS, {"completed": False}), ("search_conversations", r.query)],
    "others_tasks": lambda r: [
        (_TASKS, {"owner_name": r.name} if r.name else {"owner": "other"}),
        ("search_conversations", r.query),
    ],
    "last_time": lambda r: [_list_talks(r, 1, r.name)] if r.name else [],
    "count_talks": lambda r: (
        [_list_talks(r, COUNTED_CONVERSATIONS, r.name)] if r.name or not r.topic else []
    ),
    "latest_talks": _list_latest,
    "people": _list_people,
    "summary": lambda r: [_list_talks(r, LISTED_CONVERSATIONS)] if r.span and not r.topic else [],
    "about_owner": lambda r: (
        _find_person(r) if r.topic else [("get_memories", {"limit": LISTED_MEMORIES})]
    ),
    "person": _find_person,
    "asked_of_owner": _find_requests,
    "manual": lambda r: [("get_product_info", {"query": r.text[:MAX_MANUAL_CHARS]})],
}
"""What an intent begins with; others begin with a search."""
_NEXT_CALLS: Mapping[Intent, Callable[[Request, Results], list[PlannedCall]]] = {
    "forget": _forget,
    "complete_task": _complete_task,
    "delete_talk": _delete_talk,
    "open_tasks": _search_beside_tasks,
    "manual": lambda r, results: _search(r) if is_silent(results[0]) else [],
}
"""What follows the first call of an intent that asks for a second one."""

"""Planner of the offline model: the tool calls that a question leads to, with their dates; pure.

A question asks for tasks, for what is known of its owner, for a stretch of time, or for a topic.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.adapters.embedded.offline.calendar import parse_moment, parse_number
from shared.adapters.embedded.offline.general import is_general
from shared.adapters.embedded.offline.results import LIBRARY_TOOLS, Results, collect_documents
from shared.adapters.embedded.offline.spans import (
    Span,
    find_coming_span,
    find_past_day,
    find_past_span,
)
from shared.domain.models.model import ToolSpec
from shared.retrieval.term_weights import (
    EVERYDAY_WEIGHT,
    FREQUENT_WEIGHT,
    FUNCTION_WEIGHT,
    get_term_weight,
    list_english_terms,
)
from shared.retrieval.terms import tokenize

PlannedCall = tuple[str, Mapping[str, Any]]

_TASK_TOOLS = frozenset({"get_action_items", "create_action_item", "update_action_item"})
_SETTING_TOOLS = frozenset({"remember", "manage_daily_summary"})
_MANUAL_TOOLS = frozenset({"get_product_info", "read_web_page"})
_REMEMBER = re.compile(
    r"(?:please |can you |could you )?(?:remember|keep in mind|note|write down|don['’]t forget)"
    r"(?: that|:| down(?: that)?)? (?!to\b|when\b|how\b|what\b|who\b)(.+?)[.!]?",
    re.IGNORECASE | re.DOTALL,
)
_DONE_TASKS = re.compile(
    r"\b(done|finished|completed)\b.*\b(tasks|to-?dos?|action items)\b"
    r"|\b(tasks|to-?dos?|action items)\b.*\b(done|finish(ed)?|completed?)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"(?i:who(?:['’]s| is| was)|tell me (?:more |something )?about|what do you know about) "
    r"((?:[A-Z][a-z]*\.? )?[A-Z]\w+)\W*",
)
_TASKS_OF_PERSON = re.compile(
    r"\b(?:do|tasks|to-?dos?|open|due|left) (?:for|with|about|from) (?!Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)([A-Z]\w+)"
)
_PROMISES_OF_PERSON = re.compile(
    r"\b(?i:what (?:else )?(?:did|does|has|had|must|should|will)) (?P<name>[A-Z]\w+(?: [A-Z]\w+)?) (?i:still )?"
    r"(?i:promised?\b|owes?\b|(?:have|need|ha[ds]|(?:agree|offer)(?:ed)?|promised?) to (?:do|bring|send|give)\b|do for me\b)"
)
_WAITING = re.compile(
    r"\bwaiting (?:for|on)\b(?! \w+ing)|\bwhat (?:did|have|do) (?:others|people|they|everyone) (?:promised?|owe)\b"
    r"|\bwho (?:owes|promised) me\b",
    re.IGNORECASE,
)
_REQUESTS_OF_PERSON = re.compile(
    r"\bwhat (?:else )?(?:did|does|has|had|would) (?P<name>.{1,40}?) (?:still )?"
    r"(?:\w+ (?:me|us) to\b|\w+ (?:from|of) (?:me|us)\b|ask(?:ed)? (?:me|us)\b)",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"(with )?who(m)? (did|have|was|were|talked|spoke|said|mentioned|told)\b", re.IGNORECASE
)
_THANKS = re.compile(r"\s*(many )?(thanks|thank you|thx|cheers)\b[^?]{0,60}", re.IGNORECASE)
_GOODBYE = re.compile(r"\s*(good ?bye|bye( bye)?|see you|good night)\b[^?]{0,40}", re.IGNORECASE)
_NEW_TASK = re.compile(
    r"(?:please )?(?:remind me to|(?:add|create|make) a (?:task|to-?do)(?: to|:)?) (.+?)[.!]?",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT_PHRASE = re.compile(
    r"(?!wh|how)(?:please |can you |could you )?\w+ (.+?) (?:to|on|onto|in|into|off|from) (?:the|my|our) .+",
    re.IGNORECASE | re.DOTALL,
)
"""The object of a request: "please add oat milk to my list"."""
_OPEN_TASKS = re.compile(
    r"""\b(to-?dos?|to-do\ list|tasks|action\ items)\b
    | \bwhat\ (do|must|should|did)\ i\ (still\ )?((have|need|promise|want)\ to\ )?do\b(?!\ (with|about|for))
    | \b(what|anything)\ ?('s|\ is|\ are)?\ (still\ )?(open|due|pending|left\ to\ do)\b
    | \bdo\ i\ have\ (anything|something|to\ do\ anything)\ (to\ do|due|open)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OWN_PROMISES = re.compile(
    r"what (?:did|have) i promised?(?: to)?(?: (?:whom|who|anyone|anybody|people|others))?\W*",
    re.IGNORECASE,
)
"""Asks what the owner promised, whoever it was to."""
_ABOUT_OWNER = re.compile(
    r"\b(know|learn(ed|t)?|remember(ed)?|stored?|noted?)\ (\w+ )?(about|of)\ me\b|\bwho\ am\ i\b|\bmy\ memories\b",
    re.IGNORECASE | re.VERBOSE,
)
_LATEST = re.compile(
    r"\b(?:my|the|our) (?:last|latest|most recent|newest) (?:(?P<count>\w+) )?"
    r"(?:conversation|meeting|talk|call|recording)(?P<plural>s)?\b(?: with (?P<speaker>\w+))?",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\b(summar(y|i[sz]e)|recap|overview|what happened|what (was|went) on|sum up)\b", re.IGNORECASE
)
_MENTIONS = re.compile(
    r"\b(?:(?:any|some|every)(?:one|body) )?(?:mention|discuss)(?:ed)?\b", re.IGNORECASE
)
_WHAT_I_DID = re.compile(r"\bwhat (have|did) i (still )?(do|done)\b", re.IGNORECASE)
_PRODUCT = re.compile(r"\bkeepsake\b", re.IGNORECASE)
_TALK = re.compile(
    r"\b(said?|say|told|talk(ed)?|spoken?|mention(ed)?|decided|promised|yesterday|last)\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(hi|hello|hey|what['’]?s up|good (morning|afternoon|evening|night)|thanks?( you)?|bye|help)\b[^?]{0,20}\W*",
    re.IGNORECASE,
)
_PERSONAL_PRONOUN = re.compile(r"\b(i|me|my|mine|we|us|our)\b", re.IGNORECASE)
LISTED_MEMORIES = 20
LISTED_CONVERSATIONS = 10
_ASKING_TALKS = 5
"""The newest conversations with somebody in which it is looked for what they asked."""
_MIN_SHARED_TERMS = 2


def extract_content_terms(text: str) -> set[str]:
    """Return the terms with meaning."""
    return {term for term in tokenize(text) if get_term_weight(term) > FUNCTION_WEIGHT}


def has_content(text: str) -> bool:
    """Tell whether a text names anything, in words that are not of every day."""
    return any(get_term_weight(term) > EVERYDAY_WEIGHT for term in tokenize(text))


def is_thanks(question: str) -> bool:
    return _THANKS.fullmatch(question) is not None


def is_greeting(question: str) -> bool:
    return _GREETING.fullmatch(question.strip()) is not None


def is_goodbye(question: str) -> bool:
    return _GOODBYE.fullmatch(question) is not None


def find_person(question: str) -> str | None:
    """Return the name of a question that asks who somebody is."""
    match = _PERSON.fullmatch(question.strip())
    return match[1] if match else None


def asks_who(question: str) -> bool:
    """Tell whether a question asks for the people of a conversation."""
    return _WHO.match(question.strip()) is not None


def find_asker(question: str) -> str | None:
    """Return the name of a question for what somebody asked of its owner."""
    match = _REQUESTS_OF_PERSON.search(question)
    return match["name"] if match else None


def find_task_person(question: str) -> str | None:
    """Return the name of a question that asks for the tasks which concern somebody."""
    match = _TASKS_OF_PERSON.search(question)
    return match[1] if match else None


def find_task_owner(question: str) -> Mapping[str, str]:
    """Return whose tasks a question asks for, as the task tool takes it; empty for the owner's own."""
    if match := _PROMISES_OF_PERSON.search(question):
        return {"owner_name": match["name"]}
    return {"owner": "other"} if _WAITING.search(question) else {}


def is_english(question: str) -> bool:
    """Tell English from other languages by the words that every sentence needs."""
    words = set(tokenize(question))
    english = words & list_english_terms()
    foreign = {w for w in words - english if get_term_weight(w) == FUNCTION_WEIGHT}
    return len(foreign) <= len(english) and (question.isascii() or len(english) != 1)


def is_small_talk(question: str) -> bool:
    """Tell a greeting, or a question about the assistant, from one about the owner's life."""
    if is_greeting(question):
        return True
    return not has_content(question) and not _PERSONAL_PRONOUN.search(question)


def plan(question: str, now: datetime | None, tools: Sequence[ToolSpec]) -> list[PlannedCall]:
    """Call the apps whose description fits the question best, or else the manual, tasks or library.

    A general question calls no library tool.
    """
    app_calls = [
        (tool.name, _build_arguments(tool, question)) for tool in _select_best(tools, question)
    ]
    own_calls = (
        [*_plan_task_calls(question, now)]
        or select_offered(_plan_manual_calls(question), tools)
        or [*_plan_library_calls(question, now)]
    )
    return app_calls or select_offered(own_calls, tools)


def select_offered(calls: Iterable[PlannedCall], tools: Sequence[ToolSpec]) -> list[PlannedCall]:
    names = {tool.name for tool in tools}
    return [call for call in calls if call[0] in names]


def _select_best(tools: Sequence[ToolSpec], question: str) -> Iterator[ToolSpec]:
    """Yield the apps' tools that fit best; none where too few words are shared."""
    fits = {tool.name: _measure_fit(tool, question) for tool in tools if _is_app_tool(tool)}
    best_fit = max((fit for fit in fits.values() if fit[0] >= _MIN_SHARED_TERMS), default=None)
    yield from (tool for tool in tools if best_fit is not None and fits.get(tool.name) == best_fit)


def _is_app_tool(tool: ToolSpec) -> bool:
    return (
        tool.name not in LIBRARY_TOOLS | _TASK_TOOLS | _SETTING_TOOLS | _MANUAL_TOOLS
        and _is_simple(tool)
    )


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
    return len(required) <= 1 and all(_takes_text(properties.get(name, {})) for name in required)


def _takes_text(parameter: Mapping[str, Any]) -> bool:
    return parameter.get("type") == "string" and "enum" not in parameter


def _build_arguments(tool: ToolSpec, question: str) -> Mapping[str, Any]:
    match = _OBJECT_PHRASE.fullmatch(question.strip())
    return dict.fromkeys(tool.parameters.get("required", []), match[1] if match else question)


def _plan_task_calls(question: str, now: datetime | None) -> Iterator[PlannedCall]:
    if match := _NEW_TASK.fullmatch(question.strip()):
        description = match[1][:1].upper() + match[1][1:]
        yield "create_action_item", {"description": description, **_parse_due(match[1], now)}
    elif match := _REMEMBER.fullmatch(question.strip()):
        yield "remember", {"fact": match[1]}
    elif _DONE_TASKS.search(question):
        yield "get_action_items", {"completed": True}
    elif find_task_person(question):
        yield "get_action_items", {"completed": False}
    elif others := find_task_owner(question):
        yield "get_action_items", others
        yield "search_conversations", {"query": question[:1_000]}
    elif _OWN_PROMISES.fullmatch(question.strip()):
        yield "get_action_items", {"completed": False}
        yield "search_conversations", {"query": question[:1_000]}
    elif _OPEN_TASKS.search(question) and not _WHAT_I_DID.search(question):
        span = find_coming_span(question, now) if now else None
        yield "get_action_items", {"completed": False, **_build_due_range(span)}


def _parse_due(text: str, now: datetime | None) -> Mapping[str, str]:
    due = parse_moment(text, now) if now else None
    return {"due_at": due.at.isoformat()} if due else {}


def _build_due_range(span: Span | None) -> Mapping[str, str]:
    if span is None:
        return {}
    return {"due_start_date": span.start.isoformat(), "due_end_date": span.end.isoformat()}


def _plan_manual_calls(question: str) -> Iterator[PlannedCall]:
    """Look up what asks about Keepsake itself, and not what somebody said of it."""
    if _PRODUCT.search(question) and not _TALK.search(question):
        yield "get_product_info", {"query": question[:500]}


def _plan_library_calls(question: str, now: datetime | None) -> Iterator[PlannedCall]:
    if is_general(question):
        return
    span = (find_past_span(question, now) or _find_bare_day(question, now)) if now else None
    if name := find_person(question):
        yield "search_conversations", {"query": name, "people": [name], "limit": 5}
        yield "search_memories", {"query": name}
    elif asker := find_asker(question):
        whole = {"limit": _ASKING_TALKS, "include_transcript": True}
        yield "get_conversations", {"speaker": asker, **whole}
        yield "search_conversations", {"query": question[:1_000]}
    elif _ABOUT_OWNER.search(question):
        yield "get_memories", {"limit": LISTED_MEMORIES}
    elif span is None and (latest := _LATEST.search(question)):
        speaker = {"speaker": latest["speaker"]} if latest["speaker"] else {}
        yield "get_conversations", {"limit": _parse_count(latest), **speaker}
    else:
        yield from _plan_search(question, span)


def plan_without_time(question: str, results: Results, now: datetime | None) -> list[PlannedCall]:
    """Search once more at any time: people ask in March for what they said of March in May."""
    is_first = [result.name for result in results].count("search_conversations") == 1
    has_span = now is not None and find_past_span(question, now) is not None
    is_empty = not collect_documents(results)
    return [*_plan_search(question, None)] if is_first and has_span and is_empty else []


def _parse_count(latest: re.Match[str]) -> int:
    """Return how many of the latest conversations are asked for."""
    count = parse_number(latest["count"] or "")
    usual = LISTED_CONVERSATIONS if latest["plural"] else 1
    return min(count or usual, LISTED_CONVERSATIONS)


def list_dates(span: Span) -> Mapping[str, str]:
    return {"start_date": span.start.isoformat(), "end_date": span.end.isoformat()}


def drop_summary_words(question: str) -> str:
    return _SUMMARY.sub(" ", question)


def drop_mentions(question: str) -> str:
    """Return a question without that something is said: its answer need not say so."""
    return _MENTIONS.sub(" ", question)


def _find_bare_day(question: str, now: datetime) -> Span | None:
    """Return the day of a question that asks for nothing but the day; a date may also be what was spoken of."""
    day = find_past_day(question, now)
    rest = question.replace(day.phrase, " ") if day else question
    terms = tokenize(drop_mentions(drop_summary_words(rest)))
    return None if any(get_term_weight(term) > FREQUENT_WEIGHT for term in terms) else day


def _plan_search(question: str, span: Span | None) -> Iterator[PlannedCall]:
    """List a stretch of time, search a topic, or both where a question names both."""
    dates = list_dates(span) if span else {}
    topic = question.replace(span.phrase, " ", 1) if span else question
    is_summary = bool(span and _SUMMARY.search(question))
    if span:
        speakers = {"include_transcript": True} if asks_who(question) else {}
        yield "get_conversations", {**dates, "limit": LISTED_CONVERSATIONS, **speakers}
    if not is_summary and (span is None or has_content(drop_mentions(topic))):
        yield "search_conversations", {"query": question[:1_000], **dates}
        yield "search_memories", {"query": question[:1_000]}

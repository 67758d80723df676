"""Answers of the offline model: cited quotations of what the tools returned, and what is counted in it; pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from shared.adapters.embedded.offline.calendar import drop_past_span, find_past_phrase
from shared.adapters.embedded.offline.intents import REQUESTS, Intent, Reading
from shared.adapters.embedded.offline.planner import Request
from shared.adapters.embedded.offline.quotes import (
    OWNER_NAMES,
    Quote,
    correct_spelling,
    find_speaker,
    format_place,
    is_answered,
    quote_passages,
    select_closest,
    show_places,
)
from shared.adapters.embedded.offline.results import (
    LIBRARY_TOOLS,
    MANUAL_PAGE,
    TASK_TOOLS,
    Result,
    Results,
    Task,
    choose_tasks,
    collect_documents,
    collect_memories,
    format_day,
    format_overview,
    format_tasks,
    is_silent,
    list_texts,
    parse_tasks,
)
from shared.adapters.embedded.offline.speech import Sentence
from shared.adapters.embedded.offline.tasks import find_requests
from shared.domain.tasks.owner_words import address_owner
from shared.retrieval.query import asks_when

GREETING = (
    "Hello! I am Keepsake's offline model: I do not write answers of my own, I quote your "
    "conversations and memories. Ask me what somebody said, what you have to do, what happened last week, "
    "or what I know about you. I write down, tick off and delete, too: “Remind me to call Ann tomorrow.” "
    "“Mark the train tickets as done.” “Remember that I like green tea.” “Forget that I like green tea.”"
)
CANNOT_ANSWER_GENERAL = (
    "I found nothing about that in what you stored. I am Keepsake's offline model: I quote your "
    "conversations and memories, and know nothing of the world beyond them. A language model can answer "
    "that, once one is set up in the settings."
)
NOTHING_FOUND = (
    "I found nothing about that in your conversations and memories. It may help to ask with other words, "
    "or to add the conversation first."
)
NEAREST_ONLY = "I found nothing that clearly answers this. What comes nearest:"
FOUND = "Here is what I found:"
SEARCH_DOWN = (
    "I could not search everything just now, so something about that may be missing. Please try "
    "again in a minute."
)
WELCOME = "You're welcome! Ask me again whenever you like."
GOODBYE = "Goodbye! What you told me is kept for next time."
MANUAL_IS_SILENT = "Keepsake's manual says nothing about that."
LAST_TALK = "Your latest conversation with {speaker} was on {day}:"
TALKS = "Your conversations with {speaker} {phrase}:"
NO_TALKS = "I found no conversation with {speaker} {phrase}."
COUNT = "{count} {noun}{speaker}{phrase}:"
PEOPLE = "You talked with {names}:"
OTHERS_TASKS = "Promised by others, or asked of them:"
NO_SUCH_TASK = "No open task is about that. Your open tasks:"
WHICH_TASK = "Several open tasks may be meant. Say which one is done:"
NO_SUCH_MEMORY = "I remember nothing that says so."
NAME_MEMORY = "Say what I should forget, such as “Forget that I like tea”. “Undo” takes back what I changed last."
NO_SUCH_TALK = "I found no conversation about that to delete."
CONSENT_NEEDED = "I did not do that: it needs your consent."
_CONSENT_PREFIX = "Error: The owner "
"""Begins the reasons why the owner's consent is missing; their words are for models."""
_TOTAL = re.compile(r"(\d+) in all")
_MAX_OVERVIEWS = 10
_MAX_OPENING = 4
"""Sentences of a passage that shares no word with the question."""
_MIDDLE = 2
"""The sentence that is shown with its neighbours where a passage shares no word with the question."""
_BEST_DOCUMENTS = 2
_MAX_REQUESTS = 5
_LISTS = frozenset({"get_conversations", "get_memories"})
"""Tools whose results answer without a word of the question."""
SMALL_TALK: Mapping[Intent, str] = {"greeting": GREETING, "thanks": WELCOME, "goodbye": GOODBYE}


def answer(request: Request, results: Results) -> str:
    """Answer from what the tools returned: the apps' texts, what is counted, and the nearest places."""
    told = [_format_result(request, result) for result in results if _is_told(result)]
    is_search_down = any(
        result.name in LIBRARY_TOOLS and result.text.startswith("Error: ") for result in results
    )
    quotes = _answer_from_library(request, results)
    is_elsewhere = request.intent == "open_tasks" and NEAREST_ONLY in quotes and not any(told)
    if is_elsewhere and (tasks := parse_tasks(results[0].text)):
        told = [_list_open_tasks(NO_SUCH_TASK, request, tasks)]
    parts = [
        *filter(None, told),
        *([] if any(told) and NEAREST_ONLY in quotes and not is_elsewhere else quotes),
        *([SEARCH_DOWN] if is_search_down else []),
    ]
    if NEAREST_ONLY in parts and request.intent == "general":
        return CANNOT_ANSWER_GENERAL
    return "\n\n".join(parts) or _say_nothing_found(request, results)


def answer_from_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a question from the numbered conversations that stand beside it."""
    documents = [{**each, "document": each["number"]} for each in data["conversations"]]
    found = Result(name="search_conversations", text="", content={"results": documents})
    request = Request(text=data["question"], reading=Reading(intent="search"))
    return {"answer": answer(request, [found])}


def _say_nothing_found(request: Request, results: Results) -> str:
    if any(map(is_silent, results)):
        return MANUAL_IS_SILENT
    return CANNOT_ANSWER_GENERAL if request.intent == "general" else NOTHING_FOUND


def _is_told(result: Result) -> bool:
    return result.name not in LIBRARY_TOOLS and not is_silent(result)


def _format_result(request: Request, result: Result) -> str:
    if result.text.startswith(_CONSENT_PREFIX):
        return CONSENT_NEEDED
    if result.name in TASK_TOOLS:
        return _format_task_list(request, result)
    if result.text.startswith(MANUAL_PAGE):
        return result.text.split(f"\n\n{MANUAL_PAGE}", 1)[0]  # the passage that fits best
    is_error = result.text.startswith("Error: ")
    return result.text.replace("Error: ", "That did not work: ", 1) if is_error else result.text


def _format_task_list(request: Request, result: Result) -> str:
    """Write a list of tasks for people: those of the topic, if it names one.

    Of others, and where a topic has none, an empty list is left out, because quotes follow.
    """
    zone = request.now.tzinfo if request.now else None
    tasks = parse_tasks(result.text)
    if request.intent == "others_tasks":
        lines = [task.describe(zone) for task in tasks]
        return "\n".join([f"{OTHERS_TASKS}\n", *lines]) if lines else ""
    if request.intent == "complete_task" and result.name == "get_action_items":
        return _ask_which_task(request, result)
    chosen = choose_tasks(request.topic, tasks) if result.name == "get_action_items" else []
    is_about_else = request.intent == "open_tasks" and request.topic and not chosen
    return "" if is_about_else and tasks else format_tasks(result.text, zone, chosen=chosen)


def _ask_which_task(request: Request, result: Result) -> str:
    """Say why no task was ticked off: several fit, or none."""
    tasks = parse_tasks(result.text)
    chosen = choose_tasks(request.wanted_terms, tasks)
    if len(chosen) == 1:
        return ""  # the next result tells that it is done
    return _list_open_tasks(WHICH_TASK if chosen else NO_SUCH_TASK, request, chosen or tasks)


def _list_open_tasks(heading: str, request: Request, tasks: Sequence[Task]) -> str:
    zone = request.now.tzinfo if request.now else None
    return "\n".join([f"{heading}\n", *(task.describe(zone) for task in tasks)])


def _answer_from_library(request: Request, results: Results) -> list[str]:
    tell = _TELLERS.get(request.intent)
    documents = collect_documents(results[-1:])
    if results and results[-1].name == "get_conversations":
        if tell is not None and documents:
            return tell(request, results[-1], results[:-1])
        if any(result.name == "search_conversations" for result in results[:-1]):
            return _tell_last_talk(request, results[-1], results[:-1])
    if request.intent in REQUESTS:
        return _explain_request(request, results)
    return _list_people(request, results) or _format_quotes(request, results)


def _explain_request(request: Request, results: Results) -> list[str]:
    """Say why a request was not followed, where nothing that is named was found."""
    if any(_is_told(result) for result in results):
        return []
    if request.intent == "forget":
        return [NO_SUCH_MEMORY if results else NAME_MEMORY]
    return [NO_SUCH_TALK] if request.intent == "delete_talk" else []


def _name_speaker(request: Request, result: Result, earlier: Results) -> str:
    people = (name for d in collect_documents([result]) for name in d.get("people", []))
    spoken = quote_passages(collect_documents(earlier))
    named = (Quote(text="", speaker=name) for name in people)
    return find_speaker(request.text, [*named, *spoken]) or request.name


def _tell_last_talk(request: Request, result: Result, earlier: Results) -> list[str]:
    """Tell the latest talk with somebody, or those of the time that is named."""
    documents = collect_documents([result])
    speaker = _name_speaker(request, result, earlier)
    phrase = find_past_phrase(request.text)
    if not documents:
        return [NO_TALKS.format(speaker=speaker, phrase=phrase)] if phrase else []
    if phrase:
        return [TALKS.format(speaker=speaker, phrase=phrase), _list_talks(documents)]
    day = format_day(documents[0])
    return [LAST_TALK.format(speaker=speaker, day=day), f"- {format_overview(documents[0])}"]


def _count_talks(request: Request, result: Result, earlier: Results) -> list[str]:
    documents = collect_documents([result])
    total = _TOTAL.search(result.content.get("note", ""))
    more = "More than " if "note" in result.content and not total else ""
    count = int(total[1]) if total else len(documents)
    phrase = find_past_phrase(request.text)
    speaker = _name_speaker(request, result, earlier) if request.topic else ""
    heading = COUNT.format(
        count=f"{more}{count}",
        noun="conversation" if count == 1 else "conversations",
        speaker=f" with {speaker}" if speaker else "",
        phrase=f" {phrase}" if phrase else "",
    )
    return [heading, _list_talks(documents[:_MAX_OVERVIEWS])]


def _list_talks(documents: Sequence[dict[str, Any]]) -> str:
    return "\n".join(f"- {format_day(d)}, {format_overview(d)}" for d in documents)


def _list_people(request: Request, results: Results) -> list[str]:
    """Name whom the owner talked with in a time, unless more is asked for and found."""
    listed = [result for result in results if result.name == "get_conversations"]
    if request.intent != "people" or not listed:
        return []
    if listed != list(results) and _is_found(request.text, results):
        return []
    documents = collect_documents(listed)
    names = _list_speakers(quote_passages(documents))
    return [PEOPLE.format(names=", ".join(names)), _list_talks(documents)] if names else []


def _is_found(question: str, results: Results) -> bool:
    """Tell whether an answer is there: what a list has, or enough of what was searched for, in its time."""
    names = [result.name for result in results]
    searches = names.count("search_conversations")
    if searches == 0 and not _LISTS.isdisjoint(names):
        return True
    return searches <= 1 and is_answered(drop_past_span(question), list_texts(results))


def _format_quotes(request: Request, results: Results) -> list[str]:
    documents, memories = collect_documents(results), collect_memories(results)
    all_quotes = [*quote_passages(documents), *_quote_memories(memories)]
    asker = find_speaker(request.text, all_quotes) if request.intent == "asked_of_owner" else ""
    if asker and (requests := _list_requests(asker, all_quotes)):
        return [f"{asker} asked:", _itemise(map(str, requests[:_MAX_REQUESTS]))]
    question = correct_spelling(request.text, list_texts(results))
    quotes: Sequence[Quote] = select_closest(question, all_quotes)
    is_found = _is_found(question, results)
    if not is_found:
        quotes = _add_best_documents(quotes, all_quotes, documents)
    lines = _list_places(request, quotes, all_quotes, documents) or [
        *_list_openings(documents, results, is_found=is_found),
    ]
    lines = lines or [str(quote) for quote in _quote_memories(memories)]
    heading = _choose_heading(request, quotes, all_quotes, documents) if is_found else NEAREST_ONLY
    return [heading, _itemise(lines)] if lines else []


def _list_requests(asker: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Return what somebody asked of the owner, or else what they asked."""
    asked = [
        said[place]
        for _, group in groupby(quotes, key=lambda quote: quote.document)
        for said in [list(group)]
        for place in find_requests([_to_sentence(quote) for quote in said])
    ]
    own = [quote for quote in asked if asker in quote.speaker]
    return own or [quote for quote in quotes if asker in quote.speaker and quote.is_question]


def _to_sentence(quote: Quote) -> Sentence:
    is_user = bool(quote.speaker) and quote.speaker.casefold() in OWNER_NAMES
    return Sentence(text=quote.text, segment=0, is_user=is_user, speaker=quote.speaker)


def _add_best_documents(
    quotes: Sequence[Quote], all_quotes: Sequence[Quote], documents: Sequence[dict[str, Any]]
) -> Sequence[Quote]:
    """Add where the best conversations begin: they may mean what is asked for in other words."""
    quoted = {quote.document for quote in quotes}
    best = [d["document"] for d in documents[:_BEST_DOCUMENTS] if d["document"] not in quoted]
    openings = [[q for q in all_quotes if q.document == number][:_MIDDLE] for number in best]
    return [*quotes, *(opening[-1] for opening in openings if opening)]


def _choose_heading(
    request: Request,
    quotes: Sequence[Quote],
    all_quotes: Sequence[Quote],
    documents: Sequence[dict[str, Any]],
) -> str:
    if request.intent == "person" and documents:
        return _describe_person(request.name, documents)
    return _name_speakers(quotes, all_quotes) if request.intent == "people" else FOUND


def _list_places(
    request: Request,
    quotes: Sequence[Quote],
    all_quotes: Sequence[Quote],
    documents: Sequence[dict[str, Any]],
) -> list[str]:
    """Quote the closest sentences in their places, with the day where a time is asked for or named."""
    is_of_time = asks_when(request.text) or find_past_phrase(request.text)
    days = {d["document"]: format_day(d) for d in documents} if is_of_time else {}
    return [
        f"{days[document]}, {text}" if days.get(document) else text
        for document, text in show_places(quotes, all_quotes)
    ]


def _list_openings(
    documents: Sequence[dict[str, Any]], results: Results, *, is_found: bool
) -> Iterator[str]:
    """Tell what was found where no sentence shares a word with the question: one, or a list."""
    lists = not _LISTS.isdisjoint(result.name for result in results)
    for document in documents[: _MAX_OVERVIEWS if lists or is_found else 1]:
        opening = [*quote_passages([document])][:_MAX_OPENING]
        yield format_place(opening) if opening and not lists else format_overview(document)


def _itemise(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _name_speakers(quotes: Sequence[Quote], all_quotes: Sequence[Quote]) -> str:
    """Name those who speak in the conversations of the closest sentences, other than the owner."""
    documents = {quote.document for quote in quotes}
    names = _list_speakers(quote for quote in all_quotes if quote.document in documents)
    return f"That was with {', '.join(names)}:" if names else FOUND


def _list_speakers(quotes: Iterable[Quote]) -> list[str]:
    speakers = dict.fromkeys(quote.speaker for quote in quotes)
    return [name for name in speakers if name.casefold() not in OWNER_NAMES]


def _describe_person(name: str, documents: Sequence[dict[str, Any]]) -> str:
    """Say in which conversations somebody occurs, and quote below what is closest."""
    titles = [f"“{d['title']}”[{d['document']}]" for d in documents if d.get("title")]
    if not titles:
        return FOUND
    return f"I know {name} from these conversations: {', '.join(titles)}. What was said:"


def _quote_memories(memories: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    """Return each as a place of its own."""
    for number, memory in enumerate(memories, 1):
        yield Quote(
            text=address_owner(memory["text"]), document=memory.get("document"), passage=-number
        )


_TELLERS: Mapping[Intent, Callable[[Request, Result, Results], list[str]]] = {
    "last_time": _tell_last_talk,
    "count_talks": _count_talks,
}

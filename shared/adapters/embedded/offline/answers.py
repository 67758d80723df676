"""Answers of the offline model: cited quotations of what the tools returned, and what is counted in it; pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shared.adapters.embedded.offline.calendar import drop_past_span, find_past_phrase
from shared.adapters.embedded.offline.intents import REQUESTS, Intent, Reading
from shared.adapters.embedded.offline.planner import Request
from shared.adapters.embedded.offline.quotes import (
    Quote,
    correct_spelling,
    find_speaker,
    format_place,
    is_answered,
    list_speakers,
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
KNOWN_FROM = "I know {name} from these conversations: {titles}. What was said:"
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
_LISTS = frozenset({"get_conversations", "get_memories"})
"""Tools whose results answer without a word of the question."""
SMALL_TALK: Mapping[Intent, str] = {"greeting": GREETING, "thanks": WELCOME, "goodbye": GOODBYE}


def answer(request: Request, results: Results) -> str:
    """Answer from what the tools returned: the apps' texts, what is counted, and the nearest places."""
    return _Finds(request, results).write()


def answer_from_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a question from the numbered conversations that stand beside it."""
    documents = [{**each, "document": each["number"]} for each in data["conversations"]]
    found = Result(name="search_conversations", text="", content={"results": documents})
    request = Request(text=data["question"], reading=Reading(intent="search"))
    return {"answer": answer(request, [found])}


class _Finds:
    """What was found for a request, and its answer in parts."""

    def __init__(self, request: Request, results: Results) -> None:
        self._request = request
        self._intent = request.intent
        self._zone = request.now.tzinfo if request.now else None
        self._results = [*results]
        self._names = [result.name for result in results]
        self._documents = collect_documents(results)
        self._phrase = find_past_phrase(request.text)
        self._memories = [*_quote_memories(collect_memories(results))]
        self._quotes = [*quote_passages(self._documents), *self._memories]

    def write(self) -> str:
        told = [text for result in self._results if (text := self._tell(result))]
        found = self._answer_from_library()
        is_near = NEAREST_ONLY in found
        tasks = parse_tasks(self._results[0].text) if self._results else []
        if is_near and not told and self._intent == "open_tasks" and tasks:
            told = [self._list_tasks(NO_SUCH_TASK, tasks)]
        elif is_near and told:
            found = []
        elif is_near and self._intent == "general":
            return CANNOT_ANSWER_GENERAL
        is_down = any(
            r.name in LIBRARY_TOOLS and r.text.startswith("Error: ") for r in self._results
        )
        return "\n\n".join([*told, *found, *([SEARCH_DOWN] if is_down else [])]) or self._give_up()

    def _give_up(self) -> str:
        if any(map(is_silent, self._results)):
            return MANUAL_IS_SILENT
        return CANNOT_ANSWER_GENERAL if self._intent == "general" else NOTHING_FOUND

    def _tell(self, result: Result) -> str:
        """Tell what a tool said, for people; empty where its results are searched for an answer."""
        if result.name in LIBRARY_TOOLS or is_silent(result):
            return ""
        if result.text.startswith(_CONSENT_PREFIX):
            return CONSENT_NEEDED
        if result.name in TASK_TOOLS:
            return self._tell_tasks(result)
        if result.text.startswith(MANUAL_PAGE):
            return result.text.split(f"\n\n{MANUAL_PAGE}", 1)[0]  # the passage that fits best
        is_error = result.text.startswith("Error: ")
        return result.text.replace("Error: ", "That did not work: ", 1) if is_error else result.text

    def _tell_tasks(self, result: Result) -> str:
        """Tell a list of tasks, those of the topic if it names one.

        Of others, and where a topic has none, an empty list is left out, because quotes follow.
        """
        tasks, is_list = parse_tasks(result.text), result.name == "get_action_items"
        if self._intent == "others_tasks":
            return self._list_tasks(OTHERS_TASKS, tasks) if tasks else ""
        if self._intent == "complete_task" and is_list:
            meant = choose_tasks(self._request.wanted_terms, tasks)
            heading = WHICH_TASK if meant else NO_SUCH_TASK
            # the next result tells that one is done
            return "" if len(meant) == 1 else self._list_tasks(heading, meant or tasks)
        chosen = choose_tasks(self._request.topic, tasks) if is_list else []
        is_about_else = self._intent == "open_tasks" and self._request.topic and not chosen
        if is_about_else and tasks:
            return ""
        return format_tasks(result.text, self._zone, chosen=chosen)

    def _list_tasks(self, heading: str, tasks: Sequence[Task]) -> str:
        return "\n".join([f"{heading}\n", *(task.describe(self._zone) for task in tasks)])

    def _answer_from_library(self) -> list[str]:
        """Return a heading, and what it stands over: what is counted, or else places."""
        listed = collect_documents(self._results[-1:])
        if self._names[-1:] == ["get_conversations"]:
            if self._intent == "count_talks" and listed:
                return self._count_talks(listed)
            is_searched = "search_conversations" in self._names
            if is_searched or (self._intent == "last_time" and listed):
                return self._tell_last_talk(listed)
        if self._intent in REQUESTS:
            return self._explain_request()
        if self._intent == "people" and (people := self._list_people()):
            return people
        return self._list_places()

    def _explain_request(self) -> list[str]:
        """Say why a request was not followed, where nothing that is named was found."""
        if any(map(self._tell, self._results)):
            return []
        if self._intent == "forget":
            return [NO_SUCH_MEMORY if self._results else NAME_MEMORY]
        return [NO_SUCH_TALK] if self._intent == "delete_talk" else []

    def _name_speaker(self, listed: Sequence[dict[str, Any]]) -> str:
        named = [Quote(text="", speaker=name) for d in listed for name in d.get("people", [])]
        return find_speaker(self._request.text, [*named, *self._quotes]) or self._request.name

    def _tell_last_talk(self, listed: Sequence[dict[str, Any]]) -> list[str]:
        """Tell the latest talk with somebody, or those of the time that is named."""
        speaker = self._name_speaker(listed)
        if self._phrase:
            heading = TALKS if listed else NO_TALKS
            talks = [_list_talks(listed)] if listed else []
            return [heading.format(speaker=speaker, phrase=self._phrase), *talks]
        if not listed:
            return []
        day = format_day(listed[0])
        return [LAST_TALK.format(speaker=speaker, day=day), f"- {format_overview(listed[0])}"]

    def _count_talks(self, listed: Sequence[dict[str, Any]]) -> list[str]:
        note = self._results[-1].content.get("note", "")
        total = _TOTAL.search(note)
        count = int(total[1]) if total else len(listed)
        speaker = self._name_speaker(listed) if self._request.topic else ""
        heading = COUNT.format(
            count=f"{'More than ' if note and not total else ''}{count}",
            noun="conversation" if count == 1 else "conversations",
            speaker=f" with {speaker}" if speaker else "",
            phrase=f" {self._phrase}" if self._phrase else "",
        )
        return [heading, _list_talks(listed[:_MAX_OVERVIEWS])]

    def _list_people(self) -> list[str]:
        """Name whom the owner talked with in a time, unless more is asked for and found."""
        listed = [result for result in self._results if result.name == "get_conversations"]
        if not listed or (listed != self._results and self._is_found(self._request.text)):
            return []
        documents = collect_documents(listed)
        names = list_speakers(quote_passages(documents))
        return [PEOPLE.format(names=", ".join(names)), _list_talks(documents)] if names else []

    def _list_places(self) -> list[str]:
        """Quote the closest sentences in their places, or what else was found."""
        question = correct_spelling(self._request.text, list_texts(self._results))
        quotes = select_closest(question, self._quotes)
        is_found = self._is_found(question)
        places = show_places(quotes if is_found else self._add_best_documents(quotes), self._quotes)
        is_of_time = asks_when(self._request.text) or self._phrase
        days = {d["document"]: format_day(d) for d in self._documents} if is_of_time else {}
        lines = [
            ", ".join(filter(None, [days.get(document or 0), text])) for document, text in places
        ]
        lines = lines or self._list_openings(is_found=is_found) or [*map(str, self._memories)]
        heading = self._choose_heading(quotes) if is_found else NEAREST_ONLY
        return [heading, _itemise(lines)] if lines else []

    def _is_found(self, question: str) -> bool:
        """Tell whether an answer is there: what a list has, or enough of what was searched for, in its time."""
        searches = self._names.count("search_conversations")
        if searches == 0 and not _LISTS.isdisjoint(self._names):
            return True
        texts = list_texts(self._results)
        return searches <= 1 and is_answered(drop_past_span(question), texts)

    def _add_best_documents(self, quotes: Sequence[Quote]) -> Sequence[Quote]:
        """Add where the best conversations begin: they may mean what is asked for in other words."""
        quoted = {quote.document for quote in quotes}
        best = [d["document"] for d in self._documents[:_BEST_DOCUMENTS]]
        openings = [[q for q in self._quotes if q.document == n][:_MIDDLE] for n in best]
        return [*quotes, *(o[-1] for o in openings if o and o[-1].document not in quoted)]

    def _list_openings(self, *, is_found: bool) -> list[str]:
        """Tell what was found where no sentence shares a word with the question: one, or a list."""
        is_list = not _LISTS.isdisjoint(self._names)
        openings = (
            (document, [q for q in self._quotes if q.document == document["document"]])
            for document in self._documents[: _MAX_OVERVIEWS if is_list or is_found else 1]
        )
        return [
            format_place(said[:_MAX_OPENING]) if said and not is_list else format_overview(document)
            for document, said in openings
        ]

    def _choose_heading(self, quotes: Sequence[Quote]) -> str:
        """Name the conversations with a person, or those who speak in the closest ones."""
        if self._intent == "person":
            titles = [f"“{d['title']}”[{d['document']}]" for d in self._documents if d.get("title")]
            talks = {"name": self._request.name, "titles": ", ".join(titles)}
            return KNOWN_FROM.format(**talks) if titles else FOUND
        documents = {quote.document for quote in quotes}
        names = list_speakers(quote for quote in self._quotes if quote.document in documents)
        is_named = self._intent == "people" and names
        return f"That was with {', '.join(names)}:" if is_named else FOUND


def _quote_memories(memories: Sequence[dict[str, Any]]) -> Iterator[Quote]:
    """Return each as a place of its own."""
    for number, memory in enumerate(memories, 1):
        yield Quote(
            text=address_owner(memory["text"]), document=memory.get("document"), passage=-number
        )


def _list_talks(documents: Sequence[dict[str, Any]]) -> str:
    return _itemise(f"{format_day(d)}, {format_overview(d)}" for d in documents)


def _itemise(lines: Iterable[object]) -> str:
    return "\n".join(f"- {line}" for line in lines)

"""Answers of the offline model: cited quotations of what the tools returned, and what is counted in it; pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shared.adapters.embedded.offline.calendar import drop_past_span, find_past_phrase
from shared.adapters.embedded.offline.intents import REQUESTS, Intent, Reading
from shared.adapters.embedded.offline.planner import Request
from shared.adapters.embedded.offline.quotes import (
    Quote,
    find_speaker,
    is_answered,
    list_speakers,
    quote_passages,
    select_closest,
    show_places,
)
from shared.adapters.embedded.offline.results import (
    LIBRARY_TOOLS,
    MANUAL_PAGE,
    Result,
    Results,
    choose_tasks,
    collect_documents,
    collect_memories,
    format_day,
    format_overview,
    join_texts,
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
MANUAL_IS_SILENT = "Keepsake's manual says nothing about that."
LAST_TALK = "Your latest conversation with {speaker} was on {day}:"
TALKS = "Your conversations with {speaker} {phrase}:"
NO_TALKS = "I found no conversation with {speaker} {phrase}."
PEOPLE = "You talked with {names}:"
TASKS = "You have {count} {noun}:"
OTHERS_TASKS = "Promised by others, or asked of them:"
NO_TASKS = "You have no such tasks."
NO_SUCH_TASK = "No open task is about that. Your open tasks:"
WHICH_TASK = "Several open tasks may be meant. Say which one is done:"
NO_SUCH_MEMORY = "I remember nothing that says so."
NAME_MEMORY = "Say what I should forget, such as “Forget that I like tea”. “Undo” takes back what I changed last."
NO_SUCH_TALK = "I found no conversation about that to delete."
CONSENT_NEEDED = "I did not do that: it needs your consent."
SMALL_TALK: Mapping[Intent, str] = {
    "greeting": GREETING,
    "thanks": "You're welcome! Ask me again whenever you like.",
    "goodbye": "Goodbye! What you told me is kept for next time.",
}
_ERROR, _CONSENT_MISSING = "Error: ", "Error: The owner "
"""Begin what a tool says for models where it failed, and where its owner did not consent."""
_TOTAL = re.compile(r"(\d+) in all")
_MAX_OVERVIEWS = 10
_BEST_DOCUMENTS = 2
_TASK_CHANGES = frozenset({"create_action_item", "update_action_item"})
_LISTS = frozenset({"get_conversations", "get_memories"})
"""Tools whose results answer without a word of the question."""


def answer(request: Request, results: Results) -> str:
    """Answer from what the tools returned: the apps' texts, what is counted, and the nearest places."""
    small_talk = "" if results else SMALL_TALK.get(request.intent, "")
    return small_talk or _Finds(request, results).write()


def answer_from_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a question from the numbered conversations that stand beside it."""
    documents = [{**each, "document": each["number"]} for each in data["conversations"]]
    found = Result(name="search_conversations", text="", content={"results": documents})
    request = Request(text=data["question"], reading=Reading(intent="search"))
    return {"answer": answer(request, [found])}


class _Finds:
    """What was found for a request, and its answer in parts."""

    def __init__(self, request: Request, results: Results) -> None:
        self._request, self._intent = request, request.intent
        self._results = results
        self._names = [result.name for result in results]
        self._documents = collect_documents(results)
        self._phrase = find_past_phrase(request.text)
        memories = collect_memories(results)
        self._texts = [join_texts(each) for each in [*self._documents, *memories]]
        self._memories = [
            Quote(text=address_owner(each["text"]), document=each.get("document"), passage=-n)
            for n, each in enumerate(memories, 1)
        ]
        self._quotes = [*quote_passages(self._documents), *self._memories]

    def write(self) -> str:
        told = [text for result in self._results if (text := self._tell(result))]
        found = self._answer_from_library()
        if NEAREST_ONLY in found:
            if not told and self._intent == "open_tasks":
                told = [self._list_tasks(NO_SUCH_TASK, self._results[0])]
            elif told:
                found = []
            elif self._intent == "general":
                return CANNOT_ANSWER_GENERAL
        is_down = any(r.name in LIBRARY_TOOLS and r.text.startswith(_ERROR) for r in self._results)
        parts = [*filter(None, told), *found, *([SEARCH_DOWN] if is_down else [])]
        return "\n\n".join(parts) or self._give_up()

    def _give_up(self) -> str:
        if any(result.is_silent for result in self._results):
            return MANUAL_IS_SILENT
        return CANNOT_ANSWER_GENERAL if self._intent == "general" else NOTHING_FOUND

    def _tell(self, result: Result) -> str:
        """Tell what a tool said, for people; empty where its results are searched for an answer."""
        text = result.text
        if result.name in LIBRARY_TOOLS or result.is_silent:
            return ""
        if text.startswith(_CONSENT_MISSING):
            return CONSENT_NEEDED
        if text.startswith(_ERROR):
            return text.replace(_ERROR, "That did not work: ", 1)
        if result.name == "get_action_items":
            return self._tell_tasks(result)
        if result.name in _TASK_CHANGES:
            return self._list_tasks(text.partition("\n")[0], result) or text
        is_manual = result.name == "get_product_info"  # its first passage fits best
        return text.split(f"\n\n{MANUAL_PAGE}", 1)[0] if is_manual else text

    def _tell_tasks(self, result: Result) -> str:
        """Tell the tasks of the topic if one is named, else all; none where quotes follow."""
        tasks = parse_tasks(result.text)
        if not tasks:
            return "" if self._intent == "others_tasks" else NO_TASKS
        if self._intent == "complete_task":
            meant = choose_tasks(self._request.wanted_terms, tasks)
            heading = WHICH_TASK if meant else NO_SUCH_TASK
            # the next result tells that one is done
            return "" if len(meant) == 1 else self._list_tasks(heading, result, meant)
        if self._intent == "others_tasks":
            return self._list_tasks(OTHERS_TASKS, result)
        chosen = choose_tasks(self._request.topic, tasks)
        if self._intent == "open_tasks" and self._request.topic and not chosen:
            return ""
        count, heading = len(chosen or tasks), result.text.partition("\n")[0]
        if heading.startswith("- "):  # else it says which part of them is listed
            heading = TASKS.format(count=count, noun="task" if count == 1 else "tasks")
        return self._list_tasks(heading, result, chosen)

    def _list_tasks(self, heading: str, result: Result, chosen: Sequence[Any] = ()) -> str:
        tasks = chosen or parse_tasks(result.text)
        zone = self._request.now.tzinfo if self._request.now else None
        return (
            "\n".join([f"{heading}\n", *(each.describe(zone) for each in tasks)]) if tasks else ""
        )

    def _answer_from_library(self) -> list[str]:
        """Return a heading, and what it stands over: what is counted, or else places."""
        listed = collect_documents(self._results[-1:])
        if self._names[-1:] == ["get_conversations"]:
            if self._intent == "count_talks" and listed:
                return self._count_talks(listed)
            if "search_conversations" in self._names or (self._intent == "last_time" and listed):
                return self._tell_last_talk(listed)
        if self._intent in REQUESTS:
            return self._explain_request()
        return (self._list_people() if self._intent == "people" else []) or self._list_places()

    def _explain_request(self) -> list[str]:
        """Say why a request was not followed, where nothing that is named was found."""
        if self._intent == "forget" and self._names in ([], ["search_memories"]):
            return [NO_SUCH_MEMORY if self._results else NAME_MEMORY]
        is_undone = self._intent == "delete_talk" and self._names == ["search_conversations"]
        return [NO_SUCH_TALK] if is_undone else []

    def _name_speaker(self, listed: Sequence[dict[str, Any]]) -> str:
        named = [Quote(text="", speaker=name) for d in listed for name in d.get("people", [])]
        return find_speaker(self._request.text, [*named, *self._quotes]) or self._request.name

    def _tell_last_talk(self, listed: Sequence[dict[str, Any]]) -> list[str]:
        """Tell the latest talk with somebody, or those of the time that is named."""
        speaker, phrase = self._name_speaker(listed), self._phrase
        if phrase and not listed:
            return [NO_TALKS.format(speaker=speaker, phrase=phrase)]
        if phrase:
            return [TALKS.format(speaker=speaker, phrase=phrase), _list_talks(listed)]
        if not listed:
            return []
        heading = LAST_TALK.format(speaker=speaker, day=format_day(listed[0]))
        return [heading, f"- {format_overview(listed[0])}"]

    def _count_talks(self, listed: Sequence[dict[str, Any]]) -> list[str]:
        note = self._results[-1].content.get("note", "")
        total = _TOTAL.search(note)
        count = int(total[1]) if total else len(listed)
        speaker = self._name_speaker(listed) if self._request.topic else ""
        parts = (
            f"More than {count}" if note and not total else str(count),
            "conversation" if count == 1 else "conversations",
            f"with {speaker}" if speaker else "",
            self._phrase,
        )
        return [f"{' '.join(filter(None, parts))}:", _list_talks(listed[:_MAX_OVERVIEWS])]

    def _list_people(self) -> list[str]:
        """Name whom the owner talked with in a time, unless more is asked for and found."""
        listed = [result for result in self._results if result.name == "get_conversations"]
        if not listed or (listed != self._results and self._is_found()):
            return []
        documents = collect_documents(listed)
        names = list_speakers(quote_passages(documents))
        return [PEOPLE.format(names=", ".join(names)), _list_talks(documents)] if names else []

    def _list_places(self) -> list[str]:
        """Quote the closest lines in their places, or what else was found."""
        best, is_found = select_closest(self._request.text, self._quotes), self._is_found()
        places = show_places(best if is_found else self._add_best_documents(best), self._quotes)
        is_of_time = asks_when(self._request.text) or self._phrase
        days = {d["document"]: format_day(d) for d in self._documents} if is_of_time else {}
        lines = [
            ", ".join(filter(None, [days.get(document or 0), text])) for document, text in places
        ]
        documents = self._documents[: _MAX_OVERVIEWS if is_found else 1]
        lines = lines or [*map(format_overview, documents)] or [*map(str, self._memories)]
        heading = self._choose_heading(best) if is_found else NEAREST_ONLY
        return [heading, _itemise(lines)] if lines else []

    def _is_found(self) -> bool:
        """Tell whether an answer is there: what a list has, or enough of what was searched for, in its time."""
        searches = self._names.count("search_conversations")
        if searches == 0 and not _LISTS.isdisjoint(self._names):
            return True
        return searches <= 1 and is_answered(drop_past_span(self._request.text), self._texts)

    def _add_best_documents(self, best: Sequence[int]) -> Sequence[int]:
        """Add where the best conversations begin: they may mean what is asked for in other words."""
        numbers = [quote.document for quote in self._quotes]
        quoted = {numbers[n] for n in best}
        named = [d["document"] for d in self._documents[:_BEST_DOCUMENTS]]
        return [*best, *(numbers.index(d) for d in named if d in numbers and d not in quoted)]

    def _choose_heading(self, best: Sequence[int]) -> str:
        """Name those who speak in the conversations of the closest lines, where it is asked who."""
        documents = {self._quotes[n].document for n in best}
        names = list_speakers(quote for quote in self._quotes if quote.document in documents)
        is_named = self._intent == "people" and names
        return f"That was with {', '.join(names)}:" if is_named else FOUND


def _list_talks(documents: Iterable[Mapping[str, Any]]) -> str:
    return _itemise(f"{format_day(d)}, {format_overview(d)}" for d in documents)


def _itemise(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)

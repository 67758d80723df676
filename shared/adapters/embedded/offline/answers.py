"""Answers of the offline model: cited quotations of what the tools returned, and what is counted in it; pure."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.adapters.embedded.offline import finds
from shared.adapters.embedded.offline.intents import REQUESTS, SMALL_TALK, Reading
from shared.adapters.embedded.offline.planner import Request
from shared.retrieval.query import asks_when

SENTENCES: Mapping[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_ERROR, _CONSENT_MISSING = "Error: ", "Error: The owner "
"""Begin what a tool says for models where it failed, and where its owner did not consent."""
_TOTAL = re.compile(r"(\d+) in all")
_MAX_OVERVIEWS = 10
_BEST_DOCUMENTS = 2
_TASK_CHANGES = frozenset({"create_action_item", "update_action_item"})
_LISTS = frozenset({"get_conversations", "get_memories"})
"""Tools whose results answer without a word of the question."""


def answer(request: Request, results: finds.Results) -> str:
    """Answer from what the tools returned: the apps' texts, what is counted, and the nearest places."""
    if not results and request.intent in SMALL_TALK:
        now = finds.format_moment(request.now) if request.now else "?"
        return _say(request.intent, now=now)
    return _Answer(request, results).write()


def answer_from_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a question from the numbered conversations that stand beside it."""
    documents = [{**each, "document": each["number"]} for each in data["conversations"]]
    found = finds.Result(name="search_conversations", text="", content={"results": documents})
    request = Request(text=data["question"], reading=Reading(intent="search"))
    return {"answer": answer(request, [found])}


class _Answer:
    """What was found for a request, and its answer in parts."""

    def __init__(self, request: Request, results: finds.Results) -> None:
        self._request, self._intent = request, request.intent
        self._results = results
        self._names = [result.name for result in results]
        self._documents, memories = (
            finds.collect_documents(results),
            finds.collect_memories(results),
        )
        self._texts = [finds.join_texts(each) for each in [*self._documents, *memories]]
        self._passages = finds.list_passages(self._documents, memories)
        self._phrase = request.phrase

    def write(self) -> str:
        told = [*dict.fromkeys(filter(None, map(self._tell, self._results)))]
        found = self._tell_talks() or self._explain_request() or self._quote(is_alone=not told)
        errors = {result.name for result in self._results if result.text.startswith(_ERROR)}
        is_down = not errors.isdisjoint(finds.LIBRARY_TOOLS)
        if found:  # no list is empty over what is shown
            told = [text for text in told if text != SENTENCES["no_tasks"]]
        parts = [*told, *found, *([SENTENCES["search_down"]] if is_down else [])]
        return "\n\n".join(parts) or self._give_up()

    def _give_up(self) -> str:
        if any(result.is_silent for result in self._results):
            return SENTENCES["not_in_manual"]
        return SENTENCES["not_in_library" if self._intent == "general" else "nothing_found"]

    def _tell(self, result: finds.Result) -> str:
        """Tell what a tool said, for people; empty where its results are searched for an answer."""
        text = result.text
        if result.name in finds.LIBRARY_TOOLS or result.is_silent:
            return ""
        if text.startswith(_CONSENT_MISSING):
            return SENTENCES["consent_needed"]
        if text.startswith(_ERROR):
            return text.replace(_ERROR, SENTENCES["failed"], 1)
        if result.name == "get_action_items":
            return self._tell_tasks(result)
        if result.name in _TASK_CHANGES:
            return self._list_tasks(text.partition("\n")[0], finds.parse_tasks(text)) or text
        is_manual = result.name == "get_product_info"  # its first passage fits best
        return text.split(f"\n\n{finds.MANUAL_PAGE}", 1)[0] if is_manual else text

    def _tell_tasks(self, result: finds.Result) -> str:
        """Tell the tasks of the topic if one is named, else all; none where quotes follow."""
        tasks = finds.parse_tasks(result.text)
        if self._intent == "others_tasks":
            return self._list_tasks(SENTENCES["others_tasks"], tasks)
        if not tasks:
            return SENTENCES["no_tasks"]
        if self._intent == "complete_task":
            meant = finds.choose(self._request.wanted_terms, tasks)
            heading = SENTENCES["which_task" if meant else "no_such_task"]
            # the next result tells that one is done
            return "" if len(meant) == 1 else self._list_tasks(heading, meant or tasks)
        chosen = finds.choose(self._request.topic, tasks)
        if self._intent == "open_tasks" and self._request.topic and not chosen:
            return ""
        chosen = chosen or tasks
        heading = result.text.partition("\n")[0]
        if heading.startswith("- "):  # else it says which part of them is listed
            heading = _say("one_task" if len(chosen) == 1 else "tasks", count=str(len(chosen)))
        return self._list_tasks(heading, chosen)

    def _list_tasks(self, heading: str, tasks: Sequence[finds.Task]) -> str:
        zone = self._request.now.tzinfo if self._request.now else None
        return "\n".join([f"{heading}\n", *(t.describe(zone) for t in tasks)]) if tasks else ""

    def _tell_talks(self) -> list[str]:
        """Tell with whom, how often or when the owner talked, over the talks themselves."""
        listings = [result for result in self._results if result.name == "get_conversations"]
        listed = finds.collect_documents(listings[-1:])
        is_searched = "search_conversations" in self._names
        talks = _itemise(map(finds.format_overview, listed[:_MAX_OVERVIEWS]))
        if self._intent == "people":
            names = finds.list_speakers(finds.list_passages(listed))
            is_elsewhere = not names or (is_searched and self._is_found())
            return [] if is_elsewhere else [_say("people", names=", ".join(names)), talks]
        is_counted = self._intent == "count_talks"
        if self._names[-1:] != ["get_conversations"]:
            return self._count_mentions() if is_counted else []
        if not (is_searched or is_counted or self._intent == "last_time"):
            return []
        speaker = self._name_speaker(listed)
        if not listed:
            return [_say("no_talks", speaker=speaker, phrase=self._phrase)] if self._phrase else []
        if is_counted:
            with_whom = f"with {speaker}" if speaker and self._request.topic else ""
            return [self._count(listed, with_whom, self._results[-1:]), talks]
        heading = "talks" if self._phrase else "latest_talk"
        return [_say(heading, speaker=speaker, phrase=self._phrase), talks]

    def _name_speaker(self, listed: Sequence[finds.Document]) -> str:
        noted = [name for document in listed for name in document.get("people", [])]
        speakers = [*noted, *finds.list_speakers(self._passages)]
        return finds.find_speaker(self._request.text, speakers) or self._request.name

    def _count_mentions(self) -> list[str]:
        """Tell how many of the conversations that were found speak of the topic."""
        topic, minimum = self._request.topic, finds.MIN_SHARE
        texts = zip(self._documents, map(finds.join_texts, self._documents), strict=True)
        found = [each for each, text in texts if finds.measure_share(topic, text) > minimum]
        talks = _itemise(map(finds.format_overview, found))
        return [self._count(found, "about that", self._results), talks] if found else []

    def _count(self, talks: Sequence[finds.Document], kind: str, listings: finds.Results) -> str:
        """Say how many there are; the notes of listings say that there are more, or how many in all."""
        note = "".join(listing.content.get("note", "") for listing in listings)
        total, count = _TOTAL.search(note), len(talks)
        number = total[1] if total else f"At least {count}" if note else str(count)
        noun = "conversation" if number == "1" else "conversations"
        return f"{' '.join(filter(None, (number, noun, kind, self._phrase)))}:"

    def _explain_request(self) -> list[str]:
        """Say why a request was not followed, where nothing that is named was found."""
        if self._intent == "forget" and len(self._results) < 2:
            return [SENTENCES["no_such_memory" if self._results else "name_memory"]]
        if self._intent == "delete_talks" and len(self._results) > 2:
            return [_say("several_talks", count=str(len(self._results) - 1))]
        is_undone = self._intent in ("delete_talk", "delete_talks") and len(self._results) == 1
        return [SENTENCES["no_such_talk"]] if is_undone else []

    def _quote(self, *, is_alone: bool) -> list[str]:
        """Quote the closest places, or what else was found; what is only near, where nothing else is told."""
        is_found = self._is_found()
        is_plain = is_alone and self._intent != "general"
        if self._intent in REQUESTS or not (is_found or is_plain):
            return []
        places = finds.choose_places(self._request.text, self._passages)
        if not is_found:
            places += self._open_best_documents({place.document for place in places})
        is_of_time = asks_when(self._request.text) or self._phrase
        days = {d["document"]: finds.format_day(d) for d in self._documents} if is_of_time else {}
        quotes = [", ".join(filter(None, (days.get(p.document or 0), str(p)))) for p in places]
        overviews = map(finds.format_overview, self._documents[: _MAX_OVERVIEWS if is_found else 1])
        lines = quotes or [*overviews] or [*map(str, self._passages)]
        heading = self._choose_heading(places) if is_found else SENTENCES["nearest_only"]
        tasks = [task for result in self._results for task in finds.parse_tasks(result.text)]
        missed = "" if is_found else self._list_tasks(SENTENCES["no_such_task"], tasks)
        return [*filter(None, [missed]), *([heading, _itemise(lines)] if lines else [])]

    def _is_found(self) -> bool:
        """Tell whether an answer is there: what a list has, or enough of what was searched for, in its time."""
        searches = self._names.count("search_conversations")
        if searches == 0 and not _LISTS.isdisjoint(self._names):
            return True
        undated = self._request.undate(self._request.text)
        return searches <= 1 and finds.is_answered(undated, self._texts)

    def _open_best_documents(self, quoted: Collection[int | None]) -> list[finds.Passage]:
        """Quote where the best conversations begin: they may mean what is asked for in other words."""
        first = {passage.document: passage for passage in reversed(self._passages)}
        best = [each["document"] for each in self._documents[:_BEST_DOCUMENTS]]
        return [
            replace(first[number], lines=first[number].lines[: finds.NEIGHBOURS + 1])
            for number in best
            if number in first and number not in quoted
        ]

    def _choose_heading(self, places: Sequence[finds.Passage]) -> str:
        """Name those who speak in the conversations of the closest lines, where it is asked who."""
        documents = {place.document for place in places}
        names = finds.list_speakers(each for each in self._passages if each.document in documents)
        is_named = self._intent == "people" and names
        return _say("said_by", names=", ".join(names)) if is_named else SENTENCES["found"]


def _say(key: str, **values: str) -> str:
    return SENTENCES[key].format(**values)


def _itemise(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)

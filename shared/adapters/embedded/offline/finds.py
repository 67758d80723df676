"""Finds of the offline model: what tools returned, and which of it comes closest to what is asked; pure.

What shares words with a question is close to it, rare words count more.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from itertools import groupby
from typing import Any, TypeVar

from shared.adapters.embedded.offline.speech import list_terms, split_sentences
from shared.domain.conversations.speaker_labels import is_name
from shared.domain.tasks.owner_words import address_owner
from shared.domain.value import positional_value, value
from shared.domain.wall_clock import DAY_END, EVENING
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

T = TypeVar("T")
Document = Mapping[str, Any]

LIBRARY_TOOLS = frozenset(
    {"search_conversations", "get_conversations", "search_memories", "get_memories"}
)
MANUAL_PAGE = "From the page "
"""Begins each passage of the manual."""
OWNER_NAMES = frozenset({"", "me", "you", "user"})
MAX_LINE_CHARS = 240
"""A longer line is quoted by its sentences."""
MAX_QUOTES, NEIGHBOURS = 4, 2
MIN_SHARE = 0.5
"""So much of the weight of what is asked for has to be found: of LoCoMo's questions 6 in 100 find no more in their own
library, and 76 in that of somebody else."""
_SYNONYM_SHARE = 0.5
_MENTION = frozenset(tokenize("anyone anybody someone somebody mention discuss promise"))
"""What is asked for need not say that it was said."""
_TASK = re.compile(
    r"^- (?P<text>.*) \((?P<state>open|done)(?:, due (?P<due>[^,()]+))?, id (?P<id>[^(),]*)[^()]*\)$",
    re.MULTILINE,
)


@value
class Result:
    """What a tool returned: its text, and what a tool of the library says in it."""

    name: str
    text: str
    content: Mapping[str, Any]

    @property
    def is_silent(self) -> bool:
        """Tell whether the manual says nothing."""
        return self.name == "get_product_info" and not self.text.startswith(MANUAL_PAGE)


Results = Sequence[Result]


def parse_results(pairs: Iterable[tuple[str, str]]) -> list[Result]:
    """Read `(tool name, text)` pairs; an error's text is no JSON and has no results."""
    return [Result(name=name, text=text, content=_parse(name, text)) for name, text in pairs]


def _parse(name: str, text: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text) if name in LIBRARY_TOOLS else {}
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def collect_documents(results: Results) -> list[Document]:
    """Return one result per document, the one with passages if there is any."""
    by_document: dict[int, Document] = {}
    for result in results:
        for document in result.content.get("results", []):
            if not by_document.get(document["document"], {}).get("passages"):
                by_document[document["document"]] = document
    return list(by_document.values())


def collect_memories(results: Results) -> list[Document]:
    return [memory for result in results for memory in result.content.get("memories", [])]


def join_texts(document: Document) -> str:
    """Return all that a document or a memory says."""
    fields = (document.get(name, "") for name in ("text", "title", "overview"))
    return "\n".join([*fields, *document.get("passages", [])])


def format_overview(document: Document) -> str:
    named = ": ".join(filter(None, (document.get("title"), document.get("overview"))))
    return ", ".join(filter(None, (format_day(document), f"{named}[{document['document']}]")))


def format_day(document: Document) -> str:
    """Return the day of a conversation on the owner's clock, as "Friday 6 March 2026"; empty where none is told."""
    if "started_at" not in document:
        return ""
    start = datetime.fromisoformat(document["started_at"])
    return f"{_call_day(start)} {start.year}"


def format_moment(moment: datetime) -> str:
    return f"{_call_day(moment)} {moment.year}, {moment:%H:%M}"


def _call_day(moment: datetime) -> str:
    return f"{moment:%A} {moment.day} {moment:%B}"


@value
class Task:
    """A task of a list; `due` is a timestamp, empty without one."""

    id: str
    text: str
    is_done: bool
    due: str

    def __str__(self) -> str:
        return self.text

    def describe(self, zone: tzinfo | None) -> str:
        """Tell a task with its day, and with the hour where one was named."""
        due = ""
        if self.due:
            at = datetime.fromisoformat(self.due).astimezone(zone)
            has_hour = at.time() not in (EVENING, DAY_END, EVENING.min)
            due = f", {_call_day(at)}{f' at {at:%H:%M}' if has_hour else ''}"
        return f"- {self.text}{due}{' (done)' if self.is_done else ''}"


def parse_tasks(text: str) -> list[Task]:
    return [
        Task(id=m["id"], text=m["text"], is_done=m["state"] == "done", due=m["due"] or "")
        for m in _TASK.finditer(text)
    ]


@positional_value
class Line:
    """Words with who says them; empty without a name."""

    speaker: str
    text: str


@positional_value
class Passage:
    """Lines that follow one another, or a memory; `document` is the number they are cited by."""

    lines: Sequence[Line]
    document: int | None

    def __str__(self) -> str:
        """Quote the lines, those of a speaker together, and cite them once."""
        turns = [
            f"{speaker}: “{said}”" if speaker else f"“{said}”"
            for speaker, lines in groupby(self.lines, key=lambda line: line.speaker)
            for said in [" ".join(line.text for line in lines)]
        ]
        return " ".join(turns) + (f"[{self.document}]" if self.document else "")


def list_passages(
    documents: Iterable[Document], memories: Iterable[Document] = ()
) -> list[Passage]:
    said = [
        Passage([*_parse_lines(passage)], document["document"])
        for document in documents
        for passage in document.get("passages", [])
    ]
    known = (([Line("", address_owner(m["text"]))], m.get("document")) for m in memories)
    return [*said, *(Passage(*each) for each in known)]


def _parse_lines(passage: str) -> Iterator[Line]:
    for line in passage.splitlines():
        label, colon, speech = line.partition(": ")
        speaker = label if colon and is_name(label) else ""
        text = speech if colon else line
        for part in [text] if len(text) <= MAX_LINE_CHARS else split_sentences(text):
            yield Line("You" if speaker == "User" else speaker, part)


def choose_places(question: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return the lines that share most with a question among those before and after them, best passage first."""
    terms = _list_asked_terms(question)
    scores = {
        (passage, line): measure_share(terms, f"{said.speaker} {said.text}")
        for passage, each in enumerate(passages)
        for line, said in enumerate(each.lines)
    }
    best = sorted(scores, key=lambda place: -scores[place])[:MAX_QUOTES]
    shown: dict[int, set[int]] = {}
    for passage, line in best:
        if scores[passage, line] * 2 > scores[best[0]]:
            near = range(max(line - NEIGHBOURS, 0), line + NEIGHBOURS + 1)
            shown.setdefault(passage, set()).update(near)
    return [
        replace(passages[n], lines=passages[n].lines[min(near) : max(near) + 1])
        for n, near in shown.items()
    ]


def find_speaker(question: str, speakers: Iterable[str]) -> str:
    """Return the words of a question that name a speaker; empty without any."""
    asked = list_terms(question)
    names = (
        " ".join(word for word in speaker.split() if not asked.isdisjoint(tokenize(word)))
        for speaker in speakers
    )
    return max(names, key=len, default="")


def list_speakers(passages: Iterable[Passage]) -> list[str]:
    """Return who speaks, but for the owner."""
    speakers = dict.fromkeys(line.speaker for passage in passages for line in passage.lines)
    return [name for name in speakers if name.casefold() not in OWNER_NAMES]


def is_answered(question: str, texts: Iterable[str]) -> bool:
    """Tell whether one of the texts has more than half of what is asked for, so that it may be the answer."""
    terms = _list_asked_terms(question)
    return any(measure_share(terms, text) > MIN_SHARE for text in texts)


def choose(terms: Collection[str], items: Iterable[T], read: Callable[[T], str] = str) -> list[T]:
    """Return the items that have most of the terms, and half of their weight at least: all that are equal."""
    shares = [(measure_share(terms, read(item)), item) for item in items]
    best = max([MIN_SHARE, *(share for share, _ in shares)])
    return [item for share, item in shares if share == best]


def measure_share(terms: Iterable[str], text: str) -> float:
    """Return how much of the weight of some terms a text has, 0 to 1; a synonym counts half."""
    weights = {term: get_term_weight(term) for term in terms}
    found = set(tokenize(text))
    shared = sum(
        weight if term in found else _SYNONYM_SHARE * weight
        for term, weight in weights.items()
        if not found.isdisjoint((term, *list_synonyms(term)))
    )
    return shared / (sum(weights.values()) or 1.0)


def _list_asked_terms(question: str) -> set[str]:
    asked = list_terms(question)
    return asked - _MENTION or asked

"""Intents: what a question or a request is for, by our labelled examples (intents.json).

A request in the form of an example has its object in the open place. Another is followed where it is told from those
who only ask about one or forbid it, which are examples as well. Meaning decides, or words where no encoder runs.

Also called: intent classification.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from shared.adapters.embedded.offline.calendar import (
    drop_hours,
    drop_relative_days,
    is_time,
    parse_number,
)
from shared.adapters.embedded.offline.examples import END, MIN_LIKENESS, Examples
from shared.adapters.embedded.offline.speech import compile_words, list_terms
from shared.domain.value import value
from shared.retrieval.term_weights import EVERYDAY_WEIGHT
from shared.retrieval.terms import find_words

Intent = Literal[
    "greeting", "thanks", "goodbye", "today", "add_task", "remember", "forget", "complete_task", "delete_talk", "delete_talks",
    "open_tasks", "overdue_tasks", "done_tasks", "own_promises", "others_tasks", "last_time", "count_talks",
    "latest_talks", "people", "summary", "about_owner", "person", "asked_of_owner", "manual", "general", "search",
    "no_request",
]  # fmt: skip
REQUESTS: Sequence[Intent] = (
    "add_task", "complete_task", "delete_talk", "delete_talks", "forget", "remember",
)  # fmt: skip
"""What changes something."""
SMALL_TALK: Sequence[Intent] = ("greeting", "thanks", "goodbye", "today")
"""What nothing is looked up for."""
_QUESTIONS: frozenset[Intent] = frozenset(get_args(Intent)) - {*REQUESTS, "no_request"}
MIN_SHARE = 0.4
"""Of the weight of the nearest examples; where no intent has as much, words decide."""
MIN_REQUEST = 0.4
"""So far a request is from what is none: of 100 that forbid one or ask about it, 8 are taken for one."""
_POLITE, _OPENING, _POINTS_BACK, _ADDRESS = (
    compile_words(name) for name in ("polite", "opening", "points_back", "address")
)
"""A request may open politely, and end like a question. Of follow-ups, a "that" before a noun or its like begins a clause
and points to nothing: "that the rent rises".
"""


@value
class Reading:
    """What a text is for. `object` is what stands in the place that varies; empty where no form fits."""

    intent: Intent
    object: str = ""


@cache
def load_examples() -> Examples[Intent]:
    return Examples(Path(__file__).with_suffix(".json"))


def read_intent(text: str, vector: Sequence[float] | None = None) -> Reading:
    """Read a text by exact form, else by meaning, else by its words; a question's form counts where a name, a time or a number fills it."""
    examples = load_examples()
    undated = drop_relative_days(text)
    forms = dict.fromkeys((text, undated, drop_hours(undated)))
    if exact := next(filter(None, map(_match_request, forms)), None):
        return exact
    if not _has_words(text):
        vector = None
    shares = examples.table.weigh(vector) if vector is not None else {}
    if (
        vector is not None
        and not _is_question(text)
        and examples.table.discern(vector, to=REQUESTS) >= MIN_REQUEST
    ):
        return Reading(intent=max(REQUESTS, key=shares.__getitem__))
    form, varying = examples.match(text, _QUESTIONS)
    if form and (_is_name_or_time(varying) or not form.is_open):
        return Reading(intent=form.label, object=varying)
    intent = max(shares, key=shares.__getitem__, default=None)
    if intent is None or shares[intent] < MIN_SHARE:
        intent, likeness = examples.compare_words(text)
        intent = intent if likeness >= MIN_LIKENESS else None
    is_of_more = intent == "today" and list_terms(text) - examples.list_form_terms("today")
    known = intent if intent in _QUESTIONS and not is_of_more else "search"
    return Reading(intent=known, object=examples.match(text, (known,))[1])


def _has_words(text: str) -> bool:
    """Tell more than a single word, whose vector says little; a script without spaces has no single ones."""
    words = [is_spaced for *_, is_spaced in find_words(text)]
    return len(words) > 1 or False in words


def _is_name_or_time(words: str) -> bool:
    return words[:1].isupper() or is_time(words) or parse_number(words) > 0


def _is_question(text: str) -> bool:
    """Tell what changes nothing in any case; a request may be a question if it opens politely."""
    return text.rstrip().endswith(("?", "？")) and not _POLITE.match(text)


def _match_request(text: str) -> Reading | None:
    """Return what the longest form of a request that a text has says, or of what only looks like one.

    It may have one with or without a polite opening: "Can you remember …?" asks, "Can you remember that …?" requests.
    """
    opening = _POLITE.match(text)
    texts = [text, text[opening.end() :].rstrip(END)] if opening else [text]
    alike = (*REQUESTS, "search", "no_request")
    found = [load_examples().match(each, alike) for each in texts]
    form, varying = max(found, key=lambda pair: pair[0].size if pair[0] else 0)
    if form and form.label in REQUESTS:
        return Reading(intent=form.label, object=varying)
    return None if form is None or form.is_open else Reading(intent="search")


def complete(question: str, earlier: Sequence[str]) -> str:
    """Ask a follow-up together with the latest question that says what it is about."""
    if not _is_follow_up(question):
        return question
    whole = (
        text for text in reversed(earlier) if _names_anything(text) and not _is_follow_up(text)
    )
    return f"{_OPENING.sub('', question, count=1)} {next(whole, '')}".strip()


def _names_anything(text: str) -> bool:
    return bool(list_terms(text, above=EVERYDAY_WEIGHT))


def _is_follow_up(question: str) -> bool:
    """Tell a question that points back before it names anything: "Where does she live?", "Why?"."""
    if read_intent(question).intent in (*REQUESTS, *SMALL_TALK):
        return False
    if pointer := _POINTS_BACK.search(question):
        return not _names_anything(question[: pointer.start()])
    is_bare = _OPENING.match(question) or not _ADDRESS.search(question)
    return bool(is_bare) and not _names_anything(question)

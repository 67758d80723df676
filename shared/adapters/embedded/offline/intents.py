"""Intents: what a question or a request is for, by our labelled examples (intents.json).

A request in the form of an example has its object in the open place. Another is followed where it is told from those
who only ask about one or forbid it, which are examples as well. Meaning decides, or words where no encoder runs.

Also called: intent classification.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from shared.adapters.embedded.offline.calendar import drop_hours, drop_relative_days
from shared.adapters.embedded.offline.examples import END, MIN_LIKENESS, Examples
from shared.domain.value import value

Intent = Literal[
    "greeting", "thanks", "goodbye", "add_task", "remember", "forget", "complete_task", "delete_talk",
    "open_tasks", "overdue_tasks", "done_tasks", "own_promises", "others_tasks", "last_time", "count_talks",
    "latest_talks", "people", "summary", "about_owner", "person", "asked_of_owner", "manual", "general", "search",
    "no_request",
]  # fmt: skip
REQUESTS: frozenset[Intent] = frozenset(
    ("add_task", "remember", "forget", "complete_task", "delete_talk")
)
"""What changes something."""
_QUESTIONS: frozenset[Intent] = frozenset(get_args(Intent)) - REQUESTS - {"no_request"}
_ALIKE: frozenset[Intent] = REQUESTS.union(("search", "no_request"))
"""What may have nearly the form of a request."""
MIN_SHARE = 0.4
"""Of the weight of the nearest examples; where neither an intent nor its family has as much, words decide."""
MIN_REQUEST = 0.4
"""So far a request is from what is none: of 100 that forbid one or ask about it, 8 are taken for one."""
_FAMILIES: Sequence[frozenset[Intent]] = (
    frozenset(("open_tasks", "overdue_tasks", "done_tasks")),
    frozenset(("last_time", "latest_talks", "count_talks")),
)
MIN_FAMILY = 0.6
"""The same of intents that lie side by side, together: the nearest of them is meant."""
_POLITE = re.compile(
    r"(?:please|(?:can|could|would) you|you can|bitte|kannst du|könntest du|por favor|puedes|s['’]il te plaît|peux-tu)"
    r",? (?:please |bitte )?",
    re.IGNORECASE,
)
"""Opens a request, which may end like a question."""


@value
class Reading:
    """What a text is for. `object` is what stands in the place that varies; empty where no form fits."""

    intent: Intent
    object: str = ""


_SEARCH = Reading(intent="search")


@cache
def load_examples() -> Examples[Intent]:
    return Examples(Path(__file__).with_suffix(".json"))


def read_intent(text: str, vector: Sequence[float] | None = None) -> Reading:
    """Read a text by exact form, else by meaning, else by its words; a question's form counts where a name fills it."""
    undated = drop_relative_days(text)
    forms = (text, undated, drop_hours(undated))
    if exact := next(filter(None, map(_match_request, dict.fromkeys(forms))), None):
        return exact
    if vector is not None and (request := _discern_request(vector)):
        return Reading(intent=request)
    form, varying = load_examples().match(text, _QUESTIONS)
    if form and (varying[:1].isupper() or not form.is_open):
        return Reading(intent=form.label, object=varying)
    intent = (_read_meaning(vector) if vector is not None else None) or _read_words(text)
    if intent in (*REQUESTS, "no_request"):
        return _SEARCH
    return Reading(intent=intent, object=load_examples().match(text, (intent,))[1])


def list_form_terms(*intents: Intent) -> frozenset[str]:
    """Return the terms that say what the intents are, and nothing of what they are about."""
    return load_examples().list_form_terms(*intents)


def _match_request(text: str) -> Reading | None:
    """Return what the longest form of a request that a text has says, or of what only looks like one.

    It may have one with or without a polite opening: "Can you remember …?" asks, "Can you remember that …?" requests.
    """
    examples = load_examples()
    opening = _POLITE.match(text)
    texts = [text, text[opening.end() :].rstrip(END)] if opening else [text]
    found = [examples.match(each, _ALIKE) for each in texts]
    form, varying = max(found, key=lambda pair: pair[0].size if pair[0] else 0)
    if form and form.label in REQUESTS:
        return Reading(intent=form.label, object=varying)
    return None if form is None or form.is_open else _SEARCH


def _discern_request(vector: Sequence[float]) -> Intent | None:
    table = load_examples().table
    if table.discern(vector, to=tuple(sorted(REQUESTS))) < MIN_REQUEST:
        return None
    shares = table.weigh(vector)
    return max(REQUESTS, key=lambda intent: shares[intent])


def _read_meaning(vector: Sequence[float]) -> Intent | None:
    """Return the intent that is nearest; None where none is near enough."""
    shares = load_examples().table.weigh(vector)
    intent = max(shares, key=lambda intent: shares[intent])
    family = next((each for each in _FAMILIES if intent in each), frozenset())
    is_near = shares[intent] >= MIN_SHARE or sum(map(shares.__getitem__, family)) >= MIN_FAMILY
    return intent if is_near else None


def _read_words(text: str) -> Intent:
    intent, likeness = load_examples().compare_words(text)
    return intent if intent and likeness >= MIN_LIKENESS else "search"

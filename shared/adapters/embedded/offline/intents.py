"""Intents: what a question or a request is for, by our labelled examples in five languages (intents.json).

An example marks what varies in brackets. A request in just such a form has that intent, and its object stands in
their place. Of others the nearest examples decide, by meaning where an encoder runs, else by their words; they change
nothing, because a request, a question about one and its opposite mean nearly the same.

Also called: intent classification, slot filling.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from shared.adapters.embedded.offline.calendar import drop_relative_days
from shared.domain.value import value
from shared.retrieval.examples import ExampleTable
from shared.retrieval.terms import tokenize

Intent = Literal[
    "greeting",
    "thanks",
    "goodbye",
    "add_task",
    "remember",
    "forget",
    "complete_task",
    "delete_talk",
    "open_tasks",
    "overdue_tasks",
    "done_tasks",
    "own_promises",
    "others_tasks",
    "last_time",
    "count_talks",
    "latest_talks",
    "people",
    "summary",
    "about_owner",
    "person",
    "asked_of_owner",
    "manual",
    "general",
    "search",
]
REQUESTS: frozenset[Intent] = frozenset(
    ("add_task", "remember", "forget", "complete_task", "delete_talk")
)
"""What changes something: it is asked for in the form of an example alone."""
MIN_SHARE = 0.4
"""Of the weight of the nearest examples; where no intent has as much, words decide."""
UNKNOWN_RARITY = 2.0
"""Of a word that no example has in its fixed parts; one of a single example has six."""
MIN_LIKENESS = 0.6
"""Cosine of the words of a question and of an example."""
_FILE = Path(__file__).with_suffix(".json")
_POLITE = re.compile(
    r"(?:please|(?:can|could|would) you|bitte|kannst du|könntest du|por favor|puedes|s['’]il te plaît|peux-tu)"
    r",? (?:please )?",
    re.IGNORECASE,
)
"""Opens a request, which may end like a question."""
_END = " \n.!?。！？"


@value
class Form:
    """An example's fixed parts in lower case, around what varies; `is_open` where something does."""

    intent: Intent
    before: str
    after: str
    is_open: bool
    is_question: bool


@value
class Reading:
    """What a text is for. `object` is what stands in the place that varies; empty where no form fits."""

    intent: Intent
    object: str = ""


def read_intent(text: str, vector: Sequence[float] | None = None) -> Reading:
    """Read a text by exact form, else by meaning, else by its words."""
    if exact := _match_form(text) or _match_form(drop_relative_days(text)):
        return exact
    intent = (_read_meaning(vector) if vector is not None else None) or _read_words(text)
    if intent in REQUESTS:
        return Reading(intent="search")
    return Reading(intent=intent, object=_take_object(text, intent))


def list_examples() -> Sequence[tuple[Intent, str]]:
    """Return the examples as somebody would say them."""
    return [(intent, _say(example)) for intent, example in _list_marked()]


@cache
def load_table() -> ExampleTable[Intent]:
    return ExampleTable([intent for intent, _ in list_examples()], _FILE.with_suffix(".npz"))


@cache
def list_form_terms(intent: Intent) -> frozenset[str]:
    """Return the terms that say what the intent is, and nothing of what it is about."""
    forms = (form for form in _load_forms() if form.intent == intent)
    return frozenset(term for form in forms for term in tokenize(f"{form.before} {form.after}"))


def _list_marked() -> Iterator[tuple[Intent, str]]:
    by_intent: Mapping[Intent, Sequence[str]] = json.loads(_FILE.read_text("utf-8"))
    return ((intent, example) for intent, examples in by_intent.items() for example in examples)


def _say(example: str) -> str:
    return example.replace("[", "").replace("]", "")


@cache
def _load_forms() -> Sequence[Form]:
    return [_parse_form(intent, example) for intent, example in _list_marked()]


def _parse_form(intent: Intent, example: str) -> Form:
    before, opening, rest = example.partition("[")
    return Form(
        intent=intent,
        before=_fold(before),
        after=_fold(rest.rpartition("]")[2]).rstrip(_END),
        is_open=bool(opening),
        is_question=example.endswith(("?", "？")),
    )


def _fold(text: str) -> str:
    return text.casefold().replace("’", "'")


def _match_form(text: str) -> Reading | None:
    """Return the longest form of a request that a text has, or of a search that looks like one."""
    form, varying = _find_form(text, REQUESTS | {"search"})
    if form is None or form.intent not in REQUESTS:
        return None
    return Reading(intent=form.intent, object=varying)


def _find_form(text: str, intents: Container[Intent]) -> tuple[Form | None, str]:
    """Return the longest form of some intents that a text has, with what stands in its open place.

    It may have one with or without a polite opening: "Can you remember …?" asks, "Can you remember that …?" requests.
    """
    whole = " ".join(text.split())
    opening = _POLITE.match(whole)
    texts = [whole, whole[opening.end() :].rstrip(_END)] if opening else [whole]
    found = (_find_whole_form(each, intents) for each in texts)
    return max(found, key=lambda pair: _count_fixed(pair[0]))


def _find_whole_form(whole: str, intents: Container[Intent]) -> tuple[Form | None, str]:
    bare, lower = whole.rstrip(_END), _fold(whole).rstrip(_END)
    if len(bare) != len(lower):  # a capital letter may be two in lower case
        bare = lower
    fitting = [f for f in _load_forms() if f.intent in intents and _fits(f, lower, whole)]
    form = max(fitting, key=_count_fixed, default=None)
    if form is None or not form.is_open:
        return form, ""
    return form, bare[len(form.before) : len(bare) - len(form.after)].strip()


def _count_fixed(form: Form | None) -> int:
    return len(form.before) + len(form.after) if form else 0


def _fits(form: Form, lower: str, whole: str) -> bool:
    if not form.is_open:
        return lower == form.before.rstrip(_END)
    has_place = len(lower) > len(form.before) + len(form.after)
    is_asked = whole.endswith(("?", "？"))
    return (
        has_place
        and lower.startswith(form.before)
        and lower.endswith(form.after)
        and (form.is_question or not is_asked)
    )


def _read_meaning(vector: Sequence[float]) -> Intent | None:
    """Return the intent that is nearest; None where none is near enough."""
    shares = load_table().weigh(vector)
    intent = max(shares, key=lambda intent: shares[intent])
    return intent if shares[intent] >= MIN_SHARE else None


def _read_words(text: str) -> Intent:
    """Compare the words of a text with the fixed ones of each example; rare ones count more."""
    rarity = _load_rarity()
    asked = set(tokenize(text))
    likeness = {
        example: sum(rarity[term] for term in asked & terms)
        / math.sqrt(_sum_rarity(asked) * _sum_rarity(terms))
        for example, terms in _load_terms().items()
        if not asked.isdisjoint(terms)
    }
    form, _ = _find_form(text, get_args(Intent))
    best = max(likeness, key=lambda e: (likeness[e], form == _parse_form(*e)), default=None)
    if best is None or likeness[best] < MIN_LIKENESS:
        return "search"
    return best[0]


def _sum_rarity(terms: Iterable[str]) -> float:
    rarity = _load_rarity()
    return sum(rarity.get(term, UNKNOWN_RARITY) for term in terms)


@cache
def _load_terms() -> Mapping[tuple[Intent, str], frozenset[str]]:
    """Return the terms of the fixed parts of each example."""
    forms = zip(_list_marked(), _load_forms(), strict=True)
    return {marked: frozenset(tokenize(f"{form.before} {form.after}")) for marked, form in forms}


@cache
def _load_rarity() -> Mapping[str, float]:
    counts = Counter(term for terms in _load_terms().values() for term in terms)
    return {term: math.log(1 + len(_load_terms()) / count) for term, count in counts.items()}


def _take_object(text: str, intent: Intent) -> str:
    _, varying = _find_form(text, (intent,))
    return varying

"""Examples of the offline model: sentences in six languages with what they are, a table a file (intents, tasks).

An example marks what varies in brackets: the rest is its form. Meaning decides by the nearest examples where an
encoder runs, else their words do.

Also called: few-shot classification, slot filling.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Generic, TypeVar

from shared.domain.value import value
from shared.retrieval.examples import ExampleTable
from shared.retrieval.terms import tokenize

L = TypeVar("L", bound=str)

MIN_LIKENESS = 0.6
"""Cosine of the words of a text and of an example's form."""
_UNKNOWN_RARITY = 2.0
"""Of a word that no form has; one of a single form has six."""
_BRACKETS = re.compile(r"[\[\]]")
END = " \n.!?。！？"


@value
class Form(Generic[L]):
    """An example's fixed parts in lower case, around what varies; `is_open` where something does."""

    label: L
    before: str
    after: str
    is_open: bool
    is_question: bool

    @property
    def size(self) -> int:
        return len(self.before) + len(self.after)


class Examples(Generic[L]):
    """The table of a JSON file, with the vectors beside it."""

    def __init__(self, file: Path) -> None:
        self._by_label: Mapping[L, Sequence[str]] = json.loads(file.read_text("utf-8"))
        self.marked = [(label, text) for label, texts in self._by_label.items() for text in texts]
        self.table: ExampleTable[L] = ExampleTable(
            [label for label, _ in self.marked], file.with_suffix(".npz")
        )

    @property
    def spoken(self) -> list[tuple[L, str]]:
        """The examples as somebody would say them."""
        return [(label, _BRACKETS.sub("", text)) for label, text in self.marked]

    @cached_property
    def forms(self) -> list[Form[L]]:
        return [_parse_form(label, text) for label, text in self.marked]

    def list_form_terms(self, *labels: L) -> frozenset[str]:
        """Return the terms that say what something is, and nothing of what it is about."""
        return frozenset(
            term
            for form, terms in zip(self.forms, self._terms, strict=True)
            if form.label in labels
            for term in terms
        )

    def match(self, text: str, labels: Container[L]) -> tuple[Form[L] | None, str]:
        """Return the longest form of some labels that a whole text has, and what stands in its open place."""
        whole = " ".join(text.split())
        bare, lower = whole.rstrip(END), fold(whole).rstrip(END)
        if len(bare) != len(lower):  # a capital letter may be two in lower case
            bare = lower
        is_asked = whole.endswith(("?", "？"))
        fitting = [
            f for f in self.forms if f.label in labels and _fits(f, lower, is_asked=is_asked)
        ]
        form = max(fitting, key=lambda form: form.size, default=None)
        if form is None or not form.is_open:
            return form, ""
        return form, bare[len(form.before) : len(bare) - len(form.after)].strip()

    def compare_words(self, text: str) -> tuple[L | None, float]:
        """Return the label whose form has the most words of a text, rare ones count more, and how alike they are."""
        asked = set(tokenize(text))
        weight = self._weigh(asked)
        likeness = (
            (self._weigh(asked & terms) / math.sqrt(weight * form_weight), form.label)
            for terms, form_weight, form in zip(self._terms, self._weights, self.forms, strict=True)
            if not asked.isdisjoint(terms)
        )
        best, label = max(likeness, key=itemgetter(0), default=(0.0, None))
        return label, best

    def _weigh(self, terms: Iterable[str]) -> float:
        return math.fsum(self._rarity.get(term, _UNKNOWN_RARITY) for term in terms)

    @cached_property
    def _terms(self) -> list[frozenset[str]]:
        return [frozenset(tokenize(f"{form.before} {form.after}")) for form in self.forms]

    @cached_property
    def _weights(self) -> Sequence[float]:
        return [self._weigh(terms) for terms in self._terms]

    @cached_property
    def _rarity(self) -> Mapping[str, float]:
        counts = Counter(term for terms in self._terms for term in terms)
        return {term: math.log(1 + len(self._terms) / count) for term, count in counts.items()}


def fold(text: str) -> str:
    return text.casefold().replace("’", "'")


def _parse_form(label: L, example: str) -> Form[L]:
    before, opening, rest = example.partition("[")
    return Form(
        label=label,
        before=fold(before),
        after=fold(rest.rpartition("]")[2]).rstrip(END),
        is_open=bool(opening),
        is_question=example.endswith(("?", "？")),
    )


def _fits(form: Form[L], lower: str, *, is_asked: bool) -> bool:
    if not form.is_open:
        return lower == form.before.rstrip(END)
    return (
        len(lower) > form.size
        and lower.startswith(form.before)
        and lower.endswith(form.after)
        and (form.is_question or not is_asked)
    )

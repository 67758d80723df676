"""Memories without a model: lasting facts that the owner states in the first person, in English (memories.json).

Each quotes the words that it rests on. A sentence that is marked as a guess, a quotation or an idea has
none, even if another of its clauses states a fact.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from shared.adapters.embedded.offline.speech import Sentence
from shared.domain.value import positional_value
from shared.library.exclusive_facts import find_exclusive_key

_MAX_FACT_WORDS = 15
_PATTERNS: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""How a clause with a fact begins and is restated, and how one ends that does not last or is taken back.

A name in angle brackets stands for one of the parts.
"""


@positional_value
class Fact:
    """A fact in the third person, and the owner's words for it."""

    content: str
    evidence: str


def extract_memories(all_sentences: Iterable[Sentence]) -> list[dict[str, Any]]:
    """Extract facts from the owner's sentences; a transcript that marks no owner has none."""
    own = [sentence for sentence in all_sentences if sentence.is_user]
    return [
        {
            "segment": sentence.segment,
            "evidence": fact.evidence,
            "kind": "lasting",
            "content": fact.content,
            "exclusive_key": find_exclusive_key(fact.content),
        }
        for sentence, following in zip_longest(own, own[1:])
        for fact in extract_facts(sentence.text)
        if not _compile(_PATTERNS["passing"]).search(_straighten(sentence.text))
        if not (following and _compile(_PATTERNS["correction"]).match(_straighten(following.text)))
    ]


def extract_facts(sentence: str) -> Iterator[Fact]:
    """Yield the facts in a sentence, one a clause."""
    for clause in _compile(_PATTERNS["clause_end"]).split(sentence.rstrip(" .!…")):
        quote = _compile(_PATTERNS["opening"]).sub("", clause, count=1)
        content = _straighten(quote)
        if _compile("|".join(_PATTERNS["facts"])).match(content):
            for words, restated in _PATTERNS["restated"].items():
                content = _compile(words).sub(restated, content)
            is_unfit = _compile(_PATTERNS["unfit"]).search(content)
            if not is_unfit and len(content.split()) <= _MAX_FACT_WORDS:
                yield Fact(content, quote)


def _straighten(text: str) -> str:
    """Return a text with straight apostrophes."""
    return text.replace("’", "'")


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile at first use: a cold start should not pay for it."""
    for name, part in reversed(_PATTERNS["parts"].items()):
        pattern = pattern.replace(f"<{name}>", part)
    return re.compile(pattern, re.IGNORECASE)

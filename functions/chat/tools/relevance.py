"""Which of many tools fit a question, by their words: no model is asked."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from functions.chat.tools.toolkit import Tool
from shared.retrieval.frequencies import weight
from shared.retrieval.query import STAND_IN
from shared.retrieval.related import related
from shared.retrieval.terms import terms

IN_NAME = 2.0
"""What a word counts for in a tool's or its app's name; in the description it counts for 1."""
EARLIER = 0.5
"""What a word of an earlier message counts for beside one of the question."""
_MOST_READ = 4_000
_DESCRIBED_IN = 600
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def best(tools: Sequence[Tool], question: str, earlier: Sequence[str] = ()) -> list[Tool]:
    """Return the tools that share telling words with what is asked, best first."""
    wanted = _wanted(question, earlier)
    held = [_words(f"{tool.source.name} {tool.spec.name}", tool.spec.description) for tool in tools]
    found = Counter(term for words in held for term in words.keys() & wanted.keys())
    worth = {t: wanted[t] * math.log(1 + len(tools) / n) for t, n in found.items()}
    scores = [sum(words[t] * worth[t] for t in words.keys() & worth.keys()) for words in held]
    ranks = sorted(range(len(tools)), key=lambda n: -scores[n])
    return [tools[n] for n in ranks if scores[n] > 0]


def _wanted(question: str, earlier: Sequence[str]) -> Mapping[str, float]:
    """Weigh what is asked for, by how telling it is; words that stand in for it count for less."""
    wanted: dict[str, float] = {}
    for text, share in ((question, 1.0), *((text, EARLIER) for text in earlier)):
        for term in dict.fromkeys(terms(text[:_MOST_READ])):
            full = share * weight(term)
            for each, part in (
                (term, full),
                *((other, full * STAND_IN) for other in related(term)),
            ):
                wanted[each] = max(part, wanted.get(each, 0.0))
    return {term: worth for term, worth in wanted.items() if worth > 0}


@lru_cache(maxsize=8_192)
def _words(name: str, description: str) -> Mapping[str, float]:
    described = dict.fromkeys(terms(description[:_DESCRIBED_IN]), 1.0)
    return described | dict.fromkeys(terms(_CAMEL.sub(" ", name)), IN_NAME)

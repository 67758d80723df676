"""Ranking of tools for a question, by the words they share; without a model call."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from functions.chat.tools.toolkit import Tool
from shared.retrieval.query import SYNONYM_WEIGHT
from shared.retrieval.synonyms import list_synonyms
from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

NAME_WEIGHT = 2.0
"""Weight of a word in the name of a tool or its app; in the description it is 1."""
EARLIER_WEIGHT = 0.5
"""Weight of a word of an earlier message; in the question it is 1."""
_MAX_TEXT_CHARS = 4_000
_MAX_DESCRIPTION_CHARS = 600
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def rank_tools(tools: Sequence[Tool], question: str, earlier: Sequence[str] = ()) -> list[Tool]:
    """Return the tools that share significant words with the question, best first."""
    query_weights = _weigh_query_terms(question, earlier)
    tool_weights = [
        _weigh_tool_terms(f"{tool.source.name} {tool.spec.name}", tool.spec.description)
        for tool in tools
    ]
    tool_counts = Counter(
        term for words in tool_weights for term in words.keys() & query_weights.keys()
    )
    term_weights = {
        t: query_weights[t] * math.log(1 + len(tools) / n) for t, n in tool_counts.items()
    }
    scores = [
        sum(words[t] * term_weights[t] for t in words.keys() & term_weights.keys())
        for words in tool_weights
    ]
    ranks = sorted(range(len(tools)), key=lambda n: -scores[n])
    return [tools[n] for n in ranks if scores[n] > 0]


def _weigh_query_terms(question: str, earlier: Sequence[str]) -> Mapping[str, float]:
    """Weigh the words of the question by how rare they are; synonyms weigh less."""
    weights: dict[str, float] = {}
    for text, text_weight in ((question, 1.0), *((text, EARLIER_WEIGHT) for text in earlier)):
        for term in dict.fromkeys(tokenize(text[:_MAX_TEXT_CHARS])):
            full_weight = text_weight * get_term_weight(term)
            for candidate, candidate_weight in (
                (term, full_weight),
                *((synonym, full_weight * SYNONYM_WEIGHT) for synonym in list_synonyms(term)),
            ):
                weights[candidate] = max(candidate_weight, weights.get(candidate, 0.0))
    return {term: term_weight for term, term_weight in weights.items() if term_weight > 0}


@lru_cache(maxsize=8_192)
def _weigh_tool_terms(name: str, description: str) -> Mapping[str, float]:
    weights = dict.fromkeys(tokenize(description[:_MAX_DESCRIPTION_CHARS]), 1.0)
    return weights | dict.fromkeys(tokenize(_CAMEL_CASE.sub(" ", name)), NAME_WEIGHT)

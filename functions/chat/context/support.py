"""Support of an answer: the document that it rests on, found by its words where the model cites none; pure."""

from collections.abc import Mapping

from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

SUPPORT_SHARE = 0.6
"""Of the weight of an answer's words, from which a document supports it."""


def find_support(answer: str, question: str, documents: Mapping[int, str]) -> int | None:
    """Return the number of the document in which most of what an answer adds to its question stands.

    `documents` are the texts that the model was given, by number. None where no document has as much of it as
    SUPPORT_SHARE.
    """
    added = set(tokenize(answer)).difference(tokenize(question))
    weights = {term: weight for term in added if (weight := get_term_weight(term)) > 0}
    shares = {
        number: sum(weights[term] for term in weights.keys() & set(tokenize(text)))
        for number, text in documents.items()
    }
    best = max(shares, key=lambda number: shares[number], default=None)
    if best is None or not shares[best]:
        return None
    return best if shares[best] >= SUPPORT_SHARE * sum(weights.values()) else None

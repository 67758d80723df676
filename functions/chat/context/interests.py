"""Choice of interests: the few of the owner's that an answer is told of; pure."""

import hashlib
from collections.abc import Sequence
from datetime import date

from shared.retrieval.term_weights import get_term_weight
from shared.retrieval.terms import tokenize

MAX_TOLD = 5


def choose_interests(
    interests: Sequence[str], question: str, *, chat_id: str, day: date
) -> list[str]:
    """Return at most MAX_TOLD interests, and never all of them: no answer needs the whole of a person.

    Those that share a word with the question; where none does, some that stay the same in a chat for a
    day, so that the prompt does.
    """
    limit = min(MAX_TOLD, len(interests) - 1)
    if limit < 1:
        return []
    asked = {term for term in tokenize(question) if get_term_weight(term) > 0}
    related = [interest for interest in interests if asked.intersection(tokenize(interest))]
    mixed = sorted(interests, key=lambda interest: _hash(chat_id, day, interest))
    return (related or mixed)[:limit]


def _hash(chat_id: str, day: date, interest: str) -> bytes:
    return hashlib.sha256(f"{chat_id}\n{day.isoformat()}\n{interest}".encode()).digest()

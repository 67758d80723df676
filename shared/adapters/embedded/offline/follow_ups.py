"""Follow-ups: questions that say only with the one before what they are about; pure."""

import re
from collections.abc import Sequence

from shared.adapters.embedded.offline.intents import REQUESTS, read_intent
from shared.adapters.embedded.offline.speech import has_content

_OPENING = re.compile(r"^\s*(?:and|but|so|or)\b,?\s+", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"\b(?:he|she|it|they|him|her|his|them|their|those"
    r"|that(?! (?:(?-i:[A-Z])|(?:an?|the|my|our|your|i|we|you|he|she|it|they)\b)))\b",
    re.IGNORECASE,
)
"""A "that" before a noun or its like begins a clause and points to nothing: "that the rent rises"."""
_ADDRESS = re.compile(r"\b(?:i|me|my|we|us|our|you|your)\b", re.IGNORECASE)


def complete(question: str, earlier: Sequence[str]) -> str:
    """Ask a follow-up together with the latest question that says what it is about."""
    if not _is_follow_up(question):
        return question
    whole = (text for text in reversed(earlier) if has_content(text) and not _is_follow_up(text))
    return f"{_OPENING.sub('', question, count=1)} {next(whole, '')}".strip()


def _is_follow_up(question: str) -> bool:
    """Tell a question that points back before it names anything: "Where does she live?", "Why?"."""
    if read_intent(question).intent in (*REQUESTS, "greeting", "thanks", "goodbye"):
        return False
    if pointer := _POINTS_BACK.search(question):
        return not has_content(question[: pointer.start()])
    is_bare = _OPENING.match(question) or not _ADDRESS.search(question)
    return bool(is_bare) and not has_content(question)

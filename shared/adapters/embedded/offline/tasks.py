"""Tasks and events without a model: sentences that promise, need, ask for or schedule something."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from shared.adapters.embedded.offline.calendar import parse_moment
from shared.adapters.embedded.offline.speech import Sentence, select_user_sentences

_PROMISE = re.compile(
    r"\b(?:i(?:'|’)ll|i will|i need to|i have to|i've got to|i gotta|i must|i should"
    r"|we need to|we have to|we should|let me|remind me to|remember to|don(?:'|’)t forget to)\s+(.+)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:(?:can|could|would|will) you(?: please)?|please|you need to|you have to"
    r"|don(?:'|’)t forget to|make sure (?:to|you)|remember to)\s+(.+)",
    re.IGNORECASE,
)
_MEETING = re.compile(
    r"\b(?:meet(?:ing)?|appointment|dinner|lunch|breakfast|call|interview|flight|train|party|"
    r"lesson|class|concert|wedding|birthday|demo|review|workshop|game|match)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.!?;]|,? (?:because|but|so that|if that|okay|right)\b|, (?:so|then)\b", re.IGNORECASE
)
_NON_TASK_VERB_TEXT = (
    "not never be see think guess say admit tell go have know let explain show assume just"
)
_NON_TASK_VERBS = frozenset(_NON_TASK_VERB_TEXT.split())
_MAX_TASK_WORDS = 15


def extract_action_items(
    sentences: Sequence[Sentence], now: datetime
) -> Iterator[dict[str, str | None]]:
    """Yield tasks in the owner's words, without "I'll", due on the day that was named."""
    user_sentences = frozenset(select_user_sentences(sentences))
    for sentence in sentences:
        if task := _parse_task(sentence, is_user=sentence in user_sentences):
            due = parse_moment(sentence.text, now)
            yield {"description": task, "due_at": due.at.isoformat() if due else None}


def extract_events(sentences: Sequence[Sentence], now: datetime) -> Iterator[dict[str, str | int]]:
    """Yield statements that name a meeting, a day and an hour; tasks and questions are no events."""
    for sentence in sentences:
        when = parse_moment(sentence.text, now) if _is_meeting(sentence.text) else None
        if when and when.exact:
            title = " ".join(sentence.text.rstrip(".!").split()[:10])
            yield {"title": title, "start": when.at.isoformat(), "duration": 30}


def _is_meeting(text: str) -> bool:
    has_meeting_word = _MEETING.search(text) is not None
    return (
        has_meeting_word
        and not text.endswith("?")
        and not _PROMISE.search(text)
        and not _REQUEST.search(text)
    )


def _parse_task(sentence: Sentence, *, is_user: bool) -> str | None:
    pattern = _PROMISE if is_user else _REQUEST
    match = pattern.search(sentence.text)
    if not match:
        return None
    task = _CLAUSE_END.split(match[1])[0].split()
    if len(task) < 2 or task[0].lower() in _NON_TASK_VERBS:
        return None
    text = " ".join(task[:_MAX_TASK_WORDS]).rstrip(",")
    return text[0].upper() + text[1:]

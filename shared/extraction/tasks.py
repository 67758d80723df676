"""What was undertaken: sentences that promise, need or ask."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from shared.extraction.calendar import moment
from shared.extraction.speech import Sentence, by_owner

_OWN = re.compile(
    r"\b(?:i(?:'|’)ll|i will|i need to|i have to|i've got to|i gotta|i must|i should"
    r"|we need to|we have to|we should|let me|remind me to|remember to|don(?:'|’)t forget to)\s+(.+)",
    re.IGNORECASE,
)
_ASKED = re.compile(
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
_IDLE = "not never be see think guess say admit tell go have know let explain show assume just"
_NO_TASK = frozenset(_IDLE.split())
_WORDS = 15


def action_items(said: Sequence[Sentence], now: datetime) -> Iterator[dict[str, str | None]]:
    """Yield tasks in the owner's words, without "I'll", with the day that was named."""
    owned = frozenset(by_owner(said))
    for sentence in said:
        if task := _task(sentence, owned=sentence in owned):
            due = moment(sentence.text, now)
            yield {"description": task, "due_at": due.at.isoformat() if due else None}


def events(said: Sequence[Sentence], now: datetime) -> Iterator[dict[str, str | int]]:
    """Yield what has a day, an hour and a name for a meeting; a task or a question is none."""
    for sentence in said:
        when = moment(sentence.text, now) if _is_meeting(sentence.text) else None
        if when and when.exact:
            title = " ".join(sentence.text.rstrip(".!").split()[:10])
            yield {"title": title, "start": when.at.isoformat(), "duration": 30}


def _is_meeting(text: str) -> bool:
    named = _MEETING.search(text) is not None
    return named and not text.endswith("?") and not _OWN.search(text) and not _ASKED.search(text)


def _task(sentence: Sentence, *, owned: bool) -> str | None:
    pattern = _OWN if owned else _ASKED
    found = pattern.search(sentence.text)
    if not found:
        return None
    task = _CLAUSE_END.split(found[1])[0].split()
    if len(task) < 2 or task[0].lower() in _NO_TASK:
        return None
    text = " ".join(task[:_WORDS]).rstrip(",")
    return text[0].upper() + text[1:]

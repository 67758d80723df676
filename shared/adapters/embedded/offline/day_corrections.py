"""Corrections of a day: "no, make it Friday" moves what was to be done on Thursday; pure."""

import re
from datetime import datetime

from shared.adapters.embedded.offline.calendar import Moment, parse_moment
from shared.adapters.embedded.offline.speech import is_meaningful, split_words

_OPENING = re.compile(
    r"(?:(?:oh|well|okay),? )?(?:no|wait|sorry|actually|rather)\b(?:,? wait\b)?", re.IGNORECASE
)
_REQUEST = re.compile(r"\bmake (?:it|that)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|cannot|\w+n['’]t)\b", re.IGNORECASE)


def correct_day(
    spoken: str, task: str, due_at: datetime, now: datetime
) -> tuple[str, datetime] | None:
    """Return the task as a sentence after it moves it, with its new moment; None if it does not.

    Such a sentence names another day, and nothing that the task does not name.
    """
    opening = None if spoken.endswith("?") else _OPENING.match(spoken)
    is_correction = opening or _REQUEST.search(spoken)
    if not is_correction or _NEGATION.search(spoken):
        return None
    moment = parse_moment(spoken, now)
    rest = spoken[opening.end() :] if opening else spoken
    if moment is None or _list_meanings(rest, moment.words) - _list_meanings(task):
        return None
    return _replace_day(task, spoken, moment, now), _move(due_at, moment)


def _list_meanings(text: str, day: str = "") -> set[str]:
    """Return the words with meaning, without those of a day."""
    return set(filter(is_meaningful, split_words(text.lower()))) - set(split_words(day))


def _replace_day(task: str, spoken: str, moment: Moment, now: datetime) -> str:
    old = parse_moment(task, now)
    new_words = _find_day(moment).search(spoken)
    return _find_day(old).sub(new_words[0], task, count=1) if old and new_words else task


def _find_day(moment: Moment) -> re.Pattern[str]:
    return re.compile(rf"(?:\bon )?{re.escape(moment.words)}", re.IGNORECASE)


def _move(due_at: datetime, moment: Moment) -> datetime:
    """Return the new moment; the hour stays where none is named."""
    return moment.at if moment.exact else datetime.combine(moment.at, due_at.timetz())

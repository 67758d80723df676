"""Corrections of a day: "no, make it Friday" moves what was to be done on Thursday; pure."""

import re
from datetime import datetime

from shared.adapters.embedded.offline.calendar import Moment, parse_moment
from shared.adapters.embedded.offline.speech import is_meaningful, split_words

_OPENING = re.compile(
    r"(?:(?:oh|well|okay),? )?(?:no|wait|sorry|actually|rather)\b(?:,? wait\b)?(?:,? please\b)?",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"\bmake (?:it|that)\b", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:not|cannot|\w+n['’]t)\b", re.IGNORECASE)


def correct_day(
    spoken: str, task: str, due_at: datetime, now: datetime
) -> tuple[str, datetime] | None:
    """Return the task as a sentence after it moves it, with its new moment; None if it does not.

    Such a sentence names another day, and nothing else that the task does not name before its next comma.
    """
    opening = None if spoken.endswith("?") else _OPENING.match(spoken)
    is_correction = opening or _REQUEST.search(spoken)
    if not is_correction or _NEGATION.search(spoken):
        return None
    moment = parse_moment(spoken, now)
    day = _find_day(moment).search(spoken) if moment else None
    if moment is None or day is None:
        return None
    before = spoken[opening.end() if opening else 0 : day.start()]
    after = spoken[day.end() :].partition(",")[0]
    if _list_meanings(before + after) - _list_meanings(task):
        return None
    return _replace_day(task, day[0], now), _move(due_at, moment)


def _list_meanings(text: str) -> set[str]:
    return set(filter(is_meaningful, split_words(text.lower())))


def _replace_day(task: str, words: str, now: datetime) -> str:
    """Put other words in the place of the day: "by Monday" becomes "by Friday", also by "on Friday"."""
    moment = parse_moment(task, now)
    old = _find_day(moment).search(task) if moment else None
    if old is None:
        return task
    new = words if old[0].startswith("on ") else words.removeprefix("on ")
    return task[: old.start()] + new + task[old.end() :]


def _find_day(moment: Moment) -> re.Pattern[str]:
    return re.compile(rf"(?:\bon )?{re.escape(moment.words)}", re.IGNORECASE)


def _move(due_at: datetime, moment: Moment) -> datetime:
    """Return the new moment; the hour stays where none is named."""
    return moment.at if moment.exact else datetime.combine(moment.at, due_at.timetz())

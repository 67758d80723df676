"""The stretch of time that a question names, read by rules in the owner's zone.

Questions are about what was said: "on Tuesday" is the last one, "in May" the last that has begun.
Only "next", "tomorrow" and "in two weeks" look ahead. How the other choices were made:

- A week begins on Monday; "last week", "two weeks ago" are whole weeks, "a month ago" a whole month.
- "the last three days", "the past week" run up to today, which is part of them.
- "six hours ago" is an hour, "ten minutes ago" ten minutes to either side.
- Seasons are the northern ones by months: summer is June to August, winter belongs to its December.
- Christmas is the 25th and 26th, so that the week before it begins on the 18th.
- 5/6/2023 is the fifth of June, save in a zone of the United States; 5.6.2023 is so everywhere.
- "before May" begins in 1970; "since" and "after" end with today.
- Of two expressions the first counts, at its longest.
"""

from datetime import datetime

from shared.retrieval.dates.grammar import Found, first
from shared.retrieval.dates.spans import Span as Span

_READ = 2_000  # characters; a question that says when says so early


def resolve(question: str, now: datetime) -> Span | None:
    """Return the time that a question names, in the zone of `now`; None when it names none."""
    found = _found(question, now)
    return found.span if found else None


def without(question: str, now: datetime) -> str:
    """Return the question without the words that name its time: its topic."""
    found = _found(question, now)
    return f"{question[: found.start]} {question[found.stop :]}" if found else question


def _found(question: str, now: datetime) -> Found | None:
    return first(question[:_READ], now)

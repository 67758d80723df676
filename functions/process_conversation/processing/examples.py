"""Examples of the extraction prompt: invented names and one far day, by which an answer that copies an example is known."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

EXAMPLES: Mapping[str, str] = {"example_name": "Thrennick", "example_food": "Quorvel"}
"""By slot. Nobody and nothing is called so."""

EXAMPLE_DAY = date(2031, 5, 11)
_FAR = timedelta(days=366)


def is_example_day(text: str | None, said_at: datetime) -> bool:
    """Tell whether a time is that of an example; once it is near, it is a day like any other."""
    is_far = EXAMPLE_DAY - said_at.date() > _FAR
    return is_far and EXAMPLE_DAY.isoformat() in (text or "")


def quotes_example(text: str, spoken: Iterable[str]) -> bool:
    """Tell whether an answer has a name of an example that nobody said."""
    names = [name.casefold() for name in EXAMPLES.values() if name.casefold() in text.casefold()]
    return bool(names) and not any(name in said.casefold() for name in names for said in spoken)

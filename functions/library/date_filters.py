"""Date filters: a day or a time as the beginning or the end of a range.

Also called: date range.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator

from shared.library.conversation_schemas import validate_time

_DAY_CHARS = len("2026-03-02")


def parse_first_moment(text: str) -> datetime:
    """Read a day as its first moment, or a time. Raises ValueError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a date, or a date and time in the form of ISO 8601") from None
    return validate_time(moment)


def parse_last_moment(text: str) -> datetime:
    """Read a day as its last moment, or a time. Raises ValueError."""
    moment = parse_first_moment(text)
    return moment + timedelta(days=1, microseconds=-1) if len(text) == _DAY_CHARS else moment


def _parse_first(text: Any) -> Any:
    return parse_first_moment(text) if isinstance(text, str) and text else text or None


def _parse_last(text: Any) -> Any:
    return parse_last_moment(text) if isinstance(text, str) and text else text or None


FirstMoment = Annotated[datetime | None, BeforeValidator(_parse_first)]
"""The beginning of a range; UTC where it names no zone."""
LastMoment = Annotated[datetime | None, BeforeValidator(_parse_last)]
"""The end of a range, included: of a day its last moment."""

"""Date filters: a day or a time as the beginning or the end of a range.

Also called: date range.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

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


def _read_first(text: Any) -> Any:
    """Read a time as it is written, with or without a zone. Raises ValueError."""
    if not isinstance(text, str) or not text:
        return text or None
    moment = parse_first_moment(text)
    written = datetime.fromisoformat(text)
    return moment if written.tzinfo else written


def _read_last(text: Any) -> Any:
    moment = _read_first(text)
    is_day = isinstance(text, str) and len(text) == _DAY_CHARS
    return moment + timedelta(days=1, microseconds=-1) if is_day else moment


def place(moment: datetime | None, zone: ZoneInfo) -> datetime | None:
    """Return a time in UTC; where none was named, its zone is that of the owner's clock."""
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


FirstLocalMoment = Annotated[datetime | None, BeforeValidator(_read_first)]
"""The beginning of a range, by the owner's clock where it names no zone: to be placed."""
LastLocalMoment = Annotated[datetime | None, BeforeValidator(_read_last)]
"""The end of it, included."""
FirstMoment = Annotated[datetime | None, BeforeValidator(_parse_first)]
"""The beginning of a range; UTC where it names no zone."""
LastMoment = Annotated[datetime | None, BeforeValidator(_parse_last)]
"""The end of a range, included: of a day its last moment."""

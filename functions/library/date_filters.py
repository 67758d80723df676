"""Date filters: a day or a time as the beginning or the end of a range.

Also called: date range.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from shared.library.conversation_schemas import validate_time

_DAY_CHARS = len("2026-03-02")


def parse_first_moment(text: str) -> datetime:
    """Read a day as its first moment, or a time; without a zone where it names none. Raises ValueError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a date, or a date and time in the form of ISO 8601") from None
    in_utc = validate_time(moment)
    return in_utc if moment.tzinfo else moment


def parse_last_moment(text: str) -> datetime:
    """Read a day as its last moment, or a time, as above. Raises ValueError."""
    moment = parse_first_moment(text)
    return moment + timedelta(days=1, microseconds=-1) if len(text) == _DAY_CHARS else moment


def _parse_first(text: Any) -> Any:
    return parse_first_moment(text) if isinstance(text, str) and text else text or None


def _parse_last(text: Any) -> Any:
    return parse_last_moment(text) if isinstance(text, str) and text else text or None


def place(moment: datetime | None, zone: tzinfo) -> datetime | None:
    """Return a time in UTC; where none was named, its zone is the given one."""
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)


def _place_in_utc(moment: datetime | None) -> datetime | None:
    return place(moment, UTC)


FirstLocalMoment = Annotated[datetime | None, BeforeValidator(_parse_first)]
"""The beginning of a range, by the owner's clock where it names no zone: to be placed."""
LastLocalMoment = Annotated[datetime | None, BeforeValidator(_parse_last)]
"""The end of it, included: of a day its last moment."""
FirstMoment = Annotated[FirstLocalMoment, AfterValidator(_place_in_utc)]
"""The beginning of a range; UTC where it names no zone."""
LastMoment = Annotated[LastLocalMoment, AfterValidator(_place_in_utc)]
"""The end of a range, included."""

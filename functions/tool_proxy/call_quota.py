"""Call quota: how many calls an hour a user may make to apps and connected services.

Also called: hourly limit.
"""

from collections.abc import Mapping
from datetime import datetime

from shared.domain.errors import ToolFailed
from shared.resilience.hour_windows import count_seconds_left

MAX_CALLS_PER_APP_HOUR = 200
MAX_CALLS_PER_USER_HOUR = 600
"""Calls within an hour of the clock: to one app or service, and to all together."""


def check_quota(
    callee_id: str, name: str, calls_this_hour: Mapping[str, int], now: datetime
) -> None:
    """Raise ToolFailed, with a text for the model, if this hour's calls are used up."""
    if calls_this_hour.get(callee_id, 0) >= MAX_CALLS_PER_APP_HOUR:
        raise ToolFailed(_build_limit_text(MAX_CALLS_PER_APP_HOUR, name, now))
    if sum(calls_this_hour.values()) >= MAX_CALLS_PER_USER_HOUR:
        raise ToolFailed(
            _build_limit_text(MAX_CALLS_PER_USER_HOUR, "all apps and services together", now)
        )


def _build_limit_text(limit: int, callee_name: str, now: datetime) -> str:
    minutes = -(-count_seconds_left(now) // 60)
    return (
        f"The limit of {limit} calls an hour to {callee_name} is reached; 0 remain,"
        f" and the next hour begins in {minutes} minutes. Say so instead of trying again."
    )

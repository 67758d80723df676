"""How often a user may call apps and connected services, and how a model is told."""

from collections.abc import Mapping
from datetime import datetime

from shared.domain.errors import ToolFailed
from shared.domain.hours import seconds_left

PER_APP = 200
PER_USER = 600
"""Calls in an hour of the clock, to one app or service and to all."""


def check_quota(called: str, name: str, made: Mapping[str, int], now: datetime) -> None:
    """Judge by the calls `made` whether `called` may be; a model knows it by its `name`.

    Raises ToolFailed when this hour's calls are used up.
    """
    if made.get(called, 0) >= PER_APP:
        raise ToolFailed(_used_up(PER_APP, name, now))
    if sum(made.values()) >= PER_USER:
        raise ToolFailed(_used_up(PER_USER, "all apps and services together", now))


def _used_up(limit: int, called: str, now: datetime) -> str:
    minutes = -(-seconds_left(now) // 60)
    return (
        f"The limit of {limit} calls an hour to {called} is reached; 0 remain,"
        f" and the next hour begins in {minutes} minutes. Say so instead of trying again."
    )

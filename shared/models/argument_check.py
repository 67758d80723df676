"""Schema validation of tool calls: arguments against the JSON Schema that an app declared."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import anyio
import anyio.to_thread

from shared.domain.errors import ToolRefused
from shared.models.json_schema import (
    MAX_STEPS,
    TooManySteps,
    find_violation,
    load_validator,
)

_STEPS_ON_THE_LOOP = 1_000
"""At most 15 ms; almost every call needs fewer."""


@cache
def _one_thread() -> "anyio.CapacityLimiter":
    """Return the one limiter: several threads at work would delay every other request.

    Made with the first call that needs it, because few do and its module is slow to load.
    """
    return anyio.CapacityLimiter(1)


async def validate_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """Return what the model should repair, or None.

    What takes longer goes on in a thread, and what takes too long is refused.
    """
    if not load_validator.cache_info().currsize:
        await anyio.to_thread.run_sync(load_validator, limiter=_one_thread())
    try:
        return _describe_violation(schema, arguments, _STEPS_ON_THE_LOOP)
    except TooManySteps:
        work = partial(_describe_violation, schema, arguments, MAX_STEPS)
    try:
        return await anyio.to_thread.run_sync(work, limiter=_one_thread())
    except TooManySteps:
        return "they have more values than can be checked; send fewer"


async def require_fit(name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raises ToolRefused for arguments that do not fit, which says what the model should repair."""
    if violation := await validate_arguments(schema, arguments):
        raise ToolRefused(f"The arguments of {name!r} do not fit: {violation}")


def _describe_violation(
    schema: Mapping[str, Any], arguments: Mapping[str, Any], max_steps: int
) -> str | None:
    error = find_violation(schema, arguments, max_steps=max_steps)
    return None if error is None else f"{error.json_path}: {error.message}"[:500]

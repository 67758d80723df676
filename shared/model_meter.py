"""Model meter: what the language models use on behalf of one piece of work, whoever calls them.

Also called: usage metering.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shared import telemetry
from shared.domain.models.model import ModelRole, Usage
from shared.domain.models.model_usage import RoleUsage, to_role_usage

_used: ContextVar[dict[ModelRole, RoleUsage] | None] = ContextVar("model_usage", default=None)


@contextmanager
def measure_models() -> Iterator[dict[ModelRole, RoleUsage]]:
    """Collect what structured calls in this block use, by role, also those of its tasks."""
    used: dict[ModelRole, RoleUsage] = {}
    token = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(token)


def record_model_call(role: ModelRole, usage: Usage) -> None:
    """Add one structured call to the line of its request, and to what is measured around it."""
    count_model_call(usage)
    used = _used.get()
    if used is not None:
        used[role] = used.get(role, RoleUsage()) + to_role_usage(usage)


def count_model_call(usage: Usage) -> None:
    """Add the tokens and the cost of a call to the line of its request."""
    telemetry.count(
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        cost_micro_usd=usage.cost_micro_usd or 0,
        unpriced_calls=int(usage.cost_micro_usd is None),
    )

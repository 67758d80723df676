"""Model meter: what the language models use on behalf of one piece of work, whoever calls them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shared.domain.model import ModelRole, Usage
from shared.domain.model_usage import RoleUsage, to_role_usage

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
    """Add one call to what is measured; do nothing outside of a measured block."""
    used = _used.get()
    if used is not None:
        used[role] = used.get(role, RoleUsage()) + to_role_usage(usage)

"""Model usage: the calls and tokens of language models, by role and by day.

Also called: token usage.
"""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date

from shared.domain.models.model import ModelRole, Usage
from shared.domain.value import value


@value
class RoleUsage:
    """Calls that the models of one role finished; tokens as their providers counted them.

    The cost, in millionths of a US dollar, is that of the `priced_calls`: the price of another
    call's model is not known.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int = 0
    priced_calls: int = 0

    def __add__(self, other: "RoleUsage") -> "RoleUsage":
        return RoleUsage(
            **{each.name: getattr(self, each.name) + getattr(other, each.name) for each in FIELDS}
        )


FIELDS = fields(RoleUsage)
ModelUsage = Mapping[ModelRole, RoleUsage]
"""What was used, by role; a role that was not asked is missing."""


@value
class DayUsage:
    """A day of UTC: its questions, and what its models used."""

    day: date
    turns: int
    models: ModelUsage


def to_role_usage(usage: Usage) -> RoleUsage:
    """Return the usage of one call."""
    return RoleUsage(
        calls=1,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
        cost_micro_usd=usage.cost_micro_usd or 0,
        priced_calls=int(usage.cost_micro_usd is not None),
    )


def sum_usage(*usages: ModelUsage) -> ModelUsage:
    """Return the sum of each role."""
    sums: dict[ModelRole, RoleUsage] = {}
    for role, used in (item for usage in usages for item in usage.items()):
        sums[role] = sums.get(role, RoleUsage()) + used
    return sums

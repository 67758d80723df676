"""Model usage: the calls and tokens of language models, by role and by day."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date

from shared.domain.model import ModelRole, Usage
from shared.domain.value import value


@value
class RoleUsage:
    """Calls that the models of one role finished; tokens as their providers counted them."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

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
    )

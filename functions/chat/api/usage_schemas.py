"""Request and response bodies of usage, with the fields that the mobile app reads."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from shared.domain.account.quota import QuotaName
from shared.domain.conversations.figures import PeriodName
from shared.domain.models.model import ModelRole
from shared.edge.declare.schemas import Wire

MAX_DAYS = 31


class UsageQuery(Wire):
    """The `period` whose figures are wanted; quotas are always those of today.

    `days` asks for so many days of UTC, today among them.
    """

    period: PeriodName | None = None
    days: int = Field(default=0, ge=0, le=MAX_DAYS)


class QuotaOut(Wire):
    """A quota of the user; without a limit, it is only counted. Daily ones begin anew."""

    name: QuotaName
    used: int
    limit: int | None
    resets_at: datetime | None


class PeriodUsageOut(Wire):
    """What was recorded in a period, by the owner's clock, and what was made of it: tasks, events, memories."""

    transcription_seconds: int = 0
    words_transcribed: int = 0
    insights_gained: int = 0
    memories_created: int = 0


class HistoryPointOut(PeriodUsageOut):
    """The figures of an hour, a day or a month, which begins at `date` by the owner's clock."""

    date: str


class RoleUsageOut(Wire):
    """What the models of one role were asked; tokens as their providers counted them.

    `cached_tokens` are part of `input_tokens`. `cost_micro_usd` is what the `priced_calls`
    cost by list prices, in millionths of a US dollar; the price of another call's model is not known.
    """

    role: ModelRole
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_micro_usd: int
    priced_calls: int


class DayUsageOut(Wire):
    """A day of UTC on which something was used."""

    day: date
    turns: int
    models: list[RoleUsageOut]


class UsageOut(Wire):
    """The quotas, and the figures of a period under its name, if one was asked for.

    `history` divides it: a day by hours, a month by days and a year by months, until now. `days` are
    those that were asked for, the newest first.
    """

    quotas: list[QuotaOut]
    days: list[DayUsageOut] = Field(default_factory=list)
    history: list[HistoryPointOut] = Field(default_factory=list)
    today: PeriodUsageOut | None = None
    monthly: PeriodUsageOut | None = None
    yearly: PeriodUsageOut | None = None
    all_time: PeriodUsageOut | None = None


class PlanOut(Wire):
    plan: Literal["unlimited"] = "unlimited"
    status: Literal["active"] = "active"
    limits: dict[str, int] = Field(default_factory=dict)


class SubscriptionOut(Wire):
    """A plan without limits of its own; in released apps, a limit of 0 is none."""

    subscription: PlanOut = Field(default_factory=PlanOut)
    transcription_seconds_used: int = 0
    transcription_seconds_limit: int = 0
    words_transcribed_used: int = 0
    words_transcribed_limit: int = 0
    insights_gained_used: int = 0
    insights_gained_limit: int = 0
    memories_created_used: int = 0
    memories_created_limit: int = 0
    show_subscription_ui: bool = False

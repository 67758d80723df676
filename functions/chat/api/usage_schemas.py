"""Request and response bodies of usage, with the fields that the mobile app reads."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from shared.domain.quota import QuotaName
from shared.edge.schemas import Wire


class UsageQuery(Wire):
    """The period that released apps name; quotas are always those of today."""

    period: Literal["today", "monthly", "yearly", "all_time"] = "today"


class QuotaOut(Wire):
    """A quota of the user; without a limit, it is only counted. Daily ones begin anew."""

    name: QuotaName
    used: int
    limit: int | None
    resets_at: datetime | None


class PeriodUsageOut(Wire):
    """Figures that released apps show, and that are not counted here."""

    transcription_seconds: int = 0
    words_transcribed: int = 0
    insights_gained: int = 0
    memories_created: int = 0


class UsageOut(Wire):
    """The quotas, and the figures of released apps under the name of the period they asked for."""

    quotas: list[QuotaOut]
    history: list[PeriodUsageOut] = Field(default_factory=list)
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

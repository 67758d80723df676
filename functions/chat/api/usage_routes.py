"""Routes of usage: what a user used of their quotas, and the plan that the mobile app asks for.

Also called: usage limits, subscription plan.
"""

from asyncio import gather
from dataclasses import asdict
from typing import Any

from functions.chat.api.usage_schemas import (
    DayUsageOut,
    HistoryPointOut,
    PeriodUsageOut,
    QuotaOut,
    RoleUsageOut,
    SubscriptionOut,
    UsageOut,
    UsageQuery,
)
from functions.chat.deps import ChatDeps
from shared.data.account.model_usage import list_days
from shared.domain.account.quota import DAILY_QUOTAS
from shared.domain.conversations.figures import LibraryFigures, PeriodName, Span, split_period
from shared.domain.ids import UserId
from shared.domain.models.model_usage import DayUsage
from shared.domain.quota_day import find_day_end
from shared.edge.declare.routes import Call, route


@route(
    "GET",
    "/v1/users/me/usage",
    "Show what was used today of each quota, what is stored, what models used by day, and what was recorded",
)
async def get_usage(deps: ChatDeps, call: Call[None, UsageQuery]) -> UsageOut:
    now, limits = deps.clock.now(), deps.quotas.limits
    used, days = await gather(
        deps.quotas.load_usage(call.uid, now),
        list_days(deps.quotas, call.uid, now, days=call.query.days),
    )
    quotas = [
        QuotaOut(
            name=name,
            used=amount,
            limit=limits.get(name),
            resets_at=find_day_end(now) if name in DAILY_QUOTAS else None,
        )
        for name, amount in used.items()
    ]
    usage = UsageOut(quotas=quotas, days=[_to_day_out(day) for day in days])
    if call.query.period is None:
        return usage
    return usage.model_copy(update=await _load_period(deps, call.uid, call.query.period))


async def _load_period(deps: ChatDeps, uid: UserId, period: PeriodName) -> dict[str, Any]:
    """Return the figures under the period's name, and its history."""
    zone = (await deps.stores.profiles.get(uid)).zone
    spans = split_period(period, deps.clock.now(), zone)
    figures = await gather(*(deps.stores.figures.load(uid, span) for span in spans))
    points = [_to_point(span, each) for span, each in zip(spans, figures, strict=True)]
    total = PeriodUsageOut(
        **{
            name: sum(getattr(point, name) for point in points)
            for name in PeriodUsageOut.model_fields
        }
    )
    return {period: total, "history": [] if period == "all_time" else points}


def _to_point(span: Span, figures: LibraryFigures) -> HistoryPointOut:
    recorded = figures.conversations
    return HistoryPointOut(
        date=span.name,
        transcription_seconds=recorded.seconds,
        words_transcribed=recorded.words,
        insights_gained=recorded.insights,
        memories_created=figures.memories,
    )


def _to_day_out(usage: DayUsage) -> DayUsageOut:
    models = [RoleUsageOut(role=role, **asdict(used)) for role, used in usage.models.items()]
    return DayUsageOut(day=usage.day, turns=usage.turns, models=models)


@route("GET", "/v1/users/me/subscription", "Show the plan: everything is included")
async def get_subscription(deps: ChatDeps, call: Call) -> SubscriptionOut:  # noqa: ARG001 - a route
    return SubscriptionOut()


ROUTES = (get_usage, get_subscription)

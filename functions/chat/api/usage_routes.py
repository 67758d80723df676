"""Routes of usage: what a user used of their quotas, and the plan that the mobile app asks for."""

from asyncio import gather
from dataclasses import asdict

from functions.chat.api.usage_schemas import (
    DayUsageOut,
    PeriodUsageOut,
    QuotaOut,
    RoleUsageOut,
    SubscriptionOut,
    UsageOut,
    UsageQuery,
)
from functions.chat.deps import ChatDeps
from shared.domain.model_usage import DayUsage
from shared.domain.quota import DAILY_QUOTAS, find_day_end
from shared.edge.routes import Call, route


@route(
    "GET",
    "/v1/users/me/usage",
    "Show what was used today of each quota, what is stored, and what models used by day",
)
async def get_usage(deps: ChatDeps, call: Call[None, UsageQuery]) -> UsageOut:
    now, limits = deps.clock.now(), deps.quotas.limits
    used, days = await gather(
        deps.quotas.load_usage(call.uid, now),
        deps.quotas.list_days(call.uid, now, days=call.query.days),
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
    return usage.model_copy(update={call.query.period: PeriodUsageOut()})


def _to_day_out(usage: DayUsage) -> DayUsageOut:
    models = [RoleUsageOut(role=role, **asdict(used)) for role, used in usage.models.items()]
    return DayUsageOut(day=usage.day, turns=usage.turns, models=models)


@route("GET", "/v1/users/me/subscription", "Show the plan: everything is included")
async def get_subscription(deps: ChatDeps, call: Call) -> SubscriptionOut:  # noqa: ARG001 - a route
    return SubscriptionOut()


ROUTES = (get_usage, get_subscription)

"""Routes of usage: what a user used of their quotas, and the plan that the mobile app asks for."""

from functions.chat.api.usage_schemas import (
    PeriodUsageOut,
    QuotaOut,
    SubscriptionOut,
    UsageOut,
    UsageQuery,
)
from functions.chat.deps import ChatDeps
from shared.domain.quota import DAILY_QUOTAS, find_day_end
from shared.edge.routes import Call, route


@route("GET", "/v1/users/me/usage", "Show what was used today of each quota, and what is stored")
async def get_usage(deps: ChatDeps, call: Call[None, UsageQuery]) -> UsageOut:
    now = deps.clock.now()
    used, limits = await deps.quotas.load_usage(call.uid, now), deps.quotas.limits
    quotas = [
        QuotaOut(
            name=name,
            used=amount,
            limit=limits.get(name),
            resets_at=find_day_end(now) if name in DAILY_QUOTAS else None,
        )
        for name, amount in used.items()
    ]
    return UsageOut(quotas=quotas).model_copy(update={call.query.period: PeriodUsageOut()})


@route("GET", "/v1/users/me/subscription", "Show the plan: everything is included")
async def get_subscription(deps: ChatDeps, call: Call) -> SubscriptionOut:  # noqa: ARG001 - a route
    return SubscriptionOut()


ROUTES = (get_usage, get_subscription)

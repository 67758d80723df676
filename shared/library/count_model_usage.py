"""Count of model usage: what the language models of one piece of work use is added to its user's day."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared import telemetry
from shared.data.account.model_usage import record_models
from shared.data.account.quotas import Quotas
from shared.domain.errors import KeepsakeError
from shared.domain.ids import UserId
from shared.domain.models.model_usage import ModelUsage
from shared.model_meter import measure_models
from shared.ports import Clock


@asynccontextmanager
async def count_model_usage(quotas: Quotas, clock: Clock, uid: UserId) -> AsyncIterator[None]:
    """Count the structured calls of this block, however it ends; a failure to count is logged."""
    with measure_models() as used:
        try:
            yield
        finally:
            if used:
                await _record(quotas, clock, uid, used)


async def _record(quotas: Quotas, clock: Clock, uid: UserId, used: ModelUsage) -> None:
    try:
        await record_models(quotas, uid, used, now=clock.now())
    except KeepsakeError as error:
        telemetry.warning("model_usage_not_counted", error=type(error).__name__)

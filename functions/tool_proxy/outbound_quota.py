"""Outbound quota: each request to a third party for a user is counted before it is made."""

from typing import TYPE_CHECKING, Protocol

from shared.data.account.quotas import Quotas
from shared.domain.errors import QuotaExceeded, ToolFailed
from shared.domain.ids import UserId

if TYPE_CHECKING:
    from shared.ports import Clock


class QuotaDeps(Protocol):
    """The part of the function's dependencies that counting needs."""

    @property
    def clock(self) -> "Clock": ...

    @property
    def quotas(self) -> Quotas: ...


async def count_request(deps: QuotaDeps, uid: UserId) -> None:
    """Count a request, whether or not it will succeed. Raises QuotaExceeded."""
    await deps.quotas.take(uid, "outbound_calls", now=deps.clock.now())


async def count_call(deps: QuotaDeps, uid: UserId) -> None:
    """Count a tool call. Raises ToolFailed, with a text for the model, if the quota is used up."""
    try:
        await count_request(deps, uid)
    except QuotaExceeded as refusal:
        raise ToolFailed(f"{refusal} Say so instead of trying again.") from refusal

"""Call log of an app for its developer, from which it is also decided whether the app works.

Also called: audit log, audit trail, activity log.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from shared.data.store.codec import dump, load_all
from shared.domain.apps.app import AppCall, CallKind
from shared.domain.ids import AppId
from shared.domain.store.documents import Create, Order, Query, Where

if TYPE_CHECKING:
    from shared.ports import Documents

CALL_LOG_TTL = timedelta(days=7)


class CallLog:
    """Tool calls, MCP calls and webhook deliveries by app; an entry is one write."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def add(self, app_id: AppId, call: AppCall) -> None:
        await self._documents.write(build_log_entry(app_id, call))

    async def list_newest(self, app_id: AppId, *, since: datetime, limit: int) -> list[AppCall]:
        query = Query(
            collection=_collection_path(app_id),
            where=(Where("at", ">", since),),
            order_by=(Order("at", "desc"),),
            limit=limit,
        )
        return await self._load_calls(query)

    async def list_consecutive_failures(
        self, app_id: AppId, *, after: datetime, limit: int
    ) -> list[AppCall]:
        """Return the first failures, oldest first, since the last success or `after`."""
        last_success = await self._find_last_success(app_id, after=after)
        query = Query(
            collection=_collection_path(app_id),
            where=(
                Where("failed", "==", True),  # noqa: FBT003 - a stored value
                Where("at", ">", last_success.at if last_success else after),
            ),
            order_by=(Order("at", "asc"),),
            limit=limit,
        )
        return await self._load_calls(query)

    async def has_success(self, app_id: AppId, kind: CallKind, *, after: datetime) -> bool:
        """Tell whether a call of that kind succeeded since `after`."""
        is_of_kind = Where("kind", "==", kind)
        return await self._find_last_success(app_id, is_of_kind, after=after) is not None

    async def _find_last_success(
        self, app_id: AppId, *filters: Where, after: datetime
    ) -> AppCall | None:
        has_succeeded = Where("failed", "==", False)  # noqa: FBT003 - a stored value
        query = Query(
            collection=_collection_path(app_id),
            where=(has_succeeded, *filters, Where("at", ">", after)),
            order_by=(Order("at", "desc"),),
            limit=1,
        )
        return next(iter(await self._load_calls(query)), None)

    async def _load_calls(self, query: Query) -> list[AppCall]:
        return load_all(AppCall, await self._documents.query(query))


def build_log_entry(app_id: AppId, call: AppCall) -> Create:
    """Return the write that logs a call."""
    fields = {**dump(call), "expires_at": call.at + CALL_LOG_TTL}
    return Create(f"{_collection_path(app_id)}/{call.id}", fields)


def _collection_path(app_id: AppId) -> str:
    return f"apps/{app_id}/calls"

"""The last calls of an app, for its developer; they also tell whether it works at all."""

from datetime import datetime, timedelta

from shared.data.codec import dump, load_all
from shared.domain.app import AppCall, CallKind
from shared.domain.documents import Create, Order, Query, Where
from shared.domain.ids import AppId
from shared.ports import Documents

CALL_LOG_TTL = timedelta(days=7)


class CallLog:
    """Tool calls, MCP calls and webhook deliveries of one app; an entry is one write."""

    def __init__(self, documents: Documents) -> None:
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
        """Return the first failures, oldest first, since the last call that worked or `after`."""
        success_filters = (Where("failed", "==", False), Where("at", ">", after))  # noqa: FBT003 - a stored value
        order = (Order("at", "desc"),)
        last_success = Query(
            collection=_collection_path(app_id), where=success_filters, order_by=order, limit=1
        )
        since = max([after, *(call.at for call in await self._load_calls(last_success))])
        failure_filters = (Where("failed", "==", True), Where("at", ">", since))  # noqa: FBT003 - as above
        order = (Order("at", "asc"),)
        failures = Query(
            collection=_collection_path(app_id), where=failure_filters, order_by=order, limit=limit
        )
        return await self._load_calls(failures)

    async def has_arrived(self, app_id: AppId, kind: CallKind, *, after: datetime) -> bool:
        """Tell whether a call of that kind worked since."""
        success_filters = (
            Where("failed", "==", False),  # noqa: FBT003 - as above
            Where("kind", "==", kind),
            Where("at", ">", after),
        )
        order = (Order("at", "desc"),)
        last_success = Query(
            collection=_collection_path(app_id), where=success_filters, order_by=order, limit=1
        )
        return bool(await self._load_calls(last_success))

    async def _load_calls(self, query: Query) -> list[AppCall]:
        return load_all(AppCall, await self._documents.query(query))


def build_log_entry(app_id: AppId, call: AppCall) -> Create:
    """Return the write that logs a call."""
    fields = {**dump(call), "expires_at": call.at + CALL_LOG_TTL}
    return Create(f"{_collection_path(app_id)}/{call.id}", fields)


def _collection_path(app_id: AppId) -> str:
    return f"apps/{app_id}/calls"

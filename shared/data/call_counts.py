"""How often a user called apps in an hour: one document, which nobody else's calls touch."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from shared.domain.documents import Create, Increment, Update
from shared.domain.errors import AlreadyExists, PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.ports import Documents


class CallCounts:
    """Counts grow without being read, so calls at the same time never wait for one another."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def of(self, uid: UserId, hour: datetime) -> Mapping[AppId, int]:
        """Return the calls by app in the hour that begins at `hour`."""
        document = await self._documents.get(_path(uid, hour))
        return document.fields["apps"] if document else {}

    async def add(self, uid: UserId, app_id: AppId, hour: datetime) -> None:
        one_more = Update(_path(uid, hour), {f"apps.{app_id}": Increment(1)})
        try:
            await self._documents.write(one_more)
        except PreconditionFailed:
            await self._begin(uid, app_id, hour, one_more)

    async def _begin(self, uid: UserId, app_id: AppId, hour: datetime, one_more: Update) -> None:
        fields = {"apps": {app_id: 1}, "expires_at": hour + timedelta(hours=1)}
        try:
            await self._documents.write(Create(_path(uid, hour), fields))
        except AlreadyExists:
            await self._documents.write(one_more)


def _path(uid: UserId, hour: datetime) -> str:
    return f"users/{uid}/limits/calls-{hour:%Y-%m-%d-%H}"

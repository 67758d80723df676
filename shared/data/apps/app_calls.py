"""App calls: their authorization in one round of reads, and their count in one write."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from shared.data.apps.apps import app_path, installed_path, load_app, load_installed_apps
from shared.data.apps.call_log import build_log_entry
from shared.data.store.codec import load
from shared.domain.apps.app import App, AppCall, InstalledApp
from shared.domain.apps.connection import Service
from shared.domain.conversations.place import PlaceSharing
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Create, Document, Increment, Update, Write
from shared.domain.value import value

if TYPE_CHECKING:
    from shared.ports import Documents


@value
class AppCallContext:
    """An app, its installation by the user, who may know their place, and their calls this hour by callee."""

    app: App | None
    place: PlaceSharing
    installation: InstalledApp | None
    calls_this_hour: Mapping[str, int]


@value
class ServiceCallContext:
    """The zone of the owner's clock, and their calls this hour, by app and by service."""

    zone: ZoneInfo
    calls_this_hour: Mapping[str, int]


class AppCalls:
    """Counts calls in one document an hour and user, so that users never contend for it."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def load_context(self, uid: UserId, app_id: AppId, hour: datetime) -> AppCallContext:
        """Load what decides whether a call may be made in the hour that begins at `hour`."""
        paths = [app_path(app_id), installed_path(uid), _document_path(uid, hour), f"users/{uid}"]
        app, installed_apps, counts, profile = await self._documents.get_many(paths)
        return AppCallContext(
            app=load_app(app) if app else None,
            place=load(PlaceSharing, profile) if profile else PlaceSharing(),
            installation=next(
                (entry for entry in load_installed_apps(installed_apps) if entry.app_id == app_id),
                None,
            ),
            calls_this_hour=_read_counts(counts),
        )

    async def load_service_context(self, uid: UserId, hour: datetime) -> ServiceCallContext:
        """Load what a call of a service needs to know in the hour that begins at `hour`."""
        from shared.domain.account.profile import Profile

        paths = [_document_path(uid, hour), f"users/{uid}"]
        counts, profile = await self._documents.get_many(paths)
        return ServiceCallContext(
            zone=(load(Profile, profile) if profile else Profile()).zone,
            calls_this_hour=_read_counts(counts),
        )

    async def record_call(
        self, uid: UserId, app_id: AppId, call: AppCall, hour: datetime, *, is_first: bool
    ) -> None:
        """Log a call to an app for its developer, and count it."""
        log_write = build_log_entry(app_id, call)
        await self.increment_count(uid, app_id, hour, is_first=is_first, also=[log_write])

    async def increment_count(
        self,
        uid: UserId,
        callee: AppId | Service,
        hour: datetime,
        *,
        is_first: bool,
        also: Sequence[Write] = (),
    ) -> None:
        """Count a call, together with the writes `also`; `is_first` guesses that it is the hour's first.

        The count is incremented without being read, so concurrent calls do not wait for one another.
        """
        path = _document_path(uid, hour)
        expires_at = hour + timedelta(hours=1)
        create = Create(path, {"apps": {callee: 1}, "expires_at": expires_at})
        increment = Update(path, {f"apps.{callee}": Increment(1)})
        for count_write in (create,) if is_first else (increment, create):
            with suppress(PreconditionFailed):
                await self._documents.write(*also, count_write)
                return
        await self._documents.write(*also, increment)  # another call was the first


def _read_counts(counts: Document | None) -> Mapping[str, int]:
    return counts.fields["apps"] if counts else {}


def _document_path(uid: UserId, hour: datetime) -> str:
    return f"users/{uid}/limits/calls-{hour:%Y-%m-%d-%H}"

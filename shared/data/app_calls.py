"""What a call to an app or a service asks of the store: one round of reads before it, one write behind it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from shared.data.apps import app_in, app_path, installed_in, installed_path
from shared.data.call_log import entry
from shared.domain.app import App, AppCall
from shared.domain.connection import Service
from shared.domain.documents import Create, Document, Increment, Update, Write
from shared.domain.errors import PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.value import value
from shared.ports import Documents


@value
class Standing:
    """How a user stands to an app; `made` are their calls of the running hour, as by made()."""

    app: App | None
    is_installed: bool
    made: Mapping[str, int]


class AppCalls:
    """Calls are counted in one document an hour and user, which nobody else's calls touch."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def standing(self, uid: UserId, app_id: AppId, hour: datetime) -> Standing:
        """Read all that decides about a call in the hour that begins at `hour`."""
        paths = [app_path(app_id), installed_path(uid), _path(uid, hour)]
        app, installed, counts = await self._documents.get_many(paths)
        return Standing(
            app=app_in(app) if app else None,
            is_installed=any(one.app_id == app_id for one in installed_in(installed)),
            made=_made_in(counts),
        )

    async def made(self, uid: UserId, hour: datetime) -> Mapping[str, int]:
        """Return a user's calls in the hour that begins at `hour`, by app and by service."""
        return _made_in(await self._documents.get(_path(uid, hour)))

    async def note(
        self, uid: UserId, app_id: AppId, call: AppCall, hour: datetime, *, is_first: bool
    ) -> None:
        """Log a call to an app for its developer, and count it."""
        logged = entry(app_id, call)
        await self.count(uid, app_id, hour, is_first=is_first, beside=[logged])

    async def count(
        self,
        uid: UserId,
        called: AppId | Service,
        hour: datetime,
        *,
        is_first: bool,
        beside: Sequence[Write] = (),
    ) -> None:
        """Count a call, with the writes `beside`. `is_first` guesses whether the hour's count begins.

        The count grows without being read, so calls at the same time never wait for one another.
        """
        path = _path(uid, hour)
        expires_at = hour + timedelta(hours=1)
        begin = Create(path, {"apps": {called: 1}, "expires_at": expires_at})
        go_on = Update(path, {f"apps.{called}": Increment(1)})
        for counted in (begin,) if is_first else (go_on, begin):
            with suppress(PreconditionFailed):
                await self._documents.write(*beside, counted)
                return
        await self._documents.write(*beside, go_on)  # somebody else began


def _made_in(counts: Document | None) -> Mapping[str, int]:
    return counts.fields["apps"] if counts else {}


def _path(uid: UserId, hour: datetime) -> str:
    return f"users/{uid}/limits/calls-{hour:%Y-%m-%d-%H}"

"""Task integrations: which task apps a user's phones are connected with, in one document."""

from collections.abc import Mapping
from datetime import datetime

from shared.domain.errors import Conflict
from shared.domain.ids import UserId
from shared.domain.store.documents import Document, Set
from shared.ports import Documents, Transaction

Setting = bool | int | str | None
SettingsByApp = Mapping[str, Mapping[str, Setting]]
MAX_APPS = 20


class TaskIntegrations:
    """What a phone said last of each app; phones alone know more of it."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> SettingsByApp:
        """Return the settings of each app, those set last at the end."""
        return _load_settings(await self._documents.get(_path(uid)))

    async def put(
        self, uid: UserId, app: str, settings: Mapping[str, Setting], now: datetime
    ) -> None:
        """Replace the settings of an app. Raises Conflict for one app too many."""

        async def work(tx: Transaction) -> None:
            stored = _load_settings(await tx.get(_path(uid)))
            others = {name: other for name, other in stored.items() if name != app}
            if len(others) >= MAX_APPS:
                raise Conflict(f"At most {MAX_APPS} task apps can be connected")
            entries = [{"app": name, "settings": dict(s)} for name, s in others.items()]
            entries.append({"app": app, "settings": dict(settings)})
            tx.write(Set(_path(uid), {"apps": entries, "updated_at": now}))

        await self._documents.transaction(work)


def _load_settings(document: Document | None) -> SettingsByApp:
    entries = document.fields["apps"] if document else []
    return {entry["app"]: entry["settings"] for entry in entries}


def _path(uid: UserId) -> str:
    return f"users/{uid}/task_integrations/all"

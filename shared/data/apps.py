"""Apps, their keys, and who installed them."""

import hashlib
import hmac
from collections.abc import Sequence

from shared.data.codec import dump, load, load_all
from shared.domain.app import ApiKey, App, InstalledApp
from shared.domain.documents import Create, Delete, Query, Set
from shared.domain.errors import NotFound
from shared.domain.ids import AppId, UserId
from shared.ports import Documents


class Apps:
    """Registered apps; what an app declares is visible to whoever may install it."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get(self, app_id: AppId) -> App:
        """Raises NotFound."""
        document = await self._documents.get(f"apps/{app_id}")
        if document is None:
            raise NotFound("App not found")
        return load(App, document)

    async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
        """Return those that exist, in the order of the ids."""
        found = await self._documents.get_many([f"apps/{app_id}" for app_id in app_ids])
        return load_all(App, [document for document in found if document is not None])

    async def create(self, app: App) -> None:
        await self._documents.write(Create(f"apps/{app.id}", dump(app)))

    async def save(self, app: App) -> None:
        await self._documents.write(Set(f"apps/{app.id}", dump(app)))

    async def add_key(self, app_id: AppId, key: ApiKey) -> None:
        await self._documents.write(Create(f"apps/{app_id}/api_keys/{key.id}", dump(key)))

    async def keys(self, app_id: AppId) -> list[ApiKey]:
        query = Query(collection=f"apps/{app_id}/api_keys", limit=100)
        return load_all(ApiKey, await self._documents.query(query))

    async def remove_key(self, app_id: AppId, key_id: str) -> None:
        await self._documents.write(Delete(f"apps/{app_id}/api_keys/{key_id}"))

    async def accepts_key(self, app_id: AppId, secret: str) -> bool:
        """Compare in constant time; the prefix `sk_` may be left out."""
        hashed = hash_key(secret)
        keys = await self.keys(app_id)
        return any([hmac.compare_digest(key.hashed, hashed) for key in keys])  # noqa: C419 - no early end


class InstalledApps:
    """Which apps a user allowed."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def all(self, uid: UserId) -> list[InstalledApp]:
        """Return them by app id, which keeps the model's tool list stable."""
        collection = f"users/{uid}/installed_apps"
        found = await self._documents.query(Query(collection=collection, limit=100))
        return [
            InstalledApp(app_id=AppId(d.id), installed_at=d.fields["installed_at"]) for d in found
        ]

    async def has(self, uid: UserId, app_id: AppId) -> bool:
        return await self._documents.get(f"users/{uid}/installed_apps/{app_id}") is not None

    async def add(self, uid: UserId, installed: InstalledApp) -> None:
        path = f"users/{uid}/installed_apps/{installed.app_id}"
        await self._documents.write(Set(path, dump(installed)))

    async def remove(self, uid: UserId, app_id: AppId) -> None:
        await self._documents.write(Delete(f"users/{uid}/installed_apps/{app_id}"))


def hash_key(secret: str) -> str:
    """Hash a key as it is stored: without its prefix."""
    return hashlib.sha256(secret.removeprefix("sk_").encode()).hexdigest()

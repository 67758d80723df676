"""App store: registered apps, their keys, and the installations of users."""

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from shared.data.apps.app_logos import build_logo_writes
from shared.data.store.codec import MalformedDocument, dump, load, load_all
from shared.data.store.paging import Page, build_page, parse_cursor
from shared.domain.apps.app import INTEGRATION_CAPABILITY, ApiKey, App, AppLogo, InstalledApp
from shared.domain.errors import Conflict, NotFound, PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import (
    Create,
    Delete,
    Document,
    Increment,
    Order,
    Query,
    Set,
    Update,
    Where,
)

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction

MAX_INSTALLED = 100
"""A chat offers the tools of so many."""


class Apps:
    """Registered apps and their keys."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def get(self, app_id: AppId) -> App:
        """Raises NotFound."""
        document = await self._documents.get(app_path(app_id))
        if document is None:
            raise NotFound("App not found")
        return load_app(document)

    async def get_many(self, app_ids: Sequence[AppId]) -> list[App]:
        """Return the apps that exist, in the order of the ids."""
        documents = await self._documents.get_many([app_path(app_id) for app_id in app_ids])
        return self._load_apps(documents)

    async def list_owned(self, uid: UserId) -> list[App]:
        return await self._list_where(Where("owner", "==", uid))

    async def count_owned(self, uid: UserId) -> int:
        owner_filter = Where("owner", "==", uid)
        return await self._documents.count(Query(collection="apps", where=(owner_filter,)))

    async def list_public(self, *, limit: int = 100, after: str | None = None) -> Page[App]:
        """List the apps that anybody may install, newest first. Raises Invalid for a bad cursor."""
        query = Query(
            collection="apps",
            where=(Where("private", "==", False),),  # noqa: FBT003 - a stored value
            order_by=(Order("created_at", "desc"),),
            limit=limit,
            start_after=parse_cursor(after),
        )
        documents = await self._documents.query(query)
        return build_page(self._load_apps(documents), documents, query)

    async def _list_where(self, where: Where) -> list[App]:
        """Return the hundred oldest: ids sort by time."""
        documents = await self._documents.query(Query(collection="apps", where=(where,), limit=100))
        return self._load_apps(documents)

    @staticmethod
    def _load_apps(documents: Sequence[Document | None]) -> list[App]:
        apps = []
        for document in filter(None, documents):
            with suppress(MalformedDocument):
                apps.append(load_app(document))
        return apps

    async def create(self, app: App, logo: AppLogo | None = None) -> None:
        await self._documents.write(
            Create(app_path(app.id), build_app_fields(app)), *build_logo_writes(None, app, logo)
        )

    async def update_app(
        self, app_id: AppId, change: Callable[[App], App], *, logo: AppLogo | None = None
    ) -> App:
        """Apply `change` in a transaction, so that no concurrent change is lost. Raises NotFound.

        `logo` is stored with it, and the picture before is deleted.
        """
        path = app_path(app_id)

        async def work(transaction: "Transaction") -> App:
            document = await transaction.get(path)
            if document is None:
                raise NotFound("App not found")
            before = load_app(document)
            app = change(before)
            if app != before:  # concurrent calls may make the same change
                transaction.write(
                    Set(path, build_app_fields(app)), *build_logo_writes(before, app, logo)
                )
            return app

        return await self._documents.transaction(work)

    async def remove(self, app_id: AppId) -> None:
        """Delete an app, its keys and its call log. Users' installations stay, without an app.

        The hashes of its keys stay too, so that whoever uses one reads that the app is gone.
        """
        key_hashes = [key.hashed for key in await self.list_keys(app_id)]
        await self._documents.write(Set(_deleted_path(app_id), {"key_hashes": key_hashes}))
        await self._documents.delete_tree(app_path(app_id))

    async def add_key(self, app_id: AppId, key: ApiKey) -> None:
        await self._documents.write(Create(f"apps/{app_id}/api_keys/{key.id}", dump(key)))

    async def list_keys(self, app_id: AppId) -> list[ApiKey]:
        query = Query(collection=f"apps/{app_id}/api_keys", limit=100)
        return load_all(ApiKey, await self._documents.query(query))

    async def remove_key(self, app_id: AppId, key_id: str) -> None:
        await self._documents.write(Delete(f"apps/{app_id}/api_keys/{key_id}"))

    async def is_valid_key(self, app_id: AppId, secret: str) -> bool:
        """Look the key up by its hash, each time anew; the prefix `sk_` may be left out."""
        query = Query(
            collection=f"apps/{app_id}/api_keys",
            where=(Where("hashed", "==", hash_key(secret)),),
            limit=1,
        )
        return bool(await self._documents.query(query))

    async def had_key(self, app_id: AppId, secret: str) -> bool:
        """Tell whether this is a key of an app that was deleted."""
        deleted_app = await self._documents.get(_deleted_path(app_id))
        return deleted_app is not None and _contains_key(deleted_app.fields["key_hashes"], secret)


class InstalledApps:
    """The apps that a user installed, in one document, so that a turn reads only one."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> list[InstalledApp]:
        """List installations by app id, which keeps the model's tool list stable."""
        return load_installed_apps(await self._documents.get(installed_path(uid)))

    async def get(self, uid: UserId, app_id: AppId) -> InstalledApp | None:
        installed_apps = {installed.app_id: installed for installed in await self.list_all(uid)}
        return installed_apps.get(app_id)

    async def add(
        self, uid: UserId, installed_app: InstalledApp, *, limit: int = MAX_INSTALLED
    ) -> None:
        """Add or replace an installation, and count a new one.

        Raises Conflict if `limit` others are installed.
        """

        async def work(transaction: "Transaction", *, is_counted: bool) -> None:
            document = await transaction.get(installed_path(uid))
            others = load_installed_apps(document, excluded_id=installed_app.app_id)
            if len(others) >= limit:
                raise Conflict(f"You may install {limit} apps; remove one first.")
            transaction.write(
                Set(installed_path(uid), _build_installed_fields([*others, installed_app]))
            )
            if is_counted and len(others) == len(load_installed_apps(document)):
                transaction.write(_build_count(installed_app.app_id, 1))

        await self._commit(work)

    async def remove(self, uid: UserId, app_id: AppId) -> None:
        async def work(transaction: "Transaction", *, is_counted: bool) -> None:
            document = await transaction.get(installed_path(uid))
            others = load_installed_apps(document, excluded_id=app_id)
            transaction.write(
                Set(installed_path(uid), _build_installed_fields(others))
                if others
                else Delete(installed_path(uid))
            )
            if is_counted and len(others) < len(load_installed_apps(document)):
                transaction.write(_build_count(app_id, -1))

        await self._commit(work)

    async def remove_all(self, uid: UserId) -> None:
        """Uninstall everything, for an account that is erased; idempotent.

        It reads the apps too: of many that are counted at once, one that is gone would cost the others.
        """

        async def work(transaction: "Transaction") -> None:
            installed_apps = load_installed_apps(await transaction.get(installed_path(uid)))
            paths = [app_path(installed_app.app_id) for installed_app in installed_apps]
            apps = await transaction.get_many(paths)
            counts = [_build_count(AppId(app.id), -1) for app in apps if app]
            transaction.write(Delete(installed_path(uid)), *counts)

        await self._documents.transaction(work)

    async def _commit(self, work: Callable[..., Awaitable[None]]) -> None:
        """Store an installation and count it on its app, unless the app was deleted."""
        try:
            await self._documents.transaction(partial(work, is_counted=True))
        except PreconditionFailed:
            await self._documents.transaction(partial(work, is_counted=False))


def _build_count(app_id: AppId, change: int) -> Update:
    """Count without reading, so that users who install one app at once do not wait for each other."""
    return Update(app_path(app_id), {"installs": Increment(change)})


def _contains_key(key_hashes: Sequence[str], secret: str) -> bool:
    key_hash = hash_key(secret)
    return any([hmac.compare_digest(known, key_hash) for known in key_hashes])  # noqa: C419 - no early end


def _deleted_path(app_id: AppId) -> str:
    return f"deleted_apps/{app_id}"


def app_path(app_id: AppId) -> str:
    return f"apps/{app_id}"


def installed_path(uid: UserId) -> str:
    return f"users/{uid}/installed_apps/all"


def load_app(document: Document) -> App:
    """Load an app. One that was stored before capabilities were checked is an integration."""
    app = load(App, _parse_schemas(document))
    if app.is_integration or "user_key" in document.fields:
        return app
    return replace(app, capabilities=(*app.capabilities, INTEGRATION_CAPABILITY))


def load_installed_apps(
    document: Document | None, *, excluded_id: AppId | None = None
) -> list[InstalledApp]:
    apps = document.fields["apps"] if document else {}
    return [
        InstalledApp(
            app_id=AppId(app_id),
            installed_at=apps[app_id]["installed_at"],
            granted=frozenset(apps[app_id]["granted"]),
            pairwise_id=apps[app_id].get("pairwise_id", ""),
        )
        for app_id in sorted(apps)
        if app_id != excluded_id
    ]


def _build_installed_fields(installed_apps: Sequence[InstalledApp]) -> dict[str, Any]:
    """Build the document's fields; `installed_at` is the time of the newest installation."""
    apps = {
        installed_app.app_id: {
            "installed_at": installed_app.installed_at,
            "granted": sorted(installed_app.granted),
            "pairwise_id": installed_app.pairwise_id,
        }
        for installed_app in installed_apps
    }
    return {
        "apps": apps,
        "installed_at": max(installed_app.installed_at for installed_app in installed_apps),
    }


def build_app_fields(app: App) -> dict[str, Any]:
    """Store schemas as text: Firestore accepts no nested lists and few levels of maps."""
    fields = dump(app)
    tools = [{**t, "parameters": json.dumps(t["parameters"])} for t in fields["chat_tools"]]
    return {**fields, "chat_tools": tools}


def _parse_schemas(document: Document) -> Document:
    tools = [_parse_schema(tool) for tool in document.fields.get("chat_tools", ())]
    return replace(document, fields={**document.fields, "chat_tools": tools})


def _parse_schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {**tool, "parameters": json.loads(tool["parameters"])}


def hash_key(secret: str) -> str:
    """Hash a key without its prefix `sk_`, as it is stored."""
    return hashlib.sha256(secret.removeprefix("sk_").encode()).hexdigest()

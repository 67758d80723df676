"""Account data: every document of one user, to export or to erase.

Also called: multi-tenancy, tenant data.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime

from shared.data.apps.app_reviews import AppReviews
from shared.data.apps.apps import InstalledApps
from shared.data.store.paging import iter_documents
from shared.domain.ids import UserId
from shared.domain.store.documents import Document, Order, Query, Where
from shared.ports import Documents

_PAGE_SIZE = 20
"""Documents may be a megabyte each."""
_TIME_FIELD_BY_COLLECTION = {
    "memories": "created_at",
    "action_items": "created_at",
    "people": "created_at",
    "folders": "updated_at",
    "task_integrations": "updated_at",
    "goals": "created_at",
    "messages": "created_at",
    "chat_sessions": "created_at",
    "embeds": "created_at",
    "agents": "created_at",
    "arcs": "created_at",
    "sealed_chats": "created_at",
    "projects": "created_at",
    "installed_apps": "installed_at",
    "app_reviews": "created_at",
    "connections": "connected_at",
    "devices": "updated_at",
    "uploads": "created_at",
    "imports": "created_at",
    "recordings": "created_at",
    "files": "created_at",
}
"""Collections that show an account in use, by the field with the time of a document."""


class Accounts:
    """All documents of a user, in every collection."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get_profile(self, uid: UserId) -> Document | None:
        return await self._documents.get(f"users/{uid}")

    def iter_documents(self, uid: UserId, collection: str) -> AsyncIterator[Document]:
        """Yield every document of one of the user's collections, page by page."""
        query = Query(collection=f"users/{uid}/{collection}", limit=_PAGE_SIZE)
        return iter_documents(self._documents, query)

    async def is_in_use(self, uid: UserId, *, since: datetime) -> bool:
        """Tell whether the user has a profile or a conversation, or anything newer than `since`."""
        if await self.get_profile(uid) is not None:
            return True
        if await self._has(
            Query(collection=f"users/{uid}/conversations")
        ):  # it may have taken place long before its upload
            return True
        for collection, time_field in _TIME_FIELD_BY_COLLECTION.items():
            query = Query(
                collection=f"users/{uid}/{collection}",
                where=(Where(time_field, ">", since),),
                order_by=(Order(time_field, "desc"),),  # the index of lists serves it
            )
            if await self._has(query):
                return True
        return False

    async def _has(self, query: Query) -> bool:
        """Ask for one document, without its content."""
        return bool(await self._documents.query(replace(query, limit=1, fields=("created_at",))))

    async def delete(self, uid: UserId) -> int:
        """Delete every document of the user's or about them; idempotent.

        The data key goes first: what it sealed is unreadable, wherever a copy of it is left.
        """
        await self._documents.delete_tree(f"users/{uid}/data_keys/sealed_cache")
        await InstalledApps(self._documents).remove_all(uid)
        review_count = await AppReviews(self._documents).remove_all(uid)
        owned_apps = Query(collection="apps", where=(Where("owner", "==", uid),), fields=("owner",))
        apps = await self._documents.query(owned_apps)
        documents = [
            *apps,
            *await self._list_named(uid),
            *await self._list_dead_letters(uid),
        ]
        counts = [await self._documents.delete_tree(document.path) for document in documents]
        tree_count = await self._documents.delete_tree(f"users/{uid}")
        return review_count + sum(counts) + tree_count

    async def _list_named(self, uid: UserId) -> list[Document]:
        """List the links by which others read something of the user's, and what operators look at."""
        is_theirs = (Where("uid", "==", uid),)
        links = ("shared_conversations", "shared_chats", "shared_agents", "task_shares")
        queries = [
            Query(collection=name, where=is_theirs, fields=("uid",))
            for name in (*links, "safety_reviews")
        ]
        return [named for query in queries for named in await self._documents.query(query)]

    async def _list_dead_letters(self, uid: UserId) -> list[Document]:
        """List those whose message named the user, and those of triggers at the user's documents."""
        folder = f"users/{uid}/"
        is_in_folder = (Where("name", ">=", folder), Where("name", "<", f"users/{uid}0"))
        queries = (
            Query(collection="dead_letters", where=(Where("ids.uid", "==", uid),)),
            Query(collection="dead_letters", where=is_in_folder),
        )
        return [letter for query in queries for letter in await self._documents.query(query)]

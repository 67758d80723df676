"""Connections of users to services, without tokens."""

from shared.data.store.codec import load, load_all
from shared.domain.apps.connection import Connection, Service
from shared.domain.ids import UserId
from shared.domain.store.documents import Query
from shared.ports import Documents

MAX_SERVICES = 20
"""More than there are, and few enough that the local store reads them without a thread."""


class Connections:
    """A user's connected accounts."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list_all(self, uid: UserId) -> list[Connection]:
        """List connections in the order of services, which keeps the model's tool list stable."""
        query = Query(collection=f"users/{uid}/connections", limit=MAX_SERVICES)
        return load_all(Connection, await self._documents.query(query))

    async def get(self, uid: UserId, service: Service) -> Connection | None:
        document = await self._documents.get(connection_path(uid, service))
        return load(Connection, document) if document else None


def connection_path(uid: UserId, service: Service) -> str:
    return f"users/{uid}/connections/{service}"

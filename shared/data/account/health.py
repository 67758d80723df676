"""Health figures of a user, in one document for each source; the newest replace those before.

Also called: health data, wearable data.
"""

from contextlib import suppress

from shared.data.store.codec import dump, load
from shared.domain.apps.apple_health import AppleHealth
from shared.domain.errors import AlreadyExists
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Set
from shared.ports import Documents


class Health:
    """What the phones of a user last sent."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def get_apple(self, uid: UserId) -> AppleHealth | None:
        document = await self._documents.get(_build_path(uid))
        return load(AppleHealth, document) if document else None

    async def restore_apple(self, uid: UserId, figures: AppleHealth) -> None:
        """Store figures of an export, unless there are some."""
        with suppress(AlreadyExists):
            await self._documents.write(Create(_build_path(uid), dump(figures)))

    async def put_apple(self, uid: UserId, figures: AppleHealth) -> None:
        await self._documents.write(Set(_build_path(uid), dump(figures)))


def _build_path(uid: UserId) -> str:
    return f"users/{uid}/health/apple"

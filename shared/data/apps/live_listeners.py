"""Live listeners of a user: who was sent live words or sound, and how much, for their user to see."""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from shared.data.store.codec import dump, load, load_all
from shared.domain.apps.live_listener import LiveListener
from shared.domain.errors import AlreadyExists, PreconditionFailed
from shared.domain.ids import AppId, UserId
from shared.domain.store.documents import Create, Increment, Query, Update

if TYPE_CHECKING:
    from shared.ports import Documents, Transaction

MAX_LISTED = 100
_OWN = "own"


class LiveListeners:
    """Documents `users/{uid}/live_listeners/{app_id}`; that of the user's own server is named `own`."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def count(
        self, uid: UserId, app_id: AppId, now: datetime, *, lines: int = 0, sound_s: int = 0
    ) -> None:
        """Count what is about to be sent, without reading, so that nobody waits for another."""
        path = f"users/{uid}/live_listeners/{app_id or _OWN}"
        first = LiveListener(app_id=app_id, last_at=now, lines=lines, sound_s=sound_s)
        changes = {"last_at": now, "lines": Increment(lines), "sound_s": Increment(sound_s)}
        with suppress(PreconditionFailed):
            await self._documents.write(Update(path, changes))
            return
        try:
            await self._documents.write(Create(path, dump(first)))
        except AlreadyExists:
            await self._documents.write(Update(path, changes))

    async def take_notification(
        self, uid: UserId, app_id: AppId, now: datetime, min_gap: timedelta
    ) -> bool:
        """Tell whether a notification may be written for a listener now, and count it."""
        path = f"users/{uid}/live_listeners/{app_id}"

        async def work(tx: "Transaction") -> bool:
            document = await tx.get(path)
            last_at = load(LiveListener, document).notified_at if document else now
            if last_at is not None and now - last_at < min_gap:
                return False
            tx.write(Update(path, {"notified_at": now}))
            return True

        return await self._documents.transaction(work)

    async def list_all(self, uid: UserId) -> list[LiveListener]:
        query = Query(collection=f"users/{uid}/live_listeners", limit=MAX_LISTED)
        return load_all(LiveListener, await self._documents.query(query))

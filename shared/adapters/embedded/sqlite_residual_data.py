"""Residual data of the embedded world: queued messages about a user, and the database's log."""

from shared.adapters.embedded.sqlite_queue import SqliteQueue
from shared.domain.ids import UserId
from shared.ports import Clock

QUIET_S = 0.5
"""How long no message about the user may come in; what is under way then no longer sends any."""
MAX_ROUNDS = 20


class SqliteResidualData:
    """Leaves no word and no id of an erased user in any file of the data folder.

    What is deleted is overwritten in the database at once (`secure_delete`). Copies of its keys and
    its log still hold it, until the file is rewritten and the log is cut.
    """

    def __init__(self, queue: SqliteQueue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock

    async def erase(self, uid: UserId) -> None:
        await self._queue.delete_about(uid)
        for _ in range(MAX_ROUNDS):
            await self._clock.sleep(QUIET_S)
            if not await self._queue.delete_about(uid):
                break
        await self._queue.database.remove_deleted_data()

"""Task shares: links to tasks, by the hash of their tokens, and who accepted them."""

from collections.abc import Sequence
from datetime import datetime

from shared.data.store.codec import dump, load
from shared.data.tasks.action_items import action_item_path
from shared.domain.errors import Conflict
from shared.domain.ids import UserId
from shared.domain.store.documents import Create, Delete, Set, Write
from shared.domain.tasks.action_item import ActionItem
from shared.domain.tasks.task_share import TaskShare, build_share_id
from shared.ports import Documents, Transaction


class TaskShares:
    """Links stand at the top, because whoever has one does not know its owner."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def add(self, share: TaskShare, *, also: Sequence[Write] = ()) -> None:
        """Store it and make the writes `also`, all or none."""
        await self._documents.write(*also, Create(_share_path(share.id), dump(share)))

    async def find(self, token: str, now: datetime) -> TaskShare | None:
        """Return the share of a token; None where there is none, or none any more."""
        document = await self._documents.get(_share_path(build_share_id(token)))
        share = load(TaskShare, document) if document else None
        return share if share is not None and share.expires_at > now else None

    async def remove(self, share: TaskShare) -> None:
        """End a link for good; copies that were made stay."""
        await self._documents.write(Delete(_share_path(share.id)))

    async def accept(
        self, uid: UserId, share: TaskShare, tasks: Sequence[ActionItem], now: datetime
    ) -> None:
        """Store copies of the shared tasks, once for each user. Raises Conflict the second time."""
        path = f"users/{uid}/accepted_shares/{share.id}"

        async def work(tx: Transaction) -> None:
            if await tx.get(path) is not None:
                raise Conflict("You have added these tasks already")
            tx.write(Create(path, {"accepted_at": now, "expires_at": share.expires_at}))
            tx.write(*(Set(action_item_path(uid, task.id), dump(task)) for task in tasks))

        await self._documents.transaction(work)


def _share_path(share_id: str) -> str:
    return f"task_shares/{share_id}"

"""History requests: questions in sealed chats that wait for the messages before them, for a day."""

from shared.data.store.codec import dump, load
from shared.domain.chats.sealed_chat import HistoryRequest
from shared.domain.ids import RunId, UserId, is_id
from shared.domain.store.documents import Set
from shared.ports import Documents


class HistoryRequests:
    """A user's questions that wait, by the run that will answer."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def find(self, uid: UserId, run_id: RunId) -> HistoryRequest | None:
        path = _build_path(uid, run_id)
        document = await self._documents.get(path) if is_id(run_id) else None
        return load(HistoryRequest, document) if document else None

    async def put(self, uid: UserId, request: HistoryRequest) -> None:
        """Store it in the place of an earlier request of the same question."""
        await self._documents.write(Set(_build_path(uid, request.id), dump(request)))


def _build_path(uid: UserId, run_id: RunId) -> str:
    return f"users/{uid}/history_requests/{run_id}"

"""Voice sessions: one document for each, without a word of what was said."""

from dataclasses import replace
from datetime import datetime

from shared.data.store.codec import dump, load
from shared.domain.chats.voice_session import VoiceSession
from shared.domain.errors import NotFound
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import Create, Update
from shared.domain.value import value
from shared.ports import Documents, Transaction

_NOT_FOUND = "Voice session not found"


@value
class StoredVoiceSession:
    """A session, and the version of its document."""

    session: VoiceSession
    version: str


class VoiceSessions:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def begin(self, uid: UserId, session: VoiceSession) -> None:
        await self._documents.write(Create(_document_path(uid, session.id), dump(session)))

    async def get(self, uid: UserId, session_id: str) -> StoredVoiceSession:
        """Raises NotFound."""
        path = _document_path(uid, session_id)
        document = await self._documents.get(path) if is_id(session_id) else None
        if document is None:
            raise NotFound(_NOT_FOUND)
        return StoredVoiceSession(session=load(VoiceSession, document), version=document.version)

    def count_turn(self, uid: UserId, stored: StoredVoiceSession) -> Update:
        """Return the write that counts one more turn, unless the session changed meanwhile."""
        fields = {"turn_count": stored.session.turn_count + 1}
        return Update(_document_path(uid, stored.session.id), fields, version=stored.version)

    async def end(self, uid: UserId, session_id: str, *, now: datetime) -> VoiceSession:
        """End a session once; a repeat returns it as it ended. Raises NotFound."""
        if not is_id(session_id):
            raise NotFound(_NOT_FOUND)
        path = _document_path(uid, session_id)

        async def work(tx: Transaction) -> VoiceSession:
            document = await tx.get(path)
            if document is None:
                raise NotFound(_NOT_FOUND)
            session = load(VoiceSession, document)
            if session.ended_at is not None:
                return session
            tx.write(Update(path, {"ended_at": now}))
            return replace(session, ended_at=now)

        return await self._documents.transaction(work)


def _document_path(uid: UserId, session_id: str) -> str:
    return f"users/{uid}/voice_sessions/{session_id}"

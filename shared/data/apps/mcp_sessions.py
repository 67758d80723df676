"""MCP sessions, and the answers that wait for a session's stream on whatever instance has it."""

import hashlib
from datetime import datetime
from typing import Final

from shared.data.store.codec import dump, load_all
from shared.domain.apps.mcp_session import McpReply, McpSession
from shared.domain.errors import NotAllowed, NotFound
from shared.domain.ids import UserId, is_id
from shared.domain.store.documents import Create, Delete, Order, Query
from shared.ports import Documents

MAX_TAKEN_REPLIES: Final = 20
_OWNER_CHARS: Final = 16


class McpSessions:
    """A session's id begins with a hash of its user, so that a foreign one is told from an ended one."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def begin(self, uid: UserId, session: McpSession) -> None:
        await self._documents.write(Create(_session_path(uid, session.id), dump(session)))

    async def check(self, uid: UserId, session_id: str, now: datetime) -> None:
        """Raises NotAllowed for another user's session, and NotFound for one that ended."""
        if not is_id(session_id):
            raise NotFound("Session not found")
        owner, dash, _ = session_id.partition("-")
        if dash and len(owner) == _OWNER_CHARS and owner != _hash_owner(uid):
            raise NotAllowed("This session belongs to another user.")
        document = await self._documents.get(_session_path(uid, session_id))
        sessions = load_all(McpSession, [document])
        if not sessions or sessions[0].expires_at <= now:
            raise NotFound("Session not found")

    async def end(self, uid: UserId, session_id: str) -> None:
        await self._documents.delete_tree(_session_path(uid, session_id))

    async def add_reply(self, uid: UserId, session_id: str, reply: McpReply) -> None:
        path = f"{_session_path(uid, session_id)}/replies/{reply.id}"
        await self._documents.write(Create(path, dump(reply)))

    async def take_replies(self, uid: UserId, session_id: str) -> list[McpReply]:
        """Return the answers that wait, oldest first, and remove them: a session has one stream."""
        query = Query(
            collection=f"{_session_path(uid, session_id)}/replies",
            order_by=(Order("at"),),
            limit=MAX_TAKEN_REPLIES,
        )
        documents = await self._documents.query(query)
        if documents:
            await self._documents.write(*(Delete(document.path) for document in documents))
        return load_all(McpReply, documents)


def build_session_id(uid: UserId, random_text: str) -> str:
    return f"{_hash_owner(uid)}-{random_text}"


def _hash_owner(uid: UserId) -> str:
    return hashlib.sha256(uid.encode()).hexdigest()[:_OWNER_CHARS]


def _session_path(uid: UserId, session_id: str) -> str:
    return f"users/{uid}/mcp_sessions/{session_id}"

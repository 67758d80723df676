"""Deletion of the messages that are kept of a chat, with what belongs to them."""

from shared.data.stores import Stores
from shared.domain.ids import SessionId, UserId


async def drop_messages(stores: Stores, uid: UserId, session_id: SessionId) -> None:
    """Delete a chat's runs, results and messages; an answer in progress finds its run deleted and stores nothing."""
    await stores.runs.delete_for_session(uid, session_id)
    await stores.embeds.delete_for_session(uid, session_id)
    await stores.messages.clear(uid, session_id)

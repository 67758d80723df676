"""Shared chat: the link by which anyone may read a chat as it was when it was shared."""

from datetime import datetime

from shared.domain.chats.chat import Position
from shared.domain.ids import BranchId, MessageId, SessionId, UserId
from shared.domain.value import value


@value
class SharedChat:
    """A link. `id` is the secret token in it, 128 random bits; who knows it may read.

    It shows the messages on the path to `branch` up to the message at `until`, and no later one.
    """

    id: str
    uid: UserId
    session_id: SessionId
    title: str
    branch: BranchId
    until: Position
    created_at: datetime

    @property
    def last_message_id(self) -> MessageId:
        return self.until[1]

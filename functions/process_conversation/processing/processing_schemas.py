"""Request bodies of the processing entry points."""

from pydantic import Field

from shared.domain.ids import ConversationId, UserId
from shared.edge.declare.schemas import ID_PATTERN, Wire


class ConversationChangedIn(Wire):
    """The event `conversation.changed`; the hash is null when the document was deleted."""

    uid: UserId
    conversation_id: ConversationId = Field(pattern=ID_PATTERN)
    content_hash: str | None

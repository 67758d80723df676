"""What is said to the entry points behind webhooks."""

from pydantic import Field

from shared.domain.ids import AppId, ConversationId, UserId
from shared.edge.schemas import ID_PATTERN, Wire


class ConversationProcessedIn(Wire):
    """What `conversation.processed` carries."""

    uid: UserId
    conversation_id: ConversationId = Field(pattern=ID_PATTERN)
    content_hash: str


class WebhookTaskIn(ConversationProcessedIn):
    """One attempt to tell an app."""

    app_id: AppId
    attempt: int = Field(ge=1)

"""What is said to the entry points behind webhooks."""

from pydantic import Field

from shared.domain.ids import AppId, ConversationId, UserId
from shared.edge.http import Wire


class ConversationProcessedIn(Wire):
    """What `conversation.processed` carries."""

    uid: UserId
    conversation_id: ConversationId = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    content_hash: str


class WebhookTaskIn(ConversationProcessedIn):
    """One attempt to tell an app."""

    app_id: AppId
    attempt: int = Field(ge=1)
